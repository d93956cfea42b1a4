"""Observations of each session, a file a session: local, swept, and never knowledge by themselves.

One `write()` for each observation and no fsync: losing one costs nothing, and a hook must
not wait for a disk.
"""

import contextlib
import json
import os
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import asdict
from roamkb.core.startup.digests import sha256
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.fs.append import read_bytes
from roamkb.fs.append import read_lines
from roamkb.fs.files import as_disk_error
from roamkb.fs.files import disk_error
from roamkb.fs.files import random_token
from roamkb.fs.files import write_private_file
from roamkb.fs.locks import make_private_folder
from roamkb.fs.untrusted_files import append_file
from roamkb.fs.untrusted_files import list_files
from roamkb.fs.untrusted_files import remove_file
from roamkb.fs.untrusted_files import rename_file
from roamkb.log.observation import Observation
from roamkb.secrets import detector

_OBSERVATIONS_FOLDER: Final = "observations"
#: Agents whose work is done and not yet made into fewer learnings, a file for each and its session.
_QUEUE_FOLDER: Final = "agents"
_FILE_SUFFIX: Final = ".jsonl"
#: Follows the file of a session that was consolidated up to its end.
_DONE_SUFFIX: Final = ".done"
#: A transcript is elsewhere; what is kept here is what one can learn from.
_LONGEST_TEXT = 8_000
_KEPT_SECONDS: Final = 30 * 86400
_PLAIN = lazily(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def _session_file(local: Path, session: str) -> Path:
    """Return the path of a session's observations; any session name gives a file name."""
    plain = _PLAIN.fullmatch(session) and detector.find_secret(session) is None
    name = session if plain else sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return local / _OBSERVATIONS_FOLDER / f"{name}{_FILE_SUFFIX}"


def set_observations_aside(local: Path) -> None:
    """Move observations away that were there before the log was adopted.

    Raises:
        DiskError: they can't be moved.
    """
    path = local / _OBSERVATIONS_FOLDER
    try:
        rename_file(path, f"{_OBSERVATIONS_FOLDER}.{random_token()}")
    except FileNotFoundError:
        return
    except OSError as error:
        raise disk_error(path, error) from error


def record_observation(local: Path, observation: Observation) -> Path:
    """Add one observation to its session's file, its credentials masked; return the file."""
    path = _session_file(local, observation.session)
    make_private_folder(path.parent)
    record = {
        key: value for key, value in asdict(observation).items() if value not in ("", None, ()) and value is not False
    }
    record |= {key: detector.withhold_secrets(value) for key, value in record.items() if isinstance(value, str)}
    record["text"] = clip_text(record.get("text", ""), _LONGEST_TEXT)
    line = json.dumps(record).encode() + b"\n"
    with as_disk_error(path):
        append_file(path, line)
    return path


def read_observations(local: Path, session: str) -> list[Observation]:
    """Return the observations of a session's file, in order; a torn line is left out."""
    return list(_parse_observations(read_lines(_session_file(local, session))))


def _parse_observations(lines: Iterable[bytes]) -> Iterator[Observation]:
    for line in lines:
        try:
            record = json.loads(line)
            fields = {key: value for key, value in record.items() if key in Observation.__slots__}
            yield Observation(**{**fields, "files": tuple(map(str, record.get("files", ())))})
        except (ValueError, TypeError, AttributeError, RecursionError):
            continue


def mark_consolidated(local: Path, session: str) -> None:
    """Record that all of the session's file was consolidated."""
    path = _session_file(local, session)
    try:
        size = path.lstat().st_size
    except FileNotFoundError:
        # nothing was observed in it, so nothing is left to consolidate
        return
    except OSError as error:
        raise disk_error(path, error) from error
    write_private_file(path.with_suffix(_DONE_SUFFIX), str(size).encode())


def restate_consolidated(path: Path, *, old_size: int) -> None:
    """Record of a session's file that got shorter than `old_size` how much of it was consolidated.

    Raises:
        OSError, DiskError: the record is as it was.
    """
    finished = _finished_size(path)
    if finished == old_size:
        write_private_file(path.with_suffix(_DONE_SUFFIX), str(path.lstat().st_size).encode())
    elif finished >= 0:
        # what is consolidated twice is one more occurrence at most
        remove_file(path.with_suffix(_DONE_SUFFIX))


def open_sessions(local: Path) -> list[str]:
    """Return the sessions with observations since they were consolidated, the oldest first."""
    dated_sessions: list[tuple[float, str]] = []
    for path, status in _session_files(local):
        if status.st_size > _finished_size(path):
            first_observation = next(_parse_observations(read_lines(path)), None)
            if first_observation is not None:
                dated_sessions.append((first_observation.ts, first_observation.session or path.stem))
    return [session for _, session in sorted(dated_sessions)]


def _session_files(local: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the sessions' files; links, which a pull can bring, are skipped."""
    folder = local / _OBSERVATIONS_FOLDER
    with contextlib.suppress(OSError):
        for name, status in list_files(folder):
            if name.endswith(_FILE_SUFFIX):
                yield folder / name, status


def _finished_size(path: Path) -> int:
    try:
        return int(read_bytes(path.with_suffix(_DONE_SUFFIX)))
    except (RoamkbError, ValueError):
        return -1


def queue_agent(local: Path, agent: str, session: str) -> None:
    """Record that an agent's work in a session is over, to be consolidated later."""
    detector.refuse_secrets([agent, session])
    encoded = json.dumps([agent, session]).encode()
    path = local / _QUEUE_FOLDER / sha256(encoded).hexdigest()[:32]
    make_private_folder(path.parent)
    write_private_file(path, encoded)


def queued_agents(local: Path) -> dict[Path, tuple[str, str]]:
    """Return the queued agents and their sessions, by the file to remove once each is done."""
    queued: dict[Path, tuple[str, str]] = {}
    folder = local / _QUEUE_FOLDER
    try:
        names = sorted(name for name, _ in list_files(folder))
    except OSError:
        return queued
    for path in (folder / name for name in names):
        with contextlib.suppress(RoamkbError, ValueError):
            agent, session = map(str, json.loads(read_bytes(path)))
            queued[path] = agent, session
    return queued


def remove_consolidated(local: Path, *, now: float) -> int:
    """Remove the files of sessions that were consolidated a month ago; return how many."""
    removed_count = 0
    for path, status in _session_files(local):
        try:
            if status.st_size == _finished_size(path) and now - status.st_mtime > _KEPT_SECONDS:
                remove_file(path)
                remove_file(path.with_suffix(_DONE_SUFFIX))
                removed_count += 1
        except OSError:
            continue
    return removed_count
