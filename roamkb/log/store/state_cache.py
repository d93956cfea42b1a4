"""What a log's lines amount to, kept beside it: a new process asks for the few learnings that it wants.

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
from roamkb.kb.search.index.file import A_MOMENT
from roamkb.kb.search.index.file import IndexFile
from roamkb.log import jsonl as lines
from roamkb.log import learning as learnings
from roamkb.log.state import adoption
from roamkb.log.state import confidence
from roamkb.log.state import learning_state as ledger
from roamkb.log.state import replay
from roamkb.log.state import state_rows as rows
from roamkb.log.state.adoption import OWN
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.learning_state import TRAITS
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import Reach
from roamkb.log.state.replay import advances
from roamkb.log.state.state_rows import event_row
from roamkb.log.state.state_rows import read_events
from roamkb.log.state.state_rows import read_standings
from roamkb.log.state.state_rows import standing_row
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import uncollected

#: Raise on any change of tables; a file of another number is made anew.
SCHEMA = 3
#: A shorter log is read as fast.
_WORTH_KEEPING = 64 * 1024
#: So many steps back the file knows which learnings came since: an index may have slept for some.
_MOST_STEPS = 64
#: More values than that, and all learnings are looked at.
_MOST_VALUES = 500
_UNREADABLE = (ValueError, TypeError, KeyError, RecursionError)
_TROUBLES = (OSError, RoamkbError, sqlite3.Error, *_UNREADABLE)

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
    """The states of one log, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        *,
        adopted: AdoptedLines = OWN,
        least: int = _WORTH_KEEPING,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Keep what is made from `least` bytes or more, of which `adopted` is somebody else's word."""
        self._adopted = adopted
        self._file = IndexFile(folder, clock=clock)
        self._least = least

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StateCache) and self._file.folder == other._file.folder

    def __hash__(self) -> int:
        return hash(self._file.folder)

    def find(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        """Return what `pages` amount to, if that is kept or takes only the lines that were added since.

        What is asked of it later comes from the file; where that can't tell any more, from `otherwise`.
        """
        if not self._is_worth_it(pages):
            return None
        try:
            return self._found(pages, otherwise) or self._advanced(pages, otherwise)
        except _TROUBLES:
            return None

    def keep(self, pages: Sequence[FileVersion], state: LogState) -> None:
        """Keep what `pages` amount to; where that can't be, nothing is lost."""
        if not self._is_worth_it(pages):
            return
        # somebody else may be doing it just now
        with contextlib.suppress(*_TROUBLES), self._file.locked(wait=0), self._file.rebuilt() as db:
            db.executescript(_TABLES)
            db.execute("BEGIN")
            _put(db, state.standings.values())
            _add_events(db, state.events)
            _tell(db, pages, state.reach or ("", frozenset()), maker=self._maker(), steps=())
            db.execute("COMMIT")
            db.executescript(_INDEXES)

    def _is_worth_it(self, pages: Sequence[FileVersion]) -> bool:
        return sum(len(page.data) for page in pages) >= self._least

    def _found(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        if not self._file.is_sealed():
            return None
        return self._opened(pages, otherwise)

    def _opened(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        db = self._file.open(shared=True)
        try:
            about = _about(db)
            if about.get("made_from") == _made_from(pages) and about.get("maker") == self._maker():
                return _CacheShelf(db, about, otherwise).state()
        except _TROUBLES:
            db.close()
            raise
        db.close()
        return None

    def _advanced(self, pages: Sequence[FileVersion], otherwise: Callable[[], LogState]) -> LogState | None:
        """Take in the lines that were added, if there is something to add them to."""
        if not self._file.is_sealed():
            return None
        with self._file.locked(wait=A_MOMENT):
            # somebody else may have done it meanwhile
            if not self._file.is_sealed():
                return None
            if found := self._opened(pages, otherwise):
                return found
            with contextlib.closing(self._file.open(writing=True)) as db:
                about = _about(db)
                if about.get("maker") != self._maker() or not (sizes := _sizes(about, pages)):
                    return None
                new = [page.after(size) for page, size in zip(pages, sizes, strict=True)]
                last, unmet = json.loads(about["reach"])
                known = advances(
                    (last, frozenset(unmet)),
                    lambda id: _standing(db, id),
                    self._adopted.learnings(tuple(one for told in new for one in told.learnings)),
                    self._adopted.events(tuple(one for told in new for one in told.events)),
                )
                if known is None:
                    return None
                changed, reach = known
                self._file.break_seal()
                db.execute("BEGIN IMMEDIATE")
                _put(db, changed.values())
                _add_events(db, (event for told in new for event in told.events))
                _tell(db, pages, reach, maker=self._maker(), steps=json.loads(about["steps"]))
                db.execute("COMMIT")
            self._file.seal()
            return self._opened(pages, otherwise)

    def _maker(self) -> str:
        """Return what a standing depends on beside its lines: the code, and whose word they are."""
        modules = (adoption, confidence, learnings, ledger, replay, lines, rows)
        seen = [Path(str(one.__file__)).stat() for one in modules]
        code = ((one.st_size, one.st_mtime_ns) for one in seen)
        return json.dumps([SCHEMA, sys.hexversion, self._adopted.digest, *code])


def _made_from(pages: Sequence[FileVersion]) -> str:
    return json.dumps([(len(page.data), page.digest) for page in pages])


def learnings_digest(pages: Sequence[FileVersion]) -> str:
    """Return what stands for the learnings alone."""
    knowledge, archive, _ = pages
    return f"{knowledge.digest} {archive.digest}"


def _sizes(about: Mapping[str, str], pages: Sequence[FileVersion]) -> list[int]:
    """Return how much of each page is kept; nothing where more than new lines is different."""
    made_from = json.loads(about["made_from"])
    is_grown = all(page.begins_with(*was) for page, was in zip(pages, made_from, strict=True))
    # what moved to the archive is said there, and no more elsewhere
    is_grown &= len(pages[1].data) == made_from[1][0]
    return [size for size, _ in made_from] if is_grown else []


def _about(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT key, value FROM about"))


def _standing(db: sqlite3.Connection, id: str) -> LearningState | None:
    if not _can_be_stored(id):
        return None
    found = db.execute("SELECT row FROM standing WHERE id = ?", (id,)).fetchone()
    return next(iter(read_standings(found or ())), None)


def _can_be_stored(id: str) -> bool:
    """Say whether a learning may be called so; what events are about may be half a character."""
    try:
        id.encode()
    except UnicodeEncodeError:
        return False
    return True


def _put(db: sqlite3.Connection, standings: Iterable[LearningState]) -> None:
    columns = ("id", "ts", *_TRAITS, "row")
    others = ", ".join(f"{name} = excluded.{name}" for name in columns[1:])
    db.executemany(
        f"INSERT INTO standing({', '.join(columns)}) VALUES({', '.join('?' * len(columns))}) "
        f"ON CONFLICT(id) DO UPDATE SET {others}",
        (
            (one.id, one.learning.ts, *(_mark(told(one)) for told in TRAITS.values()), standing_row(one))
            for one in standings
        ),
    )


def _add_events(db: sqlite3.Connection, events: Iterable[LedgerEvent]) -> None:
    db.executemany(
        "INSERT INTO event(name, row) VALUES(?, ?)", ((_mark(one.event), event_row(one)) for one in events)
    )


def _tell(
    db: sqlite3.Connection,
    pages: Sequence[FileVersion],
    reach: Reach,
    *,
    maker: str,
    steps: Sequence[tuple[str, int]],
) -> None:
    """Put down what the rows are made from; `steps` say how many learnings there were by which lines."""
    made_from, digest = _made_from(pages), learnings_digest(pages)
    last, unmet = reach
    (learned,) = db.execute("SELECT count(*) FROM standing").fetchone()
    (happened,) = db.execute("SELECT count(*) FROM event").fetchone()
    steps = [*(one for one in steps if one[0] != digest), (digest, learned)][-_MOST_STEPS:]
    told = {
        "maker": maker,
        "made_from": made_from,
        "stamp": f"{zlib.crc32(made_from.encode()):08x}{time.time_ns():x}",
        "reach": json.dumps([last, sorted(unmet)]),
        "counts": json.dumps([learned, happened]),
        "steps": json.dumps(steps),
    }
    db.executemany("INSERT OR REPLACE INTO about VALUES(?, ?)", told.items())


def _mark(text: str) -> int | None:
    """Return that by which a trait is found, but for none; who finds it looks whether it is the one."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) if text else None


class _CacheShelf(Mapping[str, LearningState]):
    """The standings of one state, read as they are wanted.

    Somebody else may advance the file meanwhile, or remove it. What comes from it is of the state that was
    found, or all is made from the lines again.
    """

    def __init__(
        self, db: sqlite3.Connection, about: Mapping[str, str], otherwise: Callable[[], LogState]
    ) -> None:
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

    def state(self) -> LogState:
        """Return the state."""
        last, unmet = json.loads(self._about["reach"])
        return LogState(
            standings=self,
            events=_ShelfEvents(self),
            digest=self._steps[-1][0],
            reach=(last, frozenset(unmet)),
            shelf=self,
        )

    def since(self, digest: str) -> list[str] | None:
        """Return the ids of the learnings that came after those that `digest` stands for; None if unknown."""
        at = next((count for one, count in self._steps if one == digest), None)
        found = None if at is None else self._ask("id", "standing ON n > ?", "n", (at,))
        return None if found is None else [id for (id,) in found]

    def __getitem__(self, id: str) -> LearningState:
        if self._all is not None:
            return self._all[id]
        if id not in self._met:
            found = self._standings("standing.id = ?", id) if _can_be_stored(id) else []
            if found is None:
                return self._replayed().standings[id]
            if not found:
                raise KeyError(id)
        return self._met[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return self._counts[0]

    def _whole(self) -> Mapping[str, LearningState]:
        if self._all is None:
            found = self._standings("TRUE")
            if found is None:
                return self._replayed().standings
            self._all = {one.id: one for one in found}
        return self._all

    def events(self) -> Sequence[LedgerEvent]:
        """Return all events that count."""
        if self._events is None:
            found = self._told_by("TRUE")
            if found is None:
                return self._replayed().events
            self._events = found
        return self._events

    @property
    def happened(self) -> int:
        """How many events count."""
        return self._counts[1]

    def having(self, trait: str, values: Collection[str]) -> list[LearningState]:
        """Return the learnings of which one of `TRAITS` has one of those values, in order."""
        told = TRAITS[trait]
        found: Iterable[LearningState] | None = None
        if self._all is None and len(values) <= _MOST_VALUES and "" not in values:
            # what is found has the mark of one of them
            marks = [_mark(value) for value in values]
            found = self._standings(f"standing.{trait} IN ({', '.join('?' * len(marks))})", *marks)
        return [one for one in (self._whole().values() if found is None else found) if told(one) in values]

    def named(self, names: Collection[str]) -> list[LedgerEvent]:
        """Return the events of those names, in order."""
        found = None
        if self._events is None:
            marks = [_mark(name) for name in names]
            found = self._told_by(f"name IN ({', '.join('?' * len(marks))})", *marks)
        return [one for one in (self.events() if found is None else found) if one.event in names]

    def _standings(self, which: str, *given: object) -> list[LearningState] | None:
        """Return the standings of some rows; None where the file doesn't tell any more."""
        found = self._ask("id, row", f"standing ON {which}", "ts, id", given)
        if found is None:
            return None
        new = [(id, row) for id, row in found if id not in self._met]
        try:
            with uncollected():
                standings = read_standings(row for _, row in new)
            self._met.update(zip((id for id, _ in new), standings, strict=True))
        except _UNREADABLE:
            return None
        return [self._met[id] for id, _ in found]

    def _told_by(self, which: str, *given: object) -> list[LedgerEvent] | None:
        """Return the events of some rows; None where the file doesn't tell any more."""
        found = self._ask("n, row", f"event ON {which}", "n", given)
        try:
            return None if found is None else read_events(row for _, row in found)
        except _UNREADABLE:
            return None

    def _ask(
        self, columns: str, which: str, order: str, given: Sequence[object] = ()
    ) -> list[tuple[Any, ...]] | None:
        """Return rows, if they are of this state: both come of one statement."""
        sql = (
            f"SELECT value, {columns} FROM about LEFT JOIN {which} WHERE about.key = 'stamp' ORDER BY {order}"
        )
        try:
            with self._turn:
                found = self._db.execute(sql, given).fetchall()
        except sqlite3.Error:
            return None
        if not found or found[0][0] != self._about["stamp"]:
            return None
        return [row[1:] for row in found if row[1] is not None]

    def _replayed(self) -> LogState:
        """Return the same state, made from the lines."""
        state = self._otherwise()
        self._all, self._events = state.standings, state.events
        return state


class _ShelfEvents(Sequence[LedgerEvent]):
    """The events of a shelf."""

    def __init__(self, shelf: _CacheShelf) -> None:
        self._shelf = shelf

    @overload
    def __getitem__(self, at: int) -> LedgerEvent: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[LedgerEvent]: ...
    def __getitem__(self, at: int | slice) -> LedgerEvent | Sequence[LedgerEvent]:
        return self._shelf.events()[at]

    def __iter__(self) -> Iterator[LedgerEvent]:
        return iter(self._shelf.events())

    def __len__(self) -> int:
        return self._shelf.happened

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]
