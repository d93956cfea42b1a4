"""The process that exchanges a shared log's lines with its service: started where none is at work.

Whoever starts it goes on at once, so that no command waits for a network. While it lives it holds a lock. Before it
ends it lets go of the lock and looks once more at the log's files, so that no line is left behind by one that was seen
at work when the line came.
"""

import contextlib
import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.core.errors import RoamkbError
from roamkb.fs.append import read_bytes
from roamkb.fs.files import write_private_file
from roamkb.fs.untrusted_files import make_private_folder
from roamkb.fs.untrusted_files import open_file
from roamkb.fs.untrusted_files import remove_file
from roamkb.fs.untrusted_files import replace_file
from roamkb.log.store import project_log

#: Of the log's local folder.
SHARE_FOLDER: Final = "share"
PROGRESS_FILE: Final = "progress.json"
_LOCK_FILE: Final = "worker.lock"
_BACKOFF_FILE: Final = "away.json"
#: Its time says when it was last waited for in vain.
_VAIN_FILE: Final = "unheard"
_WORKER_MODULE: Final = "roamkb.app.share_worker"
#: Seconds after which what is known of the service is old; a process at work looks more often.
_FRESH_SECONDS: Final = 3.0
#: Seconds from one failure to the next attempt: twice as many after each, at most the last number.
_FIRST_BACKOFF, _LONGEST_BACKOFF = 5.0, 300.0
_MOST_DOUBLINGS = 6
_POLL_SECONDS = 0.01
#: Of a command behind the wall.
_BROKER_VARIABLE = "ROAMKB_BROKER"
#: What the process needs; others would have libpq, OpenSSL or the loader read what an agent's shell names.
_PASSED_VARIABLES: Final = ("HOME", "KRB5CCNAME", "LANG", "LC_ALL", "PATH", "PYTHONPATH", "TMPDIR", "TZ")
#: Of this process, to be waited for once they ended.
_started: list[int] = []


def share_folder(log: "project_log.Log") -> Path:
    """Return the folder of what this machine keeps of a log's service."""
    return log.local_folder / SHARE_FOLDER


def sync_soon(log: "project_log.Log", state: Path, *, patience: float = 0.0) -> None:
    """Start the process if none is at work; wait up to `patience` seconds until it heard of the service.

    Who waited in vain waits again only once the service was heard of: a network that drops what is sent says nothing.
    """
    folder, began = share_folder(log), time.time()
    # behind the wall it can't be put down what came from others: the session's hooks have it done
    if _BROKER_VARIABLE in os.environ or read_backoff(folder)[0] > began:
        return
    heard = heard_at(folder)
    is_old = began - heard >= _FRESH_SECONDS
    # a time ahead of now is that of another clock
    needs_waiting = patience > 0 and is_old and not heard < _modified_at(folder / _VAIN_FILE) <= began
    if not is_at_work(folder):
        start_worker(log, state)
    while needs_waiting and time.time() < began + patience:
        time.sleep(_POLL_SECONDS)
        needs_waiting = heard_at(folder) < began and read_backoff(folder)[0] <= began
    if needs_waiting:
        _record_vain_wait(folder)


def _record_vain_wait(folder: Path) -> None:
    with contextlib.suppress(OSError):
        replace_file(folder / _VAIN_FILE, b"")


def start_worker(log: "project_log.Log", state: Path, *, parent: int = 0) -> None:
    """Start a process for the log; with `parent`, one that lives as long as that process."""
    _reap_ended()
    nothing = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0), (os.POSIX_SPAWN_DUP2, 0, 1)]
    nothing += [(os.POSIX_SPAWN_DUP2, 0, 2)]
    # -P: a project's own folder `roamkb` is none of ours
    words = [sys.executable, "-P", "-m", _WORKER_MODULE]
    words += [str(log.home), str(state), str(log.account_home or os.devnull), str(parent)]
    variables = {name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ}
    if "PYTHONPATH" in variables:
        # nor are those that a relative name leads to
        variables["PYTHONPATH"] = ":".join(filter(os.path.isabs, variables["PYTHONPATH"].split(":")))
    with contextlib.suppress(OSError, NotImplementedError):
        _started.append(os.posix_spawn(sys.executable, words, variables, file_actions=nothing, setsid=True))


def _reap_ended() -> None:
    for pid in tuple(_started):
        with contextlib.suppress(ChildProcessError):
            if not os.waitpid(pid, os.WNOHANG)[0]:
                continue
        _started.remove(pid)


@contextlib.contextmanager
def worker_lock(folder: Path) -> Iterator[bool]:
    """Hold the lock of the process at work, if it is free; yield whether it was."""
    make_private_folder(folder)
    fd = open_file(folder / _LOCK_FILE, os.O_CREAT | os.O_RDWR)
    try:
        is_free = True
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_free = False
        yield is_free
    finally:
        os.close(fd)


def is_at_work(folder: Path) -> bool:
    """Say whether a process exchanges the lines; also where that can't be known, and none could."""
    try:
        with worker_lock(folder) as is_free:
            return not is_free
    except OSError:
        return True


def heard_at(folder: Path) -> float:
    """Return when the service was last heard of, in seconds since 1970; 0 if never."""
    return _modified_at(folder / PROGRESS_FILE)


def _modified_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def read_backoff(folder: Path) -> tuple[float, int, str]:
    """Return until when the service isn't asked (seconds since 1970), how often it failed, and the last failure."""
    try:
        until, failures, why = json.loads(read_bytes(folder / _BACKOFF_FILE))
        # a clock that was put back keeps nobody away for long
        is_near = float(until) < time.time() + 2 * _LONGEST_BACKOFF
        return (float(until) if is_near else 0.0), int(failures), str(why)
    except (RoamkbError, OSError, ValueError, TypeError):
        return 0.0, 0, ""


def keep_backoff(folder: Path, why: str) -> float:
    """Record that the service couldn't be used; return in how many seconds it is asked again."""
    failures = read_backoff(folder)[1] + 1
    seconds: float = min(_FIRST_BACKOFF * 2 ** min(failures - 1, _MOST_DOUBLINGS), _LONGEST_BACKOFF)
    with contextlib.suppress(RoamkbError, OSError):
        write_private_file(folder / _BACKOFF_FILE, json.dumps([time.time() + seconds, failures, why]).encode())
    return seconds


def drop_backoff(folder: Path) -> None:
    """Record that the service answers."""
    with contextlib.suppress(OSError):
        remove_file(folder / _BACKOFF_FILE)
