"""A cache of the log's replayed state: a new process reads only the learnings that it wants.

To read and replay a long log takes most of a hook's time. So the state lies in the log's local folder, in a
file that is believed only as it was left (`index_file`), for just the bytes that it was made from: where they
are others, the lines are read again; where some were added, those alone. It may be deleted at any time.
"""

import contextlib
import json
import sqlite3
import sys
import threading
import time
import weakref
import zlib
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import overload

from roamkb.core.errors import RoamkbError
from roamkb.kb.search.index.file import SHORT_WAIT
from roamkb.kb.search.index.file import IndexFile
from roamkb.log import jsonl as lines
from roamkb.log import learning as learnings
from roamkb.log.state import adoption
from roamkb.log.state import confidence
from roamkb.log.state import learning_state as ledger
from roamkb.log.state import replay
from roamkb.log.state import state_rows as rows
from roamkb.log.state import tombstones
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.learning_state import TRAITS
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import Reach
from roamkb.log.state.replay import advance_standings
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import gc_paused

#: Raise on any change of tables; a file of another number is made anew.
SCHEMA = 4
#: A shorter log is read as fast.
_LEAST_BYTES = 64 * 1024
#: So many steps back the file knows which learnings came since: an index may have slept for some.
_MOST_STEPS = 64
#: More values than that, and all learnings are looked at.
_MOST_VALUES = 500
_DECODE_ERRORS = (ValueError, TypeError, KeyError, RecursionError)
_CACHE_ERRORS = (OSError, RoamkbError, sqlite3.Error, *_DECODE_ERRORS)

