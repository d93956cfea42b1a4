"""Tombstones cover a line by its id or its words, whoever wrote them and in whatever order."""

from itertools import permutations

import pytest

from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import REDACTED
from roamkb.log.state.learning_state import UNDONE
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.replay import advance_state
from roamkb.log.state.replay import replay
from roamkb.log.state.tombstones import DIGEST_FIELD
from roamkb.log.state.tombstones import content_digest_of
from roamkb.log.state.tombstones import tombstones_of


def learning(id: str, content: str, type: str = "fact") -> Learning:
    """A learning."""
    return Learning(id=id, key=id, type=type, content=content, ts=1)


def event(id: str, name: str, of: str, **fields: object) -> LedgerEvent:
    """An event."""
    return LedgerEvent(id=id, ts=2, event=name, of=of, fields=fields)


GONE, KEPT = learning("L1", "gone"), learning("L2", "kept")
TOMBSTONE = event("E2", FORGOTTEN, "L1", **{DIGEST_FIELD: content_digest_of("gone")})


@pytest.mark.parametrize(
    "line",
    [GONE, learning("L1", "edited by hand"), learning("other", " gone\n"), learning("other", "gone", "gotcha")],
    ids=["itself", "by-id", "by-digest", "of-another-type"],
)
def test_a_line_is_covered_by_id_and_by_its_words(line: Learning) -> None:
    """Blanks and the type make no difference."""
    tombstones = tombstones_of([TOMBSTONE])
    assert tombstones.covers(line)
    assert not tombstones.covers(KEPT)
    assert not tombstones_of([]).covers(line)


@pytest.mark.parametrize("order", [*permutations(range(4))])
def test_any_order_of_the_lines_gives_the_same_state(order: tuple[int, ...]) -> None:
    """Also where something claims to take the tombstone back, and told of the line before."""
    events = [event("E1", "pinned", "L1"), TOMBSTONE, event("E3", UNDONE, "E2"), event("E4", "pinned", "L2")]
    state = replay([KEPT, GONE], [events[place] for place in order], as_of=1.5)
    assert ["L2"] == [*state.standings]
    state = replay([GONE, KEPT], [events[place] for place in order])
    assert ["L2"] == [*state.standings]
    assert ["E2", "E3", "E4"] == [counted.id for counted in state.events]


def test_an_adopted_tombstone_counts() -> None:
    """A clone takes over all of a ledger as another's word."""
    adopted = LedgerEvent(id="E2", ts=2, event=FORGOTTEN, of="L1", is_adopted=True)
    assert not replay([GONE], [adopted]).standings


@pytest.mark.parametrize(
    ("learnings", "events"),
    [([GONE], []), ([learning("L9", "gone")], []), ([], [event("E9", "pinned", "L1")])],
    ids=["id", "digest", "event"],
)
def test_what_comes_back_later_takes_a_replay_of_all(learnings: list[Learning], events: list[LedgerEvent]) -> None:
    """A state is never advanced by what was forgotten."""
    state = replay([KEPT], [TOMBSTONE])
    assert advance_state(state, learnings, events) is None
    assert advance_state(state, [learning("L3", "new")], [event("E9", "pinned", "L2")]) is not None
    assert advance_state(replay([GONE], []), [], [TOMBSTONE]) is None


def test_of_two_lines_of_one_event_the_redacted_one_counts() -> None:
    """A merge may bring back the one that told the text."""
    told, redacted = (event("E1", "flagged", "L2", reason="x", evidence=text) for text in ("a gone", REDACTED))
    for events in ([told, redacted], [redacted, told]):
        assert {"x": REDACTED} == replay([KEPT], events).standings["L2"].flags
