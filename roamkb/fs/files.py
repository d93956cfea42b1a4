"""Every file is opened here: read whole, created once, changed only while it is what was read.

A new file has no name until all its bytes are on the disk, and nothing says "done" before
the folder is, too (docs/architecture.md). Readers and syncers never see a part of a note.
"""

import contextlib
import errno
import fcntl
import os
import stat
import sys
import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.errors import NotDurable
from roamkb.core.errors import NotWritable
from roamkb.core.unreadable_file import UnreadableFile

#: Far above any note that a person wrote; a larger one would stop the search for all others.
READ_LIMIT = 8 * 1024 * 1024
#: Syncthing ignores this prefix on every machine, and sweeps such names after a day.
TEMPORARY = ".syncthing.roamkb-"

#: A save takes milliseconds; a file that moves for longer is being written to by something else.
_LOOKS = 4
_PAUSE = 0.05
#: What says "no unnamed files here", from their opening to their naming through /proc.
_NO_UNNAMED = {
    errno.EOPNOTSUPP,
    errno.EISDIR,
    errno.ENOENT,
    errno.EINVAL,
    errno.EPERM,
    errno.EXDEV,
    errno.ENOSYS,
    # an agent's sandbox may forbid the way through /proc and nothing else
    errno.EACCES,
}
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
_NO_EXCLUSIVE_RENAME = {errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS, errno.EPERM}

_NOT_WRITABLE = {errno.EROFS, errno.EACCES, errno.EPERM}
_SANDBOX = (
    "by an agent's sandbox, perhaps: roamkb's MCP tools run outside of it, and so do commands such as "
    "`roamkb write` that keep the environment they were given"
)
_WHY = {
    errno.ENOSPC: ("the disk is full", "free some space and try again"),
    errno.EDQUOT: ("the disk quota is used up", "free some space and try again"),
    errno.EFBIG: ("the file would be larger than is allowed here", "look at `ulimit -f`"),
    errno.EROFS: ("the file system is read-only", f"{_SANDBOX}; else mount it for writing"),
    errno.EACCES: ("permission denied", f"see who owns it and what its mode is; or it is {_SANDBOX}"),
    errno.EPERM: (
        "the system doesn't permit it",
        f"see who owns it and what its mode is; or it is {_SANDBOX}",
    ),
    errno.EIO: ("the disk reports an input/output error", "check the disk before writing again"),
    errno.EMFILE: ("too many files are open", "try again in a moment"),
    errno.ENFILE: ("too many files are open", "try again in a moment"),
    errno.ENOENT: ("doesn't exist", ""),
    errno.ENOTDIR: ("isn't a folder", ""),
    errno.ENAMETOOLONG: ("its name is too long for the system", ""),
    errno.ELOOP: ("its links go in a circle", ""),
    errno.ENOLCK: ("the file system gives no locks", "keep the state folder on a local disk"),
}


class MissingFile(UnreadableFile):
    """Nothing goes by that path now; a syncer may be replacing it."""


def why(error: OSError) -> str:
    """Return the reason of `error` as a clause in plain words."""
    known = _WHY.get(error.errno or 0)
    return known[0] if known else (error.strerror or str(error)).lower()


def disk_error(path: Path, error: OSError) -> DiskError:
    """Return `error` as what the user reads."""
    known = _WHY.get(error.errno or 0)
    kind = NotWritable if error.errno in _NOT_WRITABLE else DiskError
    return kind(path, why(error), hint=known[1] if known else "")


def digest(data: bytes) -> str:
    """Return the SHA-256 by which `swap` and `move` know a file again."""
    import hashlib  # a hook that only reads has no time for it

    return hashlib.sha256(data).hexdigest()


def random_token() -> str:
    """Return a part of a temporary name that nobody else comes up with."""
    return os.urandom(8).hex()


def read_file(path: Path, *, limit: int = READ_LIMIT, patience: float = 0.0) -> bytes | UnreadableFile:
    """Return the whole of a file as it was at one moment.

    A name may be gone or its file empty for some milliseconds while a syncer or an editor
    saves. Who knows that there was content gives `patience`, the seconds to look again
    before that is believed.
    """
    deadline = time.monotonic() + patience
    while True:
        found = _read_steady(path, limit)
        if (found and not isinstance(found, MissingFile)) or time.monotonic() >= deadline:
            return found
        time.sleep(_PAUSE)


