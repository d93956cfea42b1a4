"""What was in a log before it was adopted asks for no trust, whatever it says."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from roamkb.log.learning import Learning
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.adoption import adopted_lines_of
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import advance_state
from roamkb.log.state.replay import replay
from tests.log.state.test_replay import EVENTS
from tests.log.state.test_replay import LEARNINGS


def read(adopted: AdoptedLines, said: list[Learning], events: list[LedgerEvent]) -> LogState:
    """Return what such lines amount to."""
    return replay(adopted.mark_learnings(tuple(said)), adopted.mark_events(tuple(events)))


def all_of(said: list[Learning], events: list[LedgerEvent]) -> AdoptedLines:
    """Return what marks all of them."""
    return adopted_lines_of([one.id for one in said] + [one.id for one in events])


@given(said=st.lists(LEARNINGS, max_size=8), events=st.lists(EVENTS, max_size=14))
def test_no_line_of_an_adopted_log_raises_anything(said: list[Learning], events: list[LedgerEvent]) -> None:
    """Also where lines of one id say different things, and one of them goes by another id then."""
    said = [replace(one, provenance="user-stated", extra={"status": "canonical"}) for one in said]
    state = read(all_of(said, events), said, events)
    assert len(replay(said, events).standings) == len(state.standings)
    for one in state.standings.values():
        assert one.confidence <= 50
        assert (1, "unverified", False, False) == (
            one.occurrences,
            one.verdict,
            one.is_pinned,
            one.is_overridden,
        )
        assert ("", set(), {}) == (one.node, one.preferred_by, one.outcomes)
        assert ("external", True) == (one.learning.provenance, one.status != "canonical")
    assert not state.events_named("approved", "judged", "overridden", "pinned", "promoted")


@given(
    said=st.lists(LEARNINGS, max_size=6),
    events=st.lists(EVENTS, max_size=12, unique_by=lambda event: event.id),
    at=st.integers(0, 6),
    cut=st.integers(0, 12),
)
def test_what_is_told_later_counts_as_after_all_lines(
    said: list[Learning], events: list[LedgerEvent], at: int, cut: int
) -> None:
    """The first lines were adopted, and the next came since; both ways of reading them say the same."""
    events = sorted(events, key=lambda event: event.id)
    adopted = all_of(said[:at], events[:cut])
    before = read(adopted, said[:at], events[:cut])
    later = advance_state(before, adopted.mark_learnings(tuple(said[at:])), adopted.mark_events(tuple(events[cut:])))
    if later is not None:
        assert read(adopted, said, events) == later


def test_a_log_of_ones_own_is_as_it_is() -> None:
    """Nothing is looked at."""
    said = (Learning(id="a", key="a", type="fact", content="x", confidence=90),)
    assert NONE_ADOPTED.mark_learnings(said) is said
    assert "" == NONE_ADOPTED.digest
    assert NONE_ADOPTED.digest != adopted_lines_of(["a"]).digest != adopted_lines_of(["b"]).digest
