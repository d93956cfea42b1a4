"""Conflict copies of a log's files: a syncer puts them aside, and no other command reads their lines.

Anybody may have put one there, so that its lines are taken in as those that a service brings are: as nobody's
verified word, without what may be a secret or says that it was learned at work.
"""

from collections.abc import Iterator
from collections.abc import Set
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from roamkb.core.model import ProjectKind
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import count_phrase
from roamkb.fs.append import read_lines
from roamkb.fs.files import content_digest
from roamkb.fs.files import read_file
from roamkb.fs.files import remove_file
from roamkb.kb.notes.file_names import conflict_original
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.share.shared_lines import SharedLine
from roamkb.log.share.shared_lines import find_withholding_reasons
from roamkb.log.share.shared_lines import read_shared_line
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log

SYNCING_FIX: Final = "Syncthing merges no lines: keep the log in git, outside of the shared folder"
#: Bytes of a copy; a log is rotated long before.
_MAX_COPY_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCopy:
    """A conflict copy of a log's file."""

    path: Path
    original: Path
    #: The lines that no file of the log has, but for what was forgotten.
    lacking: tuple[SharedLine, ...] = ()
    #: Why it can't be taken in; empty where it can.
    obstacle: str = ""
    #: The SHA-256 of its bytes; empty where it can't be read.
    digest: str = ""


def find_copies(log: Log, kind: ProjectKind) -> Iterator[LogCopy]:
    """Yield each conflict copy of the log of a project of that kind, in the order of names."""
    originals = {path.name: path for path in (log.knowledge, log.archive, log.ledger)}
    known = _KnownLines(log)
    for path in sorted(log.folder.iterdir()):
        if original := originals.get(conflict_original(path.name) or ""):
            yield _read_copy(log, kind, path, original, known)


def merge_copies(log: Log, kind: ProjectKind, paths: Set[Path] | None = None) -> Iterator[LogCopy]:
    """Add to the log what it lacks of its conflict copies, or of those at `paths`, and remove them; yield each.

    One with an obstacle stays as it is.

    Raises:
        ChangedOnDisk, DiskError, NotDurable, Busy: that copy is still there, as are those after it.
    """
    with log.append_lock():
        for copy in find_copies(log, kind):
            if paths is None or copy.path in paths:
                if not copy.obstacle:
                    _take_in(log, copy)
                yield copy


def _take_in(log: Log, copy: LogCopy) -> None:
    if copy.lacking:
        log.append_received(
            [line.line for line in copy.lacking if not line.is_event],
            [line.line for line in copy.lacking if line.is_event],
            ids=[line.entry.id for line in copy.lacking],
        )
    # a syncer may have put another one in its place meanwhile
    remove_file(copy.path, expected_digest=copy.digest, lock=nullcontext())


class _KnownLines:
    """The lines that a log's files hold, and their ids, read again only where the files changed meanwhile."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._stamp: object = None
        self._read: dict[tuple[Path, ...], tuple[Set[bytes], Set[str]]] = {}

    def beside(self, original: Path) -> tuple[Set[bytes], Set[str]]:
        """Return the lines that a copy of that file may lack, with their ids."""
        if (stamp := self._log.files_stamp()) != self._stamp:
            self._read, self._stamp = {}, stamp
        # a rotation moves learnings from one file to the other
        files = (original,) if original == self._log.ledger else (self._log.knowledge, self._log.archive)
        if files not in self._read:
            lines = {line for file in files for line in read_lines(file)}
            self._read[files] = lines, _ids_of(lines)
        return self._read[files]


def _read_copy(log: Log, kind: ProjectKind, path: Path, original: Path, known_lines: _KnownLines) -> LogCopy:
    data = read_file(path, limit=_MAX_COPY_BYTES)
    if isinstance(data, UnreadableFile):
        return LogCopy(path=path, original=original, obstacle=data.reason)
    known, own_ids = known_lines.beside(original)
    missing = [line for line in dict.fromkeys(data.split(b"\n")) if line.strip() and line not in known]
    lines = [read_shared_line(line) for line in missing]
    tombstones = log.read_contents().tombstones
    lacking = [
        line
        for line in lines
        if isinstance(line, SharedLine)
        and not (
            tombstones.covers_event(line.entry)
            if isinstance(line.entry, LedgerEvent)
            else tombstones.covers(line.entry)
        )
    ]
    reasons = [line.reason for line in lines if not isinstance(line, SharedLine)]
    reasons += filter(None, find_withholding_reasons(lacking, kind))
    reasons += ["the log has another line of its id" for line in lacking if line.entry.id in own_ids]
    obstacle = f"{count_phrase(len(reasons), 'line')} can't be taken in: {reasons[0]}" if reasons else ""
    return LogCopy(path=path, original=original, lacking=tuple(lacking), obstacle=obstacle, digest=content_digest(data))


def _ids_of(lines: Set[bytes]) -> Set[str]:
    learnings = (read.learning.id for read in read_learnings(lines) if isinstance(read, LearningLine))
    events = (read.id for read in read_events(lines) if isinstance(read, LedgerEvent))
    return {*learnings, *events}
