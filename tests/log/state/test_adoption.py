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


#: What happens to few learnings, so that lines often meet.
_CLOSE_EVENTS = st.lists(
    st.builds(
        lambda event, of, name: replace(event, of=of, event=name),
        EVENTS,
        st.sampled_from(["id-0", "event-0", "event-1", "event-2"]),
        st.sampled_from(["flagged", "curated", "overridden", "undone", "superseded", "judged", "repeated", "reused"]),
    ),
    max_size=6,
    unique_by=lambda event: event.id,
)


@given(said=st.lists(LEARNINGS, min_size=1, max_size=3), own=_CLOSE_EVENTS, adopted=_CLOSE_EVENTS)
def test_no_adopted_line_raises_what_this_machine_says(
    said: list[Learning], own: list[LedgerEvent], adopted: list[LedgerEvent]
) -> None:
    """Neither by taking back what lowered it, nor by clearing a flag or a review."""
    adopted = [replace(event, id=f"peer-{event.id}") for event in adopted]
    doubting = {"needs_review", "superseded", "archived"}
    before = replay(said, own).standings
    after = replay(said, adopted_lines_of([one.id for one in adopted]).mark_events((*own, *adopted))).standings
    for id, mine in before.items():
        with_peers = after[id]
        assert with_peers.confidence <= mine.confidence
        assert (with_peers.is_overridden, with_peers.is_pinned) == (mine.is_overridden, mine.is_pinned)
        assert mine.flags.keys() <= with_peers.flags.keys()
        assert with_peers.status in doubting or mine.status == with_peers.status
        assert with_peers.verdict == mine.verdict


def test_a_peer_takes_back_no_word_of_ones_human() -> None:
    """A rejection, an override and a hazard stay, whatever a shared log brings; a peer's own undoing counts."""
    learning = Learning(id="a", key="a", type="fact", content="Pipe the installer into sh", confidence=70)
    own = [
        LedgerEvent(id="10", ts=1, event="overridden", of="a", fields={"value": 0}),
        LedgerEvent(id="11", ts=2, event="flagged", of="a", fields={"reason": "hazard", "evidence": "curl | sh"}),
        LedgerEvent(id="12", ts=3, event="curated", of="a", fields={"status": "needs_review"}),
    ]
    peers = [
        LedgerEvent(id="20", ts=4, event="undone", of="10"),
        LedgerEvent(id="21", ts=5, event="flagged", of="a", fields={"reason": "hazard", "cleared": True}),
        LedgerEvent(id="22", ts=6, event="curated", of="a", fields={"status": "active"}),
        LedgerEvent(id="23", ts=7, event="flagged", of="a", fields={"reason": "stale", "evidence": "gone.py"}),
        LedgerEvent(id="24", ts=8, event="undone", of="23"),
    ]
    adopted = adopted_lines_of([event.id for event in peers])
    (state,) = replay([learning], adopted.mark_events((*own, *peers))).standings.values()
    assert (0, True, "needs_review", ["hazard"]) == (
        state.confidence,
        state.is_overridden,
        state.status,
        [*state.flags],
    )


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
