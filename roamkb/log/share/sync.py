"""The exchange of a log's lines with its service: lines not yet there are offered, lines not yet here are taken in.

To do it twice is to do it once, in any order and from any moment of a crash: the service keeps one line for an id,
this log takes in no id that it has, and how far both came is only recorded afterwards.
"""

from collections import Counter
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.core.errors import RoamkbError
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.digests import blake2b
from roamkb.core.startup.digests import sha256
from roamkb.fs.append import read_bytes
from roamkb.log.learning import Learning
from roamkb.log.share.shared_lines import SharedLine
from roamkb.log.share.shared_lines import UnsharedLine
from roamkb.log.share.shared_lines import find_withholding_reasons
from roamkb.log.share.shared_lines import read_shared_line
from roamkb.log.share.store import progress as share_progress
from roamkb.log.share.store.postgres import Mark
from roamkb.log.share.store.postgres import PostgresPort
from roamkb.log.share.store.postgres import ServiceFacts
from roamkb.log.share.store.postgres import SharedRow
from roamkb.log.share.store.settings import ShareSettings
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.tombstones import Tombstones
from roamkb.log.state.tombstones import tombstones_of
from roamkb.log.store import share_process
from roamkb.log.store.project_log import Log

#: Lines and bytes of one transaction.
_BATCH_LINES, _BATCH_BYTES = 200, 1024 * 1024
#: After which no further page is waited for before lines are taken in.
_TAKEN_BYTES: Final = 4 * 1024 * 1024


class NotShared(RoamkbError):
    """A log that may not be exchanged with its service as things stand; a human has to look."""

    code = "not_shared"


def require_shareable(settings: ShareSettings, facts: ServiceFacts, project_kind: ProjectKind) -> None:
    """Raise `NotShared` unless a project of that kind may be shared by that service."""
    kinds = f"the project is {project_kind.value}, and the service {settings.service} is for {facts.kind} projects"
    if project_kind is ProjectKind.UNKNOWN or project_kind.value != facts.kind or facts.kind != settings.kind:
        raise NotShared(f"{kinds}; nothing is exchanged", hint="`roamkb classify` says why; `roamkb share off` ends it")
    if facts.id != settings.service_id:
        raise NotShared(
            f"the service {settings.service} isn't the one that was agreed to; nothing is exchanged",
            hint="if that is meant, share the log again: `roamkb share --service NAME`",
        )
    if settings.project not in facts.projects:
        raise NotShared(
            f"the role has no project {settings.project} there; nothing is exchanged",
            hint="the service's administrator adds it: `roamkb share migrate --member ROLE` prints how",
        )


