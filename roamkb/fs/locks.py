"""State and cache folders of roamkb: locks, the trash, caches; never in the knowledge base.

None of it is truth. The two folders are passed in, and what belongs to one knowledge base
goes by its real path, so that a link to it shares its locks.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.errors import Busy
from roamkb.core.errors import DiskError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import sha256
from roamkb.fs import untrusted_files
from roamkb.fs.files import as_disk_error
from roamkb.fs.files import disk_error
from roamkb.fs.files import make_folder
from roamkb.fs.user_dirs import JOURNAL

#: A write holds the lock for some milliseconds; whoever holds it for seconds is stuck.
DEFAULT_WAIT = 5.0
#: Of the state folder; the trash holds notes.
LOCKS, SHOWN, SNAPSHOTS, TRASH, UNLOGGED = "locks", "shown", "snapshots", "trash", "unlogged"
#: What `setup` made, in the state folder as well.
SETUP_RECEIPT = "setup.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFolders:
    """The user's state folder and cache folder for roamkb."""

    state: Path
    cache: Path

    def lock_file(self, kb: Path) -> Path:
        """Return the lock file that guards changes to `kb`.

        Raises:
            DiskError: it would lie in `kb` itself.
        """
        path = self.state / LOCKS / f"{_kb_key(kb)}.lock"
        if _lies_in(path.parent, kb):
            raise DiskError(
                path,
                "roamkb's own files may not lie in the knowledge base",
                hint="XDG_STATE_HOME, or a link in its place, leads there: name another folder",
            )
        return path

    def new_note_lock(self, kb: Path) -> Path:
        """Return the lock file that guards the look for near duplicates in `kb` until the new note is there.

        Raises:
            DiskError: it would lie in `kb` itself.
        """
        return self.lock_file(kb).with_suffix(".new")

    def require_apart(self, kbs: Sequence[Path]) -> None:
        """Raise `DiskError` where the state folder lies in one of `kbs`, or what is kept of one in another."""
        for kb in kbs:
            self.lock_file(kb)
            if len(kbs) > 1 and _lies_in(self.cache, kb):
                raise DiskError(
                    self.cache,
                    f"the index of one knowledge base may not lie in another, {kb}",
                    hint="XDG_STATE_HOME, or a link in its place, leads there: name another folder",
                )

    def trash_folder(self, kb: Path) -> Path:
        """Return the folder that holds the notes trashed from `kb`."""
        return self.state / TRASH / _kb_key(kb)

    def snapshot_folder(self, kb: Path) -> Path | None:
        """Return the folder for snapshots of what agents wrote to `kb`; None where that would be in `kb`."""
        return _folder_apart(self.state / SNAPSHOTS, kb)

    def journal_folder(self, kb: Path) -> Path | None:
        """Return the folder for the journal of `kb`; None where that would be in `kb`."""
        return _folder_apart(self.state / JOURNAL, kb)

    def shown_folder(self, kb: Path) -> Path | None:
        """Return the folder that records which notes of `kb` each session saw; None if inside `kb`."""
        return _folder_apart(self.state / SHOWN, kb)

    def unlogged_folder(self, root: Path) -> Path:
        """Return the folder for what a person set for the project at `root` while it had no log."""
        return self.state / UNLOGGED / _kb_key(root)

    def cache_folder(self, kb: Path) -> Path | None:
        """Return the folder for data that a rescan of `kb` rebuilds; None where that is in `kb`."""
        return _folder_apart(self.cache, kb)


def _folder_apart(parent: Path, kb: Path) -> Path | None:
    """Return what is kept of `kb` in a folder; None where that would be in `kb`."""
    folder = parent / _kb_key(kb)
    return None if _lies_in(folder, kb) else folder


def _lies_in(folder: Path, kb: Path) -> bool:
    """Say whether `folder` is or would be at or below `kb`, links followed and whatever its names' case."""
    # unlike `resolve`, realpath never fails
    real, root = Path(os.path.realpath(folder)), Path(os.path.realpath(kb))
    return any(place == root or _is_same_file(place, root) for place in (real, *real.parents))


def _is_same_file(path: Path, other_path: Path) -> bool:
    try:
        return path.samefile(other_path)
    except OSError:
        return False


def make_private_folder(folder: Path) -> Path:
    """Return `folder`, created if need be, accessible to its owner alone."""
    make_folder(folder, mode=0o700)
    with as_disk_error(folder):
        untrusted_files.make_private_folder(folder)
    return folder


@contextlib.contextmanager
def hold_lock(path: Path, *, wait: float = DEFAULT_WAIT) -> Iterator[None]:
    """Hold the lock file `path`, or raise `Busy` after `wait` seconds.

    The lock is this process's descriptor: it ends with the process, and a second one in
    the same process waits like anybody else.
    """
    make_private_folder(path.parent)
    with as_disk_error(path):
        fd = untrusted_files.open_file(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW)
    try:
        _acquire_lock(fd, path, wait)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.close(fd)


def _acquire_lock(fd: int, path: Path, wait: float) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        if wait <= 0:
            raise Busy(path) from error
    except OSError as error:
        raise disk_error(path, error) from error
    else:
        return
    _acquire_in_queue(fd, path, wait)


def _acquire_in_queue(fd: int, path: Path, wait: float) -> None:
    """Wait for the lock in the system's own queue: a poller is overtaken by callers that queue."""
    import threading  # most locks are free

    queue_fd = os.dup(fd)
    is_ended = threading.Event()
    failures: list[OSError] = []

    def acquire_lock() -> None:
        try:
            fcntl.flock(queue_fd, fcntl.LOCK_EX)
        except OSError as error:
            failures.append(error)
        is_ended.set()
        # the lock ends with the last of its descriptors: with this one where nobody waits any more
        with contextlib.suppress(OSError):
            os.close(queue_fd)

    # a daemon, since nothing can call it back from the queue
    threading.Thread(target=acquire_lock, daemon=True).start()
    if not is_ended.wait(wait):
        raise Busy(path)
    if failures:
        raise disk_error(path, failures[0]) from failures[0]


def _kb_key(kb: Path) -> str:
    """Return a name for `kb` that a link to it shares."""
    return sha256(os.fsencode(os.path.realpath(kb))).hexdigest()[:16]
