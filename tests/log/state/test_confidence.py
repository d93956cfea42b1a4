"""Every number of trust, at its limit and on both sides of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.errors import UsageError
from roamkb.log.state import confidence
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.confidence import bound_confidence
from roamkb.log.state.confidence import decayed_confidence
from roamkb.log.state.confidence import move_confidence
from roamkb.log.state.confidence import start_confidence

MOVES = (
    confidence.REPEATED,
    confidence.REUSED,
    confidence.CONSOLIDATED_AGAIN,
    confidence.VALIDATED,
    confidence.PREVENTED,
    confidence.FAILED,
    confidence.SUPERSEDED,
)


def test_the_moves_are_those_of_the_design() -> None:
    """Section 9, in hundredths."""
    assert (5, 5, 10, 10, 15, -10, -20) == MOVES
    assert (90, 70, 80, 3) == (
        confidence.HUMAN,
        confidence.CONSOLIDATED,
        confidence.DURABLE,
        confidence.PROMOTION_OCCURRENCES,
    )


def test_a_typed_confidence_is_read_in_hundredths() -> None:
    """From nothing to certain, and nothing beyond."""
    assert [None, 0, 7, 70, 100] == [*map(confidence.parse_hundredths, (None, "0", "0.07", ".7", "1"))]
    for text in ("-0.01", "1.01", "nan", "much"):
        with pytest.raises(UsageError):
            confidence.parse_hundredths(text)


def test_a_first_word_counts_by_where_it_comes_from() -> None:
    """What nobody saw for themselves counts less."""
    assert {"user-stated": 90, "observed": 70, "inferred": 50, "external": 50} == confidence.BY_PROVENANCE
    assert (50, 70) == (confidence.ADOPTED, confidence.UNSTATED)


@pytest.mark.parametrize(
    ("before", "by", "after"),
    [
        (70, 10, 80),
        (89, 5, 94),
        (90, 5, 95),
        (91, 5, 95),
        (95, 5, 95),
        (95, 15, 95),
        (21, -10, 11),
        (20, -10, 10),
        (19, -10, 10),
        (10, -20, 10),
        (30, -20, 10),
        # what a human set beyond the bounds stays there, and comes back into them alone
        (100, 5, 100),
        (100, -10, 90),
        (97, 5, 97),
        (5, -10, 5),
        (5, 5, 10),
        (0, 5, 5),
    ],
)
def test_a_move_stays_within_the_bounds(before: int, by: int, after: int) -> None:
    """Agents earn 10 to 95."""
    assert after == move_confidence(before, by)


@given(start=st.integers(10, 95), moves=st.lists(st.sampled_from(MOVES)))
def test_no_row_of_moves_leaves_the_bounds(start: int, moves: list[int]) -> None:
    """However often, in whatever order."""
    for by in moves:
        start = move_confidence(start, by)
        assert confidence.LEAST <= start <= confidence.MOST


@pytest.mark.parametrize(
    ("said", "provenance", "start"),
    [
        (None, "user-stated", 90),
        (None, "observed", 70),
        (None, "inferred", 50),
        (None, "external", 50),
        (None, "", 70),
        (9, "observed", 10),
        (10, "observed", 10),
        (11, "observed", 11),
        (94, "observed", 94),
        (95, "observed", 95),
        (96, "observed", 95),
        (100, "", 95),
        (0, "inferred", 10),
        (100, "user-stated", 100),
        (96, "user-stated", 96),
        (9, "user-stated", 9),
        (0, "user-stated", 0),
    ],
)
def test_a_first_confidence_is_what_was_said_within_the_bounds(said: int | None, provenance: str, start: int) -> None:
    """Or what the provenance is worth; a human may say anything."""
    assert start == start_confidence(said, provenance)


@pytest.mark.parametrize(("value", "human", "plain"), [(101, 100, 95), (-1, 0, 10), (50, 50, 50)])
def test_the_bounds_depend_on_who_speaks(value: int, human: int, plain: int) -> None:
    """100 is a human's word."""
    assert (human, plain) == (bound_confidence(value, human=True), bound_confidence(value))


@pytest.mark.parametrize(
    ("start", "days", "left"),
    [
        (70, 0, 70),
        (70, 29.999, 70),
        (70, 30, 69),
        (70, 59.999, 69),
        (70, 60, 68),
        (70, -1000, 70),
        (70, 30 * 59, 11),
        (70, 30 * 60, 10),
        (70, 30 * 61, 10),
        (5, 30 * 61, 5),
        (100, 30, 99),
    ],
)
def test_a_hundredth_is_lost_every_thirty_days(start: int, days: float, left: int) -> None:
    """Down to the least, and not to below what a human set; a clock that goes back adds nothing."""
    assert left == decayed_confidence(start, idle_days=days)


@given(st.integers(0, 100))
def test_hundredths_are_shown_as_a_fraction(hundredths: int) -> None:
    """And come back from it."""
    shown = as_fraction(hundredths)
    assert 0 <= shown <= 1
    assert hundredths == round(shown * 100)
    assert len(f"{shown}") <= 4


@pytest.mark.parametrize(
    ("agent", "type", "fix_applied", "gained"),
    [
        ("claude-code", "learned", False, 0),
        ("qa-agent", "learned", False, 10),
        ("qa_agent", "pattern", False, 15),
        ("aqua", "learned", False, 0),
        ("build_agent", "pattern", True, 15),
    ],
)
def test_a_first_word_gains_by_who_says_what(agent: str, type: str, fix_applied: bool, gained: int) -> None:
    """A tester's, a pattern's, an applied fix's; never above what agents may have."""
    first = confidence.first_confidence("observed", type=type, agent=agent, fix_applied=fix_applied)
    assert 70 + gained == first
    assert confidence.MOST >= confidence.first_confidence(
        "user-stated", type=type, agent=agent, fix_applied=fix_applied
    )
