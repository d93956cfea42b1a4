"""Watches on folders, by which Linux tells what changed in them (owns inotify-simple).

An event is in the queue before the call that caused it returns (inotify(7)). So a reader that empties the
queue itself misses nothing that was done before it began; libraries that read it in a thread of their own,
such as watchdog and watchfiles, can't promise that.
"""

import os
import stat
from typing import Final

from inotify_simple import INotify
from inotify_simple import flags

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


def link_target(place: str) -> tuple[str, tuple[int, int, int] | None]:
    """Return what the link at `place` leads to: the real path, and kind, device and inode of what is there."""
    real = os.path.realpath(place)
    try:
        status = os.stat(place)  # noqa: PTH116 - asked of each link at each query
    except OSError:
        return real, None
    return real, (stat.S_IFMT(status.st_mode), status.st_dev, status.st_ino)
