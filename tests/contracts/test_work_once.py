"""A text is worked on once: split into words, parsed as a query, parsed and judged as a script."""

import json
import subprocess
import sys
from collections import Counter

import pytest

from roamkb.text.tokenize import split_words
from tests.conftest import World

#: Learnings that share words with the new one, so that all comparisons are made.
_KNOWN = (
    "The kettle boils over when the burner is set to nine",
    "The burner is safe up to level six for the kettle",
    "Always run the migrations before the billing service is deployed",
)
_NEW = "The kettle boils dry when the burner is set to seven and nobody looks"
#: Calls of the tokeniser that one `learn` may make for the text that it's given: its steps ask each for themselves.
_MOST = 10


def _calls(world: World, *given: str, payload: object = None) -> dict[str, Counter[str]]:
    """Return how often each counted function was called with which text."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.contracts.counted_calls", *given],
        cwd=world.personal,
        env={**world.environment(), "PWD": str(world.personal)},
        input="" if payload is None else json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
    )
    return {name: Counter(texts) for name, texts in json.loads(done.stderr.splitlines()[-1]).items()}


def test_the_words_of_a_text_are_remembered() -> None:
    """All steps of a call share one splitting of a text; a whole note's isn't kept."""
    assert split_words(_NEW + " once") is split_words(_NEW + " once")
    assert split_words("note " * 1000) is not split_words("note " * 1000)


def test_a_learning_is_split_into_words_once(world: World) -> None:
    """No step of a `learn` asks for the words of its text over and over."""
    world.run("init")
    for text in _KNOWN:
        world.run("learn", text)
    calls = _calls(world, "learn", _NEW)["split_words"]
    assert 0 < sum(count for text, count in calls.items() if text.casefold() == _NEW.casefold()) <= _MOST
    assert max(calls.values()) <= _MOST


@pytest.mark.parametrize("command", ["search", "recall"])
def test_a_query_is_parsed_once(world: World, command: str) -> None:
    """What is asked for is parsed once, and split into words no oftener than its parts are."""
    world.run("init")
    world.run("learn", _NEW)
    world.run("write", _NEW, "--body", "Somebody should look.")
    calls = _calls(world, command, "kettle", "burner")
    assert {"kettle burner": 1} == calls["parse_query"]
    assert calls["split_words"]["kettle burner"] <= 2


@pytest.mark.parametrize(
    "script",
    [
        "cd .. && make -j4 2>&1 | tail -20",
        'for f in src/*.py; do sed -n 1p "$f"; done > ~/roam/x.org',
        "echo x > ~/roam/x.org",
    ],
)
def test_a_script_is_parsed_and_judged_once(world: World, script: str) -> None:
    """However many rules a hook has for a command, it reads the command once."""
    tool = {"tool_name": "Bash", "tool_input": {"command": script}, "hook_event_name": "PreToolUse"}
    calls = _calls(world, "hook", "pre-tool-use", payload={**tool, "cwd": str(world.work), "session_id": "s"})
    assert {script: 1} == calls["judge_script"]
    assert {script: 1} == calls["read_script"]
