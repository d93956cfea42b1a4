"""What an agent brought about can be taken back, and that as well."""

import pytest

from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.log.jsonl import event_line
from roamkb.log.state.learning_state import LedgerEvent
from tests.conftest import World

KEY = "fact-zebras-are-striped"


@pytest.fixture
def log(world: World) -> World:
    """A log with a learning that was said twice."""
    world.open().log.init()
    world.open().log.learn("Zebras are striped", type="fact", session="one")
    world.open().log.learn("Zebras are striped", type="fact", session="two")
    return world


def test_a_repetition_that_was_none_is_taken_back_and_counts_again(log: World) -> None:
    """The ledger keeps every line; a second call writes nothing."""
    [event] = log.log().read_contents().events
    undone = log.open().log.undo(event.id.lower())
    assert undone.standing
    assert (True, 1, 70) == (undone.is_new, undone.standing.occurrences, undone.standing.confidence)
    once = log.log().ledger.read_bytes()
    assert not log.open().log.undo(event.id).is_new
    assert once == log.log().ledger.read_bytes()
    redone = log.open().log.undo(log.log().read_contents().events[-1].id)
    assert redone.standing
    assert (2, 75) == (redone.standing.occurrences, redone.standing.confidence)
    assert 3 == len(log.log().read_contents().events)


@pytest.mark.parametrize(
    "name", ["judged", "curated", "overridden", "approved", "rejected", "applied", "rolled_back", "promoted"]
)
def test_what_has_its_own_way_back_stays(name: str, log: World) -> None:
    """A human's word above all."""
    id = "01ZZZZZZZZZZZZZZZZZZZZZZZZ"
    with log.log().ledger.open("ab") as file:
        file.write(event_line(LedgerEvent(id=id, ts=1.0, event=name, of=KEY)) + b"\n")
    before = log.log().ledger.read_bytes()
    with pytest.raises(UsageError, match="isn't taken back so"):
        log.open().log.undo(id)
    assert before == log.log().ledger.read_bytes()


def test_an_event_has_to_be_there(log: World) -> None:
    """`explain` tells their ids."""
    with pytest.raises(NotFound):
        log.open().log.undo("01JXE5QK7M0000000000000000")
    [event] = log.log().read_contents().events
    assert f"id: {event.id}" in log.run("explain", KEY).out


def test_an_attempt_and_a_task_that_never_were_are_gone(log: World) -> None:
    """Though they are about no learning."""
    kb = log.open().log
    kb.remedy("record", error="KeyError: 'x'", technique="ask for it", outcome="success")
    kb.task("start", "t-1", title="Do it")
    for event in log.log().read_contents().events[-2:]:
        assert kb.undo(event.id).standing is None
    assert not log.open().log.remedy("suggest", error="KeyError: 'x'").remedies  # type: ignore[union-attr]
    assert not log.open().log.task("list").tasks