def _read_steady(path: Path, limit: int) -> bytes | UnreadableFile:
    try:
        for look in range(_LOOKS):
            if look:
                time.sleep(_PAUSE)
            found = _read_once(path, limit)
            if found is not None:
                return found
    except (FileNotFoundError, NotADirectoryError):
        return MissingFile(path=path, reason="doesn't exist")
    except OSError as error:
        return UnreadableFile(path=path, reason=why(error))
    except ValueError:
        return UnreadableFile(path=path, reason="no file can have that name")
    return UnreadableFile(path=path, reason="is being written to")


def _read_once(path: Path, limit: int) -> bytes | UnreadableFile | None:
    """Return None where the file changed while it was read."""
    # O_NONBLOCK: a FIFO without a writer would hold the search for ever
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            return UnreadableFile(path=path, reason="isn't a regular file")
        if before.st_size > limit:
            return UnreadableFile(path=path, reason=f"is larger than {limit:,} bytes")
        data = _read_all(fd, before.st_size)
        return data if _stamp(os.fstat(fd)) == _stamp(before) and len(data) == before.st_size else None
    finally:
        _close(fd)


def _read_all(fd: int, size: int) -> bytes:
    """Return the `size` bytes that there should be, and one more where the file grew."""
    data = os.read(fd, size + 1)
    while 0 < len(data) < size:
        # a short read isn't the end, an empty one is
        more = os.read(fd, size + 1 - len(data))
        if not more:
            break
        data += more
    return data


