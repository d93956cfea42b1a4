"""Whether what was shown helped, in figures."""

from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import replay
from roamkb.tasks.stats import reuse_figures


def state(*outcomes: tuple[str, str]) -> LogState:
    """A log of three learnings, and what was said of them."""
    said = [Learning(id=id, key=id, type="fact", content="x" * 40, ts=1, confidence=70) for id in "abc"]
    events = [
        LedgerEvent(id=f"e-{n}", ts=100 + n, event="reused", of=of, fields={"outcome": outcome})
        for n, (of, outcome) in enumerate(outcomes)
    ]
    return replay(said, events)


def test_nothing_shown_says_nothing() -> None:
    """No rate without cases."""
    found = reuse_figures(state(), [], now=1000)
    assert (None, None, None, None) == (
        found.hit_rate,
        found.reuse_rate,
        found.correlation,
        found.days_since_use,
    )
    assert (0, 3, ("a", "b", "c")) == (found.shown, found.total, found.never_used)


def test_rates_count_what_says_something() -> None:
    """A partial success is neither; what was not applied wasn't used."""
    told = state(("a", "success"), ("a", "prevented"), ("b", "failure"), ("b", "partial"), ("b", "not_applied"))
    # of what was shown, notes are no learnings
    found = reuse_figures(told, [("a", "b"), ("a", "a note"), ("another note",)], now=86400 + 101)
    assert 2 / 3 == found.hit_rate
    assert (3, 2, 4) == (found.shown, found.learnings_shown, found.applied)
    assert 0.5 == found.reuse_rate
    assert 1.0 == found.days_since_use
    assert ("c",) == found.never_used
    # two successes of a text of ten tokens, read three times
    assert 2 * 20 * 10 - 3 * 10 == found.tokens_saved


def test_confidence_that_tells_success_correlates() -> None:
    """Failures lower what then fails again."""
    told = state(("a", "failure"), ("a", "failure"), ("b", "success"), ("b", "success"))
    found = reuse_figures(told, [], now=1000)
    assert found.correlation is not None
    assert found.correlation > 0


def test_the_success_figures_of_a_log_made_by_hand() -> None:
    """Every number of document 004's metrics, worked out on paper."""
    said = [
        Learning(id=id, key=id, type="fact", content="x" * 40, ts=1, confidence=confidence)
        for id, confidence in (("a", 90), ("b", 80), ("c", 40), ("d", 30))
    ]

    def event(n: int, name: str, of: str = "", **fields: object) -> LedgerEvent:
        return LedgerEvent(id=f"e-{n:02}", ts=100 + n, event=name, of=of, session=f"s-{n}", fields=fields)

    def attempt(n: int, technique: str, outcome: str, error: str = "f1") -> LedgerEvent:
        fields = {"fingerprint": error, "error": error, "technique": technique, "outcome": outcome}
        return event(n, "attempted", **fields)

    events = [
        event(1, "reused", "a", outcome="success"),
        event(2, "reused", "b", outcome="prevented"),
        event(3, "reused", "c", outcome="failure"),
        event(4, "reused", "d", outcome="failure"),
        event(5, "reused", "d", outcome="partial"),
        event(6, "repeated", "a"),
        # 2 of 3 and 1 of 1 against the one error, 0 of 1 against the other; partial and untried don't count
        attempt(10, "restart the worker", "success"),
        attempt(11, "restart the worker", "success"),
        attempt(12, "restart the worker", "failure"),
        attempt(13, "raise the limit of open files", "success"),
        attempt(14, "empty the cache", "failure", "f2"),
        attempt(15, "empty the cache", "partial", "f2"),
        attempt(16, "ask somebody", "", "f2"),
    ]
    found = reuse_figures(replay(said, events), [("a", "b", "c"), ("a",)], now=1000, strategies=True)
    # a and b of a, b and c
    assert 2 / 3 == found.reuse_rate
    # one repetition of five sayings
    assert 1 / 5 == found.duplicate_rate
    assert (3, (2 / 3 + 1 + 0) / 3) == (found.strategies, found.effectiveness)
    # (.9, 1) (.8, 1) (.4, 0) (.3, 0): covariance .25, deviations sqrt(.26) and 1
    assert 0.9806 == found.correlation
    # two successes of ten tokens; a shown twice, b and c once
    assert 2 * 20 * 10 - 4 * 10 == found.tokens_saved
    assert reuse_figures(replay(said, events), [], now=1000).strategies is None
