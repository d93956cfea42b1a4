"""What happened in each session, a file a session: local, swept, and never knowledge by itself.

One `write()` for each observation and no fsync: losing one costs nothing, and a hook must
not wait for a disk.
"""

import contextlib
import json
import os
import stat
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import asdict
from roamkb.core.startup.digests import sha256
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clipped
from roamkb.fs.append import read_lines
from roamkb.fs.files import disk_error
from roamkb.fs.files import random_token
from roamkb.fs.locks import private_folder
from roamkb.fs.private_files import put_paper
from roamkb.fs.private_files import read_paper
from roamkb.log.observation import Observation
from roamkb.secrets.detector import find_secret
from roamkb.secrets.detector import refuse_secrets
from roamkb.secrets.detector import withheld

_FOLDER: Final = "observations"
#: Agents whose work is done and not yet made into fewer learnings, a file for each and its session.
_QUEUE: Final = "agents"
_ENDING: Final = ".jsonl"
#: Follows the file of a session that was consolidated up to its end.
_DONE: Final = ".done"
#: A transcript is elsewhere; what is kept here is what one can learn from.
_LONGEST = 8_000
_PLAIN = lazily(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def _file(local: Path, session: str) -> Path:
    """Return where a session's observations are; any name gives a file name."""
    plain = _PLAIN.fullmatch(session) and find_secret(session) is None
    name = session if plain else sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return local / _FOLDER / f"{name}{_ENDING}"


def set_aside(local: Path) -> None:
    """Put observations out of the way that are there before anybody adopted the log: nobody's, or a clone's.

    Raises:
        DiskError: they can't be moved.
    """
    path = local / _FOLDER
    try:
        path.rename(local / f"{_FOLDER}.{random_token()}")
    except FileNotFoundError:
        return
    except OSError as error:
        raise disk_error(path, error) from error


def keep_observation(local: Path, observation: Observation) -> Path:
    """Add one observation to its session's file, its credentials masked; return the file."""
    path = _file(local, observation.session)
    if path.parent.is_symlink():
        raise DiskError(path.parent, "is a link; roamkb follows none in a project's log", hint="remove it")
    private_folder(path.parent)
    told = {
        key: value
        for key, value in asdict(observation).items()
        if value not in ("", None) and value is not False
    }
    told |= {key: withheld(value) for key, value in told.items() if isinstance(value, str)}
    told["text"] = clipped(told.get("text", ""), _LONGEST)
    line = json.dumps(told).encode() + b"\n"
    try:
        fd = os.open(path, _FLAGS, 0o600)
        try:
            os.write(fd, line)
        finally:
            os.close(fd)
    except OSError as error:
        raise disk_error(path, error) from error
    return path


def observations(local: Path, session: str) -> list[Observation]:
    """Return what a session's file says, in order; a torn line says nothing."""
    return list(_said(read_lines(_file(local, session))))


def _said(lines: Iterable[bytes]) -> Iterator[Observation]:
    for line in lines:
        try:
            told = json.loads(line)
            yield Observation(**{key: value for key, value in told.items() if key in Observation.__slots__})
        except (ValueError, TypeError, AttributeError, RecursionError):
            continue


def finish(local: Path, session: str) -> None:
    """Say that all that the session's file holds now was consolidated."""
    path = _file(local, session)
    try:
        size = path.lstat().st_size
    except FileNotFoundError:
        # nothing was observed in it, so nothing is left to consolidate
        return
    except OSError as error:
        raise disk_error(path, error) from error
    # somebody who says the same at the same moment is as good
    with contextlib.suppress(ChangedOnDisk, NameTaken):
        put_paper(path.with_suffix(_DONE), str(size).encode())


def open_sessions(local: Path) -> list[str]:
    """Return the sessions that said something since they were consolidated, the oldest first."""
    found: list[tuple[float, str]] = []
    for path, status in _files(local):
        if status.st_size > _finished_size(path):
            said = next(_said(read_lines(path)), None)
            if said is not None:
                found.append((said.ts, said.session or path.stem))
    return [session for _, session in sorted(found)]


def _files(local: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the sessions' files; a link, which a pull can bring, is none and stops nobody."""
    for path in (local / _FOLDER).glob(f"*{_ENDING}"):
        with contextlib.suppress(OSError):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                yield path, status


def _finished_size(path: Path) -> int:
    try:
        return int(read_paper(path.with_suffix(_DONE)))
    except (RoamkbError, ValueError):
        return -1


def queue_agent(local: Path, agent: str, session: str) -> None:
    """Remember that an agent's work in a session is over, for who consolidates it later."""
    refuse_secrets([agent, session])
    told = json.dumps([agent, session]).encode()
    path = local / _QUEUE / sha256(told).hexdigest()[:32]
    if path.parent.is_symlink():
        raise DiskError(path.parent, "is a link; roamkb follows none in a project's log", hint="remove it")
    private_folder(path.parent)
    with contextlib.suppress(ChangedOnDisk, NameTaken):
        put_paper(path, told)


def queued_agents(local: Path) -> dict[Path, tuple[str, str]]:
    """Return the agents that wait and their sessions, by the file to drop once it is done."""
    found: dict[Path, tuple[str, str]] = {}
    for path in sorted((local / _QUEUE).glob("*")):
        with contextlib.suppress(RoamkbError, ValueError):
            agent, session = map(str, json.loads(read_paper(path)))
            found[path] = agent, session
    return found


def sweep(local: Path, *, now: float, days: int = 30) -> int:
    """Remove the files of sessions that were consolidated and are older than `days`; return how many."""
    swept = 0
    for path, status in _files(local):
        try:
            if status.st_size == _finished_size(path) and now - status.st_mtime > days * 86400:
                path.unlink()
                path.with_suffix(_DONE).unlink(missing_ok=True)
                swept += 1
        except OSError:
            continue
    return swept
