"""Nobody waits for a service that is away, and one process at a time is at work."""

import json
import time
from pathlib import Path

from roamkb.log.share.store.launch import drop_backoff
from roamkb.log.share.store.launch import is_at_work
from roamkb.log.share.store.launch import keep_backoff
from roamkb.log.share.store.launch import read_backoff
from roamkb.log.share.store.launch import sync_soon
from roamkb.log.share.store.launch import worker_lock
from tests.conftest import World
from tests.conftest import adopt


def test_each_failure_doubles_the_time_until_the_next_attempt(tmp_path: Path) -> None:
    """Up to five minutes, until the service answers."""
    seconds = [keep_backoff(tmp_path, "the service is away") for _ in range(9)]
    assert seconds == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    until, failures, why = read_backoff(tmp_path)
    assert (until > time.time(), failures, why) == (True, 9, "the service is away")
    drop_backoff(tmp_path)
    assert read_backoff(tmp_path) == (0, 0, "")


def test_a_clock_that_was_put_back_keeps_nobody_away(tmp_path: Path) -> None:
    """Nor does a file that holds something else."""
    (tmp_path / "away.json").write_text(json.dumps([time.time() + 86_400, 1, "tomorrow"]))
    assert read_backoff(tmp_path)[0] == 0
    (tmp_path / "away.json").write_text("[]")
    assert read_backoff(tmp_path) == (0, 0, "")


def test_one_process_at_a_time_is_at_work(tmp_path: Path) -> None:
    """The lock says so; where there is no place for it, nothing is started."""
    assert not is_at_work(tmp_path)
    with worker_lock(tmp_path) as is_free:
        assert is_free
        assert is_at_work(tmp_path)
    assert not is_at_work(tmp_path)
    assert is_at_work(tmp_path / "missing" / "folder")


def test_while_the_service_is_away_nothing_is_started(world: World) -> None:
    """Not even the folder's lock is looked at."""
    adopt(world)
    log = world.log()
    folder = log.local_folder / "share"
    folder.mkdir()
    keep_backoff(folder, "the service is away")
    sync_soon(log, world.state, patience=60)
    assert not (folder / "worker.lock").exists()
