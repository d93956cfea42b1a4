"""Whether what was shown helped, in figures."""

from roamkb.core.learning import Learning
from roamkb.core.ledger import Event
from roamkb.core.ledger import State
from roamkb.core.ledger import replay
from roamkb.core.reuse import reuse


def state(*outcomes: tuple[str, str]) -> State:
    """A log of three learnings, and what was said of them."""
    said = [Learning(id=id, key=id, type="fact", content="x" * 40, ts=1, confidence=70) for id in "abc"]
    events = [
        Event(id=f"e-{n}", ts=100 + n, event="reused", of=of, fields={"outcome": outcome})
        for n, (of, outcome) in enumerate(outcomes)
    ]
    return replay(said, events)


def test_nothing_shown_says_nothing() -> None:
    """No rate without cases."""
    found = reuse(state(), [], now=1000)
    assert (None, None, None, None) == (
        found.hit_rate,
        found.reuse_rate,
        found.correlation,
        found.days_since_use,
    )
    assert (0, 3, ("a", "b", "c")) == (found.shown, found.total, found.never_used)


def test_rates_count_what_says_something() -> None:
    """A partial success is neither; what was not applied wasn't used."""
    told = state(
        ("a", "success"), ("a", "prevented"), ("b", "failure"), ("b", "partial"), ("b", "not_applied")
    )
    found = reuse(told, [("a", "b"), ("a",)], now=86400 + 101)
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
    found = reuse(told, [], now=1000)
    assert found.correlation is not None
    assert found.correlation > 0