class LogSync:
    """One log and its service, for as long as a process is at work."""

    def __init__(self, log: Log, settings: ShareSettings, port: PostgresPort, facts: ServiceFacts) -> None:
        """Begin where the last one ended; all over again where the service numbers its transactions anew."""
        self._log = log
        self._kind = ProjectKind(settings.kind)
        self._port = port
        self.folder = share_process.share_folder(log)
        self._aside = share_progress.LinesAside(self.folder)
        progress = share_progress.read_progress(self.folder)
        if progress.epoch != facts.epoch or progress.xid >= facts.next_xid:
            progress = replace(progress, epoch=facts.epoch, xid=0, pos=0, offered={})
        self.progress = progress
        #: The digests of all lines of this log, by the ids of their rows; None where one was redacted.
        self._digests: dict[str, bytes | None] = {}
        #: The ids that the entries themselves have.
        self._entry_ids: set[str] = set()
        self._in_service: set[str] = set()
        self._waiting: dict[str, SharedLine] = {}
        #: The digests of lines that needn't be looked at again.
        self._seen: set[bytes] = set()
        self._withheld: dict[bytes, str] = {}
        #: Of each file: the size and digest of what was scanned.
        self._scanned: dict[str, tuple[int, str]] = {}
        self._stamp: object = None

    @property
    def has_news(self) -> bool:
        """Whether the log's files changed since they were scanned."""
        return self._log.files_stamp() != self._stamp

    def sync(self) -> None:
        """Offer what the service lacks, and take in what this log lacks.

        Raises:
            ServiceAway, DiskError, Busy: what was done so far counts, and the next call goes on.
        """
        self._scan()
        self._offer_waiting()
        self._take_in()
        self._save()

    def _scan(self) -> None:
        stamp = self._log.files_stamp()
        if stamp == self._stamp:
            return
        # the archive after what it is filled from
        for path in (self._log.knowledge, self._log.archive, self._log.ledger):
            self._scan_file(path, read_bytes(path))
        self._stamp = stamp

    def _scan_file(self, path: Path, data: bytes) -> None:
        data = data[: data.rfind(b"\n") + 1]
        size, digest = self._scanned.get(path.name, (0, ""))
        start = size if size and _begins_with(data, size, digest) else 0
        size, digest = self._recorded(path.name)
        offered = size if size and _begins_with(data, size, digest) else 0
        new_lines: list[SharedLine] = []
        for line in data[start:].split(b"\n")[:-1]:
            start += len(line) + 1
            if plain := line.removesuffix(b"\r"):
                new_lines += self._scan_line(plain, is_offered=start <= offered)
        for shared, reason in zip(new_lines, find_withholding_reasons(new_lines, self._kind), strict=True):
            if reason:
                self._withhold(shared.line, reason)
            else:
                self._waiting[shared.row_id] = shared
        self._scanned[path.name] = len(data), _digest(data)

    def _recorded(self, name: str) -> tuple[int, str]:
        match self.progress.offered.get(name):
            case [int(size), str(digest)]:
                return size, digest
        return 0, ""

    def _scan_line(self, line: bytes, *, is_offered: bool) -> Iterator[SharedLine]:
        """Look at a line; yield it if the service may lack it."""
        digest = sha256(line).digest()
        if digest in self._seen:
            return
        self._seen.add(digest)
        shared = read_shared_line(line)
        if isinstance(shared, UnsharedLine):
            self._withhold(line, shared.reason)
            return
        self._know(shared)
        if is_offered:
            self._in_service.add(shared.row_id)
        elif shared.row_id not in self._in_service:
            yield shared

    def _know(self, shared: SharedLine) -> None:
        self._digests[shared.row_id] = None if shared.is_redacted else shared.sha256
        self._entry_ids.add(shared.entry.id)

    def _withhold(self, line: bytes, reason: str) -> None:
        self._withheld[blake2b(line, digest_size=8).digest()] = reason

    def _offer_waiting(self) -> None:
        while self._waiting:
            batch = _first_batch(self._waiting.values())
            for row in self._port.offer(batch):
                self._compare(row)
            for line in batch:
                self._in_service.add(line.row_id)
                del self._waiting[line.row_id]

    def _take_in(self) -> None:
        while rows := self._next_rows():
            if lines := self._judge_rows(rows):
                self._append(lines)
            self.progress = replace(
                self.progress, xid=rows[-1].xid, pos=rows[-1].pos, received=self.progress.received + len(lines)
            )
            share_progress.save_progress(self.folder, self.progress)

    def _next_rows(self) -> list[SharedRow]:
        """Return as many rows as are taken in at once: to append them and to record it waits for the disk."""
        rows: list[SharedRow] = []
        mark, size = Mark(self.progress.xid, self.progress.pos), 0
        while size < _TAKEN_BYTES and (page := self._port.since(mark)):
            rows += page
            mark, size = Mark(page[-1].xid, page[-1].pos), size + sum(len(row.line) for row in page)
        return rows

    def _judge_rows(self, rows: Iterable[SharedRow]) -> list[SharedLine]:
        """Return the lines of the rows that are new here, that say what they are, and that may be taken in."""
        read = [(row, line) for row in rows if (line := self._read_row(row))]
        lines = []
        reasons = find_withholding_reasons([line for _, line in read], self._kind)
        for (row, line), reason in zip(read, reasons, strict=True):
            if reason:
                self._put_aside(row, reason)
            elif line.sha256 != row.sha256 or line.row_id != row.id:
                self._put_aside(row, "its id or digest is another line's", is_alarm=True)
            elif line.entry.id not in self._entry_ids:
                lines.append(line)
        return lines

    def _read_row(self, row: SharedRow) -> SharedLine | None:
        """Return the line of a row whose id is new here."""
        if row.id in self._digests:
            self._in_service.add(row.id)
            self._compare(row)
            return None
        shared = read_shared_line(row.line.encode())
        if isinstance(shared, UnsharedLine):
            self._put_aside(row, shared.reason)
            return None
        return shared

    def _compare(self, row: SharedRow) -> None:
        if self._digests.get(row.id) not in (None, row.sha256):
            self._put_aside(row, "the service has other bytes under this id", is_alarm=True)

    def _put_aside(self, row: SharedRow, reason: str, *, is_alarm: bool = False) -> None:
        """Put a row aside; of what its text may hold that mustn't be kept, only an alarm's is looked at."""
        line = None
        if is_alarm and isinstance(shared := read_shared_line(row.line.encode()), SharedLine):
            line = None if any(find_withholding_reasons([shared], self._kind)) else row.line
        self._aside.put(row.id, row.sha256, reason, line=line, is_alarm=is_alarm)

    def _append(self, lines: list[SharedLine]) -> None:
        """Append lines that this log still lacks, and that weren't forgotten."""
        with self._log.append_lock():
            self._scan()
            known = self._log.read_contents().tombstones
            # a new machine has no reason to write down what the next line takes back
            brought = tombstones_of(line.entry for line in lines if isinstance(line.entry, LedgerEvent))
            tombstones = Tombstones(ids=known.ids | brought.ids, digests=known.digests | brought.digests)
            # of doubles under several ids one
            new_lines = [
                line
                for line in {line.entry.id: line for line in lines}.values()
                if line.row_id not in self._digests
                and line.entry.id not in self._entry_ids
                and not _is_forgotten(line, tombstones)
            ]
            if new_lines:
                self._log.append_received(
                    [line.line for line in new_lines if not line.is_event],
                    [line.line for line in new_lines if line.is_event],
                    ids=[line.entry.id for line in new_lines],
                )
            self._in_service.update(line.row_id for line in lines)
            for line in new_lines:
                self._know(line)
                self._seen.add(line.sha256)
            self._scan()

    def _save(self) -> None:
        offered = {name: list(scanned) for name, scanned in self._scanned.items()}
        progress = replace(
            self.progress,
            offered=self.progress.offered if self._waiting else offered,
            withheld=dict(Counter(self._withheld.values())),
            held_back=self._port.count_held_back(Mark(self.progress.xid, self.progress.pos)),
        )
        if progress == self.progress:
            share_progress.touch_progress(self.folder)
        else:
            share_progress.save_progress(self.folder, progress)
        self.progress = progress


def _is_forgotten(line: SharedLine, tombstones: Tombstones) -> bool:
    entry = line.entry
    return tombstones.covers(entry) if isinstance(entry, Learning) else tombstones.covers_event(entry)


def _first_batch(lines: Iterable[SharedLine]) -> list[SharedLine]:
    batch: list[SharedLine] = []
    size = 0
    for line in lines:
        size += len(line.line)
        if batch and (size > _BATCH_BYTES or len(batch) >= _BATCH_LINES):
            break
        batch.append(line)
    return batch


def _begins_with(data: bytes, size: int, digest: str) -> bool:
    return len(data) >= size and _digest(data[:size]) == digest


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
