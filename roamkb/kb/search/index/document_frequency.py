"""The number of entries that hold each word, stored because SQLite would count them each time.

What SQLite takes for a word only SQLite knows. So a few entries that come or go are put into
an index of their own, whose words are then added or taken off; after many all is counted again.
"""

import contextlib
import sqlite3
from collections.abc import Iterator

#: Entries from which on counting all again is no dearer, by far less than what reading their notes takes.
_MANY = 2000

COLUMNS = "title, alias, tags, body, hidden"
#: Marks that only say how the character before them is drawn; of all others SQLite makes letters.
_SELECTORS = "".join(map(chr, range(0xFE00, 0xFE10)))
#: In double quotes, as an argument of SQLite's that holds single ones.
TOKENS = f"\"porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc' separators '{_SELECTORS}'\""

TABLES = """
CREATE TABLE held(term TEXT PRIMARY KEY, entries INTEGER) WITHOUT ROWID;
CREATE VIRTUAL TABLE word USING fts5vocab(words, row);
"""

_COUNTED = "SELECT value FROM about WHERE key = 'counted'"


def document_frequency(db: sqlite3.Connection, term: str) -> int:
    """Return how many entries hold `term`, as SQLite spells it."""
    row = db.execute("SELECT entries FROM held WHERE term = ?", (term,)).fetchone()
    return row[0] if row else 0


@contextlib.contextmanager
def uncount_entries(db: sqlite3.Connection, theirs: str) -> Iterator[None]:
    """Subtract the words of the entries that match `theirs`; the caller removes those entries meanwhile."""
    counted = _last_counted_entry(db)
    leaving = f"{theirs} AND id <= {counted}"
    (many,) = db.execute(f"SELECT count(*) FROM entry WHERE {leaving}").fetchone()
    if many > _MANY:
        counted = 0
    elif many:
        _add_to_counts(db, leaving, -1)
        db.execute("DELETE FROM held WHERE entries <= 0")
    yield
    # the next number is the one after the last that is left
    _set_last_counted(db, min(counted, _newest_entry(db)))


def has_uncounted(db: sqlite3.Connection) -> bool:
    """Say whether there are entries whose words aren't counted yet."""
    return _last_counted_entry(db) < _newest_entry(db)


def count_new(db: sqlite3.Connection) -> None:
    """Add the words of all entries that aren't counted yet."""
    counted = _last_counted_entry(db)
    (many,) = db.execute("SELECT count(*) FROM entry WHERE id > ?", (counted,)).fetchone()
    if not counted or many > _MANY:
        db.execute("DELETE FROM held")
        db.execute("INSERT INTO held SELECT term, doc FROM word WHERE term IS NOT NULL")
    elif many:
        _add_to_counts(db, f"id > {counted}", 1)
    _set_last_counted(db, _newest_entry(db))


def _add_to_counts(db: sqlite3.Connection, entries: str, sign: int) -> None:
    db.execute(f"CREATE VIRTUAL TABLE temp.some USING fts5({COLUMNS}, content='', tokenize={TOKENS})")
    db.execute("CREATE VIRTUAL TABLE temp.some_word USING fts5vocab(temp, some, row)")
    rows = f"SELECT id, {COLUMNS} FROM content WHERE {entries} ORDER BY id"
    db.execute(f"INSERT INTO temp.some(rowid, {COLUMNS}) {rows}")
    db.execute(
        "INSERT INTO held SELECT term, ? * doc FROM temp.some_word WHERE term IS NOT NULL "
        "ON CONFLICT(term) DO UPDATE SET entries = entries + excluded.entries",
        (sign,),
    )
    db.execute("DROP TABLE temp.some_word")
    db.execute("DROP TABLE temp.some")


def _last_counted_entry(db: sqlite3.Connection) -> int:
    """Return the number of the last entry that is counted; 0 if none is."""
    row = db.execute(_COUNTED).fetchone()
    return int(row[0]) if row else 0


def _set_last_counted(db: sqlite3.Connection, counted: int) -> None:
    db.execute("INSERT OR REPLACE INTO about VALUES('counted', ?)", (counted,))


def _newest_entry(db: sqlite3.Connection) -> int:
    (newest,) = db.execute("SELECT coalesce(max(id), 0) FROM entry").fetchone()
    return int(newest)
