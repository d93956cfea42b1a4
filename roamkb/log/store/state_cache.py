"""A cache of the log's replayed state: a new process reads only the learnings that it wants.

To read and replay a long log takes most of a hook's time. So the state lies in the log's local folder, in a
file that is believed only as it was left (`index_file`), for just the bytes that it was made from: where they
are others, the lines are read again; where some were added, those alone. It may be deleted at any time.
"""

import contextlib
import json
import os
import sqlite3
import sys
import threading
import time
import weakref
import zlib
from collections import Counter
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import ItemsView
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import ValuesView
from pathlib import Path
from typing import Any
from typing import overload

from roamkb.core.errors import DiskError
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import replace
from roamkb.kb.search.index.file import SHORT_WAIT
from roamkb.kb.search.index.file import IndexFile
from roamkb.log import jsonl as lines
from roamkb.log import learning as learnings
from roamkb.log.learning import Learning
from roamkb.log.state import adoption
from roamkb.log.state import confidence
from roamkb.log.state import learning_state as ledger
from roamkb.log.state import replay
from roamkb.log.state import state_rows as rows
from roamkb.log.state import tombstones
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.learning_state import LISTED_TRAITS
from roamkb.log.state.learning_state import TRAITS
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import Reach
from roamkb.log.state.learning_state import StateShelf
from roamkb.log.state.learning_state import TraitValues
from roamkb.log.state.learning_state import is_counted
from roamkb.log.state.replay import advance_standings
from roamkb.log.state.replay import advance_state
from roamkb.log.state.replay import replay as full_replay
from roamkb.log.store.build_budget import BuildBudget
from roamkb.log.store.build_budget import StillBuilding
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import gc_paused
from roamkb.log.store.state_build import STEP_BYTES
from roamkb.log.store.state_build import StateBuild

#: Raise on any change of tables; a file of another number is made anew.
SCHEMA = 7
#: A shorter log is read as fast.
_LEAST_BYTES = 64 * 1024
#: Bytes of lines that are replayed again and again before they are taken into the cache, which costs more.
_LONGEST_TAIL = 64 * 1024
#: More values than that, and all learnings are looked at.
_MOST_VALUES = 500
#: A shorter log is replayed in a second, and in memory.
_LEAST_BUILT_BYTES = 4 * 1024 * 1024
#: A rotation moves some thousand lines and leaves as many; more is read again.
_LONGEST_MOVED = 32 * 1024 * 1024
#: So many rows are in memory beside what is made of them.
_ROWS_AT_ONCE = 1024
#: Below the cache's folder: a build that isn't finished.
_PART_FOLDER = "part"
_DECODE_ERRORS = (ValueError, TypeError, KeyError, RecursionError)
_CACHE_ERRORS = (OSError, RoamkbError, sqlite3.Error, *_DECODE_ERRORS)