_TRAITS = tuple(TRAITS)
_TABLES = f"""
CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE standing(
  n INTEGER PRIMARY KEY, id TEXT UNIQUE, ts, {", ".join(f"{name} INTEGER" for name in _TRAITS)}, row BLOB);
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
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Cache states of `least` bytes or more; `adopted` are the lines of another machine."""
        self._adopted = adopted
        self._file = IndexFile(folder, clock=clock)
        self._least = least

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
            _store_about(db, pages, state.reach or ("", frozenset()), maker=self._maker_version(), steps=())
            db.execute("COMMIT")
            db.executescript(_INDEXES)

    def _is_worth_caching(self, pages: Sequence[FileVersion]) -> bool:
        return sum(len(page.data) for page in pages) >= self._least

    def _load_sealed(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        if not self._file.is_sealed():
            return None
        return self._load_if_current(pages, otherwise)

    def _load_if_current(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        db = self._file.open_connection(shared=True)
        try:
            about = _read_about(db)
            if about.get("made_from") == _pages_key(pages) and about.get("maker") == self._maker_version():
                return _CacheShelf(db, about, otherwise).as_log_state()
        except _CACHE_ERRORS:
            db.close()
            raise
        db.close()
        return None

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
                if about.get("maker") != self._maker_version() or not (sizes := _cached_sizes(about, pages)):
                    return None
                added_lines = [page.lines_after(size) for page, size in zip(pages, sizes, strict=True)]
                last_id, unmet = json.loads(about["reach"])
                advanced = advance_standings(
                    (last_id, frozenset(unmet)),
                    lambda id: _read_standing(db, id),
                    self._adopted.mark_learnings(tuple(entry for parsed in added_lines for entry in parsed.learnings)),
                    self._adopted.mark_events(tuple(entry for parsed in added_lines for entry in parsed.events)),
                )
                if advanced is None:
                    return None
                changed, reach = advanced
                self._file.break_seal()
                db.execute("BEGIN IMMEDIATE")
                _store_standings(db, changed.values())
                _add_events(db, (event for parsed in added_lines for event in parsed.events))
                _store_about(db, pages, reach, maker=self._maker_version(), steps=json.loads(about["steps"]))
                db.execute("COMMIT")
            self._file.seal_file()
            return self._load_if_current(pages, otherwise)

    def _maker_version(self) -> str:
        """Return a version of all that a state depends on beside its lines: code and adoption."""
        modules = (adoption, confidence, learnings, ledger, replay, lines, rows, tombstones)
        file_stats = [Path(str(item.__file__)).stat() for item in modules]
        code = ((item.st_size, item.st_mtime_ns) for item in file_stats)
        return json.dumps([SCHEMA, sys.hexversion, self._adopted.digest, *code])


def _pages_key(pages: Sequence[FileVersion]) -> str:
    return json.dumps([(len(page.data), page.digest) for page in pages])


def learnings_digest(pages: Sequence[FileVersion]) -> str:
    """Return the digest of the learnings alone."""
    knowledge, archive, _ = pages
    return f"{knowledge.digest} {archive.digest}"


def _cached_sizes(about: Mapping[str, str], pages: Sequence[FileVersion]) -> list[int]:
    """Return the cached size of each page; empty where they differ by more than new lines."""
    made_from = json.loads(about["made_from"])
    is_grown = all(page.begins_with(*was) for page, was in zip(pages, made_from, strict=True))
    # what moved to the archive is said there, and no more elsewhere
    is_grown &= len(pages[1].data) == made_from[1][0]
    return [size for size, _ in made_from] if is_grown else []


def _read_about(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT key, value FROM about"))


def _read_standing(db: sqlite3.Connection, id: str) -> LearningState | None:
    if not _is_storable_id(id):
        return None
    row = db.execute("SELECT row FROM standing WHERE id = ?", (id,)).fetchone()
    return next(iter(rows.read_standings(row or ())), None)


def _is_storable_id(id: str) -> bool:
    """Say whether SQLite can hold an id; an event may name half a character."""
    try:
        id.encode()
    except UnicodeEncodeError:
        return False
    return True


def _store_standings(db: sqlite3.Connection, standings: Iterable[LearningState]) -> None:
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
    pages: Sequence[FileVersion],
    reach: Reach,
    *,
    maker: str,
    steps: Sequence[tuple[str, int]],
) -> None:
    """Store the state's origin; `steps` are the numbers of learnings by digest."""
    made_from, digest = _pages_key(pages), learnings_digest(pages)
    last_id, unmet = reach
    (learned,) = db.execute("SELECT count(*) FROM standing").fetchone()
    (happened,) = db.execute("SELECT count(*) FROM event").fetchone()
    steps = [*(step for step in steps if step[0] != digest), (digest, learned)][-_MOST_STEPS:]
    values = {
        "maker": maker,
        "made_from": made_from,
        "stamp": f"{zlib.crc32(made_from.encode()):08x}{time.time_ns():x}",
        "reach": json.dumps([last_id, sorted(unmet)]),
        "counts": json.dumps([learned, happened]),
        "steps": json.dumps(steps),
    }
    db.executemany("INSERT OR REPLACE INTO about VALUES(?, ?)", values.items())


def _trait_mark(text: str) -> int | None:
    """Return a checksum to find a trait by, None for an empty one; a match is compared again."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) if text else None


class _CacheShelf(Mapping[str, LearningState]):
    """The learning states of one cached state, read as they are wanted.

    Somebody else may advance the file meanwhile, or remove it. What comes from it is of the state that was
    found, or all is made from the lines again.
    """

    def __init__(self, db: sqlite3.Connection, about: Mapping[str, str], otherwise: Callable[[], LogState]) -> None:
        self._db = db
        self._about = about
        self._otherwise = otherwise
        self._counts: tuple[int, int] = json.loads(about["counts"])
        self._steps: list[tuple[str, int]] = json.loads(about["steps"])
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
            digest=self._steps[-1][0],
            reach=(last_id, frozenset(unmet)),
            shelf=self,
        )

    def ids_since(self, digest: str) -> list[str] | None:
        """Return the ids of the learnings added after the state with that digest; None if unknown."""
        position = next((count for step_digest, count in self._steps if step_digest == digest), None)
        rows_after = None if position is None else self._query_rows("id", "standing ON n > ?", "n", (position,))
        return None if rows_after is None else [id for (id,) in rows_after]

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
        return iter(self._all_standings())

    def __len__(self) -> int:
        return self._counts[0]

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
            marks = [_trait_mark(value) for value in values]
            candidates = self._standings_where(f"standing.{trait} IN ({', '.join('?' * len(marks))})", *marks)
        return [
            standing
            for standing in (self._all_standings().values() if candidates is None else candidates)
            if trait_of(standing) in values
        ]

    def events_named(self, names: Collection[str]) -> list[LedgerEvent]:
        """Return the events of those names, in order."""
        candidates = None
        if self._events is None:
            marks = [_trait_mark(name) for name in names]
            candidates = self._events_where(f"name IN ({', '.join('?' * len(marks))})", *marks)
        return [event for event in (self.all_events() if candidates is None else candidates) if event.event in names]

    def _standings_where(self, condition: str, *parameters: object) -> list[LearningState] | None:
        """Return the learning states of some rows; None where the file has changed."""
        result_rows = self._query_rows("id, row", f"standing ON {condition}", "ts, id", parameters)
        if result_rows is None:
            return None
        unread_rows = [(id, row) for id, row in result_rows if id not in self._met]
        try:
            with gc_paused():
                standings = rows.read_standings(row for _, row in unread_rows)
            self._met.update(zip((id for id, _ in unread_rows), standings, strict=True))
        except _DECODE_ERRORS:
            return None
        return [self._met[id] for id, _ in result_rows]

    def _events_where(self, condition: str, *parameters: object) -> list[LedgerEvent] | None:
        """Return the events of some rows; None where the file has changed."""
        result_rows = self._query_rows("n, row", f"event ON {condition}", "n", parameters)
        try:
            return None if result_rows is None else rows.read_events(row for _, row in result_rows)
        except _DECODE_ERRORS:
            return None

    def _query_rows(
        self, columns: str, source: str, order: str, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]] | None:
        """Return rows, if they are of this state: both come from one statement."""
        sql = f"SELECT value, {columns} FROM about LEFT JOIN {source} WHERE about.key = 'stamp' ORDER BY {order}"
        try:
            with self._turn:
                result_rows = self._db.execute(sql, parameters).fetchall()
        except sqlite3.Error:
            return None
        if not result_rows or result_rows[0][0] != self._about["stamp"]:
            return None
        return [row[1:] for row in result_rows if row[1] is not None]

    def _replay_state(self) -> LogState:
        """Return the same state, replayed from the lines."""
        state = self._otherwise()
        self._all, self._events = state.standings, state.events
        return state


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
