"""A project's log on the disk: two append-only files, an archive, and local state beside them.

One `write()` of one line on an `O_APPEND` descriptor, under a lock that isn't on the file
itself, then fsync; never truncated, never rewritten but by rotation (docs/architecture.md).
The folder may come from somebody else's repository, so no link in it is followed.
"""

import contextlib
import os
import stat
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from typing import TypeVar

from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import NotDurable
from roamkb.core.errors import RoamkbError
from roamkb.core.ids import is_id
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.append import ARCHIVE
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
from roamkb.fs.append import append_lines
from roamkb.fs.append import changed
from roamkb.fs.append import opened
from roamkb.fs.append import read_lines
from roamkb.fs.files import digest
from roamkb.fs.files import make_folder
from roamkb.fs.files import swap
from roamkb.fs.locks import lock
from roamkb.fs.user_dirs import own_name
from roamkb.log.jsonl import event_line
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.state.adoption import OWN
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import advanced
from roamkb.log.state.replay import replay
from roamkb.log.store.adoptions import LogAdoption
from roamkb.log.store.adoptions import find_adoption
from roamkb.log.store.adoptions import find_moved
from roamkb.log.store.adoptions import identity_of
from roamkb.log.store.adoptions import keep_adoption
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import read_page
from roamkb.log.store.file_contents import uncollected
from roamkb.log.store.state_cache import StateCache
from roamkb.log.store.state_cache import learnings_digest
from roamkb.secrets.detector import refuse_secrets

FOLDER = ".roamkb"
#: Never committed: locks, observations, and for each machine a folder with its receipts and index.
LOCAL = "local"
OBSERVATIONS = "observations"

#: Past so many lines the oldest half moves to the archive (document 003).
ROTATE_AT = 5000
ROTATED = 2500

#: Seconds to wait for the others: each reads the whole log, and a dozen agents may learn at once.
_PATIENCE = 60.0


_Dated = TypeVar("_Dated", Learning, LedgerEvent)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFault:
    """A line of the log that says nothing readable."""

    path: Path
    line: int
    reason: str


class ReachedState(NamedTuple):
    """A state, and how far its lines go: bytes of the ledger and the log, and what was added to them."""

    state: LogState
    sizes: tuple[int, int, int]
    said: int
    happened: int


