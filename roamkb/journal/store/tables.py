"""The tables of the journal, and its queries.

`live` is the folder as it was last seen, `past` what was there before: an entry was so from the moment
`since` on, until the moment `gone`.
"""

import contextlib
import sqlite3
import zlib
from collections.abc import Iterator
from collections.abc import Mapping
from typing import TYPE_CHECKING
from typing import Any
from typing import Final

from roamkb import lazy_module
from roamkb.journal.moments import ChangeCause
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import changes_between
from roamkb.journal.names import UNREADABLE

if TYPE_CHECKING:
    import hashlib
else:
    # OpenSSL takes a quarter of Python's start to load, and most looks find nothing that changed
    hashlib = lazy_module("hashlib")

#: Another number is another roamkb's, and left alone.
SCHEMA: Final = 1

#: What the index `waiting` is of: entries whose content wasn't read in time.
UNREAD_CONDITION: Final = f"digest IS NULL AND why IN ('', '{UNREADABLE}') AND form IN ('file', 'link')"
_TABLE_STATEMENTS: Final = (
    "CREATE TABLE live(path BLOB PRIMARY KEY, form TEXT, mode INTEGER, size INTEGER, mtime INTEGER, "
    "ctime INTEGER, inode INTEGER, digest BLOB, why TEXT, since INTEGER) WITHOUT ROWID",
    "CREATE TABLE past(path BLOB, form TEXT, mode INTEGER, size INTEGER, digest BLOB, why TEXT, "
    "since INTEGER, gone INTEGER, gone_at REAL)",
    "CREATE TABLE object(digest BLOB PRIMARY KEY, size INTEGER, data BLOB)",
    "CREATE TABLE moment(id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, what TEXT, session TEXT, during TEXT)",
    "CREATE TABLE change(moment INTEGER, path BLOB, by TEXT)",
    "CREATE TABLE session(id TEXT PRIMARY KEY, kind TEXT, agent TEXT, mark INTEGER, told INTEGER, seen REAL)",
    "CREATE TABLE fact(name TEXT PRIMARY KEY, value)",
    f"CREATE INDEX waiting ON live(path) WHERE {UNREAD_CONDITION}",
    "CREATE INDEX live_digest ON live(digest)",
    "CREATE INDEX past_digest ON past(digest)",
    "CREATE INDEX past_gone ON past(gone)",
    "CREATE INDEX change_moment ON change(moment)",
)
_ENTRY_COLUMNS: Final = "path, form, mode, size, digest, why, since"


def make_tables(db: sqlite3.Connection) -> None:
    """Create the journal's tables in an empty database."""
    # what a sweep frees goes back to the disk
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")
    with begin_transaction(db):
        for statement in _TABLE_STATEMENTS:
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {SCHEMA}")


@contextlib.contextmanager
def begin_transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run the statements within as one transaction, all or nothing; or as a part of the one that is open."""
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def last_moment(db: sqlite3.Connection) -> int:
    """Return the number of the last moment, 0 before the first."""
    (number,) = db.execute("SELECT coalesce(max(id), 0) FROM moment").fetchone()
    return int(number)


def count_unread(db: sqlite3.Connection) -> int:
    """Return the number of contents that weren't read in time."""
    (number,) = db.execute(f"SELECT count(*) FROM live WHERE {UNREAD_CONDITION}").fetchone()
    return int(number)


def note_swept(db: sqlite3.Connection, latest: str, values: tuple[float, int]) -> None:
    """Record until when the past has gaps, which the query `latest` says: what was so until then is swept."""
    (gone_at,) = db.execute(latest, values).fetchone()
    if gone_at is not None:
        db.execute("INSERT OR REPLACE INTO fact VALUES('swept', max(?, ?))", (gone_at, swept_until(db)))


def swept_until(db: sqlite3.Connection) -> float:
    """Return the time until which the past has gaps, in seconds since 1970; 0 where it is whole."""
    (timestamp,) = db.execute("SELECT coalesce(max(value), 0) FROM fact WHERE name = 'swept'").fetchone()
    return float(timestamp)