def _stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    """Return what is different in a file that was written or replaced; never "newer": clocks go back."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def create(
    folder: Path, name: str, data: bytes, *, mode: int = 0o644, token: Callable[[], str] = random_token
) -> Path:
    """Put a new, whole, durable file into `folder`; raise `NameTaken` rather than overwrite."""
    return create_unique(folder, (name,), data, mode=mode, token=token)


def create_unique(
    folder: Path,
    names: Iterable[str],
    data: bytes,
    *,
    mode: int = 0o644,
    token: Callable[[], str] = random_token,
) -> Path:
    """Create a file as `create` does, under the first of `names` that is free."""
    names = [_plain(folder, name) for name in names]
    with _opened(folder) as at:
        try:
            name = _put(at, names, data, mode=mode, temporary=f"{TEMPORARY}{token()}.tmp")
        except FileExistsError as error:
            raise NameTaken(folder / names[-1]) from error
        except OSError as error:
            raise disk_error(folder / names[0], error) from error
        try:
            _sync(at)
        except OSError as error:
            # a second fsync may say "fine" and mean nothing, so there is none
            raise NotDurable(folder / name, why(error)) from error
    return folder / name


def _put(at: int, names: list[str], data: bytes, *, mode: int, temporary: str) -> str:
    """Return the name that `data` got in the folder `at`, by the best way that it offers."""
    try:
        return _put_unnamed(at, names, data, mode)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_UNNAMED:
            raise
    return _put_named(at, names, data, mode=mode, temporary=temporary)


def _put_unnamed(at: int, names: list[str], data: bytes, mode: int) -> str:
    """Give a file without a name its first one when it is whole."""
    unnamed = getattr(os, "O_TMPFILE", None)
    if unnamed is None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    fd = os.open(".", unnamed | os.O_WRONLY | os.O_CLOEXEC, mode, dir_fd=at)
    try:
        _write(fd, data)
        # dst_dir_fd makes Python call linkat; link(2) would link the /proc entry itself
        return _first_free(
            names,
            lambda name: os.link(f"/proc/self/fd/{fd}", name, dst_dir_fd=at, follow_symlinks=True),
        )
    finally:
        _close(fd)


def _put_named(at: int, names: list[str], data: bytes, *, mode: int, temporary: str) -> str:
    """Write beside, under a name that no reader and no syncer takes, then name it."""
    with _written_beside(at, temporary, data, mode=mode):
        try:
            return _first_free(names, lambda name: os.link(temporary, name, src_dir_fd=at, dst_dir_fd=at))
        except FileExistsError:
            raise
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
        return _first_free(names, lambda name: _rename_exclusive(at, temporary, name))


def _first_free(names: list[str], give: Callable[[str], None]) -> str:
    for name in names[:-1]:
        with contextlib.suppress(FileExistsError):
            give(name)
            return name
    give(names[-1])
    return names[-1]


def _rename_exclusive(at: int, old: str, new: str) -> None:
    """Rename within the folder `at`, failing where `new` exists; plain rename(2) would replace it."""
    import ctypes  # needed on few file systems, and slow to load

    libc = ctypes.CDLL(None, use_errno=True)
    call, flag = ("renameatx_np", 4) if sys.platform == "darwin" else ("renameat2", 1)
    rename = getattr(libc, call, None)
    number = errno.ENOSYS
    if rename is not None and rename(at, os.fsencode(old), at, os.fsencode(new), flag) == 0:
        return
    if rename is not None:
        number = ctypes.get_errno()
    if number in _NO_EXCLUSIVE_RENAME:
        raise OSError(number, "this file system can neither link nor rename without replacing")
    raise OSError(number, os.strerror(number), new)


def swap(
    path: Path,
    data: bytes,
    *,
    was: str,
    lock: AbstractContextManager[object],
    token: Callable[[], str] = random_token,
) -> None:
    """Replace the content of `path`, whose SHA-256 is still `was`, or raise `ChangedOnDisk`.

    `lock` keeps other roamkbs away; against Emacs and syncers only the comparisons help.
    """
    with lock, _opened(path.parent) as at:
        try:
            seen = _same_as_read(at, path, was)
            with _written_beside(at, f"{TEMPORARY}{token()}.tmp", data, like=seen) as beside:
                _require_untouched(at, path, seen)
                os.rename(beside, path.name, src_dir_fd=at, dst_dir_fd=at)
        except OSError as error:
            raise disk_error(path, error) from error
        try:
            _sync(at)
        except OSError as error:
            raise NotDurable(path, why(error)) from error


def move(path: Path, to: Path, *, was: str, lock: AbstractContextManager[object]) -> None:
    """Take the file `path`, whose SHA-256 is still `was`, to the new path `to`, on any file system.

    The copy is durable before the original goes, so that a crash leaves two and never none.
    """
    with lock, _opened(path.parent) as at:
        try:
            seen = _same_as_read(at, path, was)
            copy = _copy(at, path, to, was=was, mode=stat.S_IMODE(seen.st_mode))
            try:
                _require_untouched(at, path, seen)
                os.unlink(path.name, dir_fd=at)
            except (OSError, ChangedOnDisk):
                if _exists(at, path.name):
                    discard(copy)
                raise
        except OSError as error:
            raise disk_error(path, error) from error
        try:
            _sync(at)
        except OSError as error:
            raise NotDurable(to, f"{path.name} may come back in its old place: {why(error)}") from error


def remove(path: Path, *, was: str, lock: AbstractContextManager[object]) -> None:
    """Take the file `path`, whose SHA-256 is still `was`, away for good, or raise `ChangedOnDisk`."""
    with lock, _opened(path.parent) as at:
        try:
            seen = _same_as_read(at, path, was)
            _require_untouched(at, path, seen)
            os.unlink(path.name, dir_fd=at)
        except OSError as error:
            raise disk_error(path, error) from error
        try:
            _sync(at)
        except OSError as error:
            raise NotDurable(path, f"it may come back: {why(error)}") from error


def _copy(at: int, path: Path, to: Path, *, was: str, mode: int) -> Path:
    """Return `to` when it durably holds what has the SHA-256 `was`."""
    data = _content(at, path)
    if digest(data) != was:
        raise ChangedOnDisk(path)
    try:
        copy = create(to.parent, to.name, data, mode=mode)
    except NotDurable as error:
        discard(to)
        raise DiskError(to, "the disk would not promise to keep the copy; nothing was moved") from error
    if read_file(copy, limit=len(data)) != data:
        discard(copy)
        raise DiskError(to, "the disk gave back something else than was written", hint="check the disk")
    return copy


def make_folder(folder: Path, *, mode: int = 0o777) -> Path:
    """Return `folder`, durably there, made with its parents where they are missing."""
    missing = []
    place = folder
    while is_missing(place):
        missing.append(place)
        place = place.parent
    for place in reversed(missing):
        with _opened(place.parent) as at:
            try:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(place.name, mode, dir_fd=at)
                # what is kept in a folder is only as durable as the folder's own name
                _sync(at)
            except OSError as error:
                raise disk_error(place, error) from error
    return folder


def sync_folder(folder: Path) -> None:
    """Return when the disk has the names that are in `folder`."""
    with _opened(folder) as at:
        _sync(at)


def is_missing(path: Path) -> bool:
    """Say whether it is certain that nothing goes by that path."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def discard(leftover: Path) -> None:
    """Remove what isn't needed; where that fails it is only in the way."""
    with contextlib.suppress(OSError):
        leftover.unlink()


