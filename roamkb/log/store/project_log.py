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
from roamkb.fs import git_worktrees
from roamkb.fs.append import ARCHIVE
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_bytes
from roamkb.fs.append import read_lines
from roamkb.fs.append import replace_content
from roamkb.fs.append import stat_signature
from roamkb.fs.files import make_folder
from roamkb.fs.locks import hold_lock
from roamkb.fs.user_dirs import local_state_name
from roamkb.log import jsonl
from roamkb.log.learning import Learning
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import advance_state
from roamkb.log.state.replay import replay
from roamkb.log.state.tombstones import Tombstones
from roamkb.log.state.tombstones import tombstones_of
from roamkb.log.store import adoptions
from roamkb.log.store import observations
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import gc_paused
from roamkb.log.store.file_contents import read_file_version
from roamkb.log.store.state_cache import StateCache
from roamkb.log.store.state_cache import learnings_digest
from roamkb.secrets import detector

LOG_FOLDER = ".roamkb"
#: Never committed: locks, observations, and for each machine a folder with its receipts and index.
LOCAL_FOLDER = "local"
OBSERVATIONS_FOLDER = "observations"

#: Past so many lines the oldest half moves to the archive (document 003).
ROTATE_AT = 5000
ROTATED_LINES = 2500

#: Seconds to wait for the others: each reads the whole log, and a dozen agents may learn at once.
_LOCK_WAIT_SECONDS = 60.0


_Dated = TypeVar("_Dated", Learning, LedgerEvent)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFault:
    """A line of the log that can't be read, or not all of it."""

    path: Path
    line: int
    reason: str
    #: Whether it is of a newer version, which is no damage.
    is_newer: bool = False


class ReachedState(NamedTuple):
    """A state, and the extent of its lines: bytes of the files, and the number of lines added."""

    state: LogState
    sizes: tuple[int, int, int]
    learning_count: int
    event_count: int


