"""What is new in a project's log, whoever wrote it, in the order in which it was noticed.

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
from roamkb.core.timestamps import iso
from roamkb.fs.append import changed
from roamkb.fs.append import opened
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log

CREATED: Final = "knowledge:created"
PROMOTED: Final = "knowledge:promoted"
REUSED: Final = "pattern:reused"
#: The ledger's events that are told, by the names that the document gives them (004, NFR-3).
_TOLD: Final = {"promoted": PROMOTED, "reused": REUSED}
#: An id that a line can carry as it is.
_PLAIN: Final = lazily(r"[!-~]{1,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogChange:
    """One thing that happened."""

    #: The id of its line.
    id: str
    #: knowledge:created, knowledge:promoted or pattern:reused.
    name: str
    told: Mapping[str, object]
    #: Seconds since 1970.
    ts: float


class LogChangeFeed:
    """The news of one log; several threads may ask."""

    def __init__(self, log: Log | None) -> None:
        self._log = log
        self._looked: dict[Path, object] = {}
        self._read_to: dict[Path, tuple[int, int]] = {}
        self._seen: set[str] = set()
        self._guard = threading.Lock()
        #: What was noticed so far; it only grows.
        self.news: list[LogChange] = []

    def refresh(self) -> None:
        """Notice what was added to the files since the last look; a log that can't be read has no news."""
        if self._log is None:
            return
        with self._guard:
            try:
                fresh = [*self._fresh(self._log.require())]
            except (RoamkbError, OSError):
                return
            self.news += sorted(fresh, key=lambda one: (one.ts, one.id))

    def after(self, id: str) -> int:
        """Return where what follows the piece `id` begins; 0 where nobody knows it: nothing is lost."""
        return next((place for place, one in enumerate(self.news, start=1) if one.id == id), 0)

    def _fresh(self, log: Log) -> Iterator[LogChange]:
        # a line that moves to the archive meanwhile is met twice, and told once
        for path in (log.knowledge, log.archive, log.ledger):
            stamp = changed(path)
            if stamp is None or stamp == self._looked.get(path):
                continue
            lines = self._new_lines(path)
            found = _happened(lines) if path == log.ledger else _said(lines)
            for one in found:
                if one.id not in self._seen:
                    self._seen.add(one.id)
                    yield one
            # written to while it was read: the next look sees that it differs
            self._looked[path] = stamp

    def _new_lines(self, path: Path) -> list[bytes]:
        """Return the whole lines since the last look; all of them where the file was replaced."""
        with opened(path) as file:
            status = os.fstat(file.fileno())
            inode, offset = self._read_to.get(path, (0, 0))
            if inode != status.st_ino or status.st_size <= offset:
                offset = 0
            file.seek(offset)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read_to[path] = status.st_ino, offset + len(whole) + len(newline)
        return whole.split(b"\n")


def _said(lines: list[bytes]) -> Iterator[LogChange]:
    for found in read_learnings(lines):
        if isinstance(found, LearningLine):
            one = found.learning
            told = {
                "id": one.id,
                "key": one.key,
                "type": one.type,
                "content": one.content,
                "tags": list(one.tags),
                "agent": one.agent,
                "task": one.task or one.bead,
                "ts": iso(one.ts),
            }
            yield LogChange(id=_plain(one.id), name=CREATED, told=told, ts=_moment(one))


def _happened(lines: list[bytes]) -> Iterator[LogChange]:
    for event in read_events(lines):
        if isinstance(event, LedgerEvent) and event.event in _TOLD:
            named = {name: event.text(name) for name in ("outcome", "match", "node") if event.text(name)}
            told = {"id": event.of, "agent": event.agent, "task": event.task, "ts": iso(event.ts), **named}
            yield LogChange(id=_plain(event.id), name=_TOLD[event.event], told=told, ts=event.ts)


def _moment(learning: Learning) -> float:
    """Return when it was said: its id knows that to the millisecond, where it is of that second."""
    if is_id(learning.id):
        moment = int(learning.id.replace("-", "")[:12], 16) / 1000
        if 0 <= moment - learning.ts < 1:
            return moment
    return learning.ts


def _plain(id: str) -> str:
    return id if _PLAIN.fullmatch(id) else derived_id(id)