def _same_as_read(at: int, path: Path, was: str) -> os.stat_result:
    """Return the stat of `path` while its content still has the SHA-256 `was`."""
    if _is_held(at, path.name):
        raise ChangedOnDisk(path, "is open with unsaved changes in Emacs (or was, if that crashed)")
    try:
        seen = os.stat(path.name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError as error:
        raise ChangedOnDisk(path, "is gone") from error
    if not stat.S_ISREG(seen.st_mode):
        raise DiskError(path, "isn't a regular file; roamkb changes no links", hint="name the file itself")
    if digest(_content(at, path)) != was:
        raise ChangedOnDisk(path)
    return seen


def _require_untouched(at: int, path: Path, seen: os.stat_result) -> None:
    """Look once more, as late as can be."""
    try:
        now = os.stat(path.name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError as error:
        raise ChangedOnDisk(path, "is gone") from error
    if _stamp(now) != _stamp(seen) or _is_held(at, path.name):
        raise ChangedOnDisk(path)


def _content(at: int, path: Path) -> bytes:
    fd = os.open(path.name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    try:
        return _read_all(fd, os.fstat(fd).st_size)
    finally:
        _close(fd)


def _is_held(at: int, name: str) -> bool:
    """Say whether Emacs, here or on another machine, holds unsaved changes to `name`."""
    return _exists(at, f".#{name}")


def _exists(at: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """Give a descriptor of `folder`: what happens next happens there, wherever its name goes."""
    try:
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise disk_error(folder, error) from error
    try:
        yield at
    finally:
        _close(at)


@contextlib.contextmanager
def _written_beside(
    at: int, temporary: str, data: bytes, *, mode: int = 0o600, like: os.stat_result | None = None
) -> Iterator[str]:
    """Give the name of a whole, durable file in the folder `at`; remove that name afterwards."""
    flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC
    fd = os.open(temporary, flags, mode, dir_fd=at)
    try:
        try:
            if like is not None:
                _dress(fd, like)
            _write(fd, data)
        finally:
            _close(fd)
        yield temporary
    finally:
        # renamed: gone already; not removable: no reader takes it, and doctor sweeps it
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=at)


def _dress(fd: int, like: os.stat_result) -> None:
    """Give the new file the owner, as far as we may, and the mode of the one that it replaces."""
    own = os.fstat(fd)
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(fd, like.st_uid, like.st_gid)
    # after the owner, whose change would take bits away; whatever the umask is
    os.fchmod(fd, stat.S_IMODE(like.st_mode))


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    _sync(fd)


def _sync(fd: int) -> None:
    """Return when the disk has it."""
    if sys.platform == "darwin":
        # fsync(2) there leaves it in the drive's cache; some file systems know nothing better
        try:
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        except OSError as error:
            if error.errno not in (errno.ENOTSUP, errno.EINVAL, errno.ENOTTY):
                raise
        else:
            return
    os.fsync(fd)


def _close(fd: int) -> None:
    """Close `fd`; after fsync there is nothing left that close could fail to write."""
    with contextlib.suppress(OSError):
        os.close(fd)


def _plain(folder: Path, name: str) -> str:
    """Return `name` where it is one, and can be written."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        is_name = False
    else:
        is_name = not ("/" in name or "\0" in name or name in ("", ".", ".."))
    if not is_name:
        raise DiskError(folder / name.replace("\0", "?"), "isn't the name of a file")
    return name