@dataclass(frozen=True, kw_only=True)
class LogContents:
    """The lines of the log's files, and the state that they give: each computed when asked for."""

    #: The log, the archive, the ledger.
    pages: tuple[FileVersion, FileVersion, FileVersion]
    #: What was said and happened since.
    added_learnings: tuple[Learning, ...] = ()
    added_events: tuple[LedgerEvent, ...] = ()
    #: Which of the lines are somebody else's word.
    adopted: AdoptedLines = NONE_ADOPTED
    #: In seconds since 1970, after which nothing counts.
    as_of: float | None = None
    #: Where the state is kept.
    state_cache: StateCache | None = None
    #: What the last of those that these grew from amounted to.
    base_state: ReachedState | None = None
    #: How often that was in this process.
    growths: int = 0

    def replay_state(self, *, as_of: float | None = None) -> LogState:
        """Return the state that the lines give, today or at a time in seconds since 1970."""
        return self._today if as_of is None else self.contents_until(as_of)._today  # noqa: SLF001

    def contents_until(self, as_of: float | None) -> "LogContents":
        """Return the contents at that time, in seconds since 1970; a line without a time always counts."""
        if as_of is None:
            return self
        return LogContents(
            pages=self.pages,
            added_learnings=self.added_learnings,
            added_events=self.added_events,
            adopted=self.adopted,
            as_of=as_of,
        )

    @cached_property
    def tombstones(self) -> Tombstones:
        """What was forgotten, also where that was after `as_of`."""
        on_disk, added = jsonl.read_tombstones(self.pages[2].data), tombstones_of(self.added_events)
        return Tombstones(ids=on_disk.ids | added.ids, digests=on_disk.digests | added.digests)

    @cached_property
    def learnings(self) -> tuple[Learning, ...]:
        """The learnings of the log, and those added since; none that was forgotten."""
        return self._until_as_of((*self.adopted.mark_learnings(self.pages[0].told.learnings), *self.added_learnings))

    @cached_property
    def archived_learnings(self) -> tuple[Learning, ...]:
        """The learnings of the archive."""
        return self._until_as_of(self.adopted.mark_learnings(self.pages[1].told.learnings))

    @cached_property
    def events(self) -> tuple[LedgerEvent, ...]:
        """The events of the ledger, and those added since."""
        return self._until_as_of((*self.adopted.mark_events(self.pages[2].told.events), *self.added_events))

    def _until_as_of(self, lines: tuple[_Dated, ...]) -> tuple[_Dated, ...]:
        if self.as_of is None and not self.tombstones:
            return lines
        return tuple(line for line in lines if self._counts(line))

    def _counts(self, line: Learning | LedgerEvent) -> bool:
        """Say whether a line is to be seen at `as_of`: a tombstone always, and what it covers at no time."""
        is_early = self.as_of is None or line.ts <= self.as_of
        if isinstance(line, Learning):
            return is_early and not self.tombstones.covers(line)
        return (is_early or line.event == FORGOTTEN) and not self.tombstones.covers_event(line)

    @property
    def line_faults(self) -> tuple[LogFault, ...]:
        """The unreadable lines, and those of a newer version."""
        return tuple(
            LogFault(path=page.path, line=bad.line, reason=bad.reason, is_newer=bad.is_newer)
            for page in self.pages
            for bad in page.told.faults
        )

    @property
    def digest(self) -> str:
        """Digest of the learnings; empty where lines were added since, or left out."""
        if self.added_learnings or self.added_events or self.as_of is not None:
            return ""
        return learnings_digest(self.pages)

    @cached_property
    def _today(self) -> LogState:
        if self.base_state is not None and (state := self._grown_from(self.base_state)):
            return state
        # only what lies on the disk is kept
        state_cache = None if self.digest == "" else self.state_cache
        if state_cache is not None and (state := state_cache.load_state(self.pages, self._replay_lines)):
            return state
        state = self._replay_lines()
        if state_cache is not None:
            state_cache.save_state(self.pages, state)
        return state

    def _replay_lines(self) -> LogState:
        with gc_paused():
            state = replay(self.learnings, self.events, archived=self.archived_learnings)
        return replace(state, digest=self.digest)

    def _grown_from(self, base_state: ReachedState) -> LogState | None:
        """Return the state by the one before and the lines since; None where all lines are needed."""
        new_lines = [page.lines_after(size) for page, size in zip(self.pages, base_state.sizes, strict=True)]
        learnings = (
            *self.adopted.mark_learnings(new_lines[0].learnings),
            *self.added_learnings[base_state.learning_count :],
        )
        events = (*self.adopted.mark_events(new_lines[2].events), *self.added_events[base_state.event_count :])
        advanced_state = advance_state(base_state.state, learnings, events)
        if advanced_state is None:
            return None
        ids = tuple(learning.id for learning in learnings)
        return replace(advanced_state, digest=self.digest, grown=(base_state.state.digest, ids))

    def plus_lines(self, learnings: Iterable[Learning] = (), events: Iterable[LedgerEvent] = ()) -> "LogContents":
        """Return the contents with lines that were added since."""
        return replace(
            self,
            added_learnings=(*self.added_learnings, *learnings),
            added_events=(*self.added_events, *events),
            base_state=self._reached_state,
        )

    def grow_to(self, pages: tuple[FileVersion, FileVersion, FileVersion]) -> "LogContents":
        """Return the contents of `pages`, which grew from these."""
        before, growths = self._reached_state, self.growths + 1
        if before is not None and before.state.shelf is not None:
            # who asks again and again is better off with all of it
            before = before._replace(state=before.state.load_all()) if growths > 1 else None
        return LogContents(
            pages=pages, adopted=self.adopted, state_cache=self.state_cache, base_state=before, growths=growths
        )

    @property
    def _reached_state(self) -> ReachedState | None:
        """The state of these lines if it was computed, else the state that they grew from."""
        # as cached_property keeps it
        state: LogState | None = vars(self).get("_today")
        if state is None:
            return self.base_state
        knowledge, archive, ledger = (len(page.data) for page in self.pages)
        return ReachedState(state, (knowledge, archive, ledger), len(self.added_learnings), len(self.added_events))

    @property
    def last_event(self) -> str:
        """The latest event id that an id can follow; empty where there is none."""
        reach = self.replay_state().reach if self.state_cache or "_today" in vars(self) else None
        if reach and is_id(reach[0]):
            return reach[0]
        return max((event.id for event in self.events if is_id(event.id)), default="")


