"""A cache of the log's replayed state: a new process reads only the learnings that it wants.

To read and replay a long log takes most of a hook's time. So the state lies in the state folder, in a
file that is believed only as it was left (`index_file`), for just the bytes that it was made from: where they
are others, the lines are read again; where some were added, those alone. It may be deleted at any time.
"""

import contextlib
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import replace
from roamkb.kb.search.index.file import SHORT_WAIT
from roamkb.kb.search.index.file import IndexFile
from roamkb.log.learning import Learning
from roamkb.log.state import replay
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.build_budget import STEP_BYTES
from roamkb.log.store.build_budget import BuildBudget
from roamkb.log.store.build_budget import StillBuilding
from roamkb.log.store.cache import state_build
from roamkb.log.store.cache.cached_states import CachedStates
from roamkb.log.store.cache.cached_states import StatesWithTail
from roamkb.log.store.cache.log_extents import cached_sizes
from roamkb.log.store.cache.log_extents import learnings_digest
from roamkb.log.store.cache.log_extents import page_extents
from roamkb.log.store.cache.log_extents import unrotated_page
from roamkb.log.store.cache.state_tables import DECODE_ERRORS
from roamkb.log.store.cache.state_tables import INDEXES
from roamkb.log.store.cache.state_tables import TABLES
from roamkb.log.store.cache.state_tables import add_events
from roamkb.log.store.cache.state_tables import read_about
from roamkb.log.store.cache.state_tables import read_reach
from roamkb.log.store.cache.state_tables import read_standing
from roamkb.log.store.cache.state_tables import store_about
from roamkb.log.store.cache.state_tables import store_standings
from roamkb.log.store.cache.state_tables import trait_mark
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import gc_paused

#: Raise on any change of tables; a file of another number is made anew.
SCHEMA = 10
#: A shorter log is read as fast.
_LEAST_BYTES = 64 * 1024
#: Bytes of lines that are replayed again and again before they are taken into the cache, which costs more.
_LONGEST_TAIL = 64 * 1024
#: A shorter log is replayed in a second, and in memory.
_LEAST_BUILT_BYTES = 4 * 1024 * 1024
#: Below the cache's folder: a build that isn't finished.
_PART_FOLDER = "part"
#: The code that makes a state of lines, which needn't be loaded to say which it is.
_MAKER_FILES = [
    Path(__file__).parents[2] / name
    for name in (
        *("jsonl.py", "learning.py", "state/adoption.py", "state/confidence.py", "state/initial_state.py"),
        *("state/learning_state.py", "state/replay.py", "state/state_rows.py", "state/tombstones.py"),
    )
]
_CACHE_ERRORS = (OSError, RoamkbError, sqlite3.Error, *DECODE_ERRORS)