def find_recorded_tree(db: sqlite3.Connection) -> str:
    """Return the digest of the folder when all of it was recorded and read; empty while that isn't so."""
    row = db.execute("SELECT value FROM fact WHERE name = 'tree'").fetchone()
    return str(row[0]) if row else ""


def record_tree(db: sqlite3.Connection, tree: str) -> None:
    """Record the digest of the folder, all of which is recorded and read; empty where not all of it is."""
    db.execute("INSERT OR REPLACE INTO fact VALUES('tree', ?)", (tree,))


def used_bytes(db: sqlite3.Connection) -> int:
    """Return the number of bytes of the file that are in use."""
    numbers = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")]
    return int((numbers[0] - numbers[1]) * numbers[2])


def find_live(db: sqlite3.Connection, path: bytes) -> FolderEntry | None:
    """Return an entry as it was last seen; None where there was none."""
    row = db.execute(f"SELECT {_ENTRY_COLUMNS}, mtime, inode FROM live WHERE path = ?", (path,)).fetchone()
    return _parse_entry(row) if row else None


def find_content(db: sqlite3.Connection, digest: bytes | None) -> bytes | None:
    """Return the content with the SHA-256 `digest`; None where it is missing or damaged."""
    row = db.execute("SELECT size, data FROM object WHERE digest = ?", (digest,)).fetchone()
    if row is None:
        return None
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(row[1], row[0] + 1)
    except (zlib.error, TypeError, ValueError):
        return None
    return data if hashlib.sha256(data).digest() == digest else None


def changes_since(db: sqlite3.Connection, moment: int) -> tuple[EntryChange, ...]:
    """Return the changes of the folder since a moment, up to the last look."""
    old_entries = _query_entries(db, f"SELECT {_ENTRY_COLUMNS} FROM past WHERE since <= ? AND gone > ?", moment, moment)
    new_entries = _query_entries(db, f"SELECT {_ENTRY_COLUMNS} FROM live WHERE since > ?", moment)
    causes: dict[bytes, ChangeCause] = {}
    for path, maker in db.execute("SELECT path, by FROM change WHERE moment > ? ORDER BY moment", (moment,)):
        causes[path] = (
            causes[path].followed_by(ChangeMaker(maker)) if path in causes else ChangeCause(by=ChangeMaker(maker))
        )
    # what came and went, or became what it was, is no change
    unchanged = {
        path for path in old_entries.keys() & new_entries.keys() if old_entries[path].is_same_state(new_entries[path])
    }
    return changes_between(
        {path: entry for path, entry in old_entries.items() if path not in unchanged},
        {path: entry for path, entry in new_entries.items() if path not in unchanged},
        lambda path: causes.get(path, ChangeCause()),
    )


def entries_at(db: sqlite3.Connection, moment: int) -> tuple[FolderEntry, ...]:
    """Return the entries of the folder at a moment."""
    past = _query_entries(db, f"SELECT {_ENTRY_COLUMNS} FROM past WHERE since <= ? AND gone > ?", moment, moment)
    live = _query_entries(db, f"SELECT {_ENTRY_COLUMNS} FROM live WHERE since <= ?", moment)
    return (*past.values(), *live.values())


def _query_entries(db: sqlite3.Connection, query: str, *values: int) -> Mapping[bytes, FolderEntry]:
    return {row[0]: _parse_entry(row) for row in db.execute(query, values)}


def _parse_entry(row: tuple[Any, ...]) -> FolderEntry:
    path, form, mode, size, digest, why, since, mtime, inode = (*row, 0, 0)[:9]
    return FolderEntry(
        path=path,
        form=EntryForm(form),
        mode=mode,
        size=size,
        digest=digest,
        why=why,
        since=since,
        mtime=mtime,
        inode=inode,
    )
