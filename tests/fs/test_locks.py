"""Locks and folders that are roamkb's own."""

import multiprocessing
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from roamkb.core.errors import Busy
from roamkb.core.errors import DiskError
from roamkb.fs.locks import StateFolders
from roamkb.fs.locks import hold_lock
from roamkb.fs.locks import make_private_folder


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    """Who comes second hears that it is busy, after a bounded wait."""
    path = tmp_path / "state" / "kb.lock"
    with hold_lock(path), pytest.raises(Busy, match="held by another roamkb"), hold_lock(path, wait=0.2):
        pytest.fail("held twice")
    # who gave up may still stand in the queue for a moment
    with hold_lock(path):
        pass


def test_who_waits_gets_his_turn(tmp_path: Path) -> None:
    """However soon the holder wants it again."""
    path = tmp_path / "kb.lock"
    turns = 0
    is_served = threading.Event()

    def take_again_and_again() -> None:
        nonlocal turns
        while turns < 1000 and not is_served.is_set():
            with hold_lock(path):
                turns += 1
                time.sleep(0.002)

    greedy = threading.Thread(target=take_again_and_again)
    greedy.start()
    try:
        for _ in range(20):
            with hold_lock(path, wait=threading.TIMEOUT_MAX):
                assert turns < 1000
    finally:
        is_served.set()
        greedy.join()


def test_who_gave_up_waiting_doesnt_hold_it_later(tmp_path: Path) -> None:
    """Whoever comes after the holder finds it free."""
    path = tmp_path / "kb.lock"
    with hold_lock(path):
        for _ in range(5):
            with pytest.raises(Busy), hold_lock(path, wait=0.05):
                pytest.fail("held twice")
    with hold_lock(path, wait=threading.TIMEOUT_MAX):
        pass


def test_a_lock_ends_with_its_holder(tmp_path: Path) -> None:
    """A process that was killed holds nothing."""
    path = tmp_path / "kb.lock"
    fork = multiprocessing.get_context("fork")
    held = fork.Event()

    def hold() -> None:
        with hold_lock(path):
            held.set()
            signal.pause()

    holder = fork.Process(target=hold)
    holder.start()
    held.wait()
    with pytest.raises(Busy), hold_lock(path, wait=0):
        pytest.fail("held twice")
    holder.kill()
    holder.join()
    with hold_lock(path, wait=0):
        pass


def test_a_lock_ends_with_an_error_too(tmp_path: Path) -> None:
    """What fails inside lets go."""
    with pytest.raises(ZeroDivisionError), hold_lock(tmp_path / "kb.lock"):
        raise ZeroDivisionError
    with hold_lock(tmp_path / "kb.lock", wait=0):
        pass


def test_who_waits_comes_in_turn(tmp_path: Path) -> None:
    """Eight processes that count under the lock count exactly."""
    counter = tmp_path / "count"
    counter.write_text("0")

    def count() -> None:
        for _ in range(20):
            with hold_lock(tmp_path / "kb.lock", wait=threading.TIMEOUT_MAX):
                counter.write_text(str(int(counter.read_text()) + 1))

    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=count) for _ in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert counter.read_text() == "160"


def test_a_link_in_the_locks_place_isnt_followed(tmp_path: Path) -> None:
    """Nobody makes us create a file somewhere else."""
    (tmp_path / "kb.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DiskError), hold_lock(tmp_path / "kb.lock"):
        pytest.fail("held a link")
    assert not (tmp_path / "elsewhere").exists()


def test_a_lock_is_its_owners_alone(tmp_path: Path) -> None:
    """Whatever the umask: nobody else could hold it up for ever."""
    before = os.umask(0)
    try:
        with hold_lock(tmp_path / "lock"):
            assert 0o600 == (tmp_path / "lock").stat().st_mode & 0o777
    finally:
        os.umask(before)


def test_folders_are_private(tmp_path: Path) -> None:
    """Made for the owner alone, and made so where they are there."""
    os.umask(0o022)
    assert make_private_folder(tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    for mode in (0o755, 0o655, 0o701):
        folder = tmp_path / f"open-{mode}"
        folder.mkdir()
        folder.chmod(mode)
        assert make_private_folder(folder).stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(DiskError, match="isn't a folder"):
        make_private_folder(tmp_path / "file" / "x")


def test_a_base_has_one_state_however_it_is_called(tmp_path: Path) -> None:
    """A link to it shares its lock and its trash; another base has its own."""
    state = StateFolders(state=tmp_path / "state", cache=tmp_path / "cache")
    (tmp_path / "kb").mkdir()
    (tmp_path / "link").symlink_to("kb")
    assert state.lock_file(tmp_path / "kb") == state.lock_file(tmp_path / "link")
    assert state.trash_folder(tmp_path / "kb") == state.trash_folder(tmp_path / "link")
    cache = state.cache_folder(tmp_path / "kb")
    assert cache is not None
    assert cache.parent == tmp_path / "cache"
    assert state.lock_file(tmp_path / "kb") != state.lock_file(tmp_path / "other")


@pytest.mark.parametrize("way", ["kb", "kb/below", "kb/no/such/folder", "link", "link/below"])
def test_nothing_of_ours_lies_in_the_knowledge_base(tmp_path: Path, way: str) -> None:
    """However its folder is named: no place for an index, and an error for a lock."""
    kb = tmp_path / "kb"
    (kb / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to("kb")
    state = StateFolders(state=tmp_path / way, cache=tmp_path / way)
    assert state.cache_folder(kb) is None
    assert state.snapshot_folder(kb) is None
    assert state.journal_folder(kb) is None
    assert state.shown_folder(kb) is None
    with pytest.raises(DiskError, match="may not lie in the knowledge base"):
        state.lock_file(kb)
    beside = StateFolders(state=tmp_path / "kb-state", cache=tmp_path / "kb-cache")
    assert beside.cache_folder(kb)
    assert beside.snapshot_folder(kb)
    assert beside.journal_folder(kb)
    assert beside.shown_folder(kb)
    assert beside.lock_file(kb)


def test_another_mount_of_the_knowledge_base_is_the_knowledge_base(tmp_path: Path) -> None:
    """Its path says nothing of it; the folder itself does."""
    kb, mount = tmp_path / "kb", tmp_path / "mount"
    kb.mkdir()
    mount.mkdir()
    if subprocess.run(["mount", "--bind", kb, mount], capture_output=True, check=False).returncode:
        pytest.skip("A BIND MOUNT WAS NOT TESTED: it needs root")
    try:
        state = StateFolders(state=mount / "state", cache=mount / "cache")
        assert state.cache_folder(kb) is None
        with pytest.raises(DiskError, match="may not lie in the knowledge base"):
            state.lock_file(kb)
    finally:
        subprocess.run(["umount", mount], check=True)


def test_a_link_to_the_knowledge_base_in_the_place_of_one_folder(tmp_path: Path) -> None:
    """Also the last folder of the way may be the link."""
    kb = tmp_path / "kb"
    kb.mkdir()
    state = StateFolders(state=tmp_path / "state", cache=tmp_path / "cache")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "locks").symlink_to(kb)
    (tmp_path / "cache").symlink_to(kb)
    assert state.cache_folder(kb) is None
    with pytest.raises(DiskError):
        state.lock_file(kb)
