"""Files of calls that wait for a hook outside of their sandbox, one each.

They are put into the local state of a project's log. The folder lies in the project, so whatever runs on this
machine may have put anything into it: no link is followed on the way, nothing but plain files of our names is
read, and nothing else is ever removed. What a session is known to have called is moved to the state folder,
which no command behind a wall can write.
"""

import contextlib
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.boundary.store.session_cache import SPOOL_FOLDER
from roamkb.boundary.store.session_cache import confirmed_calls
from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs import untrusted_files
from roamkb.fs.files import TEMPORARY_PREFIX
from roamkb.fs.files import content_digest
from roamkb.fs.files import create_file
from roamkb.fs.files import disk_error
from roamkb.fs.locks import make_private_folder
from roamkb.spool.call import SpooledCall
from roamkb.spool.call import parse_spooled
from roamkb.spool.call import render_spooled

#: Of one call, and of all that may wait: more is no work of an agent's between two hooks.
MAX_CALL_BYTES: Final = 256 * 1024
MAX_CALLS: Final = 32
#: Files that a hook looks at.
_MAX_FILES_SEEN: Final = 1000
#: How a file's name ends once somebody has begun to carry it out.
BEGUN_SUFFIX: Final = ".begun"
_CALL_FILE_NAME: Final = lazily(rf"[0-9a-f]{{32}}(?:\.json|{re.escape(BEGUN_SUFFIX)})")
#: Seconds after which a file without its name was left behind.
_LEFTOVER_AGE: Final = 60
#: Seconds: what a command printed only one hook hears, and another that has the folder is soon done.
_LOCK_TIMEOUT: Final = 1.0
_LOCK_PAUSE: Final = 0.01
_FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FULL_HINT: Final = "roamkb's MCP tools do it at once; or let a hook carry out what waits first"


def spool_call(local: Path, call: SpooledCall) -> tuple[Path, SpooledCall]:
    """Save a call until a hook carries it out; return its path, and the same call if it waits already.

    Raises:
        DiskError: it is too large, too many wait, or the disk doesn't keep it.
    """
    folder = make_private_folder(local / SPOOL_FOLDER)
    name = call_file_name(call)
    data = render_spooled(call)
    if len(data) > MAX_CALL_BYTES:
        raise DiskError(folder, f"a call of more than {MAX_CALL_BYTES:,} bytes can't wait", hint=_FULL_HINT)
    try:
        if sum(1 for _ in folder.iterdir()) >= MAX_CALLS:
            raise DiskError(folder, f"{MAX_CALLS} calls wait already", hint=_FULL_HINT)
        return create_file(folder, name, data, mode=0o600), call
    except NameTaken:
        waiting_call = parse_spooled(untrusted_files.read_file(folder / name, MAX_CALL_BYTES + 1))
        return folder / name, waiting_call or call
    except OSError as error:
        raise disk_error(folder, error) from error


def call_file_name(call: SpooledCall) -> str:
    """Return the name of a call's file, derived from its content: the same call has the same name."""
    key = repr((call.verb, sorted(call.values.items()), call.folder, call.project, call.session))
    return f"{content_digest(key.encode('utf-8', 'surrogatepass'))[:32]}.json"


def save_confirmed(local: Path, state: Path, call: SpooledCall) -> None:
    """Save a call that its session certainly made.

    Raises:
        DiskError: the disk doesn't keep it.
    """
    folder = make_private_folder(Path(confirmed_calls(str(local), str(state))))
    with contextlib.suppress(NameTaken):
        create_file(folder, call_file_name(call), render_spooled(call), mode=0o600)


class CallSpool:
    """The waiting calls, locked by this process."""

    def __init__(self, folder_fd: int) -> None:
        """Take the descriptor of the folder."""
        self._at = folder_fd

    def list_names(self) -> list[str]:
        """Return the names of the files, the oldest first."""
        dated_names = []
        # a path would be looked up again
        for name in os.listdir(self._at)[:_MAX_FILES_SEEN]:  # noqa: PTH208
            try:
                status = os.stat(name, dir_fd=self._at, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if _CALL_FILE_NAME.fullmatch(name):
                dated_names.append((status.st_mtime_ns, name))
            elif name.startswith(TEMPORARY_PREFIX) and time.time() - status.st_mtime > _LEFTOVER_AGE:
                os.unlink(name, dir_fd=self._at)
        return [name for _, name in sorted(dated_names)]

    def read_call(self, name: str) -> SpooledCall | None:
        """Return a call; None where the file is invalid."""
        try:
            fd = os.open(name, _FILE_FLAGS, dir_fd=self._at)
        except OSError:
            return None
        with os.fdopen(fd, "rb") as file:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_CALL_BYTES:
                return None
            return parse_spooled(file.read(MAX_CALL_BYTES + 1))

    def change_suffix(self, name: str, suffix: str) -> str:
        """Change the file's suffix, which records progress, and return its new name."""
        new_name = name[:32] + suffix
        if new_name != name:
            os.rename(name, new_name, src_dir_fd=self._at, dst_dir_fd=self._at)
            os.fsync(self._at)
        return new_name

    def remove_call(self, name: str) -> None:
        """Remove a file, durably: its call is done, or never will be."""
        os.unlink(name, dir_fd=self._at)
        os.fsync(self._at)


def open_spool(local: Path) -> contextlib.AbstractContextManager[CallSpool | None]:
    """Give the calls in a log's local folder; None where there are none, or another process has them."""
    return _hold_spool(local / SPOOL_FOLDER, patience=_LOCK_TIMEOUT)


def open_confirmed(local: Path, state: Path) -> contextlib.AbstractContextManager[CallSpool | None]:
    """Give the calls of a log that their sessions certainly made; None as in `open_spool`."""
    folder = confirmed_calls(str(local), str(state))
    return _hold_spool(Path(folder), patience=0)


def waiting_calls(local: Path, state: Path) -> tuple[SpooledCall, ...]:
    """Return the calls of a log that wait, confirmed or not, the oldest first; nothing is changed."""
    calls: list[SpooledCall] = []
    for folder in (local / SPOOL_FOLDER, Path(confirmed_calls(str(local), str(state)))):
        with _opened_folder(folder) as folder_fd:
            if folder_fd is None:
                continue
            # a path would be looked up again
            names = filter(_CALL_FILE_NAME.fullmatch, os.listdir(folder_fd)[:_MAX_FILES_SEEN])  # noqa: PTH208
            calls += filter(None, map(CallSpool(folder_fd).read_call, names))
    return tuple(sorted(calls, key=lambda call: call.ts))


@contextlib.contextmanager
def _hold_spool(folder: Path, *, patience: float) -> Iterator[CallSpool | None]:
    with _opened_folder(folder) as folder_fd:
        if folder_fd is None or not _acquire_lock(folder_fd, patience):
            yield None
            return
        yield CallSpool(folder_fd)
        # hooks look for the folder alone; where something is left it stays
        with contextlib.suppress(OSError):
            untrusted_files.remove_folder(folder)


def _acquire_lock(folder_fd: int, patience: float) -> bool:
    """Lock the folder and say whether that succeeded; any program in the project may hold it for ever."""
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(folder_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOCK_PAUSE)
        else:
            return True


@contextlib.contextmanager
def _opened_folder(folder: Path) -> Iterator[int | None]:
    """Give the descriptor of the folder; None where it is missing, or a link leads on to it."""
    try:
        folder_fd = untrusted_files.open_folder(folder)
    except OSError:
        yield None
        return
    try:
        yield folder_fd
    finally:
        os.close(folder_fd)
