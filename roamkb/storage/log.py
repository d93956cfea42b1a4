"""A project's log on the disk: two append-only files, an archive, and local state beside them.

One `write()` of one line on an `O_APPEND` descriptor, under a lock that isn't on the file
itself, then fsync; never truncated, never rewritten but by rotation (design sections 8 and
13). The folder may come from somebody else's repository, so no link in it is followed.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import RoamkbError
from roamkb.core.ids import is_id
from roamkb.core.learning import Learning
from roamkb.core.ledger import Event
from roamkb.core.ledger import State
from roamkb.core.ledger import replay
from roamkb.formats.events import BadLine
from roamkb.formats.events import Said
from roamkb.formats.events import event_line
from roamkb.formats.events import learning_line
from roamkb.formats.events import read_events
from roamkb.formats.events import read_learnings
from roamkb.storage.disk import digest
from roamkb.storage.disk import swap
from roamkb.storage.lines import append_lines
from roamkb.storage.lines import changed
from roamkb.storage.lines import read_bytes
from roamkb.storage.lines import read_lines
from roamkb.storage.state import lock

FOLDER = ".roamkb"
KNOWLEDGE = "knowledge.jsonl"
ARCHIVE = "knowledge.archive.jsonl"
LEDGER = "ledger.jsonl"
#: Never committed: observations, receipts, locks, the index.
LOCAL = "local"
#: Says that `init` was called on this machine; a cloned log is somebody else's word until then.
ADOPTED = "initialised"

#: Past so many lines the oldest half moves to the archive (document 003).
ROTATE_AT = 5000
ROTATED = 2500


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A line of the log that says nothing readable."""

    path: Path
    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What the log's files say, line by line."""

    learnings: tuple[Learning, ...]
    archived: tuple[Learning, ...]
    events: tuple[Event, ...]
    faults: tuple[Fault, ...]

    def state(self, *, as_of: float | None = None) -> State:
        """Return what the lines amount to, today or at a time in seconds since 1970."""
        return replay(self.learnings, self.events, archived=self.archived, as_of=as_of)

    def plus(self, learnings: Iterable[Learning] = (), events: Iterable[Event] = ()) -> "Contents":
        """Return the contents with what was added since."""
        return replace(self, learnings=(*self.learnings, *learnings), events=(*self.events, *events))

    @property
    def last_event(self) -> str:
        """The latest id of an event, among those that can be followed; empty where there is none."""
        return max((event.id for event in self.events if is_id(event.id)), default="")


class Log:
    """The log of the project at `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / FOLDER
        self.knowledge = self.folder / KNOWLEDGE
        self.archive = self.folder / ARCHIVE
        self.ledger = self.folder / LEDGER
        self.local = self.folder / LOCAL

    @property
    def is_there(self) -> bool:
        """Whether the project has a log that was adopted on this machine."""
        return (self.local / ADOPTED).is_file()

    def check_folders(self) -> None:
        """Raise where a folder of the log is a link: a repository's owner would choose where we write."""
        for folder in (self.folder, self.local):
            if folder.is_symlink():
                raise DiskError(
                    folder,
                    "is a link; roamkb follows none in a project's log",
                    hint=f"make it a folder of {self.root}",
                )

    def require(self) -> "Log":
        """Return the log, or raise `NoLog` where `init` wasn't called here."""
        self.check_folders()
        if not self.is_there:
            raise NoLog(self.root, is_cloned=self.knowledge.is_file() or self.ledger.is_file())
        return self

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Hold the leave to append; every append and rotation takes it."""
        return lock(self.local / "log.lock")

    def read(self) -> Contents:
        """Return all that the files say."""
        faults: list[Fault] = []
        knowledge = self._said(self.knowledge, faults)
        # after what it is filled from: a line that moves meanwhile is seen twice, which replay drops
        archived = self._said(self.archive, faults)
        events = []
        for found in read_events(read_lines(self.ledger)):
            if isinstance(found, BadLine):
                faults.append(Fault(path=self.ledger, line=found.line, reason=found.reason))
            else:
                events.append(found)
        return Contents(
            learnings=tuple(knowledge), archived=tuple(archived), events=tuple(events), faults=tuple(faults)
        )

    def _said(self, path: Path, faults: list[Fault]) -> list[Learning]:
        learnings = []
        for found in read_learnings(read_lines(path)):
            if isinstance(found, Said):
                learnings.append(found.learning)
            else:
                faults.append(Fault(path=path, line=found.line, reason=found.reason))
        return learnings

    def stamp(self) -> tuple[object, ...]:
        """Return what is different once anybody has written to the files."""
        return tuple(changed(path) for path in (self.knowledge, self.archive, self.ledger))

    def append(self, learnings: Iterable[Learning] = (), events: Iterable[Event] = ()) -> None:
        """Add lines at the end of the files; the lock is held, and `read` was called since.

        Raises:
            DiskError: nothing was added. NotDurable: it was, and the disk would not promise to keep it.
        """
        said = [learning_line(learning) for learning in learnings]
        if said:
            append_lines(self.knowledge, said)
        happened = [event_line(event) for event in events]
        if happened:
            append_lines(self.ledger, happened)
        if said:
            # what was said is safe by now, and the next to append tries again
            with contextlib.suppress(RoamkbError):
                self._rotate()

    def _rotate(self) -> None:
        """Move the oldest lines to the archive when there are too many.

        They are durable there before they leave, so that at no moment a line is in neither file.
        """
        data = read_bytes(self.knowledge)
        too_many = data.count(b"\n") - ROTATE_AT
        if too_many <= 0:
            return
        lines = data.split(b"\n")
        leaving = -(-too_many // ROTATED) * ROTATED
        known = {b"", *read_lines(self.archive)}
        append_lines(self.archive, [line for line in lines[:leaving] if line not in known])
        swap(self.knowledge, b"\n".join(lines[leaving:]), was=digest(data), lock=contextlib.nullcontext())
