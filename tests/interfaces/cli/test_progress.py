"""The bar: what it counts, and from when on."""

import pytest

from roamkb.interfaces.cli.progress import ProgressBar


def test_the_time_left_is_that_of_the_work_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """A human who thinks for a minute before it begins makes it no slower; nothing is shown in the first second."""
    moments = iter((60.0, 60.0, 60.5, 62.0, 64.0))
    show = ProgressBar("setup", clock=lambda: next(moments))
    for done in (100, 200, 300):
        show(done, 500)
    assert "[############        ] 300 of 500, 0:02 left" in capsys.readouterr().err
    show(500, 500)
    assert "\r\x1b[K" == capsys.readouterr().err


def test_each_command_counts_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    """Learnings are no notes."""
    moments = iter((0.0, 0.0, 9.0))
    show = ProgressBar("verify", clock=lambda: next(moments))
    show(0, 4)
    show(1, 4)
    assert "judging learnings [#####" in capsys.readouterr().err
