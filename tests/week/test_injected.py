"""What a week's hooks put into prompts helps, and most often they say nothing.

Smaller than the weeks of `tests/week/injected.py`, whose figures are the ones to quote.
"""

from pathlib import Path

import pytest

from tests.week.generator import make_week
from tests.week.injected import Tally
from tests.week.injected import listen


@pytest.fixture(scope="module")
def tallies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tally]:
    """What each kind of injection came to."""
    folder: Path = tmp_path_factory.mktemp("week")
    return listen(make_week(3, sessions=14, payloads=0, facts=30), folder, seed=3)


@pytest.mark.parametrize(("kind", "least"), [("brief", 0.7), ("prompt", 0.6), ("edit", 0.7), ("failure", 0.7)])
def test_what_is_shown_helps(tallies: dict[str, Tally], kind: str, least: float) -> None:
    """At least .7 of the items, and more than half of the occasions for which something is known.

    The agents of this week answer no ask: all that is known was announced, idle remarks among it, of which no
    brief has told a session before its prompts do.
    """
    tally = tallies[kind]
    assert tally.items
    assert tally.precision >= least, tally.wrong
    assert tally.recall >= 0.5


def test_most_prompts_are_answered_with_nothing(tallies: dict[str, Tally]) -> None:
    """And a session's injections cost less than a page or two."""
    assert tallies["prompt"].silence >= 0.9
    assert tallies["failure"].silence >= 0.6
    characters = sum(tally.characters for tally in tallies.values())
    assert characters / tallies["brief"].asked / 2 <= 3000


def test_where_nothing_tells_what_the_work_is_a_brief_is_one_line(tallies: dict[str, Tally]) -> None:
    """Of 300 characters at most; where something does, a third of what is shown is needed."""
    assert (0, True) == (tallies["start"].items, tallies["start"].longest <= 300)
    briefs = tallies["brief"]
    assert briefs.needed / briefs.items >= 0.3, briefs.wrong
