"""Calls that wait for a hook outside of their sandbox, one file each.

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

from roamkb.boundary.store.session_cache import SPOOL
from roamkb.boundary.store.session_cache import confirmed_calls
from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import TEMPORARY
from roamkb.fs.files import create
from roamkb.fs.files import digest
from roamkb.fs.files import disk_error
from roamkb.fs.locks import private_folder
from roamkb.spool.call import SpooledCall
from roamkb.spool.call_json import parse_spooled
from roamkb.spool.call_json import render_spooled

#: Of one call, and of all that may wait: more is no work of an agent's between two hooks.
MOST_BYTES: Final = 256 * 1024
MOST_CALLS: Final = 32
#: Files that a hook looks at.
_MOST_SEEN: Final = 1000
#: How a file's name ends once somebody has begun to carry it out.
BEGUN: Final = ".begun"
_NAME: Final = lazily(rf"[0-9a-f]{{32}}(?:\.json|{re.escape(BEGUN)})")
#: Seconds after which a file without its name was left behind.
_LEFT_BEHIND: Final = 60
#: Seconds: what a command printed only one hook hears, and another that has the folder is soon done.
_PATIENCE: Final = 1.0
_PAUSE: Final = 0.01
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_HINT: Final = "roamkb's MCP tools do it at once; or let a hook carry out what waits first"


def put(local: Path, call: SpooledCall) -> tuple[Path, SpooledCall]:
    """Keep a call until a hook carries it out; return where, and the same call where it waits already.

    Raises:
        DiskError: it is too large, too many wait, or the disk doesn't keep it.
    """
    folder = private_folder(local / SPOOL)
    name = name_of(call)
    data = render_spooled(call)
    if len(data) > MOST_BYTES:
        raise DiskError(folder, f"a call of more than {MOST_BYTES:,} bytes can't wait", hint=_HINT)
    try:
        if sum(1 for _ in folder.iterdir()) >= MOST_CALLS:
            raise DiskError(folder, f"{MOST_CALLS} calls wait already", hint=_HINT)
        return create(folder, name, data, mode=0o600), call
    except NameTaken:
        known = parse_spooled((folder / name).read_bytes())
        return folder / name, known or call
    except OSError as error:
        raise disk_error(folder, error) from error


def name_of(call: SpooledCall) -> str:
    """Return the name of a call's file, which tells all of it: the same call again is the same call."""
    key = repr((call.verb, sorted(call.values.items()), call.folder, call.project, call.session))
    return f"{digest(key.encode('utf-8', 'surrogatepass'))[:32]}.json"


def keep_confirmed(local: Path, state: Path, call: SpooledCall) -> None:
    """Keep a call that its session is known to have made.

    Raises:
        DiskError: the disk doesn't keep it.
    """
    folder = private_folder(Path(confirmed_calls(str(local), str(state))))
    with contextlib.suppress(NameTaken):
        create(folder, name_of(call), render_spooled(call), mode=0o600)


class CallSpool:
    """The calls that wait, held by one process."""

    def __init__(self, at: int) -> None:
        """Take the descriptor of the folder."""
        self._at = at

    def names(self) -> list[str]:
        """Return the names of the files, the oldest first."""
        found = []
        # a path would be looked up again
        for name in os.listdir(self._at)[:_MOST_SEEN]:  # noqa: PTH208
            try:
                status = os.stat(name, dir_fd=self._at, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if _NAME.fullmatch(name):
                found.append((status.st_mtime_ns, name))
            elif name.startswith(TEMPORARY) and time.time() - status.st_mtime > _LEFT_BEHIND:
                os.unlink(name, dir_fd=self._at)
        return [name for _, name in sorted(found)]

    def read(self, name: str) -> SpooledCall | None:
        """Return a call; None where the file holds none."""
        try:
            fd = os.open(name, _FILE_FLAGS, dir_fd=self._at)
        except OSError:
            return None
        with os.fdopen(fd, "rb") as file:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
                return None
            return parse_spooled(file.read(MOST_BYTES + 1))

    def rename(self, name: str, suffix: str) -> str:
        """Return the file's new name, by which the next one knows how far this one got."""
        new = name[:32] + suffix
        if new != name:
            os.rename(name, new, src_dir_fd=self._at, dst_dir_fd=self._at)
            os.fsync(self._at)
        return new

    def drop(self, name: str) -> None:
        """Remove a file, durably: what it asked for is done, or never will be."""
        os.unlink(name, dir_fd=self._at)
        os.fsync(self._at)


def opened(local: Path) -> contextlib.AbstractContextManager[CallSpool | None]:
    """Give what commands put into a log's local folder; None where there is nothing, or another has it."""
    return _held(local / SPOOL, _parts(local), patience=_PATIENCE)


def confirmed(local: Path, state: Path) -> contextlib.AbstractContextManager[CallSpool | None]:
    """Give the calls of a log that their sessions are known to have made, likewise."""
    folder = confirmed_calls(str(local), str(state))
    return _held(Path(folder), (folder,), patience=0)


def waiting_calls(local: Path, state: Path) -> tuple[SpooledCall, ...]:
    """Return the calls of a log that wait, confirmed or not, the oldest first; nothing is changed."""
    found: list[SpooledCall] = []
    for parts in (_parts(local), (confirmed_calls(str(local), str(state)),)):
        with contextlib.ExitStack() as stack:
            at = _walked(parts, stack)
            if at is None:
                continue
            # a path would be looked up again
            names = filter(_NAME.fullmatch, os.listdir(at)[:_MOST_SEEN])  # noqa: PTH208
            found += filter(None, map(CallSpool(at).read, names))
    return tuple(sorted(found, key=lambda call: call.ts))


def _parts(local: Path) -> tuple[str, ...]:
    """Return the way to a log's spool; how one came to the project is its owner's affair."""
    return str(local.parents[2]), *local.parts[-3:], SPOOL


@contextlib.contextmanager
def _held(folder: Path, parts: tuple[str, ...], *, patience: float) -> Iterator[CallSpool | None]:
    with contextlib.ExitStack() as stack:
        at = _walked(parts, stack)
        if at is None or not _is_locked(at, patience):
            yield None
            return
        yield CallSpool(at)
        # hooks look for the folder alone; where something is left it stays
        with contextlib.suppress(OSError):
            folder.rmdir()


def _is_locked(at: int, patience: float) -> bool:
    """Say whether this process has the folder now; whatever runs in the project may hold it for ever."""
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(at, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= end:
                return False
            time.sleep(_PAUSE)
        else:
            return True


def _walked(parts: tuple[str, ...], stack: contextlib.ExitStack) -> int | None:
    """Return the descriptor of the folder; None where there is none, or a link leads on to it."""
    at: int | None = None
    for part in parts:
        flags = _FOLDER_FLAGS if at is not None else _FOLDER_FLAGS & ~os.O_NOFOLLOW
        try:
            at = os.open(part, flags, dir_fd=at)
        except OSError:
            return None
        stack.callback(os.close, at)
    return at
