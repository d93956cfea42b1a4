"""The bar: what it counts, from when on, and that nothing is left of it."""

import pytest

from roamkb.core.progress import counted
from roamkb.core.progress import listening
from roamkb.core.progress import waiting
from roamkb.interfaces.cli.progress import ProgressBar

_ERASED = "\r\x1b[K"


def test_the_time_left_is_that_of_the_work_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """A human who thinks for a minute before it begins makes it no slower; nothing is shown in the first second."""
    moments = iter((60.0, 60.5, 62.0, 64.0))
    show = ProgressBar(clock=lambda: next(moments))
    for done in (100, 200, 300):
        show("reading notes", done, 500)
    assert capsys.readouterr().err == "\rroamkb: reading notes [############        ] 300 of 500, 0:02 left\x1b[K"
    show("reading notes", 500, 500)
    assert capsys.readouterr().err == _ERASED


def test_a_line_stands_long_enough_to_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    """Ten a second are as much as an eye follows."""
    moments = iter((0.0, 2.0, 2.05, 2.2))
    show = ProgressBar(clock=lambda: next(moments))
    for done in range(4):
        show("judging learnings", done, 9)
    lines = capsys.readouterr().err.split("\r")[1:]
    assert [line.partition("] ")[2].partition(" of")[0] for line in lines] == ["1", "3"]


def test_each_work_has_its_own_time(capsys: pytest.CaptureFixture[str]) -> None:
    """What is begun after another work is done is no slower for it."""
    moments = iter((0.0, 50.0, 60.0, 62.0))
    show = ProgressBar(clock=lambda: next(moments))
    show("reading notes", 0, 2)
    show("reading notes", 2, 2)
    show("judging learnings", 0, 2)
    show("judging learnings", 1, 2)
    assert capsys.readouterr().err.endswith("1 of 2, 0:02 left\x1b[K")


def test_who_is_waited_for_is_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a model's answer nobody knows when it comes; the line goes with it, also when it fails."""
    with pytest.raises(KeyboardInterrupt), listening(ProgressBar()), waiting("waiting for claude"):
        assert capsys.readouterr().err == "\rroamkb: waiting for claude…\x1b[K"
        raise KeyboardInterrupt
    assert capsys.readouterr().err == _ERASED


def test_what_is_counted_is_told_to_who_listens_alone() -> None:
    """A loop that is left early is over as well."""
    told: list[tuple[str, int, int | None]] = []
    assert list(counted([1, 2], "reading notes")) == [1, 2]
    with listening(lambda *one: told.append(one)):
        items = iter(counted(["a", "b", "c"], "reading notes"))
        assert next(items) == "a"
        del items
    assert told == [("reading notes", 0, 3), ("reading notes", 3, 3)]
