"""Files in places that any command can write: opened, replaced and removed so that nothing put there leads elsewhere.

From a log's folder on no link is followed, nothing but a plain file is opened, and none is waited for. Elsewhere, as
in a home, a link is its owner's affair. Hooks need this at every step, so it imports nothing that takes time.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH118, PTH119, PTH120, PTH208

import contextlib
import errno
import os
import stat
import time

from roamkb import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    AnyPath = str | os.PathLike[str]

#: The name of a log's folder, which may be somebody else's repository.
_LOG_FOLDER = ".roamkb"
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_APPEND_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL
#: Of a file that hooks read whole.
_MAX_BYTES = 64 * 1024 * 1024


def open_folder(folder: "AnyPath", *, top: str = _LOG_FOLDER) -> int:
    """Return the descriptor of a folder.

    Raises:
        OSError: there is none, or a link leads on to it from the first folder called `top`.
    """
    outer, names = _split_path(os.fspath(folder), top)
    fd = os.open(outer, _FOLDER_FLAGS)
    for name in names:
        try:
            next_fd = os.open(name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=fd)
        except OSError as error:
            if _is_link(name, fd):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(folder)) from error
            raise
        finally:
            os.close(fd)
        fd = next_fd
    return fd


@contextlib.contextmanager
def _opened_folder(folder: "AnyPath", *, top: str = _LOG_FOLDER) -> "Iterator[int]":
    """Open a folder as `open_folder` does, and close it behind what is done in it."""
    fd = open_folder(folder, top=top)
    try:
        yield fd
    finally:
        os.close(fd)


def make_private_folder(folder: "AnyPath") -> None:
    """Make a folder in an existing one, unless it is there, for its owner alone.

    Raises:
        OSError: it can't be made, or is a link in a log's folder.
    """
    path = os.fspath(folder)
    try:
        with _opened_folder(path) as fd:
            if os.fstat(fd).st_mode & 0o077:
                os.fchmod(fd, 0o700)
    except FileNotFoundError:
        # another process may be faster
        with _opened_folder(os.path.dirname(path)) as fd, contextlib.suppress(FileExistsError):
            os.mkdir(os.path.basename(path), 0o700, dir_fd=fd)


def open_file(path: "AnyPath", flags: int = _READ_FLAGS, mode: int = 0o600, *, top: str = _LOG_FOLDER) -> int:
    """Return the descriptor of a file, as `os.open` does.

    Raises:
        OSError: it can't be opened; below a folder called `top` also where a link
            leads on to it, or it is no plain file.
    """
    text = os.fspath(path)
    if not _split_path(text, top)[1]:
        return os.open(text, flags | os.O_CLOEXEC, mode)
    folder, name = os.path.split(text)
    with _opened_folder(folder, top=top) as folder_fd:
        fd = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, mode, dir_fd=folder_fd)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "isn't a regular file", text)
    return fd


def read_file(path: "AnyPath", limit: int = _MAX_BYTES) -> bytes:
    """Return a plain file's bytes, of a longer one the first.

    Raises:
        OSError: it can't be read, or is something else.
    """
    fd = open_file(path)
    with open(fd, "rb") as file:  # noqa: PTH123 - it is a descriptor
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "isn't a regular file", os.fspath(path))
        return file.read(limit)


def append_file(path: "AnyPath", data: bytes, *, limit: int | None = None) -> None:
    """Add to a file by one write, for its owner alone; nothing where it has `limit` bytes.

    Raises:
        OSError: it can't be written.
    """
    fd = open_file(path, _APPEND_FLAGS)
    try:
        if limit is None or os.fstat(fd).st_size < limit:
            os.write(fd, data)
    finally:
        os.close(fd)


def replace_file(path: "AnyPath", data: bytes, *, is_durable: bool = False) -> None:
    """Put a whole file in the place of what has that name, for its owner alone; a link there is replaced itself.

    Raises:
        OSError: what was there is still there.
    """
    folder, name = os.path.split(os.fspath(path))
    temporary = f"{name}.{os.urandom(8).hex()}.tmp"
    with _opened_folder(folder) as folder_fd:
        fd = os.open(temporary, _CREATE_FLAGS | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder_fd)
        try:
            with open(fd, "wb") as file:  # noqa: PTH123 - it is a descriptor
                file.write(data)
                if is_durable:
                    file.flush()
                    os.fsync(fd)
            os.rename(temporary, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        except BaseException:
            os.unlink(temporary, dir_fd=folder_fd)
            raise
        if is_durable:
            os.fsync(folder_fd)


def touch_file(path: "AnyPath") -> None:
    """Give an existing file the present time.

    Raises:
        OSError: it has its old time.
    """
    fd = open_file(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        os.utime(fd)
    finally:
        os.close(fd)


def rename_file(path: "AnyPath", name: str) -> None:
    """Give a file another name in its folder.

    Raises:
        OSError: it can't be had.
    """
    folder, old_name = os.path.split(os.fspath(path))
    with _opened_folder(folder) as folder_fd:
        os.rename(old_name, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)


def remove_file(path: "AnyPath") -> None:
    """Remove a name that may be missing.

    Raises:
        OSError: it is still there.
    """
    folder, name = os.path.split(os.fspath(path))
    with contextlib.suppress(FileNotFoundError), _opened_folder(folder) as folder_fd:
        os.unlink(name, dir_fd=folder_fd)


def remove_folder(folder: "AnyPath") -> None:
    """Remove an empty folder.

    Raises:
        OSError: it is still there.
    """
    outer, name = os.path.split(os.fspath(folder))
    with _opened_folder(outer) as outer_fd:
        os.rmdir(name, dir_fd=outer_fd)


def list_files(folder: "AnyPath") -> "Iterator[tuple[str, os.stat_result]]":
    """Yield the names and stats of the plain files of a folder; none where there is no folder.

    Raises:
        OSError: it can't be listed.
    """
    # the folder, or a file that is removed meanwhile
    with contextlib.suppress(FileNotFoundError), _opened_folder(folder) as folder_fd:
        for name in os.listdir(folder_fd):
            with contextlib.suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield name, status


def remove_old_files(folder: "AnyPath", seconds: float) -> None:
    """Remove the plain files of a folder that weren't written to for so long.

    Raises:
        OSError: one of them is still there.
    """
    for name, status in list(list_files(folder)):
        if time.time() - status.st_mtime > seconds:
            remove_file(os.path.join(folder, name))


def _split_path(path: str, top: str) -> tuple[str, list[str]]:
    """Return the part of a path before the first folder called `top`, and the names from there on: none without one."""
    start = f"/{path}/".find(f"/{top}/")
    if start < 0:
        return path, []
    outer = path[: start - 1] or "/" if start else os.curdir
    return outer, [name for name in path[start:].split("/") if name]


def _is_link(name: str, folder_fd: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode)
    except OSError:
        return False
