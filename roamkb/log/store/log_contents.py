"""The lines of a log's files, and the state that they give: each computed when somebody asks for it."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path

from roamkb.core import ids as core_ids
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import NamedTuple
from roamkb.core.startup.typing import TypeVar
from roamkb.log import jsonl
from roamkb.log.learning import Learning
from roamkb.log.state import replay as log_replay
from roamkb.log.state import tombstones as log_tombstones
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.build_budget import StillBuilding
from roamkb.log.store.cache.log_extents import learnings_digest
from roamkb.log.store.cache.state_cache import StateCache
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import gc_paused

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
    def tombstones(self) -> "log_tombstones.Tombstones":
        """What was forgotten, also where that was after `as_of`."""
        on_disk = jsonl.read_tombstones(self.pages[2].raw_lines())
        added = log_tombstones.tombstones_of(self.added_events)
        return log_tombstones.Tombstones(ids=on_disk.ids | added.ids, digests=on_disk.digests | added.digests)

    def without_forgotten(self, learnings: Sequence[Learning]) -> tuple[Learning, ...]:
        """Return those of some learnings that weren't forgotten."""
        # as cached_property keeps it; to look for the lines themselves takes reading all of the ledger
        state: LogState | None = vars(self).get("_today")
        if state is not None and state.reach is not None:
            _, unmet = state.reach
            return tuple(learning for learning in learnings if unmet.isdisjoint(log_tombstones.marks_of(learning)))
        return tuple(learning for learning in learnings if not self.tombstones.covers(learning))

    @cached_property
    def learnings(self) -> tuple[Learning, ...]:
        """The learnings of the log, and those added since; none that was forgotten."""
        return self._until_as_of((*self.adopted.mark_learnings(self.pages[0].told.learnings), *self.added_learnings))

    @cached_property
    def archived_learnings(self) -> tuple[Learning, ...]:
        """The learnings of the archive."""
        return self._until_as_of(self.adopted.mark_learnings(self.pages[1].told.learnings))

    def each_learning(self) -> Iterator[Learning]:
        """Yield the learnings of the log and then of the archive, which aren't kept for that."""
        said = chain(self.pages[0].each_learning(), self.added_learnings, self.pages[1].each_learning())
        return filter(self._counts, said)

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
            for bad in page.faults
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
        if state_cache is not None and (state := self._built_state(state_cache)):
            return state
        state = self._replay_lines()
        if state_cache is not None:
            state_cache.save_state(self.pages, state)
        return state

    def _built_state(self, state_cache: StateCache) -> LogState | None:
        """Build the state beside the log, and return it; None where that can't be, and nobody waits for an answer.

        Raises:
            StillBuilding: the budget is spent; the next to ask goes on.
        """
        if not state_cache.is_to_be_built(self.pages):
            return None
        try:
            state_cache.build_state(self.pages)
        except StillBuilding:
            if state_cache.budget is not None:
                raise
        return state_cache.load_state(self.pages, self._replay_lines)

    def _replay_lines(self) -> LogState:
        with gc_paused():
            state = log_replay.replay(self.learnings, self.events, archived=self.archived_learnings)
        return replace(state, digest=self.digest)

    def _grown_from(self, base_state: ReachedState) -> LogState | None:
        """Return the state by the one before and the lines since; None where all lines are needed."""
        new_lines = [page.lines_after(size) for page, size in zip(self.pages, base_state.sizes, strict=True)]
        learnings = (
            *self.adopted.mark_learnings(new_lines[0].learnings),
            *self.added_learnings[base_state.learning_count :],
        )
        events = (*self.adopted.mark_events(new_lines[2].events), *self.added_events[base_state.event_count :])
        advanced_state = log_replay.advance_state(base_state.state, learnings, events)
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

    def grow_to(
        self,
        pages: tuple[FileVersion, FileVersion, FileVersion],
        adopted: AdoptedLines,
        state_cache: StateCache | None,
    ) -> "LogContents":
        """Return the contents of `pages`, which grew from these; `adopted` may have later lines, as its cache has."""
        before, growths = self._reached_state, self.growths + 1
        if before is not None and before.state.shelf is not None:
            # who asks again and again is better off with all of it
            before = before._replace(state=before.state.load_all()) if growths > 1 else None
        return LogContents(pages=pages, adopted=adopted, state_cache=state_cache, base_state=before, growths=growths)

    @property
    def _reached_state(self) -> ReachedState | None:
        """The state of these lines if it was computed, else the state that they grew from."""
        # as cached_property keeps it
        state: LogState | None = vars(self).get("_today")
        if state is None:
            return self.base_state
        knowledge, archive, ledger = (page.size for page in self.pages)
        return ReachedState(state, (knowledge, archive, ledger), len(self.added_learnings), len(self.added_events))

    @property
    def last_event(self) -> str:
        """The latest event id that an id can follow; empty where there is none."""
        reach = self.replay_state().reach if self.state_cache or "_today" in vars(self) else None
        if reach and core_ids.is_id(reach[0]):
            return reach[0]
        return max((event.id for event in self.events if core_ids.is_id(event.id)), default="")


def are_grown(before: Sequence[FileVersion], current: Sequence[FileVersion]) -> bool:
    """Say whether the pages have their earlier lines and then more; the archive none."""
    return before[1] is current[1] and all(
        old_page.strain is new_page.strain for old_page, new_page in zip(before, current, strict=True)
    )
