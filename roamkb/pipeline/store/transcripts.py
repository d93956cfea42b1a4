"""Transcripts on the disk: where harnesses keep them, and how far each session's was read."""

import contextlib
import json
import os
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from roamkb.boundary.store.session_cache import is_session_id
from roamkb.core.errors import DiskError
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.fs.append import open_regular_file
from roamkb.fs.append import read_bytes
from roamkb.fs.files import write_private_file
from roamkb.fs.locks import make_private_folder
from roamkb.fs.untrusted_files import remove_old_files
from roamkb.harnesses.registry import all_harnesses
from roamkb.harnesses.registry import declared
from roamkb.harnesses.transcript import CommandFailure
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.pipeline.extract.stop_question import WorkStretch
from roamkb.pipeline.extract.transcript_formats import passages_of

#: The longest transcript that is read whole, for the quotes of proposals.
_MOST_BYTES: Final = 256 * 1024 * 1024
_PROGRESS_FOLDER: Final = "asked"
#: A transcript of more bytes holds calls: nobody talks so much.
_MOST_GLANCED_BYTES: Final = 1024 * 1024
#: As they stand in a line; in what somebody says, quotes are escaped.
_CALL_ENTRIES: Final = tuple(f'"{entry}"'.encode() for entry in declared("call_entries"))
#: Seconds after which a session is over.
_RETENTION_SECONDS: Final = 30 * 86400


def find_transcript(session: str, *, home: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the file in which a harness of this user keeps a session; None where none has it."""
    if not is_session_id(session):
        return None
    path_text = (harness.find_transcript(session, home=home, environment=environment) for harness in all_harnesses())
    return next(filter(None, path_text), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptReading:
    """The passages of a transcript, and the byte at which reading ended."""

    passages: tuple[TranscriptPassage, ...]
    #: Bytes of the file up to the end of its last whole line.
    end: int


def read_transcript(path: Path, *, start: int = 0) -> TranscriptReading:
    """Return a transcript's passages from byte `start` on; an unfinished last line is left for later.

    What can't be read says nothing: a session goes on without it.
    """
    lines: list[bytes] = []
    end = start
    try:
        with open_regular_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            # a harness that began the file anew, or another file of that name
            end = start if start <= size else 0
            file.seek(end)
            for line in file:
                if not line.endswith(b"\n") or end > _MOST_BYTES:
                    break
                lines.append(line)
                end += len(line)
    except (OSError, DiskError):
        return TranscriptReading(passages=(), end=start)
    return TranscriptReading(passages=tuple(passages_of(lines)), end=end)


def records_calls(path: Path) -> bool:
    """Say whether a transcript records calls of tools: some hold what was said alone, and some are no transcript.

    A long one does; what can't be read doesn't.
    """
    try:
        with open_regular_file(path) as file:
            data = file.read(_MOST_GLANCED_BYTES + 1)
    except (OSError, DiskError, ValueError):
        return False
    return len(data) > _MOST_GLANCED_BYTES or any(entry in data for entry in _CALL_ENTRIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptProgress:
    """How far a session's transcript was read, and the stretch since its agent was last asked."""

    #: Bytes of the transcript that were read.
    end: int = 0
    stretch: WorkStretch = field(default_factory=WorkStretch)
    #: When it was read, in seconds since 1970; what was learned since is new.
    looked: float = 0
    #: Commands that failed and haven't worked since, the latest.
    failures: tuple[CommandFailure, ...] = ()
    #: Whether the session was told what could be promoted.
    is_wrapped_up: bool = False


def load_progress(local: Path, session: str) -> TranscriptProgress:
    """Return how far a session was read; the beginning where nothing is recorded."""
    with contextlib.suppress(RoamkbError, ValueError, TypeError, KeyError, RecursionError):
        record = json.loads(read_bytes(local / _PROGRESS_FOLDER / f"{session}.json"))
        stretch = WorkStretch(
            calls=int(record["calls"]),
            has_worked=record["has_worked"] is True,
            was_told=record.get("was_told") is True,
            has_failed=record.get("has_failed") is True,
            files=tuple(map(str, record.get("files", ()))),
            lines=int(record.get("lines", 0)),
            put_in=tuple(map(int, record.get("put_in", ()))),
            said=tuple(map(int, record.get("said", ()))),
            found=tuple(map(str, record["found"])),
        )
        failures = tuple(
            CommandFailure(
                command=str(failed_command["command"]),
                error=str(failed_command["error"]),
                deeds=tuple(map(str, failed_command["deeds"])),
                is_past=failed_command["is_past"] is True,
            )
            for failed_command in record["failures"]
        )
        return TranscriptProgress(
            end=int(record["end"]),
            stretch=stretch,
            looked=float(record["looked"]),
            failures=failures,
            is_wrapped_up=record.get("is_wrapped_up") is True,
        )
    return TranscriptProgress()


def save_progress(local: Path, session: str, progress: TranscriptProgress) -> None:
    """Record how far a session was read.

    Raises:
        DiskError: it can't be remembered.
    """
    path = local / _PROGRESS_FOLDER / f"{session}.json"
    make_private_folder(path.parent)
    record: dict[str, object] = {name: getattr(progress, name) for name in ("end", "looked", "is_wrapped_up")}
    record["failures"] = [
        {name: getattr(failure, name) for name in CommandFailure.__slots__} for failure in progress.failures
    ]
    record |= {name: getattr(progress.stretch, name) for name in WorkStretch.__slots__}
    write_private_file(path, json.dumps(record).encode())
    with contextlib.suppress(OSError):
        remove_old_files(path.parent, _RETENTION_SECONDS)


def session_transcripts(home: Path, environment: Mapping[str, str], folder: Path) -> Iterator[Path]:
    """Yield the transcripts of the sessions in a project's folder, the oldest first."""
    found = [
        path
        for harness in all_harnesses()
        for path in harness.transcripts_in(folder, home=home, environment=environment)
    ]
    with contextlib.suppress(OSError):
        yield from sorted(found, key=lambda path: path.stat().st_mtime)
