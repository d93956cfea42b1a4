"""What a session may do in its project, remembered for some minutes, for hooks that run at every step.

To classify a session takes several times as long as Python takes to start. So what was found is kept in the
project's own local folder, and counts while the same session says the same of where it works and the rule's
files are the same; a session's start always looks again. This imports nothing that takes time, and where it
knows no answer somebody else finds one.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH103, PTH105, PTH108, PTH110, PTH116, PTH118, PTH119, PTH120, PTH123, PTH208

import json
import os
import stat
import time
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.fs.user_dirs import CALLS
from roamkb.fs.user_dirs import own_name
from roamkb.fs.user_dirs import usual_state

#: Seconds after which somebody looks again.
_FRESH = 600
_FOLDER = "passes"
_LIMIT = 64 * 1024
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_ADDING = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
#: Of a log, to see whether somebody should look into it.
_MOST_READ = 64 * 1024 * 1024
#: Folders up to the root; no project is nested so deep.
_DEEPEST = 64

#: Of the local folder: remedies that wait for their outcome; the file that says "put nothing into prompts".
OFFERS = "offers"
#: Calls that a sandbox keeps from the notes: anything in the project may put one there.
SPOOL = "spool"
INJECTION_OFF = "injection-off"

Evidence = Sequence[str | None]
Pass = Mapping[str, object]


def find_pass(session: str, folder: str, *, evidence: Evidence, rules: Sequence[str]) -> Pass | None:
    """Return what the session may do in the project of `folder`, if that was found out lately."""
    if not _is_plain(session):
        return None
    for local in _locals(folder):
        path = os.path.join(local, _FOLDER, f"{session}.json")
        try:
            seen = os.lstat(path)
            if (
                not stat.S_ISREG(seen.st_mode)
                or seen.st_size > _LIMIT
                or abs(time.time() - seen.st_mtime) > _FRESH
            ):
                return None
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError, RecursionError):
            return None
        is_same = isinstance(found, dict) and found.get("known by") == _known_by(session, evidence, rules)
        return found if is_same and found.get("local") == local else None
    return None


def keep_pass(
    local: str, session: str, told: Mapping[str, object], *, evidence: Evidence, rules: Sequence[str]
) -> None:
    """Remember in `local`, which is there, what the session may do; where that can't be, nothing is lost."""
    if not _is_plain(session):
        return
    path = os.path.join(local, _FOLDER, f"{session}.json")
    told = {**told, "local": local, "known by": _known_by(session, evidence, rules)}
    beside = f"{path}.{os.getpid()}"
    try:
        _sweep(_made(local))
        fd = os.open(beside, _FLAGS, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(told, file)
        os.replace(beside, path)
    except OSError:
        return


def _made(local: str) -> str:
    """Return the folder of passes, made if need be; a link would have us sweep what it leads to."""
    folder = os.path.join(local, _FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if not _is_folder(folder):
        raise OSError(f"{folder} is a link")
    return folder


def _read(path: str) -> bytes:
    """Return a regular file's bytes, of a huge one the first; a link or a FIFO raises `OSError`."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(f"{path} isn't a regular file")
        return file.read(_MOST_READ)


def has_offers(local: str) -> bool:
    """Say whether some session was offered a remedy whose outcome isn't known."""
    try:
        return bool(os.listdir(os.path.join(local, OFFERS)))
    except OSError:
        return False


def has_calls(local: str) -> bool:
    """Say whether a call waits for a hook outside of its sandbox."""
    return _is_folder(os.path.join(local, SPOOL)) or _is_folder(confirmed_calls(local, usual_state()))


def confirmed_calls(local: str, state: str) -> str:
    """Return the folder of those calls that a session is known to have made, which no command can write."""
    return os.path.join(state, CALLS, os.path.basename(local))


def has_passes(local: str) -> bool:
    """Say whether a hook looked after some session of the project in the last day."""
    try:
        return bool(os.listdir(os.path.join(local, _FOLDER)))
    except OSError:
        return False


def may_warn(local: str, session: str, file: str) -> bool:
    """Say whether the log may know what goes wrong with a file that the session wasn't told of yet."""
    if os.path.exists(os.path.join(local, INJECTION_OFF)):
        return False
    try:
        said = _read(os.path.join(os.path.dirname(os.path.dirname(local)), "knowledge.jsonl"))
        if b'"files"' not in said or not (b"gotcha" in said or b"must-check" in said):
            return False
        if not _is_plain(session):
            return False
        fd = os.open(os.path.join(_made(local), f"{session}.files"), _ADDING, 0o600)
        with os.fdopen(fd, "r+", encoding="utf-8") as asked:
            asked.seek(0)
            if json.dumps(file) + "\n" in asked.readlines():
                return False
            asked.write(json.dumps(file) + "\n")
    except OSError:
        return False
    return True


def find_local(folder: str) -> str | None:
    """Return this machine's folder of the log that `folder` lies in; None where it was never adopted."""
    return next(_locals(folder), None)


def _locals(folder: str) -> Iterator[str]:
    """Yield this machine's local folder of the nearest `.roamkb` upwards, if none of it is a link."""
    for _ in range(_DEEPEST):
        log = os.path.join(folder, ".roamkb")
        if _is_folder(log):
            ignored = os.path.join(log, "local")
            own = own_name(folder, usual_state()) if _is_folder(ignored) else ""
            local = os.path.join(ignored, own)
            if own and _is_folder(local):
                yield local
            return
        top = os.path.dirname(folder)
        if top == folder:
            return
        folder = top


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _is_plain(session: str) -> bool:
    """Say whether a session's name is a file's: what harnesses give is a UUID."""
    return 0 < len(session) <= 100 and session.isascii() and session.replace("-", "").isalnum()


def _known_by(session: str, evidence: Evidence, rules: Sequence[str]) -> list[object]:
    return [session, list(evidence), [[rule, *_seen(rule)] for rule in rules]]


def _seen(path: str) -> list[int]:
    """Return what is different once a file, or what a link leads to, was written to or replaced."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return []
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _sweep(folder: str) -> None:
    """Remove what sessions left that are long over."""
    with os.scandir(folder) as found:
        old = [one.path for one in found if time.time() - one.stat(follow_symlinks=False).st_mtime > 86400]
    for path in old:
        os.unlink(path)
