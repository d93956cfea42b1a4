"""Wilson's bounds against published figures, and what an order needs of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.log.state.wilson_score import wilson_lower_bound
from roamkb.log.state.wilson_score import wilson_upper_bound


@pytest.mark.parametrize(
    ("successes", "trials", "bound"),
    [(0, 0, 0.0), (0, 5, 0.0), (1, 1, 0.2065), (5, 10, 0.2366), (10, 10, 0.7225), (19, 20, 0.7639), (81, 263, 0.2553)],
)  # fmt: skip
def test_the_bound_is_as_published(successes: int, trials: int, bound: float) -> None:
    """81 of 263 is the example of Newcombe (1998), table I: 0.2553."""
    assert bound == pytest.approx(wilson_lower_bound(successes, trials), abs=0.00005)


@given(st.integers(0, 400), st.integers(0, 400))
def test_it_lies_between_nothing_and_the_share(successes: int, failures: int) -> None:
    """Whatever was counted."""
    trials = successes + failures
    bound = wilson_lower_bound(successes, trials)
    assert 0 <= bound <= (successes / trials if trials else 0)


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_success_raises_it_and_a_failure_does_not(successes: int, failures: int) -> None:
    """So that an order by it rewards what works."""
    bound = wilson_lower_bound(successes, successes + failures)
    assert wilson_lower_bound(successes + 1, successes + failures + 1) > bound
    assert wilson_lower_bound(successes, successes + failures + 1) <= bound


def test_much_evidence_beats_little() -> None:
    """One of one is not better than nineteen of twenty."""
    assert wilson_lower_bound(19, 20) > wilson_lower_bound(3, 3) > wilson_lower_bound(1, 1)


@pytest.mark.parametrize(
    ("successes", "trials", "bound"), [(0, 0, 1.0), (5, 10, 0.7634), (10, 10, 1.0), (81, 263, 0.3662)]
)
def test_the_upper_bound_is_as_published(successes: int, trials: int, bound: float) -> None:
    """The same example of Newcombe's: 0.3662."""
    assert bound == pytest.approx(wilson_upper_bound(successes, trials), abs=0.00005)


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_share_lies_between_the_bounds(successes: int, failures: int) -> None:
    """Whatever was counted."""
    trials = successes + failures
    share = successes / trials if trials else 0.5
    assert wilson_lower_bound(successes, trials) <= share <= wilson_upper_bound(successes, trials) <= 1
