"""A glance at what a session's transcript gained since somebody looked: whether a look is worth its time.

To look, a stop finds out what the project is and reads its log, which takes ten times as long as Python takes
to start. A stop that isn't worth it changes nothing: what was said since is there for the next. So no wrong
answer loses anything but time, and tests hold it to the answers of the look itself. This imports little.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH110, PTH117, PTH118, PTH120, PTH123

import contextlib
import json
import os
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import Final

from roamkb.boundary.store.codex_session import is_unattended
from roamkb.boundary.store.session_cache import INJECTION_OFF
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.append import ARCHIVE
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
from roamkb.fs.append import opened
from roamkb.fs.private_files import put_paper
from roamkb.harnesses.transcript import CommandFailure
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.pipeline.extract.stop_question import continued
from roamkb.pipeline.store.transcripts import find_progress
from roamkb.pipeline.store.transcripts import is_session_id
from roamkb.pipeline.store.transcripts import read_transcript

Payload = Mapping[str, Any]

#: Bytes that wait for a look; so many are read at every stop until then.
_MOST_UNREAD: Final = 256 * 1024
#: How Claude Code says that a program started it, for which the last thing said is the answer.
_UNATTENDED: Final = ("sdk-", "claude-code-github-action")
#: Of a log, to see what a session has said there.
_MOST_READ: Final = 64 * 1024 * 1024
_UNPROMOTABLE: Final = "nothing-to-promote"
#: What every line has that announces itself: a capital before a colon, or a marker.
_ANNOUNCES: Final = lazily(r"[A-Z](?:\*\*|__)?[:：]|\[MEMORY\]")
_WORD: Final = lazily(r"\w[\w.+-]*")


def is_look_due(payload: Payload, local: str, environment: Mapping[str, str]) -> bool:
    """Say whether a stop has anything to record, to contest, to promote or to ask."""
    session = _text(payload, "session_id")
    if payload.get("stop_hook_active") is True or not is_session_id(session):
        return True
    progress = find_progress(Path(local), session)
    if (seen := _seen(_text(payload, "transcript_path"))) and abs(seen.st_size - progress.end) > _MOST_UNREAD:
        return True
    passages, _ = heard(payload, start=progress.end)
    if _may_be_mended(progress.failures, passages) or any(map(_may_announce, passages)):
        return True
    is_told = any(one.speaker is Speaker.HUMAN for one in passages)
    if is_told and progress.looked and _has_learned(local, session, since=progress.looked):
        return True
    if not may_be_asked(payload, local, environment):
        return False
    if continued(progress.stretch, passages).reasons:
        return True
    return not progress.is_wrapped_up and not is_known_unpromotable(local)


def heard(payload: Payload, *, start: int, subagent: bool = False) -> tuple[Sequence[TranscriptPassage], int]:
    """Return what a session's transcript says from byte `start` on, and where that ends.

    A transcript may lag: the last message, which the payload tells, counts in any case.
    """
    path = _text(payload, "agent_transcript_path" if subagent else "transcript_path")
    passages, end = [], start
    if os.path.isabs(path):
        read = read_transcript(Path(path), start=start)
        passages, end = list(read.passages), read.end
    said = _text(payload, "last_assistant_message").strip()
    if said and not any(one.speaker is Speaker.AGENT and said in one.text for one in passages):
        passages.append(TranscriptPassage(speaker=Speaker.AGENT, text=said))
    return passages, end


def may_be_asked(payload: Payload, local: str, environment: Mapping[str, str]) -> bool:
    """Say whether there is somebody to answer, who wants to be asked and isn't answering already."""
    return (
        payload.get("stop_hook_active") is not True
        and not os.path.exists(os.path.join(local, INJECTION_OFF))
        and not environment.get("CLAUDE_CODE_ENTRYPOINT", "").startswith(_UNATTENDED)
        and not is_unattended(_text(payload, "transcript_path"))
    )


def is_known_unpromotable(local: str) -> bool:
    """Say whether nothing could be promoted when the log was as it is."""
    try:
        with open(os.path.join(local, _UNPROMOTABLE), encoding="utf-8") as file:
            return bool(json.load(file) == log_stamp(local))
    except (OSError, ValueError, RecursionError):
        return False


def keep_unpromotable(local: Path, stamp: object) -> None:
    """Remember that nothing could be promoted when the log had that stamp; where that can't be, no harm."""
    with contextlib.suppress(RoamkbError):
        put_paper(local / _UNPROMOTABLE, json.dumps(stamp).encode())


def log_stamp(local: str) -> list[list[int]]:
    """Return what is different once anybody has written to the log."""
    files = (_seen(os.path.join(_log(local), name)) for name in (KNOWLEDGE, ARCHIVE, LEDGER))
    return [[seen.st_ino, seen.st_size, seen.st_mtime_ns] if seen else [] for seen in files]


def _log(local: str) -> str:
    return os.path.dirname(os.path.dirname(local))


def _seen(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def _text(payload: Payload, name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def _may_announce(passage: TranscriptPassage) -> bool:
    return passage.speaker is Speaker.AGENT and _ANNOUNCES.search(passage.text) is not None


def _may_be_mended(failures: Sequence[CommandFailure], passages: Iterable[TranscriptPassage]) -> bool:
    """Say whether a command was run again that had failed, or may have: of a pipe nobody is told."""
    pending = [_words(one.command) for one in failures]
    for passage in passages:
        if not passage.is_shell:
            continue
        words = _words(passage.command)
        if any(words & one for one in pending):
            return True
        if passage.has_failed or "|" in passage.command:
            pending.append(words)
    return False


def _words(command: str) -> set[str]:
    return set(_WORD.findall(command))


def _has_learned(local: str, session: str, *, since: float) -> bool:
    """Say whether the log has a line that the session said at that moment or later."""
    name = session.encode()
    try:
        with opened(Path(_log(local), KNOWLEDGE)) as file:
            lines = [line for line in file.read(_MOST_READ).split(b"\n") if name in line]
        return any(json.loads(line).get("ts", since) >= int(since) for line in lines)
    except (OSError, RoamkbError, ValueError, TypeError, AttributeError, RecursionError):
        return True