class StateCache:
    """The cached states of one log, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        *,
        adopted: AdoptedLines = NONE_ADOPTED,
        least: int = _LEAST_BYTES,
        longest_tail: int = _LONGEST_TAIL,
        least_built: int | None = None,
        step_bytes: int = STEP_BYTES,
        budget: BuildBudget | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Cache states of `least` bytes or more; `adopted` are the lines of another machine.

        Up to `longest_tail` bytes that were added are only read, and not yet taken in. A state of `least_built`
        bytes or more is built in steps of `step_bytes`, as far as the budget goes.
        """
        self._adopted = adopted
        self._file = IndexFile(folder, clock=clock)
        self._least = least
        self._longest_tail = longest_tail
        self._least_built = _LEAST_BUILT_BYTES if least_built is None else least_built
        self._step_bytes = step_bytes
        self.budget = budget
        self._clock = clock

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StateCache) and self._file.folder == other._file.folder

    def __hash__(self) -> int:
        return hash(self._file.folder)

    def load_state(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        """Return the state of `pages` if it is cached, or once the lines added since are replayed.

        What is asked of it later comes from the file; where that can't tell any more, from `otherwise`.
        """
        if not self._is_worth_caching(pages):
            return None
        try:
            return self._load_sealed(pages, otherwise) or self._load_advanced(pages, otherwise)
        except _CACHE_ERRORS:
            return None

    def save_state(self, pages: Sequence[FileVersion], state: LogState) -> None:
        """Cache the state of `pages`; where that fails, nothing is lost."""
        if not self._is_worth_caching(pages):
            return
        # somebody else may be doing it just now
        with contextlib.suppress(*_CACHE_ERRORS), self._file.hold_lock(wait=0), self._file.replace_index() as db:
            db.executescript(TABLES)
            db.execute("BEGIN")
            store_standings(db, state.standings.values())
            add_events(db, state.events)
            store_about(db, page_extents(pages), state.reach or ("", frozenset()), maker=self._maker_version())
            db.execute("COMMIT")
            db.executescript(INDEXES)

    def is_to_be_built(self, pages: Sequence[FileVersion]) -> bool:
        """Say whether the pages are too long to be replayed in memory."""
        return sum(page.size for page in pages) >= self._least_built

    def build_state(self, pages: Sequence[FileVersion]) -> None:
        """Build the state of `pages`, or of their first lines, where the last call left off.

        Raises:
            StillBuilding: it is to be called again, and what was built stays; or it can't be kept.
        """
        budget = self.budget or BuildBudget()
        budget.require_rest()
        part, maker = IndexFile(self._file.folder / _PART_FOLDER, clock=self._clock), self._maker_version()
        try:
            if any(map(os.path.islink, (self._file.folder, part.folder))):
                # what is made and removed there would be somebody else's
                raise DiskError(part.folder, "is a link; roamkb follows none in a project's log")
            with self._file.hold_lock(wait=0), part.hold_lock(wait=0):
                if not self._goes_on(part, pages, maker):
                    with part.replace_index() as db:
                        db.executescript(TABLES)
                        state_build.StateBuild(db, pages, self._adopted).begin(maker)
                with contextlib.closing(part.open_connection(writing=True)) as db:
                    part.break_seal()
                    db.execute("PRAGMA synchronous = OFF")
                    build = state_build.StateBuild(db, pages, self._adopted, step_bytes=self._step_bytes)
                    try:
                        build.read_lines(budget)
                        build.fold_some(lambda states: store_standings(db, states), budget)
                    except StillBuilding:
                        part.seal_file()
                        raise
                    self._take_over(part, build, maker)
                part.remove()
        except StillBuilding:
            raise
        except _CACHE_ERRORS as error:
            raise StillBuilding from error

    def _goes_on(self, part: IndexFile, pages: Sequence[FileVersion], maker: str) -> bool:
        """Say whether a build of the same lines was begun, and left whole."""
        if not part.is_sealed():
            return False
        with contextlib.closing(part.open_connection()) as db:
            return state_build.StateBuild(db, pages, self._adopted).is_about(maker)

    def _take_over(self, part: IndexFile, build: "state_build.StateBuild", maker: str) -> None:
        """Make a finished build the cache."""
        with self._file.replace_index() as db:
            db.executescript(TABLES)
            db.create_function("mark", 1, lambda name: trait_mark(name.decode("utf-8", "surrogatepass")))
            db.execute("ATTACH ? AS part", (str(part.path),))
            db.execute("BEGIN")
            for table in ("standing", "listed"):
                db.execute(f"INSERT INTO {table} SELECT * FROM part.{table}")
            db.execute("INSERT INTO event(name, row) SELECT mark(name), row FROM part.happened ORDER BY id")
            store_about(db, build.reached, build.reach, maker=maker)
            db.execute("COMMIT")
            db.execute("DETACH part")
            db.executescript(INDEXES)

    def _is_worth_caching(self, pages: Sequence[FileVersion]) -> bool:
        return sum(page.size for page in pages) >= self._least

    def _load_sealed(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        if not self._file.is_sealed():
            return None
        return self._load_if_current(pages, otherwise)

    def _load_if_current(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        db = self._file.open_connection(shared=True)
        try:
            about = read_about(db)
            if about.get("maker") == self._maker_version():
                if about["made_from"] == json.dumps(page_extents(pages)):
                    return CachedStates(db, about, pages, otherwise).as_log_state()
                if state := self._load_with_tail(db, about, pages):
                    return state
        except _CACHE_ERRORS:
            db.close()
            raise
        db.close()
        return None

    def _load_with_tail(
        self, db: sqlite3.Connection, about: Mapping[str, str], pages: Sequence[FileVersion]
    ) -> LogState | None:
        """Return the cached state with the few lines that were added since; None where they are many."""
        sizes = cached_sizes(about, pages)
        if not sizes or sum(page.size - size for page, size in zip(pages, sizes, strict=True)) > self._longest_tail:
            return None
        base_state = CachedStates(db, about, pages, lambda: self._replay_pages(pages, sizes)).as_log_state()
        advanced_state = replay.advance_state(base_state, *self._added_lines(pages, sizes))
        if advanced_state is None or advanced_state.shelf is None:
            return None
        shelf = StatesWithTail(advanced_state.shelf, about, pages)
        return replace(advanced_state, digest=learnings_digest(pages), shelf=shelf)

    def _added_lines(
        self, pages: Sequence[FileVersion], sizes: Sequence[int]
    ) -> tuple[tuple[Learning, ...], tuple[LedgerEvent, ...]]:
        added_lines = [page.lines_after(size) for page, size in zip(pages, sizes, strict=True)]
        return (
            self._adopted.mark_learnings(tuple(entry for parsed in added_lines for entry in parsed.learnings)),
            self._adopted.mark_events(tuple(entry for parsed in added_lines for entry in parsed.events)),
        )

    def _replay_pages(self, pages: Sequence[FileVersion], sizes: Sequence[int]) -> LogState:
        """Return the state of the first bytes of the pages, from their lines."""
        knowledge, archive, ledger = (page.lines_between(0, size) for page, size in zip(pages, sizes, strict=True))
        with gc_paused():
            return replay.replay(
                self._adopted.mark_learnings(knowledge.learnings),
                self._adopted.mark_events(ledger.events),
                archived=self._adopted.mark_learnings(archive.learnings),
            )

    def _load_advanced(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        """Replay the lines that were added, if there is a cached state to add them to."""
        if not self._file.is_sealed():
            return None
        with self._file.hold_lock(wait=SHORT_WAIT):
            # somebody else may have done it meanwhile
            if not self._file.is_sealed():
                return None
            if current_state := self._load_if_current(pages, otherwise):
                return current_state
            with contextlib.closing(self._file.open_connection(writing=True)) as db:
                about = read_about(db)
                if about.get("maker") != self._maker_version():
                    return None
                if not cached_sizes(about, pages):
                    self._follow_rotation(db, about, pages)
                    about = read_about(db)
                if not (sizes := cached_sizes(about, pages)):
                    return None
                learnings, events = self._added_lines(pages, sizes)
                advanced = replay.advance_standings(
                    read_reach(about), lambda id: read_standing(db, id), learnings, events
                )
                if advanced is None:
                    return None
                changed, reach = advanced
                self._file.break_seal()
                db.execute("BEGIN IMMEDIATE")
                store_standings(db, changed.values())
                add_events(db, events)
                store_about(db, page_extents(pages), reach, maker=self._maker_version(), origin=about["origin"])
                db.execute("COMMIT")
            self._file.seal_file()
            return self._load_if_current(pages, otherwise)

    def _follow_rotation(self, db: sqlite3.Connection, about: Mapping[str, str], pages: Sequence[FileVersion]) -> None:
        """Mark as archived what rotation moved since, if that is all that became of the cached lines."""
        knowledge, archive, ledger = pages
        (size, digest), (archived_size, archived_digest), ledger_extent = json.loads(about["made_from"])
        rest = size - (archive.size - archived_size)
        is_moved = archive.size > archived_size and archive.begins_with(archived_size, archived_digest) and rest >= 0
        if not (is_moved and ledger.begins_with(*ledger_extent)):
            return
        # then the archive's new end, and what is left of the log, are the log as it was
        if not unrotated_page(pages, archived_size).begins_with(size, digest):
            return
        self._file.break_seal()
        db.execute("BEGIN IMMEDIATE")
        if not _archive_moved(db, archive, archived_size, {learning.id for learning in knowledge.each_learning()}):
            db.execute("ROLLBACK")
            return
        extents = [(rest, knowledge.digest_until(rest)), (archive.size, archive.digest), ledger_extent]
        store_about(db, extents, read_reach(about), maker=self._maker_version())
        rotated = json.dumps([about["origin"], archived_size, archived_digest])
        db.execute("INSERT OR REPLACE INTO about VALUES('rotated', ?)", (rotated,))
        db.execute("COMMIT")

    def _maker_version(self) -> str:
        """Return a version of all that a state depends on beside its lines: code and adoption."""
        file_stats = [file.stat() for file in _MAKER_FILES]
        code = ((item.st_size, item.st_mtime_ns) for item in file_stats)
        return json.dumps([SCHEMA, sys.hexversion, self._adopted.digest, *code])


def _archive_moved(db: sqlite3.Connection, archive: FileVersion, start: int, left_ids: Set[str]) -> bool:
    """Mark the cached learnings of the archive's lines from `start` on as archived; say whether all could be.

    Where another line has the id of one that moved, which of them counts is for replay to say.
    """
    while start < archive.size:
        end = archive.line_end(start + STEP_BYTES)
        learnings = archive.lines_between(start, end).learnings
        moved = {learning.id: learning for learning in learnings}
        if len(moved) < len(learnings) or not left_ids.isdisjoint(moved):
            return False
        standings = [standing for id in moved if (standing := read_standing(db, id)) and not standing.is_archived]
        if len(standings) < len(moved) or any(
            (standing.learning.type, standing.learning.content) != (moved[standing.id].type, moved[standing.id].content)
            for standing in standings
        ):
            return False
        store_standings(db, (replace(standing, is_archived=True) for standing in standings))
        start = end
    return True