class Log:
    """The log of the project at `root`, on the machine whose state folder is `state`.

    All worktrees of a repository have the log of its main checkout.
    """

    def __init__(self, root: Path, state: Path) -> None:
        self.root = root
        #: The checkout that the log lies in, or git's common folder where there is no main checkout.
        self.home = Path(git_worktrees.shared_folder(str(root)))
        self.folder = self.home / LOG_FOLDER
        self.knowledge = self.folder / KNOWLEDGE
        self.archive = self.folder / ARCHIVE
        self.ledger = self.folder / LEDGER
        #: What git ignores: of all machines that ever had this tree, and of whoever committed some.
        self.ignored = self.folder / LOCAL_FOLDER
        #: No more than the log itself would believe of who can commit: they become learnings at most.
        self.observations = self.ignored / OBSERVATIONS_FOLDER
        self._state = state
        self._own = ""

    @property
    def local_folder(self) -> Path:
        """This machine's own folder; `init` makes it, and a log without it doesn't count here."""
        # a server may have begun before the machine had its secret
        self._own = self._own or local_state_name(str(self.home), str(self._state))
        return self.ignored / (self._own or "nobody")

    @property
    def is_adopted(self) -> bool:
        """Whether the project has a log that was adopted on this machine."""
        return self._has_local or self._find_adoption_record() is not None

    @property
    def _has_local(self) -> bool:
        local = self.local_folder
        return bool(self._own) and stat.S_ISDIR(_file_mode(local))

    def _find_adoption_record(self) -> "adoptions.LogAdoption | None":
        """Return the record that this log was adopted, here or before it was moved here."""
        log, local = adoptions.log_identity(self.folder), self.local_folder
        # something else may stand in its place
        if not log or not self._own or _file_mode(local):
            return None
        adoption = adoptions.find_adoption(self._state, self._own)
        return adoption if adoption is not None and adoption.log == log else adoptions.find_moved_log(self._state, log)

    def record_adoption(self, adopted: AdoptedLines) -> Path:
        """Let the log count on this machine from now on; return its local folder.

        Raises:
            DiskError: it doesn't count.
        """
        adoption = adoptions.LogAdoption(log=adoptions.log_identity(self.folder), adopted=adopted)
        # first, so that at no moment the log counts more than it should
        adoptions.save_adoption(self._state, self.local_folder.name, adoption)
        observations.set_observations_aside(self.ignored)
        return make_folder(self.local_folder, mode=0o700)

    def _adopted_lines(self) -> AdoptedLines:
        """Return the lines that were adopted from elsewhere; none before the log is adopted."""
        adoption = adoptions.find_adoption(self._state, self._own) if self._has_local else self._find_adoption_record()
        return adoption.adopted if adoption else NONE_ADOPTED

    @property
    def has_lines(self) -> bool:
        """Whether files of a log are there, whoever made them."""
        return any(stat.S_ISREG(_file_mode(path)) for path in (self.knowledge, self.ledger))

    def check_folders(self) -> None:
        """Raise where a folder of the log, or its local state, is a link, which would redirect writes.

        git ignores that state, and a commit can bring some all the same.
        """
        for folder in chain((self.folder, self.ignored, self.local_folder, self.observations), self._local_links()):
            if stat.S_ISLNK(_file_mode(folder)):
                raise DiskError(
                    folder,
                    "is a link; roamkb follows none in a project's log",
                    hint=f"remove it; what belongs there is {self.home}'s own",
                )

    def _local_links(self) -> Iterator[Path]:
        """Yield the links in the local folder; nothing where it can't be listed."""
        with contextlib.suppress(OSError), os.scandir(self.local_folder) as entries:
            yield from (self.local_folder / entry.name for entry in entries if entry.is_symlink())

    def require_adopted(self) -> "Log":
        """Return the log, or raise `NoLog` where `init` wasn't called here."""
        self.check_folders()
        if self._has_local:
            return self
        proof = self._find_adoption_record()
        if proof is None:
            raise NoLog(self.home, is_cloned=self.has_lines)
        # where nothing may be written, what is there can be read all the same
        with contextlib.suppress(RoamkbError):
            self.record_adoption(proof.adopted)
        return self

    def append_lock(self) -> contextlib.AbstractContextManager[None]:
        """Hold the lock for appending; every append and rotation takes it."""
        # one for all that see this tree, by whatever name and from whatever container
        return hold_lock(self.ignored / "log.lock", wait=_LOCK_WAIT_SECONDS)

    def read_contents(self) -> LogContents:
        """Return the contents of the files; parts that this process has read before aren't read again."""
        # the archive after what it is filled from: a line that moves meanwhile is seen twice,
        # which replay drops
        knowledge, archive = (read_file_version(path, is_ledger=False) for path in (self.knowledge, self.archive))
        pages = knowledge, archive, read_file_version(self.ledger, is_ledger=True)
        adopted = self._adopted_lines()
        state_cache, last_contents = self._state_cache(adopted), _LogMemory.contents
        # a log may have been adopted since
        is_ours = (
            last_contents is not None and last_contents.state_cache == state_cache and last_contents.adopted == adopted
        )
        if last_contents is None or last_contents.pages != pages or not is_ours:
            is_growth = last_contents is not None and is_ours and _are_grown(last_contents.pages, pages)
            contents = (
                last_contents.grow_to(pages)
                if last_contents and is_growth
                else LogContents(pages=pages, adopted=adopted, state_cache=state_cache)
            )
            last_contents = _LogMemory.contents = contents
        return last_contents

    def _state_cache(self, adopted: AdoptedLines) -> StateCache | None:
        """Return the cache of the state; None before the log is adopted."""
        return StateCache(self.local_folder / "standings", adopted=adopted) if self._has_local else None

    def files_stamp(self) -> tuple[object, ...]:
        """Return a stamp that changes with any write to the files."""
        return tuple(stat_signature(path) for path in (self.knowledge, self.archive, self.ledger))

    def append_entries(self, learnings: Iterable[Learning] = (), events: Iterable[LedgerEvent] = ()) -> None:
        """Append lines to the files; the lock is held, and the contents were read since.

        What was forgotten isn't written again: replay would drop it, and the text would stay.

        Raises:
            SecretFound, DiskError: nothing was added. NotDurable: it was, and the disk would not promise to
                keep it, or took the learnings and not the events.
        """
        learnings, events = tuple(learnings), tuple(events)
        if learnings and (tombstones := self._tombstones_on_disk()):
            learnings = tuple(learning for learning in learnings if not tombstones.covers(learning))
        entries: tuple[Learning | LedgerEvent, ...] = (*learnings, *events)
        detector.refuse_secrets([getattr(entry, field.name) for entry in entries for field in fields(entry)])
        self._record_identity()
        learning_lines = [jsonl.learning_line(learning) for learning in learnings]
        event_lines = [jsonl.event_line(event) for event in events]
        durability_error: NotDurable | None = None
        if learning_lines:
            try:
                append_lines(self.knowledge, learning_lines)
            except NotDurable as error:
                # it is there, and so belongs what follows from it
                durability_error = error
        if event_lines:
            try:
                append_lines(self.ledger, event_lines)
            except DiskError as error:
                if not learning_lines:
                    raise
                raise NotDurable(self.knowledge, f"what follows from it isn't there: {error.message}") from error
        if durability_error is not None:
            raise durability_error
        if learning_lines:
            # what was said is safe by now, and the next to append tries again
            with contextlib.suppress(RoamkbError, OSError):
                self._rotate_to_archive()

    def _tombstones_on_disk(self) -> Tombstones:
        """Return what was forgotten; nothing where the ledger can't be read, which its caller will meet."""
        try:
            return jsonl.read_tombstones(read_bytes(self.ledger))
        except DiskError:
            return tombstones_of(())

    def _record_identity(self) -> None:
        """Record the log's identity again where it is unknown: a checkout may have made its files anew.

        Without it the log counts as long as its local folder is there.
        """
        with contextlib.suppress(RoamkbError):
            log, adoption = adoptions.log_identity(self.folder), adoptions.find_adoption(self._state, self._own)
            if self._has_local and log and (adoption is None or adoption.log != log):
                adopted = adoption.adopted if adoption else NONE_ADOPTED
                adoptions.save_adoption(self._state, self._own, adoptions.LogAdoption(log=log, adopted=adopted))

    def _rotate_to_archive(self) -> None:
        """Move the oldest lines to the archive when there are too many.

        They are durable there before they leave, so that at no moment a line is in neither file.
        """

        def without_oldest(data: bytes) -> bytes:
            too_many = data.count(b"\n") - ROTATE_AT
            if too_many <= 0 or not data.endswith(b"\n"):
                return data
            lines = data.split(b"\n")
            moved_count = -(-too_many // ROTATED_LINES) * ROTATED_LINES
            archived_lines = {b"", *read_lines(self.archive)}
            append_lines(self.archive, [line for line in lines[:moved_count] if line not in archived_lines])
            return b"\n".join(lines[moved_count:])

        replace_content(self.knowledge, without_oldest)


class _LogMemory:
    """The last log that this process read: a server asks for the same one again and again.

    What is kept is only ever replaced as a whole, since several threads may ask.
    """

    contents: LogContents | None = None


def _are_grown(before: Sequence[FileVersion], current: Sequence[FileVersion]) -> bool:
    """Say whether the pages have their earlier lines and then more; the archive none."""
    return before[1] is current[1] and all(
        old_page.strain is new_page.strain for old_page, new_page in zip(before, current, strict=True)
    )


def _file_mode(path: Path) -> int:
    """Return the mode of a path, a link's own; 0 where it is missing or can't be seen."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0
