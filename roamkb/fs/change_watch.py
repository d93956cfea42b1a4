"""Watches on folders, by which Linux tells what changed in them (owns inotify-simple).

An event is in the queue before the call that caused it returns (inotify(7)). So a reader that empties the
queue itself misses nothing that was done before it began; libraries that read it in a thread of their own,
such as watchdog and watchfiles, can't promise that.
"""

import os
import stat
from pathlib import Path
from typing import Final

from inotify_simple import INotify
from inotify_simple import flags

from roamkb.fs.mounts import parse_mounts
from roamkb.fs.mounts import path_below

#: Whatever changes a file's content, name or rights; a mapping of its memory tells when it is closed.
_EVENTS: Final = (
    flags.CREATE
    | flags.DELETE
    | flags.MOVED_FROM
    | flags.MOVED_TO
    | flags.MODIFY
    | flags.CLOSE_WRITE
    | flags.ATTRIB
    | flags.DELETE_SELF
    | flags.MOVE_SELF
    | flags.ONLYDIR
)
#: After one of these, what changed isn't known; in a folder that changed, other folders may be new.
_UNCLEAR: Final = flags.Q_OVERFLOW | flags.UNMOUNT | flags.IGNORED | flags.DELETE_SELF | flags.MOVE_SELF | flags.ISDIR
#: File systems that only this kernel writes to, so that it knows of every change.
_LOCAL: Final = frozenset("bcachefs btrfs ext2 ext3 ext4 f2fs jfs reiserfs tmpfs xfs zfs".split())
#: They have other device numbers than the mount table says.
_WITH_SUBVOLUMES: Final = frozenset(("bcachefs", "btrfs"))


class FolderWatch:
    """One queue of the kernel's, and the folders that it tells of."""

    def __init__(self) -> None:
        """Open the queue; raise `OSError` where the user has as many as are allowed."""
        self._queue = INotify(nonblocking=True)

    def add_folder(self, place: str) -> int:
        """Watch the folder at `place`; return its number, the same for the same folder.

        Raises:
            OSError: it isn't there or can't be read, or there are as many watches as are allowed.
        """
        return int(self._queue.add_watch(place, _EVENTS))

    def read_changes(self) -> "set[tuple[int, str]] | None":
        """Return the changes before this call, as folders' numbers and file names; None where all may differ."""
        # all that is in the queue now: writers that go on don't hold this up
        events = self._queue.read(timeout=0)
        if any(event.mask & _UNCLEAR or not event.name for event in events):
            return None
        return {(event.wd, event.name) for event in events}

    def close(self) -> None:
        """Close the queue."""
        self._queue.close()


class MountedFolder:
    """The folder that a path names, and the mounts by which it does: another one has other events."""

    __slots__ = ("_identity", "_mounts", "_real")

    def __init__(self, folder: Path) -> None:
        """Read them; raise `OSError` where the folder or the mount table can't be read."""
        table = Path("/proc/self/mountinfo").read_bytes()
        self._real = real = os.path.realpath(folder)
        # what is mounted elsewhere changes nothing here
        self._mounts = [
            mount
            for mount in parse_mounts(table)
            if path_below(real, mount.point) is not None or path_below(mount.point, real)
        ]
        places = [(mount.number, mount.device, mount.inside, mount.point) for mount in self._mounts]
        status = folder.stat()
        self._identity = (real, status.st_dev, status.st_ino, places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MountedFolder) and self._identity == other._identity

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_local(self) -> bool:
        """Whether the kernel hears of all changes in the folder: one file system, which others can't change."""
        if not self._mounts or any(path_below(mount.point, self._real) for mount in self._mounts):
            return False
        # of the same point the last one shows
        mount = max(enumerate(self._mounts), key=lambda place: (len(place[1].point), place[0]))[1]
        device = f"{os.major(self._identity[1])}:{os.minor(self._identity[1])}"
        return mount.file_system in _LOCAL and (mount.file_system in _WITH_SUBVOLUMES or mount.device == device)


def link_target(place: str) -> tuple[str, tuple[int, int, int] | None]:
    """Return what the link at `place` leads to: the real path, and kind, device and inode of what is there."""
    real = os.path.realpath(place)
    try:
        status = os.stat(place)  # noqa: PTH116 - asked of each link at each query
    except OSError:
        return real, None
    return real, (stat.S_IFMT(status.st_mode), status.st_dev, status.st_ino)
