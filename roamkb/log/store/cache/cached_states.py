"""The learnings and events of a cached state, read from its tables as they are wanted."""

import json
import sqlite3

# as `threading` has it, which takes a tenth of Python's start to load
from _thread import allocate_lock
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import ItemsView
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import ValuesView

from roamkb.core.startup.typing import Any
from roamkb.log.state import state_rows as rows
from roamkb.log.state.deferred import LazySequence
from roamkb.log.state.learning_state import TRAITS
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import StateShelf
from roamkb.log.state.learning_state import TraitValues
from roamkb.log.state.learning_state import is_counted
from roamkb.log.store.cache.log_extents import ids_added_since
from roamkb.log.store.cache.state_tables import DECODE_ERRORS
from roamkb.log.store.cache.state_tables import is_storable_id
from roamkb.log.store.cache.state_tables import marks_list
from roamkb.log.store.cache.state_tables import read_reach
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import gc_paused

#: More values than that, and all learnings are looked at.
_MOST_VALUES = 500
#: So many rows are in memory beside what is made of them.
_ROWS_AT_ONCE = 1024
#: Learnings that are kept once they were asked for one by one: to index a log of years asks for each once.
_MOST_MET = 4096


class CachedStates(Mapping[str, LearningState]):
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
        self._turn = allocate_lock()

    def __del__(self) -> None:
        """Close the database."""
        self._db.close()

    def as_log_state(self) -> LogState:
        """Return the cached state as a log state."""
        return LogState(
            standings=self,
            events=_ShelfEvents(self),
            digest=self._about["digest"],
            reach=read_reach(self._about),
            shelf=self,
        )

    def ids_since(self, digest: str) -> list[str] | None:
        """Return the ids of the learnings added after the state with that digest; None if unknown."""
        return ids_added_since(digest, self._pages, self._about)

    def __getitem__(self, id: str) -> LearningState:
        if self._all is not None:
            return self._all[id]
        standing = self._met.get(id)
        if standing is None:
            if len(self._met) >= _MOST_MET:
                # replaced, not emptied: another thread may be about to look into it
                self._met = {}
            matching = self._standings_where("standing.id = ?", id) if is_storable_id(id) else []
            if matching is None:
                return self._replay_state().standings[id]
            if not matching:
                raise KeyError(id)
            standing = matching[0]
        return standing

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
            candidates = self._standings_where(f"standing.{trait} IN ({marks_list(values)})")
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
            wanted = f"{having[0]} IN ({marks_list(having[1])})"
            unwanted = f"coalesce({lacking[0]}, 0) IN ({marks_list(lacking[1])})"
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
            candidates = self._events_where(f"name IN ({marks_list(names)})", order=order)
        events = [event for event in (self.all_events() if candidates is None else candidates) if event.event in names]
        return events[-latest if latest else None :]

    def count_events(self, name: str) -> int:
        """Return the number of the events of that name that count."""
        rows = None
        if self._events is None:
            rows = self._query_rows("count(event.n)", f"event ON name IN ({marks_list([name])})", "1")
        if rows is None:
            return sum(event.event == name for event in self.all_events())
        ((count,),) = rows
        return int(count)

    def _standings_where(self, condition: str, *parameters: object) -> list[LearningState] | None:
        """Return the learning states of some rows; None where the file has changed."""
        ids: list[str] = []
        met = self._met
        try:
            with gc_paused():
                for some_rows in self._row_batches("id, row", f"standing ON {condition}", "ts, id", parameters):
                    unread_rows = [(id, row) for id, row in some_rows if id not in met]
                    standings = rows.read_standings(row for _, row in unread_rows)
                    met.update(zip((id for id, _ in unread_rows), standings, strict=True))
                    ids += (id for id, _ in some_rows)
        except (sqlite3.Error, *DECODE_ERRORS):
            return None
        return [met[id] for id in ids]

    def _events_where(self, condition: str, *, order: str = "n") -> list[LedgerEvent] | None:
        """Return the events of some rows; None where the file has changed."""
        result_rows = self._query_rows("n, row", f"event ON {condition}", order)
        try:
            return None if result_rows is None else rows.read_events(row for _, row in sorted(result_rows))
        except DECODE_ERRORS:
            return None

    def _query_rows(
        self, columns: str, source: str, order: str, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]] | None:
        """Return rows, if they are of this state."""
        try:
            return [row for some_rows in self._row_batches(columns, source, order, parameters) for row in some_rows]
        except (sqlite3.Error, *DECODE_ERRORS):
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


class StatesWithTail:
    """A cached state's shelf, with what the lines since say."""

    def __init__(self, shelf: StateShelf, about: Mapping[str, str], pages: Sequence[FileVersion]) -> None:
        self._pages = pages
        self._about = about
        self.learnings_with = shelf.learnings_with
        self.trait_values = shelf.trait_values
        self.count_learnings = shelf.count_learnings
        self.events_named = shelf.events_named
        self.count_events = shelf.count_events

    def ids_since(self, digest: str) -> list[str] | None:
        """Return the ids of the learnings added after the state with that digest; None if unknown."""
        return ids_added_since(digest, self._pages, self._about)


class _ShelfEvents(LazySequence[LedgerEvent]):
    """The events of a shelf."""

    def __init__(self, shelf: CachedStates) -> None:
        self._shelf = shelf

    def _loaded(self) -> Sequence[LedgerEvent]:
        return self._shelf.all_events()

    def __len__(self) -> int:
        return self._shelf.event_count
