"""Primitives that open files: read whole, create once, change only what is still as it was read.

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
from roamkb.core.text import one_line
from roamkb.core.unreadable_file import UnreadableFile
from roamkb.fs import untrusted_files

#: Far above any note that a person wrote; a larger one would stop the search for all others.
READ_LIMIT = 8 * 1024 * 1024
#: Syncthing ignores this prefix on every machine, and sweeps such names after a day.
TEMPORARY_PREFIX = ".syncthing.roamkb-"

#: A save takes milliseconds; a file that moves for longer is being written to by something else.
_MAX_READ_ATTEMPTS = 4
_RETRY_PAUSE = 0.05
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
_REASONS_AND_HINTS = {
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
    errno.ELOOP: (
        "is a link, behind one that isn't followed, or its links go in a circle",
        "put the file itself there",
    ),
    errno.ENOLCK: ("the file system gives no locks", "keep the state folder on a local disk"),
}


class MissingFile(UnreadableFile):
    """A path at which there is no file now; a syncer may be replacing it."""


def error_reason(error: OSError) -> str:
    """Return the reason of `error` as a clause in plain words."""
    reason_and_hint = _REASONS_AND_HINTS.get(error.errno or 0)
    return reason_and_hint[0] if reason_and_hint else (error.strerror or str(error)).lower()


def disk_error(path: Path, error: OSError) -> DiskError:
    """Return `error` as a `DiskError` with a reason and a hint for the user."""
    reason_and_hint = _REASONS_AND_HINTS.get(error.errno or 0)
    kind = NotWritable if error.errno in _NOT_WRITABLE else DiskError
    return kind(path, error_reason(error), hint=reason_and_hint[1] if reason_and_hint else "")


@contextlib.contextmanager
def as_disk_error(path: Path) -> Iterator[None]:
    """Raise what the system reports of `path` as a `DiskError`."""
    try:
        yield
    except OSError as error:
        raise disk_error(path, error) from error


def content_digest(data: bytes) -> str:
    """Return the SHA-256 by which `swap_file` and `move_file` recognise a file's content."""
    import hashlib  # a hook that only reads has no time for it

    return hashlib.sha256(data).hexdigest()


def random_token() -> str:
    """Return random text that makes a temporary file's name unique."""
    return os.urandom(8).hex()


def read_file(path: Path, *, limit: int = READ_LIMIT, patience: float = 0.0) -> bytes | UnreadableFile:
    """Return the whole of a file as it was at one moment.

    A name may be gone or its file empty for some milliseconds while a syncer or an editor
    saves. Who knows that there was content gives `patience`, the seconds to look again
    before that is believed.
    """
    deadline = time.monotonic() + patience
    while True:
        content = _read_steady(path, limit)
        if (content and not isinstance(content, MissingFile)) or time.monotonic() >= deadline:
            return content
        time.sleep(_RETRY_PAUSE)


def _read_steady(path: Path, limit: int) -> bytes | UnreadableFile:
    try:
        for attempt in range(_MAX_READ_ATTEMPTS):
            if attempt:
                time.sleep(_RETRY_PAUSE)
            content = _read_once(path, limit)
            if content is not None:
                return content
    except (FileNotFoundError, NotADirectoryError):
        return MissingFile(path=path, reason="doesn't exist")
    except OSError as error:
        return UnreadableFile(path=path, reason=error_reason(error))
    except ValueError:
        return UnreadableFile(path=path, reason="no file can have that name")
    return UnreadableFile(path=path, reason="is being written to")


def _read_once(path: Path, limit: int) -> bytes | UnreadableFile | None:
    """Return None where the file changed while it was read."""
    # O_NONBLOCK: a FIFO without a writer would hold the search for ever
    fd = untrusted_files.open_file(path)
    try:
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            return UnreadableFile(path=path, reason="isn't a regular file")
        if before.st_size > limit:
            return UnreadableFile(path=path, reason=f"is larger than {limit:,} bytes")
        data = _read_all(fd, before.st_size)
        return (
            data if _stat_signature(os.fstat(fd)) == _stat_signature(before) and len(data) == before.st_size else None
        )
    finally:
        _close_quietly(fd)


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


