"""Rows of the cache give back what was put into them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.model import ProjectKind
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.replay import replay
from roamkb.log.state.state_rows import event_row
from roamkb.log.state.state_rows import read_events
from roamkb.log.state.state_rows import read_standings
from roamkb.log.state.state_rows import standing_row
from tests.log.test_jsonl import JSON
from tests.log.test_jsonl import LEARNINGS

ANY = st.text(st.characters(), max_size=8)
EVENTS = st.builds(
    LedgerEvent,
    id=ANY.filter(bool),
    ts=st.integers(0, 10**10) | st.floats(0, 1e10),
    event=st.sampled_from(["repeated", "reused", "curated", "flagged", "preferred", "validated", "task"]),
    of=st.just("L"),
    agent=ANY,
    session=ANY,
    task=ANY,
    fields=st.dictionaries(ANY, JSON, max_size=3)
    | st.just({"preference": "prefers", "merged_from": ["a", "b"], "learnings": ["L"], "reason": "stale"}),
)


@given(said=LEARNINGS, happened=st.lists(EVENTS, max_size=4))
def test_a_standing_comes_back_as_it_was(said: Learning, happened: list[LedgerEvent]) -> None:
    """Whatever happened to it, halves of characters that stand beside each other among it."""
    standings = [*replay([replace(said, id="L")], happened).standings.values()] * 2
    assert standings == read_standings(map(standing_row, standings))
    assert happened == read_events(map(event_row, happened))


def test_halves_that_make_a_character_stay_halves() -> None:
    """As the log's line has them."""
    event = LedgerEvent(id="\ud83d", ts=1, event="\ud83d\ude00", fields={"\ud83d": "\ud83d\ude00"})
    assert [event] == read_events([event_row(event)])
    assert 2 == len(read_events([event_row(event)])[0].event)


@pytest.mark.parametrize("kind", [None, *ProjectKind])
def test_kinds_are_kinds(kind: ProjectKind | None) -> None:
    """And none is none."""
    learning = Learning(id="L", key="k", type="fact", content="x", kind=kind)
    (standing,) = read_standings([standing_row(replay([learning], ()).standings["L"])])
    assert standing.learning.kind is kind


@pytest.mark.parametrize("row", [b"{", b"1", b"[]", b"[[1],false]", b"\xff", b"[" * 100_000])
def test_what_is_no_row_is_not_read(row: bytes) -> None:
    """By errors that a reader of the cache expects."""
    with pytest.raises((ValueError, TypeError, RecursionError)):
        read_standings([row])
    with pytest.raises((ValueError, TypeError, RecursionError)):
        read_events([row])
