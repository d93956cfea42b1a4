"""The tables of the journal, and what is asked of them.

`live` is the folder as it was last seen, `past` what was there before: an entry was so from the moment
`since` on, until the moment `gone`.
"""

import contextlib
import hashlib
import sqlite3
import zlib
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

from roamkb.journal.moments import ChangeCause
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import changes_between
from roamkb.journal.names import UNREADABLE

#: Another number is another roamkb's, and left alone.
SCHEMA: Final = 1

#: What the index `waiting` is of: entries whose content wasn't read in time.
WAITING: Final = f"digest IS NULL AND why IN ('', '{UNREADABLE}') AND form IN ('file', 'link')"
_TABLES: Final = (
    "CREATE TABLE live(path BLOB PRIMARY KEY, form TEXT, mode INTEGER, size INTEGER, mtime INTEGER, "
    "ctime INTEGER, inode INTEGER, digest BLOB, why TEXT, since INTEGER) WITHOUT ROWID",
    "CREATE TABLE past(path BLOB, form TEXT, mode INTEGER, size INTEGER, digest BLOB, why TEXT, "
    "since INTEGER, gone INTEGER, gone_at REAL)",
    "CREATE TABLE object(digest BLOB PRIMARY KEY, size INTEGER, data BLOB)",
    "CREATE TABLE moment(id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, what TEXT, session TEXT, "
    "during TEXT)",
    "CREATE TABLE change(moment INTEGER, path BLOB, by TEXT)",
    "CREATE TABLE session(id TEXT PRIMARY KEY, kind TEXT, agent TEXT, mark INTEGER, told INTEGER, seen REAL)",
    "CREATE TABLE fact(name TEXT PRIMARY KEY, value)",
    f"CREATE INDEX waiting ON live(path) WHERE {WAITING}",
    "CREATE INDEX live_digest ON live(digest)",
    "CREATE INDEX past_digest ON past(digest)",
    "CREATE INDEX past_gone ON past(gone)",
    "CREATE INDEX change_moment ON change(moment)",
)
_ENTRY: Final = "path, form, mode, size, digest, why, since"


def make_tables(db: sqlite3.Connection) -> None:
    """Make an empty journal of an empty database."""
    # what a sweep frees goes back to the disk
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")
    with transaction(db):
        for statement in _TABLES:
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {SCHEMA}")


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Do all that is done within, or nothing of it."""
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
    (found,) = db.execute("SELECT coalesce(max(id), 0) FROM moment").fetchone()
    return int(found)


def waiting(db: sqlite3.Connection) -> int:
    """Return how many contents weren't read in time."""
    (found,) = db.execute(f"SELECT count(*) FROM live WHERE {WAITING}").fetchone()
    return int(found)


def used_bytes(db: sqlite3.Connection) -> int:
    """Return how much of the file holds something."""
    numbers = [
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    ]
    return int((numbers[0] - numbers[1]) * numbers[2])


def find_live(db: sqlite3.Connection, path: bytes) -> FolderEntry | None:
    """Return an entry as it was last seen; None where there was none."""
    row = db.execute(f"SELECT {_ENTRY}, mtime FROM live WHERE path = ?", (path,)).fetchone()
    return _entry(row) if row else None


def find_content(db: sqlite3.Connection, digest: bytes | None) -> bytes | None:
    """Return what has the SHA-256 `digest`; None where the journal hasn't, or has something else there."""
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
    """Return how the folder, as it was last seen, differs from what it was at a moment."""
    was = _entries(db, f"SELECT {_ENTRY} FROM past WHERE since <= ? AND gone > ?", moment, moment)
    now = _entries(db, f"SELECT {_ENTRY} FROM live WHERE since > ?", moment)
    causes: dict[bytes, ChangeCause] = {}
    for path, by in db.execute("SELECT path, by FROM change WHERE moment > ? ORDER BY moment", (moment,)):
        causes[path] = (
            causes[path].then(ChangeMaker(by)) if path in causes else ChangeCause(by=ChangeMaker(by))
        )
    # what came and went, or became what it was, is no change
    same = {path for path in was.keys() & now.keys() if was[path].is_as(now[path])}
    return changes_between(
        {path: entry for path, entry in was.items() if path not in same},
        {path: entry for path, entry in now.items() if path not in same},
        lambda path: causes.get(path, ChangeCause()),
    )


def entries_at(db: sqlite3.Connection, moment: int) -> tuple[FolderEntry, ...]:
    """Return what lay in the folder at a moment."""
    past = _entries(db, f"SELECT {_ENTRY} FROM past WHERE since <= ? AND gone > ?", moment, moment)
    live = _entries(db, f"SELECT {_ENTRY} FROM live WHERE since <= ?", moment)
    return (*past.values(), *live.values())


def _entries(db: sqlite3.Connection, query: str, *values: int) -> Mapping[bytes, FolderEntry]:
    return {row[0]: _entry(row) for row in db.execute(query, values)}


def _entry(row: tuple[Any, ...]) -> FolderEntry:
    path, form, mode, size, digest, why, since, *rest = row
    return FolderEntry(
        path=path,
        form=EntryForm(form),
        mode=mode,
        size=size,
        digest=digest,
        why=why,
        since=since,
        mtime=rest[0] if rest else 0,
    )