def _stat_signature(status: os.stat_result) -> tuple[int, int, int, int]:
    """Return the values that differ in a file that was written or replaced; never "newer": clocks go back."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def create_file(
    folder: Path, name: str, data: bytes, *, mode: int = 0o644, token: Callable[[], str] = random_token
) -> Path:
    """Create a new, whole, durable file in `folder`; raise `NameTaken` rather than overwrite."""
    return create_unique(folder, (name,), data, mode=mode, token=token)


def create_unique(
    folder: Path,
    names: Iterable[str],
    data: bytes,
    *,
    mode: int = 0o644,
    token: Callable[[], str] = random_token,
    replaced_stat: os.stat_result | None = None,
) -> Path:
    """Create a file as `create_file` does, under the first of `names` that is free.

    It has the owner, as far as permitted, and the mode of `replaced_stat`, else `mode` less the umask.
    """
    names = [_require_file_name(folder, name) for name in names]
    with _open_folder(folder) as folder_fd:
        try:
            temporary = f"{TEMPORARY_PREFIX}{token()}.tmp"
            name = _place_file(folder_fd, names, data, mode=mode, temporary=temporary, replaced_stat=replaced_stat)
        except FileExistsError as error:
            raise NameTaken(folder / names[-1]) from error
        except OSError as error:
            raise disk_error(folder / names[0], error) from error
        _sync_folder(folder_fd, folder / name)
    return folder / name


def _place_file(
    folder_fd: int,
    names: list[str],
    data: bytes,
    *,
    mode: int,
    temporary: str,
    replaced_stat: os.stat_result | None,
) -> str:
    """Write `data` into the folder by the best way that it offers; return the name that it got."""
    try:
        return _place_unnamed(folder_fd, names, data, mode=mode, replaced_stat=replaced_stat)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_UNNAMED:
            raise
    with _written_beside(folder_fd, temporary, data, mode=mode, replaced_stat=replaced_stat):
        return _place_named(folder_fd, names, temporary)


def _place_unnamed(
    folder_fd: int, names: list[str], data: bytes, *, mode: int, replaced_stat: os.stat_result | None
) -> str:
    """Write an unnamed file and give it its first name when it is whole."""
    tmpfile_flag = getattr(os, "O_TMPFILE", None)
    if tmpfile_flag is None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    fd = os.open(".", tmpfile_flag | os.O_WRONLY | os.O_CLOEXEC, mode, dir_fd=folder_fd)
    try:
        if replaced_stat is not None:
            _copy_ownership(fd, replaced_stat)
        _write_all(fd, data)
        # dst_dir_fd makes Python call linkat; link(2) would link the /proc entry itself
        return _claim_first_free(
            names,
            lambda name: os.link(f"/proc/self/fd/{fd}", name, dst_dir_fd=folder_fd, follow_symlinks=True),
        )
    finally:
        _close_quietly(fd)


def _place_named(folder_fd: int, names: list[str], temporary: str) -> str:
    """Link or rename a whole file from a temporary name, which no reader and no syncer takes."""
    try:
        return _claim_first_free(
            names, lambda name: os.link(temporary, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        )
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    return _claim_first_free(names, lambda name: _rename_exclusive(folder_fd, temporary, name))


def _claim_first_free(names: list[str], claim_name: Callable[[str], None]) -> str:
    for name in names[:-1]:
        with contextlib.suppress(FileExistsError):
            claim_name(name)
            return name
    claim_name(names[-1])
    return names[-1]


def _rename_exclusive(folder_fd: int, old_name: str, new_name: str) -> None:
    """Rename within a folder, failing where `new_name` exists; plain rename(2) would replace it."""
    import ctypes  # needed on few file systems, and slow to load

    libc = ctypes.CDLL(None, use_errno=True)
    function_name, flag = ("renameatx_np", 4) if sys.platform == "darwin" else ("renameat2", 1)
    rename = getattr(libc, function_name, None)
    error_number = errno.ENOSYS
    if rename is not None and rename(folder_fd, os.fsencode(old_name), folder_fd, os.fsencode(new_name), flag) == 0:
        return
    if rename is not None:
        error_number = ctypes.get_errno()
    if error_number in _NO_EXCLUSIVE_RENAME:
        raise OSError(error_number, "this file system can neither link nor rename without replacing")
    raise OSError(error_number, os.strerror(error_number), new_name)


def swap_file(
    path: Path,
    data: bytes,
    *,
    expected_digest: str,
    lock: AbstractContextManager[object],
    token: Callable[[], str] = random_token,
) -> None:
    """Replace the content of `path` if its SHA-256 is still `expected_digest`, or raise `ChangedOnDisk`.

    `lock` keeps other roamkbs away; against Emacs and syncers only the comparisons help.
    """
    with lock, _open_folder(path.parent) as folder_fd:
        with as_disk_error(path):
            stat_before = _require_digest(folder_fd, path, expected_digest)
            with _written_beside(
                folder_fd, f"{TEMPORARY_PREFIX}{token()}.tmp", data, replaced_stat=stat_before
            ) as temporary_name:
                _require_untouched(folder_fd, path, stat_before)
                os.rename(temporary_name, path.name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        _sync_folder(folder_fd, path)


def write_private_file(path: Path, data: bytes) -> None:
    """Replace the whole file by `data`, readable by its owner alone; a link in its place is replaced itself.

    Raises:
        DiskError: it can't be written, or lies behind a link in a log's folder.
    """
    with as_disk_error(path):
        untrusted_files.replace_file(path, data, is_durable=True)


def move_file(path: Path, target: Path, *, expected_digest: str, lock: AbstractContextManager[object]) -> None:
    """Move the file `path`, whose SHA-256 is still `expected_digest`, to `target`, with its mode, on any file system.

    The copy is durable before the original goes, so that a crash leaves two and never none.
    """
    with lock, _open_folder(path.parent) as folder_fd:
        with as_disk_error(path):
            stat_before = _require_digest(folder_fd, path, expected_digest)
            copy = _copy_durably(folder_fd, path, target, expected_digest=expected_digest, stat_before=stat_before)
            try:
                _require_untouched(folder_fd, path, stat_before)
                os.unlink(path.name, dir_fd=folder_fd)
            except (OSError, ChangedOnDisk):
                if _exists_in_folder(folder_fd, path.name):
                    discard_file(copy)
                raise
        _sync_folder(folder_fd, target, f"{path.name} may come back in its old place: ")


def remove_file(path: Path, *, expected_digest: str, lock: AbstractContextManager[object]) -> None:
    """Delete the file `path` if its SHA-256 is still `expected_digest`, or raise `ChangedOnDisk`."""
    with lock, _open_folder(path.parent) as folder_fd:
        with as_disk_error(path):
            stat_before = _require_digest(folder_fd, path, expected_digest)
            _require_untouched(folder_fd, path, stat_before)
            os.unlink(path.name, dir_fd=folder_fd)
        _sync_folder(folder_fd, path, "it may come back: ")


def _copy_durably(
    folder_fd: int, path: Path, target: Path, *, expected_digest: str, stat_before: os.stat_result
) -> Path:
    """Copy the content with the SHA-256 `expected_digest` to `target` durably, with its mode; return `target`."""
    data = _read_in_folder(folder_fd, path)
    if content_digest(data) != expected_digest:
        raise ChangedOnDisk(path)
    try:
        copy = create_unique(target.parent, (target.name,), data, replaced_stat=stat_before)
    except NotDurable as error:
        discard_file(target)
        raise DiskError(target, "the disk would not promise to keep the copy; nothing was moved") from error
    if read_file(copy, limit=len(data)) != data:
        discard_file(copy)
        raise DiskError(target, "the disk gave back something else than was written", hint="check the disk")
    return copy


def make_folder(folder: Path, *, mode: int = 0o777) -> Path:
    """Return `folder`, durable on the disk; create it and its missing parents."""
    missing = []
    ancestor = folder
    while is_missing(ancestor):
        missing.append(ancestor)
        ancestor = ancestor.parent
    for ancestor in reversed(missing):
        with _open_folder(ancestor.parent) as folder_fd, as_disk_error(ancestor):
            with contextlib.suppress(FileExistsError):
                os.mkdir(ancestor.name, mode, dir_fd=folder_fd)
            # what is kept in a folder is only as durable as the folder's own name
            _sync_to_disk(folder_fd)
    return folder


def sync_folder(folder: Path) -> None:
    """Wait until the names that are in `folder` are on the disk."""
    with _open_folder(folder) as folder_fd:
        _sync_to_disk(folder_fd)


def is_missing(path: Path) -> bool:
    """Say whether it is certain that no file has that path."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def discard_file(leftover: Path) -> None:
    """Remove a file that isn't needed; a failure is ignored, since it is only in the way."""
    with contextlib.suppress(OSError):
        untrusted_files.remove_file(leftover)