@dataclass(frozen=True, kw_only=True)
class LogContents:
    """What the log's files say, line by line, and what that amounts to: each once somebody asks."""

    #: The log, the archive, the ledger.
    pages: tuple[FileVersion, FileVersion, FileVersion]
    #: What was said and happened since.
    said: tuple[Learning, ...] = ()
    happened: tuple[LedgerEvent, ...] = ()
    #: Which of the lines are somebody else's word.
    adopted: AdoptedLines = OWN
    #: In seconds since 1970, after which nothing counts.
    as_of: float | None = None
    #: Where the state is kept.
    kept: StateCache | None = None
    #: What the last of those that these grew from amounted to.
    before: ReachedState | None = None
    #: How often that was in this process.
    growths: int = 0

    def state(self, *, as_of: float | None = None) -> LogState:
        """Return what the lines amount to, today or at a time in seconds since 1970."""
        return self._today if as_of is None else self.until(as_of)._today  # noqa: SLF001

    def until(self, as_of: float | None) -> "LogContents":
        """Return the lines of that time, in seconds since 1970, and before; one without a time always was."""
        if as_of is None:
            return self
        return LogContents(
            pages=self.pages, said=self.said, happened=self.happened, adopted=self.adopted, as_of=as_of
        )

    @cached_property
    def learnings(self) -> tuple[Learning, ...]:
        """What the log says, and what was said since."""
        return self._of_then((*self.adopted.learnings(self.pages[0].told.learnings), *self.said))

    @cached_property
    def archived(self) -> tuple[Learning, ...]:
        """What the archive says."""
        return self._of_then(self.adopted.learnings(self.pages[1].told.learnings))

    @cached_property
    def events(self) -> tuple[LedgerEvent, ...]:
        """What the ledger says, and what happened since."""
        return self._of_then((*self.adopted.events(self.pages[2].told.events), *self.happened))

    def _of_then(self, said: tuple[_Dated, ...]) -> tuple[_Dated, ...]:
        return said if self.as_of is None else tuple(one for one in said if one.ts <= self.as_of)

    @property
    def faults(self) -> tuple[LogFault, ...]:
        """Lines that say nothing readable."""
        return tuple(
            LogFault(path=page.path, line=bad.line, reason=bad.reason)
            for page in self.pages
            for bad in page.told.faults
        )

    @property
    def digest(self) -> str:
        """What stands for the learnings; empty where something was added since, or left out."""
        if self.said or self.happened or self.as_of is not None:
            return ""
        return learnings_digest(self.pages)

    @cached_property
    def _today(self) -> LogState:
        if self.before is not None and (state := self._grown_from(self.before)):
            return state
        # only what lies on the disk is kept
        kept = None if self.digest == "" else self.kept
        if kept is not None and (state := kept.find(self.pages, self._replayed)):
            return state
        state = self._replayed()
        if kept is not None:
            kept.keep(self.pages, state)
        return state

    def _replayed(self) -> LogState:
        with uncollected():
            state = replay(self.learnings, self.events, archived=self.archived)
        return replace(state, digest=self.digest)

    def _grown_from(self, before: ReachedState) -> LogState | None:
        """Return the state, from the one before and the lines that came since; None where all are needed."""
        new = [page.after(size) for page, size in zip(self.pages, before.sizes, strict=True)]
        learnings = (*self.adopted.learnings(new[0].learnings), *self.said[before.said :])
        events = (*self.adopted.events(new[2].events), *self.happened[before.happened :])
        known = advanced(before.state, learnings, events)
        if known is None:
            return None
        ids = tuple(learning.id for learning in learnings)
        return replace(known, digest=self.digest, grown=(before.state.digest, ids))

    def plus(self, learnings: Iterable[Learning] = (), events: Iterable[LedgerEvent] = ()) -> "LogContents":
        """Return the contents with what was added since."""
        return replace(
            self,
            said=(*self.said, *learnings),
            happened=(*self.happened, *events),
            before=self._reached,
        )

    def grown(self, pages: tuple[FileVersion, FileVersion, FileVersion]) -> "LogContents":
        """Return what `pages` say, which grew from these."""
        before, growths = self._reached, self.growths + 1
        if before is not None and before.state.shelf is not None:
            # who asks again and again is better off with all of it
            before = before._replace(state=before.state.unshelved()) if growths > 1 else None
        return LogContents(pages=pages, adopted=self.adopted, kept=self.kept, before=before, growths=growths)

    @property
    def _reached(self) -> ReachedState | None:
        """What these amount to, if anybody asked yet, else the last of those that they grew from."""
        # as cached_property keeps it
        state: LogState | None = vars(self).get("_today")
        if state is None:
            return self.before
        knowledge, archive, ledger = (len(page.data) for page in self.pages)
        return ReachedState(state, (knowledge, archive, ledger), len(self.said), len(self.happened))

    @property
    def last_event(self) -> str:
        """The latest id of an event, among those that can be followed; empty where there is none."""
        reach = self.state().reach if self.kept or "_today" in vars(self) else None
        if reach and is_id(reach[0]):
            return reach[0]
        return max((event.id for event in self.events if is_id(event.id)), default="")


