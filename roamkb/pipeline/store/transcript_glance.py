"""A glance at the new part of a session's transcript: whether a full look is worth its time.

To look, a stop finds out what the project is and reads its log, which takes ten times as long as Python takes
to start. A stop that isn't worth it changes nothing: what was said since is there for the next. So no wrong
answer loses anything but time, and tests hold it to the answers of the look itself. This imports little.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH110, PTH113, PTH117, PTH118, PTH120, PTH123

import contextlib
import json
import os
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import Final

from roamkb.boundary.store.session_cache import INJECTION_OFF_FILE
from roamkb.boundary.store.session_cache import is_session_id
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.append import ARCHIVE
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
from roamkb.fs.append import open_regular_file
from roamkb.fs.files import write_private_file
from roamkb.fs.untrusted_files import read_file
from roamkb.harnesses.registry import declared
from roamkb.harnesses.registry import harness_of_line
from roamkb.harnesses.transcript import CommandFailure
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.pipeline.extract.stop_question import extend_stretch
from roamkb.pipeline.store.transcripts import load_progress
from roamkb.pipeline.store.transcripts import read_transcript

Payload = Mapping[str, Any]

#: Bytes that wait for a look; so many are read at every stop until then.
_MOST_UNREAD_BYTES: Final = 256 * 1024
#: How harnesses say that a program started them, for which the last thing said is the answer.
_UNATTENDED: Final = declared("unattended_entries")
#: Of a first line, which may hold the session's instructions.
_LONGEST_HEAD: Final = 4 * 1024 * 1024
#: Of a log, to see what a session has said there.
_MOST_LOG_BYTES: Final = 64 * 1024 * 1024
_UNPROMOTABLE_FILE: Final = "nothing-to-promote"
#: What every line has that announces itself: a capital before a colon, or a marker.
_ANNOUNCEMENT: Final = lazily(r"[A-Z](?:\*\*|__)?[:：]|\[MEMORY\]")
_WORD: Final = lazily(r"\w[\w.+-]*")


def is_look_due(payload: Payload, local: str, environment: Mapping[str, str]) -> bool:
    """Say whether a stop has anything to record, to contest, to promote or to ask."""
    session = _payload_text(payload, "session_id")
    if payload.get("stop_hook_active") is True or not is_session_id(session):
        return True
    progress = load_progress(Path(local), session)
    if (file_status := _stat_or_none(_payload_text(payload, "transcript_path"))) and abs(
        file_status.st_size - progress.end
    ) > _MOST_UNREAD_BYTES:
        return True
    passages, _ = read_passages_since(payload, start=progress.end)
    if _may_be_mended(progress.failures, passages) or any(map(_may_announce, passages)):
        return True
    is_told = any(passage.speaker is Speaker.HUMAN for passage in passages)
    if is_told and progress.looked and _has_learned(local, session, since=progress.looked):
        return True
    if not is_ask_allowed(payload, local, environment):
        return False
    if extend_stretch(progress.stretch, passages).ask_reasons:
        return True
    return not progress.is_wrapped_up and not is_known_unpromotable(local)


def read_passages_since(
    payload: Payload, *, start: int, subagent: bool = False
) -> tuple[Sequence[TranscriptPassage], int]:
    """Return a session's passages from byte `start` on, and the byte at which they end.

    A transcript may lag: the last message, which the payload tells, counts in any case.
    """
    path = _payload_text(payload, "agent_transcript_path" if subagent else "transcript_path")
    passages, end = [], start
    if os.path.isabs(path):
        reading = read_transcript(Path(path), start=start)
        passages, end = list(reading.passages), reading.end
    last_message = _payload_text(payload, "last_assistant_message").strip()
    if last_message and not any(
        passage.speaker is Speaker.AGENT and last_message in passage.text for passage in passages
    ):
        passages.append(TranscriptPassage(speaker=Speaker.AGENT, text=last_message))
    return passages, end


def is_ask_allowed(payload: Payload, local: str, environment: Mapping[str, str]) -> bool:
    """Say whether an agent may be asked: it is attended, wants it, and isn't answering already."""
    return (
        payload.get("stop_hook_active") is not True
        and not os.path.exists(os.path.join(local, INJECTION_OFF_FILE))
        and not any(_is_entered(environment, entry) for entry in _UNATTENDED)
        and not _is_for_program(_payload_text(payload, "transcript_path"))
    )


def _is_for_program(transcript: str) -> bool:
    """Say whether a program waits for what the session says, by its own file: nobody can be asked there."""
    try:
        if not (os.path.isabs(transcript) and os.path.isfile(transcript)):
            return False
        with open(transcript, "rb") as file:
            line = json.loads(file.readline(_LONGEST_HEAD))
    except (OSError, ValueError, RecursionError):
        return False
    harness = harness_of_line(line) if isinstance(line, dict) else None
    return harness is not None and harness.is_unattended(line)


def _is_entered(environment: Mapping[str, str], entry: str) -> bool:
    variable, _, beginning = entry.partition("=")
    return environment.get(variable, "").startswith(beginning)


def is_known_unpromotable(local: str) -> bool:
    """Say whether nothing could be promoted when the log had its present stamp."""
    try:
        return bool(json.loads(read_file(os.path.join(local, _UNPROMOTABLE_FILE))) == log_stamp(local))
    except (OSError, ValueError, RecursionError):
        return False


def record_unpromotable(local: Path, stamp: object) -> None:
    """Record that nothing could be promoted when the log had that stamp; a failure does no harm."""
    with contextlib.suppress(RoamkbError):
        write_private_file(local / _UNPROMOTABLE_FILE, json.dumps(stamp).encode())


def log_stamp(local: str) -> list[list[int]]:
    """Return values that change with any write to the log."""
    files = (_stat_or_none(os.path.join(_log_folder(local), name)) for name in (KNOWLEDGE, ARCHIVE, LEDGER))
    return [
        [file_status.st_ino, file_status.st_size, file_status.st_mtime_ns] if file_status else []
        for file_status in files
    ]


def _log_folder(local: str) -> str:
    return os.path.dirname(os.path.dirname(local))


def _stat_or_none(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def _payload_text(payload: Payload, name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def _may_announce(passage: TranscriptPassage) -> bool:
    return passage.speaker is Speaker.AGENT and _ANNOUNCEMENT.search(passage.text) is not None


def _may_be_mended(failures: Sequence[CommandFailure], passages: Iterable[TranscriptPassage]) -> bool:
    """Say whether a command was run again after it failed, or may have failed behind a pipe."""
    pending = [_command_words(candidate.command) for candidate in failures]
    for passage in passages:
        if not passage.is_shell:
            continue
        words = _command_words(passage.command)
        if any(words & candidate for candidate in pending):
            return True
        if passage.has_failed or "|" in passage.command:
            pending.append(words)
    return False


def _command_words(command: str) -> set[str]:
    return set(_WORD.findall(command))


def _has_learned(local: str, session: str, *, since: float) -> bool:
    """Say whether the log has a line of the session from that moment or later."""
    name = session.encode()
    try:
        with open_regular_file(Path(_log_folder(local), KNOWLEDGE)) as file:
            lines = [line for line in file.read(_MOST_LOG_BYTES).split(b"\n") if name in line]
        return any(json.loads(line).get("ts", since) >= int(since) for line in lines)
    except (OSError, RoamkbError, ValueError, TypeError, AttributeError, RecursionError):
        return True