def _require_digest(folder_fd: int, path: Path, expected_digest: str) -> os.stat_result:
    """Return the stat of `path` if its content still has the SHA-256 `expected_digest`, or raise."""
    require_no_unsaved_changes(path, folder_fd=folder_fd)
    try:
        status = os.stat(path.name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError as error:
        raise ChangedOnDisk(path, "is gone") from error
    if not stat.S_ISREG(status.st_mode):
        raise DiskError(path, "isn't a regular file; roamkb changes no links", hint="name the file itself")
    if content_digest(_read_in_folder(folder_fd, path)) != expected_digest:
        raise ChangedOnDisk(path)
    return status


def _require_untouched(folder_fd: int, path: Path, stat_before: os.stat_result) -> None:
    """Raise `ChangedOnDisk` if the file differs from `stat_before`; called as late as can be."""
    try:
        stat_now = os.stat(path.name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError as error:
        raise ChangedOnDisk(path, "is gone") from error
    if _stat_signature(stat_now) != _stat_signature(stat_before):
        raise ChangedOnDisk(path)
    require_no_unsaved_changes(path, folder_fd=folder_fd)


def _read_in_folder(folder_fd: int, path: Path) -> bytes:
    fd = os.open(path.name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder_fd)
    try:
        return _read_all(fd, os.fstat(fd).st_size)
    finally:
        _close_quietly(fd)


def require_no_unsaved_changes(path: Path, *, folder_fd: int | None = None) -> None:
    """Raise `ChangedOnDisk` where Emacs, here or on another machine, has unsaved changes to a file.

    They show in its lock, and where that is turned off in an auto-save file that is newer.
    """
    folder = path.parent if folder_fd is None else Path()
    lock, saved = path.with_name(f".#{path.name}"), path.with_name(f"#{path.name}#")
    try:
        # where a disk has no links, the lock is a file
        holder = os.readlink(folder / lock.name, dir_fd=folder_fd)
    except FileNotFoundError:
        if _is_newer(folder / saved.name, folder / path.name, folder_fd):
            why = f"has unsaved changes in Emacs' auto-save file {one_line(saved.name)}"
            hint = "M-x recover-this-file in Emacs, or delete that file"
            raise ChangedOnDisk(path, why, hint=hint) from None
        return
    except OSError:
        holder = ""
    who = f" ({one_line(holder)})" if holder else ""
    raise ChangedOnDisk(
        path,
        f"is open with unsaved changes in Emacs{who}, or was, if that crashed",
        hint=f"save it there; if it is open nowhere, delete {one_line(str(lock))}",
    )


def _is_newer(path: Path, other: Path, folder_fd: int | None) -> bool:
    try:
        first, second = (os.stat(name, dir_fd=folder_fd, follow_symlinks=False) for name in (path, other))
    except FileNotFoundError:
        return False
    return first.st_mtime_ns > second.st_mtime_ns


def _exists_in_folder(folder_fd: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


@contextlib.contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    """Open `folder` and give its descriptor, which stays valid when the folder is renamed."""
    with as_disk_error(folder):
        folder_fd = untrusted_files.open_folder(folder)
    try:
        yield folder_fd
    finally:
        _close_quietly(folder_fd)


@contextlib.contextmanager
def _written_beside(
    folder_fd: int, temporary: str, data: bytes, *, mode: int = 0o600, replaced_stat: os.stat_result | None = None
) -> Iterator[str]:
    """Give the name of a whole, durable file in the folder `at`; remove that name afterwards."""
    flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC
    fd = os.open(temporary, flags, mode, dir_fd=folder_fd)
    try:
        try:
            if replaced_stat is not None:
                _copy_ownership(fd, replaced_stat)
            _write_all(fd, data)
        finally:
            _close_quietly(fd)
        yield temporary
    finally:
        # renamed: gone already; not removable: no reader takes it, and doctor sweeps it
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder_fd)


def _copy_ownership(fd: int, replaced_stat: os.stat_result) -> None:
    """Give the new file the owner, as far as permitted, and the mode of the replaced one."""
    new_stat = os.fstat(fd)
    if (new_stat.st_uid, new_stat.st_gid) != (replaced_stat.st_uid, replaced_stat.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(fd, replaced_stat.st_uid, replaced_stat.st_gid)
    # after the owner, whose change would take bits away; whatever the umask is
    os.fchmod(fd, stat.S_IMODE(replaced_stat.st_mode))


def _write_all(fd: int, data: bytes) -> None:
    unwritten = memoryview(data)
    while unwritten:
        unwritten = unwritten[os.write(fd, unwritten) :]
    _sync_to_disk(fd)


def _sync_folder(folder_fd: int, path: Path, risk: str = "") -> None:
    """Sync the folder of `path`, or raise `NotDurable` with what may happen."""
    try:
        _sync_to_disk(folder_fd)
    except OSError as error:
        # a second fsync may say "fine" and mean nothing, so there is none
        raise NotDurable(path, f"{risk}{error_reason(error)}") from error


def _sync_to_disk(fd: int) -> None:
    """Wait until the file's data is on the disk."""
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


def _close_quietly(fd: int) -> None:
    """Close `fd`; after fsync there is nothing left that close could fail to write."""
    with contextlib.suppress(OSError):
        os.close(fd)


def _require_file_name(folder: Path, name: str) -> str:
    """Return `name` if it is a plain file name that can be encoded; else raise `DiskError`."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        is_name = False
    else:
        is_name = not ("/" in name or "\0" in name or name in ("", ".", ".."))
    if not is_name:
        raise DiskError(folder / name.replace("\0", "?"), "isn't the name of a file")
    return name
