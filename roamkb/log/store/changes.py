"""Changes of a project's log, whoever wrote them, in the order in which they were noticed.

A look costs three `lstat` while nothing happens. What was noticed once keeps its place, so
that who comes back and names the last piece that they had misses nothing that came later,
not even an older line that a merge brought meanwhile.
"""

import os
import threading
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from roamkb.core.errors import RoamkbError
from roamkb.core.ids import derived_id
from roamkb.core.ids import is_id
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.timestamps import format_iso
from roamkb.fs.append import open_regular_file
from roamkb.fs.append import stat_signature
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.tombstones import Tombstones
from roamkb.log.store.project_log import Log

CREATED: Final = "knowledge:created"
PROMOTED: Final = "knowledge:promoted"
REUSED: Final = "pattern:reused"
#: The ledger's events that are told, by the names that the document gives them (004, NFR-3).
_CHANGE_NAMES: Final = {"promoted": PROMOTED, "reused": REUSED}
#: An id that a line can carry as it is.
_PLAIN_ID: Final = lazily(r"[!-~]{1,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogChange:
    """One change of the log."""

    #: The id of its line.
    id: str
    #: knowledge:created, knowledge:promoted or pattern:reused.
    name: str
    details: Mapping[str, object]
    #: Seconds since 1970.
    ts: float


class LogChangeFeed:
    """The changes of one log; several threads may ask."""

    def __init__(self, log: Log | None) -> None:
        self._log = log
        self._looked: dict[Path, object] = {}
        self._read_to: dict[Path, tuple[int, int]] = {}
        self._seen: set[str] = set()
        self._guard = threading.Lock()
        #: What was noticed so far; it only grows.
        self.news: list[LogChange] = []

    def collect_changes(self) -> None:
        """Collect the changes since the last look; a log that can't be read has none."""
        if self._log is None:
            return
        with self._guard:
            try:
                new_changes = [*self._unseen_changes(self._log.require_adopted())]
            except (RoamkbError, OSError):
                return
            self.news += sorted(new_changes, key=lambda change: (change.ts, change.id))

    def index_after(self, id: str) -> int:
        """Return the index behind the change `id`; 0 where it is unknown, so that none is missed."""
        return next((place for place, change in enumerate(self.news, start=1) if change.id == id), 0)

    def _unseen_changes(self, log: Log) -> Iterator[LogChange]:
        # a line that moves to the archive meanwhile is met twice, and told once
        for path in (log.knowledge, log.archive, log.ledger):
            stamp = stat_signature(path)
            if stamp is None or stamp == self._looked.get(path):
                continue
            lines = log.seen_part(self._new_lines(path), path.name).split(b"\n")
            is_ledger = path == log.ledger
            changes = _ledger_changes(lines) if is_ledger else _created_changes(lines, log.read_contents().tombstones)
            for change in changes:
                if change.id not in self._seen:
                    self._seen.add(change.id)
                    yield change
            # written to while it was read: the next look sees that it differs
            self._looked[path] = stamp

    def _new_lines(self, path: Path) -> bytes:
        """Return the whole lines since the last look; all of them where the file was replaced."""
        with open_regular_file(path) as file:
            status = os.fstat(file.fileno())
            inode, offset = self._read_to.get(path, (0, 0))
            if inode != status.st_ino or status.st_size <= offset:
                offset = 0
            file.seek(offset)
            complete, newline, _ = file.read().rpartition(b"\n")
        self._read_to[path] = status.st_ino, offset + len(complete) + len(newline)
        return complete


def _created_changes(lines: list[bytes], tombstones: Tombstones) -> Iterator[LogChange]:
    for parsed in read_learnings(lines):
        if isinstance(parsed, LearningLine) and not tombstones.covers(parsed.learning):
            learning = parsed.learning
            details = {
                "id": learning.id,
                "key": learning.key,
                "type": learning.type,
                "content": learning.content,
                "tags": list(learning.tags),
                "agent": learning.agent,
                "task": learning.task or learning.bead,
                "ts": format_iso(learning.ts),
            }
            yield LogChange(id=_plain_id(learning.id), name=CREATED, details=details, ts=_learning_time(learning))


def _ledger_changes(lines: list[bytes]) -> Iterator[LogChange]:
    for event in read_events(lines):
        if isinstance(event, LedgerEvent) and event.event in _CHANGE_NAMES:
            event_fields = {
                name: event.text_field(name) for name in ("outcome", "match", "node") if event.text_field(name)
            }
            details = {
                "id": event.of,
                "agent": event.agent,
                "task": event.task,
                "ts": format_iso(event.ts),
                **event_fields,
            }
            yield LogChange(id=_plain_id(event.id), name=_CHANGE_NAMES[event.event], details=details, ts=event.ts)


def _learning_time(learning: Learning) -> float:
    """Return the time of a learning: its id has it to the millisecond, where it is of that second."""
    if is_id(learning.id):
        moment = int(learning.id.replace("-", "")[:12], 16) / 1000
        if 0 <= moment - learning.ts < 1:
            return moment
    return learning.ts


def _plain_id(id: str) -> str:
    return id if _PLAIN_ID.fullmatch(id) else derived_id(id)