class Log:
    """The log of the project at `root`, on the machine whose state folder is `state`."""

    def __init__(self, root: Path, state: Path) -> None:
        self.root = root
        self.folder = root / FOLDER
        self.knowledge = self.folder / KNOWLEDGE
        self.archive = self.folder / ARCHIVE
        self.ledger = self.folder / LEDGER
        #: What git ignores: of all machines that ever had this tree, and of whoever committed some.
        self.ignored = self.folder / LOCAL
        #: No more than the log itself would believe of who can commit: they become learnings at most.
        self.observations = self.ignored / OBSERVATIONS
        self._state = state
        self._own = ""

    @property
    def local(self) -> Path:
        """This machine's own folder; `init` makes it, and its being there says that the log counts here."""
        # a server may have begun before the machine had its secret
        self._own = self._own or own_name(str(self.root), str(self._state))
        return self.ignored / (self._own or "nobody")

    @property
    def is_there(self) -> bool:
        """Whether the project has a log that was adopted on this machine."""
        return self._has_local or self._proof() is not None

    @property
    def _has_local(self) -> bool:
        local = self.local
        return bool(self._own) and stat.S_ISDIR(_mode(local))

    def _proof(self) -> LogAdoption | None:
        """Return what says that just this log was adopted, here or before it was moved here."""
        log, local = identity_of(self.folder), self.local
        # something else may stand in its place
        if not log or not self._own or _mode(local):
            return None
        here = find_adoption(self._state, self._own)
        return here if here is not None and here.log == log else find_moved(self._state, log)

    def adopt(self, adopted: AdoptedLines) -> Path:
        """Let the log count on this machine from now on; return the folder whose being there says so.

        Raises:
            DiskError: it doesn't count.
        """
        from roamkb.log.store.observations import set_aside  # once in a log's life

        adoption = LogAdoption(log=identity_of(self.folder), adopted=adopted)
        # first, so that at no moment the log counts more than it should
        keep_adoption(self._state, self.local.name, adoption)
        set_aside(self.ignored)
        return make_folder(self.local, mode=0o700)

    def _adopted(self) -> AdoptedLines:
        """Return which lines are somebody else's word; before the log was adopted they say what they say."""
        found = find_adoption(self._state, self._own) if self._has_local else self._proof()
        return found.adopted if found else OWN

    @property
    def has_lines(self) -> bool:
        """Whether there are files of a log, whoever made them."""
        return any(stat.S_ISREG(_mode(path)) for path in (self.knowledge, self.ledger))

    def check_folders(self) -> None:
        """Raise where a folder of the log, or its local state, is a link: its owner chooses where we write.

        git ignores that state, and a commit can bring some all the same.
        """
        for folder in chain((self.folder, self.ignored, self.local, self.observations), self._linked()):
            if stat.S_ISLNK(_mode(folder)):
                raise DiskError(
                    folder,
                    "is a link; roamkb follows none in a project's log",
                    hint=f"remove it; what belongs there is {self.root}'s own",
                )

    def _linked(self) -> Iterator[Path]:
        """Yield what is a link in the local folder; nothing where that can't be looked at."""
        with contextlib.suppress(OSError), os.scandir(self.local) as found:
            yield from (self.local / one.name for one in found if one.is_symlink())

    def require(self) -> "Log":
        """Return the log, or raise `NoLog` where `init` wasn't called here."""
        self.check_folders()
        if self._has_local:
            return self
        proof = self._proof()
        if proof is None:
            raise NoLog(self.root, is_cloned=self.has_lines)
        # where nothing may be written, what is there can be read all the same
        with contextlib.suppress(RoamkbError):
            self.adopt(proof.adopted)
        return self

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Hold the leave to append; every append and rotation takes it."""
        # one for all that see this tree, by whatever name and from whatever container
        return lock(self.ignored / "log.lock", wait=_PATIENCE)

    def read(self) -> LogContents:
        """Return all that the files say; what this process read before is not read again."""
        # the archive after what it is filled from: a line that moves meanwhile is seen twice,
        # which replay drops
        knowledge, archive = (read_page(path, is_ledger=False) for path in (self.knowledge, self.archive))
        pages = knowledge, archive, read_page(self.ledger, is_ledger=True)
        adopted = self._adopted()
        kept, last = self._kept(adopted), _LogMemory.contents
        # a log may have been adopted since
        is_ours = last is not None and last.kept == kept and last.adopted == adopted
        if last is None or last.pages != pages or not is_ours:
            is_growth = last is not None and is_ours and _have_grown(last.pages, pages)
            contents = (
                last.grown(pages)
                if last and is_growth
                else LogContents(pages=pages, adopted=adopted, kept=kept)
            )
            last = _LogMemory.contents = contents
        return last

    def _kept(self, adopted: AdoptedLines) -> StateCache | None:
        """Where the state is kept; nowhere before the log was adopted."""
        return StateCache(self.local / "standings", adopted=adopted) if self._has_local else None

    def stamp(self) -> tuple[object, ...]:
        """Return what is different once anybody has written to the files."""
        return tuple(changed(path) for path in (self.knowledge, self.archive, self.ledger))

    def append(self, learnings: Iterable[Learning] = (), events: Iterable[LedgerEvent] = ()) -> None:
        """Add lines at the end of the files; the lock is held, and `read` was called since.

        Raises:
            SecretFound, DiskError: nothing was added. NotDurable: it was, and the disk would not promise to
                keep it, or took the learnings and not the events.
        """
        learnings, events = tuple(learnings), tuple(events)
        written: tuple[Learning | LedgerEvent, ...] = (*learnings, *events)
        refuse_secrets([getattr(one, field.name) for one in written for field in fields(one)])
        self._remember()
        said = [learning_line(learning) for learning in learnings]
        happened = [event_line(event) for event in events]
        doubt: NotDurable | None = None
        if said:
            try:
                append_lines(self.knowledge, said)
            except NotDurable as error:
                # it is there, and so belongs what follows from it
                doubt = error
        if happened:
            try:
                append_lines(self.ledger, happened)
            except DiskError as error:
                if not said:
                    raise
                raise NotDurable(
                    self.knowledge, f"what follows from it isn't there: {error.message}"
                ) from error
        if doubt is not None:
            raise doubt
        if said:
            # what was said is safe by now, and the next to append tries again
            with contextlib.suppress(RoamkbError, OSError):
                self._rotate()

    def _remember(self) -> None:
        """Put down which log it is, where that isn't known any more: a checkout may have made it anew.

        Without it the log counts as long as its local folder is there.
        """
        with contextlib.suppress(RoamkbError):
            log, known = identity_of(self.folder), find_adoption(self._state, self._own)
            if self._has_local and log and (known is None or known.log != log):
                adopted = known.adopted if known else OWN
                keep_adoption(self._state, self._own, LogAdoption(log=log, adopted=adopted))

    def _rotate(self) -> None:
        """Move the oldest lines to the archive when there are too many.

        They are durable there before they leave, so that at no moment a line is in neither file.
        """
        with opened(self.knowledge) as file:
            data = file.read()
            too_many = data.count(b"\n") - ROTATE_AT
            if too_many <= 0 or not data.endswith(b"\n"):
                return
            lines = data.split(b"\n")
            leaving = -(-too_many // ROTATED) * ROTATED
            known = {b"", *read_lines(self.archive)}
            append_lines(self.archive, [line for line in lines[:leaving] if line not in known])
            swap(self.knowledge, b"\n".join(lines[leaving:]), was=digest(data), lock=contextlib.nullcontext())
            # a program that knows no lock of ours may have added to the file that is gone
            if late := file.read().removesuffix(b"\n"):
                append_lines(self.knowledge, late.split(b"\n"))


class _LogMemory:
    """The last log that this process read: an agents' server asks the same one again and again.

    What is kept is only ever replaced as a whole, since several threads may ask.
    """

    contents: LogContents | None = None


def _have_grown(before: Sequence[FileVersion], now: Sequence[FileVersion]) -> bool:
    """Say whether the pages say what they said before, and then more; the archive just the same."""
    return before[1] is now[1] and all(
        one.strain is other.strain for one, other in zip(before, now, strict=True)
    )


def _mode(path: Path) -> int:
    """Return the mode of what goes by that name, a link's own; 0 where nothing does or can be seen."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0
