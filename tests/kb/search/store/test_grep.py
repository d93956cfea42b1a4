"""Grep takes a pattern as ripgrep does, or refuses it in words."""

import sys
import time
from pathlib import Path

import pytest

from roamkb.core.errors import UsageError
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.store.grep import Grep
from tests.conftest import World


def lines(world: World, pattern: str) -> list[str]:
    """The matching lines of all notes."""
    return [line for match in Grep(Notes(world.kb), pattern).find_matches() for _, line in match.lines]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("^[[:^digit:]]+$", ["abc", "é [x]"]),
        ("^[[:digit:]]+$", ["123"]),
        ("^[[:^alpha:][:alpha:]]+$", ["abc", "123", "é [x]"]),
        ("^[[:^space:]]+$", ["abc", "123"]),
        ("^[^[:^ascii:]]+$", ["abc", "123"]),
        ("[[]x", ["é [x]"]),
        (r"\[[]x]", ["é [x]"]),
    ],
)
def test_classes_mean_what_they_say(world: World, pattern: str, expected: list[str]) -> None:
    """Also the negated ones, and a bracket between brackets."""
    world.note("a.org", "abc\n123\né [x]\n")
    assert expected == lines(world, pattern)


@pytest.mark.parametrize("pattern", ["(((", "a{2,1}"])
def test_a_bad_pattern_is_named_once(pattern: str, world: World) -> None:
    """In our words alone: RE2 would write its own to standard error, and knows no half characters."""
    world.note("a.org", "abc\n")
    ran = world.run("search", "--regex", pattern)
    assert (2, "") == (ran.status, ran.out)
    assert ran.err.startswith("roamkb: no regular expression")
    assert [] == lines(world, "\ud800")


@pytest.mark.parametrize("pattern", ["[[a]&&[b]]", "[a--b]", "[a||b]", "[[:nothing:]]", r"a\z", r"\p{L}"])
def test_what_python_would_take_for_something_else_is_refused(
    world: World, pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words, with a way out, and without a warning that shows source code."""
    # RE2 knows some of them
    (tmp_path / "re2.py").write_text("raise ImportError('not installed')\n")
    monkeypatch.setitem(sys.modules, "re2", None)
    world.note("a.org", "abc\n")
    path = {"PYTHONPATH": f"{tmp_path}:{world.environment()['PYTHONPATH']}"}
    ran = world.run("search", "--regex", pattern, extra=path)
    assert (2, "") == (ran.status, ran.out)
    assert "no regular expression" in ran.err
    assert "without --regex" in ran.err
    assert "Warning" not in ran.err
    with pytest.raises(UsageError):
        lines(world, pattern)


def test_many_notes_are_no_reason_to_refuse_a_pattern(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without RE2 a pattern has its time, and reading the notes takes none of it; one that backtracks is refused."""
    monkeypatch.setitem(sys.modules, "re2", None)
    monkeypatch.setattr("roamkb.kb.search.store.grep._PATIENCE", 0.02)
    for number in range(1500):
        world.note(f"{number}.org", f"note {number}\n")
    started = time.process_time()
    assert ["note 1499"] == lines(world, "e 1499$")
    # as long as reading takes, or this proves nothing
    assert time.process_time() - started > 0.02
    world.note("long.org", "a" * 40 + "!\n")
    with pytest.raises(UsageError, match="took more than"):
        lines(world, "(a+)+$")
