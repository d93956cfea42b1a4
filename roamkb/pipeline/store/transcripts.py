"""Where harnesses keep their transcripts, and how far each session's was read."""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from roamkb.boundary.store.codex_session import file_of_session
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.fs.append import opened
from roamkb.fs.locks import private_folder
from roamkb.fs.private_files import put_paper
from roamkb.fs.private_files import read_paper
from roamkb.harnesses.transcript import CommandFailure
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.pipeline.extract.stop_question import WorkStretch
from roamkb.pipeline.extract.transcript_formats import passages_of

#: The longest transcript that is read whole, for the quotes of proposals.
_MOST_BYTES: Final = 256 * 1024 * 1024
_FOLDER: Final = "asked"
#: Seconds after which a session is over.
_KEPT: Final = 30 * 86400


def is_session_id(text: str) -> bool:
    """Say whether a text is a session's id as harnesses make them, and so fit for a file's name."""
    return 0 < len(text) <= 100 and text.isascii() and text.replace("-", "").isalnum()


def find_transcript(session: str, *, home: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the file in which a harness of this user keeps a session; None where none has it."""
    if not is_session_id(session):
        return None
    claude = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    with contextlib.suppress(OSError):
        for path in (claude / "projects").glob(f"*/{session}.jsonl"):
            return path
    found = file_of_session({**environment, "HOME": str(home)}, session)
    return Path(found) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptReading:
    """What a look at a transcript found."""

    passages: tuple[TranscriptPassage, ...]
    #: Bytes of the file up to the end of its last whole line.
    end: int


def read_transcript(path: Path, *, start: int = 0) -> TranscriptReading:
    """Return what a transcript says from byte `start` on; a line that is being written is left for later.

    What can't be read says nothing: a session goes on without it.
    """
    lines: list[bytes] = []
    end = start
    try:
        with opened(path) as file:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptProgress:
    """How far a session's transcript was read, and what it holds since its agent was asked last."""

    #: Bytes of the transcript that were read.
    end: int = 0
    stretch: WorkStretch = field(default_factory=WorkStretch)
    #: When it was read, in seconds since 1970; what was learned since is new.
    looked: float = 0
    #: Commands that failed and haven't worked since, the latest.
    failures: tuple[CommandFailure, ...] = ()
    #: Whether the session was told what could be promoted.
    is_wrapped_up: bool = False


def find_progress(local: Path, session: str) -> TranscriptProgress:
    """Return how far a session was read; nothing was where nobody says."""
    with contextlib.suppress(RoamkbError, ValueError, TypeError, KeyError, RecursionError):
        told = json.loads(read_paper(local / _FOLDER / f"{session}.json"))
        stretch = WorkStretch(
            calls=int(told["calls"]),
            has_worked=told["has_worked"] is True,
            was_told=told.get("was_told") is True,
            has_failed=told.get("has_failed") is True,
            files=tuple(map(str, told.get("files", ()))),
            lines=int(told.get("lines", 0)),
            put_in=tuple(map(int, told.get("put_in", ()))),
            found=tuple(map(str, told["found"])),
        )
        failures = tuple(
            CommandFailure(
                command=str(one["command"]),
                error=str(one["error"]),
                deeds=tuple(map(str, one["deeds"])),
                is_past=one["is_past"] is True,
            )
            for one in told["failures"]
        )
        return TranscriptProgress(
            end=int(told["end"]),
            stretch=stretch,
            looked=float(told["looked"]),
            failures=failures,
            is_wrapped_up=told.get("is_wrapped_up") is True,
        )
    return TranscriptProgress()


def keep_progress(local: Path, session: str, progress: TranscriptProgress) -> None:
    """Remember how far a session was read.

    Raises:
        DiskError: it can't be remembered.
    """
    path = local / _FOLDER / f"{session}.json"
    private_folder(path.parent)
    told: dict[str, object] = {name: getattr(progress, name) for name in ("end", "looked", "is_wrapped_up")}
    told["failures"] = [
        {name: getattr(failure, name) for name in CommandFailure.__slots__} for failure in progress.failures
    ]
    told |= {name: getattr(progress.stretch, name) for name in WorkStretch.__slots__}
    # whoever reads the same session at the same moment is as good
    with contextlib.suppress(ChangedOnDisk, NameTaken):
        put_paper(path, json.dumps(told).encode())
    _sweep(path.parent)


def _sweep(folder: Path) -> None:
    """Remove what sessions left that nobody went on with for a month."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for one in found:
            if time.time() - one.stat(follow_symlinks=False).st_mtime > _KEPT:
                Path(one.path).unlink()


def transcripts(home: Path, environment: Mapping[str, str], folder: Path) -> Iterator[Path]:
    """Yield the transcripts of Claude Code's sessions in a project's folder, the oldest first."""
    claude = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in str(folder))
    with contextlib.suppress(OSError):
        yield from sorted((claude / "projects" / name).glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
