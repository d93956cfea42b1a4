"""What a session's start looks after, with a clock of its own."""

from dataclasses import replace
from datetime import timedelta

from roamkb.actions.snapshot import SnapshotList
from roamkb.app.hooks import HookedSession
from tests.conftest import NOON
from tests.conftest import World


def snapshots(world: World) -> int:
    """How many snapshots of the log and of the notes there are."""
    found = world.open().log.snapshot("list")
    assert isinstance(found, SnapshotList)
    return len(found.snapshots)


def start(world: World, *, days: int) -> None:
    """Begin a session so many days after the first."""
    around = replace(world.open()._around, now=lambda: NOON + timedelta(days=days))
    payload = {"session_id": f"s-{days}", "cwd": str(world.personal), "hook_event_name": "SessionStart"}
    HookedSession(payload, around).start()


def test_the_days_snapshot_is_looked_after_once(world: World) -> None:
    """Where nothing is to be kept, all notes would be read at every start otherwise."""
    base = world.open()
    base.log.init()
    start(world, days=0)
    base.log.learn("Redis evicts sessions when maxmemory is reached")
    start(world, days=0)
    assert 0 == snapshots(world)
    start(world, days=1)
    assert 1 == snapshots(world)
