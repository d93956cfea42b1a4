"""Append-only files of lines: read whole, extended by one durable write (docs/architecture.md).

They lie in a project's tree, which may be somebody else's repository, so no link is followed.
"""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import NotDurable
from roamkb.core.startup.typing import BinaryIO
from roamkb.fs import untrusted_files
from roamkb.fs.files import as_disk_error
from roamkb.fs.files import content_digest
from roamkb.fs.files import disk_error
from roamkb.fs.files import error_reason
from roamkb.fs.files import is_missing
from roamkb.fs.files import swap_file
from roamkb.fs.files import sync_folder

#: The files of a project's log: what was said, its oldest lines, what happened to it.
KNOWLEDGE = "knowledge.jsonl"
ARCHIVE = "knowledge.archive.jsonl"
LEDGER = "ledger.jsonl"
#: No log of agents comes near; a larger one would fill the memory.
_MAX_FILE_BYTES = 1024**3
#: A save takes milliseconds; a file that is cut off for longer is being written to by something else.
_MAX_READ_ATTEMPTS = 4
_RETRY_PAUSE = 0.05
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_APPEND_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK


def read_bytes(path: Path) -> bytes:
    """Return the whole content of the file; empty bytes if it doesn't exist.

    Raises:
        DiskError: it is a link, no file, or can't be read.
    """
    for attempt in range(_MAX_READ_ATTEMPTS):
        if attempt:
            time.sleep(_RETRY_PAUSE)
        try:
            with open_regular_file(path) as file:
                size = os.fstat(file.fileno()).st_size
                data = file.read(size)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise disk_error(path, error) from error
        # what others add meanwhile is for the next look; only what was cut off was rewritten
        if len(data) == size:
            return data
    raise DiskError(path, "is being written to")


class OpenedBytes:
    """The bytes of a file as it was when it was opened, read as they are wanted."""

    def __init__(self, path: Path, status: os.stat_result) -> None:
        self.path = path
        self.stat = _stat_values(status)

    def __len__(self) -> int:
        return self.stat[0]

    def __getitem__(self, part: slice) -> bytes:
        """Return some of the bytes; a `DiskError` says that the file was cut off, or another is in its place."""
        start, end, _ = part.indices(len(self))
        with as_disk_error(self.path), open_regular_file(self.path) as file:
            is_same = _stat_values(os.fstat(file.fileno()))[1:3] == self.stat[1:3]
            file.seek(start)
            data = file.read(max(end - start, 0)) if is_same else b""
        if not is_same or len(data) < end - start:
            raise DiskError(self.path, "is being written to")
        return data

    def is_unchanged(self) -> bool:
        """Say whether the file's stat is what it was when it was opened."""
        return self.stat == path_stat(self.path)


def path_stat(path: Path) -> tuple[int, ...]:
    """Return what `OpenedBytes.stat` would be; empty where there is no file."""
    with contextlib.suppress(OSError):
        return _stat_values(path.lstat())
    return ()


def _stat_values(status: os.stat_result) -> tuple[int, ...]:
    return status.st_size, status.st_ino, status.st_dev, status.st_mtime_ns, status.st_ctime_ns


def open_bytes(path: Path) -> bytes | OpenedBytes:
    """Open the file for reading; empty bytes if it doesn't exist.

    Raises:
        DiskError: it is a link, no file, or can't be read.
    """
    try:
        with open_regular_file(path) as file:
            return OpenedBytes(path, os.fstat(file.fileno()))
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise disk_error(path, error) from error


@contextlib.contextmanager
def open_regular_file(path: Path) -> Iterator[BinaryIO]:
    """Open the regular file at `path` for reading; an `OSError` says why there is none.

    Raises:
        DiskError: it is a link, too large, or no file.
    """
    try:
        fd = untrusted_files.open_file(path, _READ_FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise DiskError(
                path, "is a link; roamkb follows none in a project's log", hint="put the file itself there"
            ) from error
        raise
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise DiskError(path, "isn't a regular file", hint="move away what stands there")
        if status.st_size > _MAX_FILE_BYTES:
            raise DiskError(path, f"is larger than {_MAX_FILE_BYTES:,} bytes")
        with os.fdopen(fd, "rb", closefd=False) as file:
            yield file
    finally:
        with contextlib.suppress(OSError):
            os.close(fd)


def read_lines(path: Path) -> Sequence[bytes]:
    """Return the file's lines, without their newlines."""
    return read_bytes(path).split(b"\n")


def stat_signature(path: Path) -> object:
    """Return a value that differs once the file was written to or replaced; None if it is missing."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def append_lines(path: Path, lines: Sequence[bytes], *, mode: int = 0o644, is_durable: bool = True) -> None:
    """Append `lines`, which hold no newlines, by one write; the caller holds the lock.

    Unless `is_durable`, nobody waits for the disk, and a power cut may take them. A torn tail is closed
    first, so that nothing is glued to it.

    Raises:
        DiskError: nothing was added, or a torn line that readers skip. NotDurable: all is
        there, and the disk would not promise to keep it.
    """
    is_new = is_missing(path)
    with as_disk_error(path):
        fd = untrusted_files.open_file(path, _APPEND_FLAGS, mode)
    try:
        with as_disk_error(path):
            _write_lines(fd, lines, path)
        try:
            if is_durable:
                os.fsync(fd)
            if is_durable and is_new:
                sync_folder(path.parent)
        except OSError as error:
            raise NotDurable(path, error_reason(error)) from error
    finally:
        # after fsync there is nothing left that close could fail to write
        with contextlib.suppress(OSError):
            os.close(fd)


def replace_content(path: Path, change: Callable[[bytes], bytes]) -> bool:
    """Replace the file by what `change` makes of its bytes; return whether it differs. The caller holds the lock.

    Raises:
        DiskError, ChangedOnDisk, OSError: it is as it was. NotDurable: it was replaced.
    """
    with open_regular_file(path) as file:
        data = file.read()
        changed = change(data)
        if changed == data:
            return False
        swap_file(path, changed, expected_digest=content_digest(data), lock=contextlib.nullcontext())
        # a program that knows no lock of ours may have added to the file that is gone
        if late_lines := file.read().removesuffix(b"\n"):
            append_lines(path, late_lines.split(b"\n"))
    return True


def _write_lines(fd: int, lines: Sequence[bytes], path: Path) -> None:
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        raise DiskError(path, "isn't a regular file")
    is_torn = status.st_size > 0 and os.pread(fd, 1, status.st_size - 1) != b"\n"
    data = (b"\n" if is_torn else b"") + b"".join(line + b"\n" for line in lines)
    if status.st_size + len(data) > _MAX_FILE_BYTES:
        raise DiskError(
            path,
            f"would be larger than {_MAX_FILE_BYTES:,} bytes, which nobody could read again",
            hint="nothing was added; say less",
        )
    if os.write(fd, data) != len(data):
        # what is there stays: the next write closes the torn line, and readers skip it
        raise DiskError(path, "took only a part of the line", hint="free some space and say it again")