_TRAITS = tuple(TRAITS)
_TABLES = f"""
CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE standing(
  n INTEGER PRIMARY KEY, id TEXT UNIQUE, ts, {", ".join(f"{name} INTEGER" for name in _TRAITS)}, row BLOB);
CREATE TABLE listed(trait TEXT, value BLOB, PRIMARY KEY(trait, value)) WITHOUT ROWID;
CREATE TABLE event(n INTEGER PRIMARY KEY, name INTEGER, row BLOB);
"""
_INDEXES = f"""
{"".join(f"CREATE INDEX standing_{name} ON standing({name}) WHERE {name} IS NOT NULL;" for name in _TRAITS)}
CREATE INDEX event_name ON event(name);
"""


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
            db.executescript(_TABLES)
            db.execute("BEGIN")
            _store_standings(db, state.standings.values())
            _add_events(db, state.events)
            _store_about(db, _extents(pages), state.reach or ("", frozenset()), maker=self._maker_version())
            db.execute("COMMIT")
            db.executescript(_INDEXES)

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
                        db.executescript(_TABLES)
                        StateBuild(db, pages, self._adopted).begin(maker)
                with contextlib.closing(part.open_connection(writing=True)) as db:
                    part.break_seal()
                    db.execute("PRAGMA synchronous = OFF")
                    build = StateBuild(db, pages, self._adopted, step_bytes=self._step_bytes)
                    try:
                        build.read_lines(budget)
                        build.fold_some(lambda states: _store_standings(db, states), budget)
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
            return StateBuild(db, pages, self._adopted).is_about(maker)

    def _take_over(self, part: IndexFile, build: StateBuild, maker: str) -> None:
        """Make a finished build the cache."""
        with self._file.replace_index() as db:
            db.executescript(_TABLES)
            db.create_function("mark", 1, lambda name: _trait_mark(name.decode("utf-8", "surrogatepass")))
            db.execute("ATTACH ? AS part", (str(part.path),))
            db.execute("BEGIN")
            for table in ("standing", "listed"):
                db.execute(f"INSERT INTO {table} SELECT * FROM part.{table}")
            db.execute("INSERT INTO event(name, row) SELECT mark(name), row FROM part.happened ORDER BY id")
            _store_about(db, build.reached, build.reach, maker=maker)
            db.execute("COMMIT")
            db.execute("DETACH part")
            db.executescript(_INDEXES)

    def _is_worth_caching(self, pages: Sequence[FileVersion]) -> bool:
        return sum(page.size for page in pages) >= self._least

    def _load_sealed(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        if not self._file.is_sealed():
            return None
        return self._load_if_current(pages, otherwise)

    def _load_if_current(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        db = self._file.open_connection(shared=True)
        try:
            about = _read_about(db)
            if about.get("maker") == self._maker_version():
                if about["made_from"] == json.dumps(_extents(pages)):
                    return _CacheShelf(db, about, pages, otherwise).as_log_state()
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
        sizes = _cached_sizes(about, pages)
        if not sizes or sum(page.size - size for page, size in zip(pages, sizes, strict=True)) > self._longest_tail:
            return None
        base_state = _CacheShelf(db, about, pages, lambda: self._replay_pages(pages, sizes)).as_log_state()
        advanced_state = advance_state(base_state, *self._added_lines(pages, sizes))
        if advanced_state is None or advanced_state.shelf is None:
            return None
        shelf = _TailShelf(advanced_state.shelf, about, pages)
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
            return full_replay(
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
                about = _read_about(db)
                if about.get("maker") != self._maker_version():
                    return None
                if not _cached_sizes(about, pages):
                    self._follow_rotation(db, about, pages)
                    about = _read_about(db)
                if not (sizes := _cached_sizes(about, pages)):
                    return None
                learnings, events = self._added_lines(pages, sizes)
                last_id, unmet = json.loads(about["reach"])
                advanced = advance_standings(
                    (last_id, frozenset(unmet)), lambda id: _read_standing(db, id), learnings, events
                )
                if advanced is None:
                    return None
                changed, reach = advanced
                self._file.break_seal()
                db.execute("BEGIN IMMEDIATE")
                _store_standings(db, changed.values())
                _add_events(db, events)
                _store_about(db, _extents(pages), reach, maker=self._maker_version(), origin=about["origin"])
                db.execute("COMMIT")
            self._file.seal_file()
            return self._load_if_current(pages, otherwise)

    def _follow_rotation(self, db: sqlite3.Connection, about: Mapping[str, str], pages: Sequence[FileVersion]) -> None:
        """Mark as archived what rotation moved since, if that is all that became of the cached lines."""
        moved = _rotated_standings(db, about, pages)
        if not moved:
            return
        _, archive, _ = pages
        (size, _), (archived_size, archived_digest), ledger = json.loads(about["made_from"])
        rest = size - (archive.size - archived_size)
        extents = [(rest, pages[0].digest_until(rest)), (archive.size, archive.digest), ledger]
        last_id, unmet = json.loads(about["reach"])
        self._file.break_seal()
        db.execute("BEGIN IMMEDIATE")
        _store_standings(db, moved)
        _store_about(db, extents, (last_id, frozenset(unmet)), maker=self._maker_version())
        rotated = json.dumps([about["origin"], archived_size, archived_digest])
        db.execute("INSERT OR REPLACE INTO about VALUES('rotated', ?)", (rotated,))
        db.execute("COMMIT")

    def _maker_version(self) -> str:
        """Return a version of all that a state depends on beside its lines: code and adoption."""
        modules = (adoption, confidence, learnings, ledger, replay, lines, rows, tombstones)
        file_stats = [Path(str(item.__file__)).stat() for item in modules]
        code = ((item.st_size, item.st_mtime_ns) for item in file_stats)
        return json.dumps([SCHEMA, sys.hexversion, self._adopted.digest, *code])


#: The size and the digest of each page.
_Extents = Sequence[tuple[int, str]]


def _extents(pages: Sequence[FileVersion]) -> _Extents:
    return [(page.size, page.digest) for page in pages]


def learnings_digest(pages: Sequence[FileVersion]) -> str:
    """Return the digest of the learnings alone, with the number of bytes of the log."""
    return _learnings_digest(_extents(pages))


def _learnings_digest(extents: _Extents) -> str:
    (size, knowledge_digest), (_, archive_digest), _ = extents
    return f"{size} {knowledge_digest} {archive_digest}"


def _ids_added_since(digest: str, pages: Sequence[FileVersion], about: Mapping[str, str]) -> list[str] | None:
    """Return the ids of the learnings added since that state; None if it is too old, or isn't known."""
    knowledge, archive, _ = pages
    origin = about["origin"]
    size, knowledge_digest, archive_digest = [*digest.split(), "", "", ""][:3]
    if archive_digest != archive.digest and "rotated" in about:
        origin, archived_size, archived_digest = json.loads(about["rotated"])
        if archive_digest != archived_digest or not archive.begins_with(archived_size, archived_digest):
            return None
        knowledge = _unrotated_page(pages, archived_size)
    elif archive_digest != archive.digest:
        return None
    is_known = size.isdecimal() and int(size) >= int(origin.split()[0])
    if not is_known or not knowledge.begins_with(int(size), knowledge_digest):
        return None
    return [learning.id for learning in knowledge.lines_after(int(size)).learnings]


def _unrotated_page(pages: Sequence[FileVersion], archived_size: int) -> FileVersion:
    """Return the log as it would be if what the archive has behind so many bytes hadn't moved there."""
    knowledge, archive, _ = pages
    data = archive.bytes_between(archived_size, archive.size) + knowledge.bytes_between(0, knowledge.size)
    return FileVersion(knowledge.path, data, is_ledger=False)


def _rotated_standings(
    db: sqlite3.Connection, about: Mapping[str, str], pages: Sequence[FileVersion]
) -> list[LearningState]:
    """Return the cached learnings that rotation moved, as archived ones; none where that isn't what happened.

    Then the archive's new end, and what is left of the log, are the log as it was. Where another line has the id of
    one that moved, which of them counts is for replay to say.
    """
    knowledge, archive, ledger = pages
    (size, digest), archived, ledger_extent = json.loads(about["made_from"])
    moved_bytes = archive.size - archived[0]
    is_moved = 0 < moved_bytes <= min(size, _LONGEST_MOVED) and knowledge.size <= _LONGEST_MOVED
    if not (is_moved and archive.begins_with(*archived) and ledger.begins_with(*ledger_extent)):
        return []
    unrotated = _unrotated_page(pages, archived[0])
    if not unrotated.begins_with(size, digest):
        return []
    ids = Counter(learning.id for learning in unrotated.told.learnings)
    standings = []
    for learning in unrotated.lines_between(0, moved_bytes).learnings:
        standing = _read_standing(db, learning.id)
        if standing is None or ids[learning.id] > 1 or standing.is_archived:
            return []
        if (learning.type, learning.content) != (standing.learning.type, standing.learning.content):
            return []
        standings.append(replace(standing, is_archived=True))
    return standings


def _cached_sizes(about: Mapping[str, str], pages: Sequence[FileVersion]) -> list[int]:
    """Return the cached size of each page; empty where they differ by more than new lines."""
    made_from = json.loads(about["made_from"])
    is_grown = all(page.begins_with(*was) for page, was in zip(pages, made_from, strict=True))
    # what moved to the archive is said there, and no more elsewhere
    is_grown &= pages[1].size == made_from[1][0]
    return [size for size, _ in made_from] if is_grown else []


def _read_about(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT key, value FROM about"))


def _read_standing(db: sqlite3.Connection, id: str) -> LearningState | None:
    if not _is_storable_id(id):
        return None
    row = db.execute("SELECT row FROM standing WHERE id = ?", (id,)).fetchone()
    return next(iter(rows.read_standings(row or ())), None)


def _is_storable_id(id: str) -> bool:
    """Say whether a line can have that id; an event may name half a character."""
    try:
        id.encode()
    except UnicodeEncodeError:
        return False
    return True


def _store_standings(db: sqlite3.Connection, standings: Iterable[LearningState]) -> None:
    standings = list(standings)
    values = {(trait, TRAITS[trait](standing)) for standing in standings for trait in LISTED_TRAITS}
    db.executemany(
        "INSERT OR IGNORE INTO listed VALUES(?, ?)",
        ((trait, value.encode("utf-8", "surrogatepass")) for trait, value in values if value),
    )
    columns = ("id", "ts", *_TRAITS, "row")
    others = ", ".join(f"{name} = excluded.{name}" for name in columns[1:])
    db.executemany(
        f"INSERT INTO standing({', '.join(columns)}) VALUES({', '.join('?' * len(columns))}) "
        f"ON CONFLICT(id) DO UPDATE SET {others}",
        (
            (
                standing.id,
                standing.learning.ts,
                *(_trait_mark(trait_of(standing)) for trait_of in TRAITS.values()),
                rows.standing_row(standing),
            )
            for standing in standings
        ),
    )


def _add_events(db: sqlite3.Connection, events: Iterable[LedgerEvent]) -> None:
    db.executemany(
        "INSERT INTO event(name, row) VALUES(?, ?)",
        ((_trait_mark(event.event), rows.event_row(event)) for event in events),
    )


def _store_about(
    db: sqlite3.Connection,
    extents: _Extents,
    reach: Reach,
    *,
    maker: str,
    origin: str = "",
) -> None:
    """Store what the state was made from; `origin` is the digest of the learnings at the last replay of all."""
    made_from, digest = json.dumps(extents), _learnings_digest(extents)
    last_id, unmet = reach
    (learned,) = db.execute("SELECT count(*) FROM standing").fetchone()
    (happened,) = db.execute("SELECT count(*) FROM event").fetchone()
    values = {
        "maker": maker,
        "made_from": made_from,
        "stamp": f"{zlib.crc32(made_from.encode()):08x}{time.time_ns():x}",
        "reach": json.dumps([last_id, sorted(unmet)]),
        "counts": json.dumps([learned, happened]),
        "digest": digest,
        "origin": origin or digest,
    }
    db.executemany("INSERT OR REPLACE INTO about VALUES(?, ?)", values.items())


def _trait_mark(text: str) -> int | None:
    """Return a checksum to find a trait by, None for an empty one; a match is compared again."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) if text else None


def _marks_list(values: Iterable[str]) -> str:
    """Return the marks of some values, as SQL lists them."""
    return ", ".join(str(_trait_mark(value) or 0) for value in values)


class _CacheShelf(Mapping[str, LearningState]):
    """The learning states of one cached state, read as they are wanted.

    Somebody else may advance the file meanwhile, or remove it. What comes from it is of the state that was
    found, or all is made from the lines again.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        about: Mapping[str, str],
        pages: Sequence[FileVersion],
        otherwise: Callable[[], LogState],
    ) -> None:
        self._db = db
        self._about = about
        self._pages = pages
        self._otherwise = otherwise
        self._counts: tuple[int, int] = json.loads(about["counts"])
        self._met: dict[str, LearningState] = {}
        self._all: Mapping[str, LearningState] | None = None
        self._events: Sequence[LedgerEvent] | None = None
        # several threads of a server may ask
        self._turn = threading.Lock()
        weakref.finalize(self, db.close)

    def as_log_state(self) -> LogState:
        """Return the cached state as a log state."""
        last_id, unmet = json.loads(self._about["reach"])
        return LogState(
            standings=self,
            events=_ShelfEvents(self),
            digest=self._about["digest"],
            reach=(last_id, frozenset(unmet)),
            shelf=self,
        )

    def ids_since(self, digest: str) -> list[str] | None:
        """Return the ids of the learnings added after the state with that digest; None if unknown."""
        return _ids_added_since(digest, self._pages, self._about)

    def __getitem__(self, id: str) -> LearningState:
        if self._all is not None:
            return self._all[id]
        if id not in self._met:
            matching = self._standings_where("standing.id = ?", id) if _is_storable_id(id) else []
            if matching is None:
                return self._replay_state().standings[id]
            if not matching:
                raise KeyError(id)
        return self._met[id]

    def __iter__(self) -> Iterator[str]:
        found = self._query_rows("id", "standing", "ts, id") if self._all is None else None
        return iter(self._all_standings()) if found is None else (id for (id,) in found)

    def __len__(self) -> int:
        return self._counts[0]

    def values(self) -> ValuesView[LearningState]:
        """Return all learning states, read at once: one by one takes a query each."""
        return self._all_standings().values()

    def items(self) -> ItemsView[str, LearningState]:
        """Return all learning states by id, likewise."""
        return self._all_standings().items()

    def _all_standings(self) -> Mapping[str, LearningState]:
        if self._all is None:
            loaded = self._standings_where("TRUE")
            if loaded is None:
                return self._replay_state().standings
            self._all = {standing.id: standing for standing in loaded}
        return self._all

    def all_events(self) -> Sequence[LedgerEvent]:
        """Return all events that count."""
        if self._events is None:
            loaded = self._events_where("TRUE")
            if loaded is None:
                return self._replay_state().events
            self._events = loaded
        return self._events

    @property
    def event_count(self) -> int:
        """The number of events that count."""
        return self._counts[1]

    def learnings_with(self, trait: str, values: Collection[str]) -> list[LearningState]:
        """Return the learnings of which one of `TRAITS` has one of those values, in order."""
        trait_of = TRAITS[trait]
        candidates: Iterable[LearningState] | None = None
        if self._all is None and len(values) <= _MOST_VALUES and "" not in values:
            # what is found has the mark of one of them
            candidates = self._standings_where(f"standing.{trait} IN ({_marks_list(values)})")
        return [
            standing
            for standing in (self._all_standings().values() if candidates is None else candidates)
            if trait_of(standing) in values
        ]

    def trait_values(self, trait: str, start: str = "") -> Collection[str]:
        """Return the values of one of `LISTED_TRAITS` that begin so, and perhaps some that no learning has any more."""
        rows = None
        if self._all is None:
            first = start.encode("utf-8", "surrogatepass")
            within = "listed ON trait = ? AND listed.value >= ? AND listed.value < ?"
            # no character has this byte
            rows = self._query_rows("listed.value", within, "listed.value", (trait, first, first + b"\xff"))
        if rows is None:
            values = (TRAITS[trait](standing) for standing in self._all_standings().values())
            return {value for value in values if value.startswith(start)}
        return [value.decode("utf-8", "surrogatepass") for (value,) in rows]

    def count_learnings(self, having: TraitValues, lacking: TraitValues) -> int:
        """Return the number of the learnings that have one of some values of a trait, and none of others."""
        rows = None
        if self._all is None:
            wanted = f"{having[0]} IN ({_marks_list(having[1])})"
            unwanted = f"coalesce({lacking[0]}, 0) IN ({_marks_list(lacking[1])})"
            rows = self._query_rows("count(standing.n)", f"standing ON {wanted} AND NOT {unwanted}", "1")
        if rows is None:
            return sum(is_counted(standing, having, lacking) for standing in self._all_standings().values())
        ((count,),) = rows
        return int(count)

    def events_named(self, names: Collection[str], latest: int | None = None) -> list[LedgerEvent]:
        """Return the events of those names, in order; if `latest` is given, at most so many."""
        candidates = None
        if self._events is None:
            order = "n" if latest is None else f"n DESC LIMIT {latest:d}"
            candidates = self._events_where(f"name IN ({_marks_list(names)})", order=order)
        events = [event for event in (self.all_events() if candidates is None else candidates) if event.event in names]
        return events[-latest if latest else None :]

    def _standings_where(self, condition: str, *parameters: object) -> list[LearningState] | None:
        """Return the learning states of some rows; None where the file has changed."""
        ids: list[str] = []
        try:
            with gc_paused():
                for some_rows in self._row_batches("id, row", f"standing ON {condition}", "ts, id", parameters):
                    unread_rows = [(id, row) for id, row in some_rows if id not in self._met]
                    standings = rows.read_standings(row for _, row in unread_rows)
                    self._met.update(zip((id for id, _ in unread_rows), standings, strict=True))
                    ids += (id for id, _ in some_rows)
        except (sqlite3.Error, *_DECODE_ERRORS):
            return None
        return [self._met[id] for id in ids]

    def _events_where(self, condition: str, *, order: str = "n") -> list[LedgerEvent] | None:
        """Return the events of some rows; None where the file has changed."""
        result_rows = self._query_rows("n, row", f"event ON {condition}", order)
        try:
            return None if result_rows is None else rows.read_events(row for _, row in sorted(result_rows))
        except _DECODE_ERRORS:
            return None

    def _query_rows(
        self, columns: str, source: str, order: str, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]] | None:
        """Return rows, if they are of this state."""
        try:
            return [row for some_rows in self._row_batches(columns, source, order, parameters) for row in some_rows]
        except (sqlite3.Error, *_DECODE_ERRORS):
            return None

    def _row_batches(
        self, columns: str, source: str, order: str, parameters: Sequence[object] = ()
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield rows, some at a time, which are of this state: the stamp comes from the same statement.

        Raises:
            sqlite3.Error, ValueError: the file has changed.
        """
        sql = f"SELECT about.value, {columns} FROM about LEFT JOIN {source} WHERE about.key = 'stamp' ORDER BY {order}"
        with self._turn:
            cursor = self._db.execute(sql, parameters)
            some_rows = cursor.fetchmany(_ROWS_AT_ONCE)
        if not some_rows or some_rows[0][0] != self._about["stamp"]:
            raise ValueError(order)
        while some_rows:
            yield [row[1:] for row in some_rows if row[1] is not None]
            with self._turn:
                some_rows = cursor.fetchmany(_ROWS_AT_ONCE)

    def _replay_state(self) -> LogState:
        """Return the same state, replayed from the lines."""
        state = self._otherwise()
        self._all, self._events = state.standings, state.events
        return state


class _TailShelf:
    """A cached state's shelf, with what the lines since say."""

    def __init__(self, shelf: StateShelf, about: Mapping[str, str], pages: Sequence[FileVersion]) -> None:
        self._pages = pages
        self._about = about
        self.learnings_with = shelf.learnings_with
        self.trait_values = shelf.trait_values
        self.count_learnings = shelf.count_learnings
        self.events_named = shelf.events_named

    def ids_since(self, digest: str) -> list[str] | None:
        """Return the ids of the learnings added after the state with that digest; None if unknown."""
        return _ids_added_since(digest, self._pages, self._about)


class _ShelfEvents(Sequence[LedgerEvent]):
    """The events of a shelf."""

    def __init__(self, shelf: _CacheShelf) -> None:
        self._shelf = shelf

    @overload
    def __getitem__(self, index: int) -> LedgerEvent: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[LedgerEvent]: ...
    def __getitem__(self, index: int | slice) -> LedgerEvent | Sequence[LedgerEvent]:
        return self._shelf.all_events()[index]

    def __iter__(self) -> Iterator[LedgerEvent]:
        return iter(self._shelf.all_events())

    def __len__(self) -> int:
        return self._shelf.event_count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]
