"""Nobody waits for a service that is away, and one process at a time is at work."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from roamkb.log.share.store.progress import touch_progress
from roamkb.log.store.share_process import drop_backoff
from roamkb.log.store.share_process import is_at_work
from roamkb.log.store.share_process import keep_backoff
from roamkb.log.store.share_process import read_backoff
from roamkb.log.store.share_process import sync_soon
from roamkb.log.store.share_process import worker_lock
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


def test_who_waited_in_vain_waits_again_once_the_service_was_heard_of(world: World) -> None:
    """A network that drops what is sent says nothing, and each command would wait as long as it may."""
    adopt(world)
    log = world.log()
    folder = log.local_folder / "share"
    folder.mkdir()
    vain = folder / "unheard"
    sync_soon(log, world.state, patience=0.05)
    assert vain.exists()
    os.utime(vain, (time.time() - 20,) * 2)
    waited = vain.stat().st_mtime
    sync_soon(log, world.state, patience=0.05)
    assert waited == vain.stat().st_mtime
    # it answered since then, and no more
    (folder / "progress.json").write_text("{}")
    os.utime(folder / "progress.json", (time.time() - 10,) * 2)
    sync_soon(log, world.state, patience=0.05)
    assert waited < vain.stat().st_mtime


def test_where_nothing_is_shared_nothing_of_it_is_imported(world: World) -> None:
    """Neither by a command that writes nor by one that asks; the same file, once it is there, starts a process."""
    adopt(world)
    code = (
        "import sys; from roamkb import KnowledgeBase; log = KnowledgeBase.open().log; log.learn('x is y'); "
        "log.recall('x'); print([name for name in sys.modules if 'share.' in name or 'psycopg' in name])"
    )
    environment = {**world.environment(), "PWD": str(world.personal)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=world.personal, env=environment, capture_output=True, check=True, text=True
    )
    assert "[]\n" == done.stdout


def test_behind_the_wall_nothing_is_started(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record of what came is closed there, and who asks doesn't wait for it; hooks run beside the wall."""
    adopt(world)
    log = world.log()
    monkeypatch.setenv("ROAMKB_BROKER", "/run/broker")
    sync_soon(log, world.state, patience=60)
    assert not (log.local_folder / "share").exists()


def test_no_link_is_followed_where_an_agents_commands_may_write(tmp_path: Path) -> None:
    """Who is at work runs beside their wall: a link there would have it write to any file, a pipe would stop it."""
    note = tmp_path / "note.org"
    note.write_text("mine")
    (tmp_path / "away.json").symlink_to(note)
    keep_backoff(tmp_path, "the service is away")
    (tmp_path / "progress.json").symlink_to(note)
    before = note.stat().st_mtime_ns
    touch_progress(tmp_path)
    assert (note.read_text(), note.stat().st_mtime_ns) == ("mine", before)
    (tmp_path / "away.json").unlink()
    os.mkfifo(tmp_path / "away.json")
    assert read_backoff(tmp_path) == (0, 0, "")
