"""Files of lines that only grow: read as they are, added to by one durable write (design section 13).

They lie in a project's tree, which may be somebody else's repository, so no link is followed.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import NotDurable
from roamkb.core.model import Unreadable
from roamkb.storage.disk import Missing
from roamkb.storage.disk import disk_error
from roamkb.storage.disk import read_file
from roamkb.storage.disk import sync_folder
from roamkb.storage.disk import why

#: No log of agents comes near; a larger one would fill the memory.
_MOST_BYTES = 1024**3
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_bytes(path: Path) -> bytes:
    """Return the whole file; nothing where there is none.

    Raises:
        DiskError: it is a link, no file, or can't be read.
    """
    if path.is_symlink():
        raise DiskError(
            path, "is a link; roamkb follows none in a project's log", hint="put the file itself there"
        )
    found = read_file(path, limit=_MOST_BYTES)
    if isinstance(found, Missing):
        return b""
    if isinstance(found, Unreadable):
        raise DiskError(path, found.reason)
    return found


def read_lines(path: Path) -> Sequence[bytes]:
    """Return the file's lines, without their newlines."""
    return read_bytes(path).split(b"\n")


def append_lines(path: Path, lines: Sequence[bytes], *, mode: int = 0o644) -> None:
    """Add `lines`, which hold no newlines, by one write; who calls holds the lock.

    A torn tail is closed first, so that nothing is glued to it.

    Raises:
        DiskError: nothing was added, or a torn line that readers skip. NotDurable: all is
        there, and the disk would not promise to keep it.
    """
    is_new = not path.exists()
    try:
        fd = os.open(path, _FLAGS, mode)
    except OSError as error:
        raise disk_error(path, error) from error
    try:
        try:
            _write(fd, lines, path)
        except OSError as error:
            raise disk_error(path, error) from error
        try:
            os.fsync(fd)
            if is_new:
                sync_folder(path.parent)
        except OSError as error:
            raise NotDurable(path, why(error)) from error
    finally:
        os.close(fd)


def _write(fd: int, lines: Sequence[bytes], path: Path) -> None:
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        raise DiskError(path, "isn't a regular file")
    torn = status.st_size > 0 and os.pread(fd, 1, status.st_size - 1) != b"\n"
    data = (b"\n" if torn else b"") + b"".join(line + b"\n" for line in lines)
    if os.write(fd, data) != len(data):
        # what is there stays: the next write closes the torn line, and readers skip it
        raise DiskError(path, "took only a part of the line", hint="free some space and say it again")
