"""Tables of a cached state: what it was made from, a row for each learning, a row for each event."""

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable
from collections.abc import Mapping

from roamkb.log.state import state_rows as rows
from roamkb.log.state.learning_state import LISTED_TRAITS
from roamkb.log.state.learning_state import TRAITS
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import Reach
from roamkb.log.store.cache.log_extents import LogExtents
from roamkb.log.store.cache.log_extents import extents_digest

DECODE_ERRORS = (ValueError, TypeError, KeyError, RecursionError)
_TRAITS = tuple(TRAITS)
TABLES = f"""
CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE standing(
  n INTEGER PRIMARY KEY, id TEXT UNIQUE, ts, {", ".join(f"{name} INTEGER" for name in _TRAITS)}, row BLOB);
CREATE TABLE listed(trait TEXT, value BLOB, PRIMARY KEY(trait, value)) WITHOUT ROWID;
CREATE TABLE event(n INTEGER PRIMARY KEY, name INTEGER, row BLOB);
"""
INDEXES = f"""
{"".join(f"CREATE INDEX standing_{name} ON standing({name}) WHERE {name} IS NOT NULL;" for name in _TRAITS)}
CREATE INDEX event_name ON event(name);
"""


def read_about(db: sqlite3.Connection) -> dict[str, str]:
    """Return what the state was made from, as `store_about` stored it."""
    return dict(db.execute("SELECT key, value FROM about"))


def read_reach(about: Mapping[str, str]) -> Reach:
    """Return how far the lines reach that a state was made from."""
    last_id, unmet = json.loads(about["reach"])
    return last_id, frozenset(unmet)


def read_standing(db: sqlite3.Connection, id: str) -> LearningState | None:
    """Return a cached learning by its id."""
    if not is_storable_id(id):
        return None
    row = db.execute("SELECT row FROM standing WHERE id = ?", (id,)).fetchone()
    return next(iter(rows.read_standings(row or ())), None)


def is_storable_id(id: str) -> bool:
    """Say whether a line can have that id; an event may name half a character."""
    try:
        id.encode()
    except UnicodeEncodeError:
        return False
    return True


def store_standings(db: sqlite3.Connection, standings: Iterable[LearningState]) -> None:
    """Store learnings, each in the place of an older one with its id."""
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
                *(trait_mark(trait_of(standing)) for trait_of in TRAITS.values()),
                rows.standing_row(standing),
            )
            for standing in standings
        ),
    )


def add_events(db: sqlite3.Connection, events: Iterable[LedgerEvent]) -> None:
    """Store events behind those that are there."""
    db.executemany(
        "INSERT INTO event(name, row) VALUES(?, ?)",
        ((trait_mark(event.event), rows.event_row(event)) for event in events),
    )


def store_about(
    db: sqlite3.Connection,
    extents: LogExtents,
    reach: Reach,
    *,
    maker: str,
    origin: str = "",
) -> None:
    """Store what the state was made from; `origin` is the digest of the learnings at the last replay of all."""
    made_from, digest = json.dumps(extents), extents_digest(extents)
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


def trait_mark(text: str) -> int | None:
    """Return a checksum to find a trait by, None for an empty one; a match is compared again."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) if text else None


def marks_list(values: Iterable[str]) -> str:
    """Return the marks of some values, as SQL lists them."""
    return ", ".join(str(trait_mark(value) or 0) for value in values)
