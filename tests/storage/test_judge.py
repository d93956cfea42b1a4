"""A judge that is a command: broken, hostile or late, it says nothing."""

import sys
from pathlib import Path

import pytest

from roamkb.core.errors import UsageError
from roamkb.storage import judge
from roamkb.storage.judge import ask_judge


def command(tmp_path: Path, code: str) -> str:
    """Return a command that runs `code`."""
    path = tmp_path / "judge.py"
    path.write_text(f"import sys, json, time, os\n{code}\n")
    return f"'{sys.executable}' '{path}'"


def test_the_question_is_json_and_the_answer_too(tmp_path: Path) -> None:
    """On standard input and output."""
    code = "print(json.dumps({'accuracy': len(json.load(sys.stdin)['statement'])}))"
    assert ({"accuracy": 5}, "") == ask_judge(command(tmp_path, code), {"statement": "seven"[:5]})


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("sys.exit('no model')", "status 1: no model"),
        ("os.kill(os.getpid(), 9)", "status -9"),
        ("print('verified')", "isn't JSON"),
        ("print('[1]')", "isn't a JSON object"),
        ("print('[' * 100000)", "isn't JSON"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe')", "isn't JSON"),
        ("print('{\"a\":\"' + 'x' * 1000000 + '\"}')", "isn't JSON"),
        ("pass", "isn't JSON"),
    ],
)
def test_trouble_is_said_and_nothing_else(tmp_path: Path, code: str, why: str) -> None:
    """Never an exception."""
    answer, trouble = ask_judge(command(tmp_path, code), {"statement": "x" * 200_000})
    assert answer == {}
    assert why in trouble


def test_a_judge_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time."""
    monkeypatch.setattr(judge, "PATIENCE", 0.3)
    answer, trouble = ask_judge(command(tmp_path, "time.sleep(60)"), {})
    assert answer == {}
    assert "more than" in trouble


@pytest.mark.parametrize("words", ["", "'open", "/nowhere/judge", "/etc/passwd"])
def test_what_is_no_command_is_told_at_once(words: str) -> None:
    """Before a batch asks a thousand times."""
    with pytest.raises(UsageError):
        ask_judge(words, {})
