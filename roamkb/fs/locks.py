"""What roamkb keeps for itself: locks, the trash, caches; never in the knowledge base.

None of it is truth. The two folders are passed in, and what belongs to one knowledge base
goes by its real path, so that a link to it shares its locks.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.errors import Busy
from roamkb.core.errors import DiskError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import sha256
from roamkb.fs.files import disk_error
from roamkb.fs.files import make_folder
from roamkb.fs.user_dirs import JOURNAL

#: A write holds the lock for some milliseconds; whoever holds it for seconds is stuck.
WAIT = 5.0
#: Of the state folder; the trash holds notes.
LOCKS, SHOWN, SNAPSHOTS, TRASH = "locks", "shown", "snapshots", "trash"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFolders:
    """The user's state folder and cache folder, as far as they are roamkb's."""

    state: Path
    cache: Path

    def lock_file(self, kb: Path) -> Path:
        """Return the file that stands for leave to change `kb`.

        Raises:
            DiskError: it would lie in `kb` itself.
        """
        path = self.state / LOCKS / f"{_key(kb)}.lock"
        if _lies_in(path.parent, kb):
            raise DiskError(
                path,
                "roamkb's own files may not lie in the knowledge base",
                hint="XDG_STATE_HOME, or a link in its place, leads there: name another folder",
            )
        return path

    def trash_folder(self, kb: Path) -> Path:
        """Return the folder that holds what was taken out of `kb`."""
        return self.state / TRASH / _key(kb)

    def snapshot_folder(self, kb: Path) -> Path | None:
        """Return the folder for snapshots of what agents wrote to `kb`; None where that would be in `kb`."""
        folder = self.state / SNAPSHOTS / _key(kb)
        return None if _lies_in(folder, kb) else folder

    def journal_folder(self, kb: Path) -> Path | None:
        """Return the folder for the journal of `kb`; None where that would be in `kb`."""
        folder = self.state / JOURNAL / _key(kb)
        return None if _lies_in(folder, kb) else folder

    def shown_folder(self, kb: Path) -> Path | None:
        """Return the folder for what sessions were shown of `kb`; None where that would be in `kb`."""
        folder = self.state / SHOWN / _key(kb)
        return None if _lies_in(folder, kb) else folder

    def cache_folder(self, kb: Path) -> Path | None:
        """Return the folder for what a rescan of `kb` could rebuild; None where that would be in `kb`."""
        folder = self.cache / _key(kb)
        return None if _lies_in(folder, kb) else folder


def _lies_in(folder: Path, kb: Path) -> bool:
    """Say whether `folder` is or would be at or below `kb`, links followed and whatever its names' case."""
    # unlike `resolve`, realpath never fails
    real, root = Path(os.path.realpath(folder)), Path(os.path.realpath(kb))
    return any(place == root or _is_same(place, root) for place in (real, *real.parents))


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def private_folder(folder: Path) -> Path:
    """Return `folder`, made if need be, for its owner alone."""
    make_folder(folder, mode=0o700)
    try:
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise disk_error(folder, error) from error
    return folder


@contextlib.contextmanager
def lock(path: Path, *, wait: float = WAIT) -> Iterator[None]:
    """Hold the lock file `path`, or raise `Busy` after `wait` seconds.

    The lock is this process's descriptor: it ends with the process, and a second one in
    the same process waits like anybody else.
    """
    private_folder(path.parent)
    try:
        fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise disk_error(path, error) from error
    try:
        _wait_for(fd, path, wait)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.close(fd)


def _wait_for(fd: int, path: Path, wait: float) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        if wait <= 0:
            raise Busy(path) from error
    except OSError as error:
        raise disk_error(path, error) from error
    else:
        return
    _queue_for(fd, path, wait)


def _queue_for(fd: int, path: Path, wait: float) -> None:
    """Wait in the system's own queue: who only asks now and then is passed by all who ask just then."""
    import threading  # most locks are free

    own = os.dup(fd)
    ended = threading.Event()
    failed: list[OSError] = []

    def queue() -> None:
        try:
            fcntl.flock(own, fcntl.LOCK_EX)
        except OSError as error:
            failed.append(error)
        ended.set()
        # the lock ends with the last of its descriptors: with this one where nobody waits any more
        with contextlib.suppress(OSError):
            os.close(own)

    # a daemon, since nothing can call it back from the queue
    threading.Thread(target=queue, daemon=True).start()
    if not ended.wait(wait):
        raise Busy(path)
    if failed:
        raise disk_error(path, failed[0]) from failed[0]


def _key(kb: Path) -> str:
    """Return a name for `kb` that a link to it shares."""
    return sha256(os.fsencode(os.path.realpath(kb))).hexdigest()[:16]
