"""The tables of the search index, and how a note is added and removed.

SQLite's FTS5 keeps no text of its own here: `words` indexes the columns of `entry`, and
what is taken out of it is exactly what was put in.
"""

import contextlib
import json
import sqlite3
import unicodedata
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.model import Note
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import blake2b
from roamkb.kb.notes import node_names
from roamkb.kb.notes import passages
from roamkb.kb.notes import renamed_copies
from roamkb.kb.search import passage_rows
from roamkb.kb.search.index import document_frequency as index_counts
from roamkb.kb.search.index.document_frequency import COLUMNS
from roamkb.kb.search.index.document_frequency import TOKENS
from roamkb.kb.search.stored_text import storable_text
from roamkb.text.store.word_vector_file import table_sizes

#: Raise on any change of tables, tokens or what is stored; an index of another number is made anew.
SCHEMA = 20

#: Names the index in the first bytes of its file, "roam".
_APPLICATION = 0x726F616D

#: Bytes of words that SQLite gathers before it writes a segment of them, by default one million: a third less
#: work for a first index, whose segments are merged again and again.
_PENDING = 8 << 20

_TABLES = f"""
CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE note(
  id INTEGER PRIMARY KEY, file TEXT UNIQUE, stat TEXT, settled INTEGER, digest BLOB, trouble TEXT,
  entries INTEGER, words INTEGER, foreigners INTEGER, first TEXT, is_copy INTEGER);
CREATE INDEX note_first ON note(first) WHERE first != '';
CREATE INDEX note_copy ON note(file) WHERE is_copy;
CREATE INDEX note_trouble ON note(file) WHERE trouble != '';
CREATE TABLE setup(note INTEGER, path TEXT, digest BLOB, PRIMARY KEY(note, path)) WITHOUT ROWID;
CREATE TABLE link(note INTEGER, source TEXT, dest TEXT, line INTEGER, text TEXT);
CREATE INDEX link_note ON link(note);
CREATE INDEX link_dest ON link(dest);
CREATE TABLE reference(note INTEGER, node TEXT, type TEXT, target TEXT, is_own INTEGER);
CREATE INDEX reference_note ON reference(note);
CREATE INDEX reference_target ON reference(target);
CREATE TABLE name(spelling TEXT, note INTEGER, PRIMARY KEY(spelling, note)) WITHOUT ROWID;
CREATE INDEX name_note ON name(note);
CREATE TABLE entry(
  id INTEGER PRIMARY KEY, length INTEGER, note INTEGER, file TEXT, line INTEGER, node TEXT, date TEXT,
  agent INTEGER, project TEXT, tag_set TEXT);
CREATE INDEX entry_note ON entry(note);
CREATE INDEX entry_node ON entry(node);
CREATE TABLE content(
  id INTEGER PRIMARY KEY, successor TEXT, called TEXT, named TEXT, tagged TEXT, above TEXT, outline TEXT, numbers TEXT,
  title TEXT, alias TEXT, tags TEXT, body TEXT, hidden TEXT);
CREATE TABLE vector(id INTEGER PRIMARY KEY, data BLOB);
CREATE VIRTUAL TABLE words USING fts5({COLUMNS}, content='content', content_rowid='id', tokenize={TOKENS});
{index_counts.TABLES}
"""

#: Whether a row of `content` was replaced: not while its successor is in the trash or gone.
IS_REPLACED = "EXISTS(SELECT 1 FROM entry AS newer WHERE newer.node = content.successor)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFile:
    """A file's stat and digest at the moment when it was read."""

    file: str
    #: Size, times, inode and device; as text, since times after 2262 are no integers to SQLite.
    stat: str
    #: Whether its stat alone can be trusted from now on.
    settled: bool
    digest: bytes


def maker_key(todo_lines: Sequence[str], version: str, *, kb: str = "") -> str:
    """Return everything beside the note on which an entry depends: folder, program, tables, TODO words."""
    table = table_sizes()
    parts = (SCHEMA, kb, version, unicodedata.unidata_version, sqlite3.sqlite_version, table, todo_lines)
    return json.dumps(parts)


def create_tables(db: sqlite3.Connection, made_by: str) -> None:
    """Create the tables of an empty index."""
    db.executescript(_TABLES)
    db.execute(f"PRAGMA application_id = {_APPLICATION}")
    db.execute("INSERT INTO words(words, rank) VALUES('hashsize', ?)", (_PENDING,))
    db.execute("INSERT INTO about VALUES('maker', ?)", (made_by,))


def is_made_by(db: sqlite3.Connection, made_by: str) -> bool:
    """Say whether the index was made with the maker key `made_by`."""
    stored = db.execute("SELECT value FROM about WHERE key = 'maker'").fetchone()
    return stored is not None and stored[0] == made_by


def content_digest(data: bytes) -> bytes:
    """Return the digest by which a file's content is recognised."""
    return blake2b(data, digest_size=16).digest()


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one transaction: all of it or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # an error may have ended it already
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def store_sums(db: sqlite3.Connection, *, is_whole: bool) -> None:
    """Store the sums that each query needs; words are counted once the index `is_whole`, and none is asked before."""
    if is_whole:
        index_counts.count_new(db)
    sums = db.execute("SELECT count(*), total(entries), total(words), total(foreigners) FROM note").fetchone()
    for key, value in zip(("notes", "entries", "words", "foreigners"), sums, strict=True):
        db.execute("INSERT OR REPLACE INTO about VALUES(?, ?)", (key, int(value)))


def sums_of(db: sqlite3.Connection) -> dict[str, int]:
    """Return the numbers of notes, entries, words and entries in other languages than English."""
    rows = db.execute("SELECT key, value FROM about WHERE key NOT IN ('maker', 'log', 'counted')")
    return {"notes": 0, "entries": 0, "words": 0, "foreigners": 0} | {key: int(value) for key, value in rows}


_THEIR_NOTES = "SELECT id FROM note WHERE file IN (SELECT value FROM json_each(?))"


def remove_notes(db: sqlite3.Connection, files: Iterable[str]) -> None:
    """Remove the notes at `files` from the index, as far as it has them.

    All at once and in their order: FTS5 writes a part of its index to the disk whenever a
    number is smaller than the one before.
    """
    db.execute(f"CREATE TEMP TABLE leaving AS {_THEIR_NOTES}", (json.dumps(list(files)),))
    _remove_content(db, ("link", "reference", "name", "setup"))
    db.execute("DELETE FROM note WHERE id IN temp.leaving")
    db.execute("DROP TABLE temp.leaving")


def _remove_content(db: sqlite3.Connection, tables: Iterable[str]) -> None:
    """Remove the entries of the notes in `temp.leaving`, and what else the tables have of them."""
    remove_entries(db, "note IN temp.leaving")
    for table in tables:
        db.execute(f"DELETE FROM {table} WHERE note IN temp.leaving")


def set_copies_apart(db: sqlite3.Connection) -> list[str]:
    """Take the content of a syncer's renamed copies out of the index; return the files that are copies no longer."""
    sharing = db.execute(
        "SELECT file, first FROM note WHERE first != '' AND first IN "
        "(SELECT first FROM note WHERE first != '' GROUP BY first HAVING count(*) > 1)"
    )
    copies = renamed_copies.find_renamed_copies(dict(sharing.fetchall()))
    known = {file for (file,) in db.execute("SELECT file FROM note WHERE is_copy")}
    if new := sorted(copies.keys() - known):
        db.execute(f"CREATE TEMP TABLE leaving AS {_THEIR_NOTES}", (json.dumps(new),))
        _remove_content(db, ("link", "reference", "name"))
        db.execute(
            "UPDATE note SET entries = 0, words = 0, foreigners = 0, trouble = '', is_copy = TRUE "
            "WHERE id IN temp.leaving"
        )
        db.execute("DROP TABLE temp.leaving")
    return sorted(known - copies.keys())


def count_copies(db: sqlite3.Connection) -> int:
    """Return the number of a syncer's renamed copies."""
    return int(db.execute("SELECT count(*) FROM note WHERE is_copy").fetchone()[0])


def remove_entries(db: sqlite3.Connection, condition: str) -> None:
    """Remove the entries that meet `condition`, in SQL without parameters; their notes stay."""
    theirs = f"id IN (SELECT id FROM entry WHERE {condition})"
    with index_counts.uncount_entries(db, theirs):
        db.execute(
            f"INSERT INTO words(words, rowid, {COLUMNS}) "
            f"SELECT 'delete', id, {COLUMNS} FROM content WHERE {theirs} ORDER BY id"
        )
        for table in ("content", "vector"):
            db.execute(f"DELETE FROM {table} WHERE {theirs}")
        db.execute(f"DELETE FROM entry WHERE {condition}")


def add_note(
    db: sqlite3.Connection,
    seen_file: SeenFile,
    note: Note | None,
    *,
    trouble: str = "",
    setups: Sequence[tuple[str, bytes]] = (),
) -> None:
    """Add a note to the index; None for a file that couldn't be read."""
    entries = [passage_rows.passage_row(passage) for passage in passages.split_passages(note)] if note else []
    if any(row.is_cut for row in entries):
        trouble = (
            trouble
            or f"the text of a node has over {passage_rows.MOST_TEXT:,} characters; words find its beginning only"
        )
    first = storable_text(note.nodes[0].id) if note and note.nodes else ""
    sums = (len(entries), sum(row.length for row in entries), sum(row.is_foreign for row in entries))
    id = db.execute(
        "INSERT INTO note VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, FALSE)",
        (seen_file.file, seen_file.stat, seen_file.settled, seen_file.digest, trouble, *sums, first),
    ).lastrowid
    for row in entries:
        number = db.execute(
            "INSERT INTO entry VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row.length, id, seen_file.file, row.line, row.node, row.date, row.is_agent, row.project, row.tag_set),
        ).lastrowid
        db.execute(
            "INSERT INTO content VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, row.successor, *row.names, row.outline, row.numbers, *row.indexed),
        )
        db.execute(f"INSERT INTO words(rowid, {COLUMNS}) VALUES(?, ?, ?, ?, ?, ?)", (number, *row.indexed))
        if row.vector:
            db.execute("INSERT INTO vector VALUES(?, ?)", (number, row.vector))
    db.executemany("INSERT INTO setup VALUES(?, ?, ?)", [(id, *setup) for setup in setups])
    if note:
        links = [(id, node.id, link) for node in note.nodes for link in node.links if link.type == "id"]
        rows = (
            (id, source, link.dest, link.line, storable_text(link.text[: passage_rows.LONGEST_NAME]))
            for id, source, link in links
        )
        db.executemany("INSERT INTO link VALUES(?, ?, ?, ?, ?)", rows)
        db.executemany("INSERT INTO reference VALUES(?, ?, ?, ?, ?)", _reference_rows(id, note))
        names = {stored_spelling(name) for node in note.nodes for name in (node.title, *node.aliases)}
        db.executemany("INSERT INTO name VALUES(?, ?)", [(name, id) for name in sorted(names)])


def _reference_rows(id: int | None, note: Note) -> Iterator[tuple[int | None, str, str, str, bool]]:
    """Yield the refs of the nodes, and the works and pages that their texts cite or link to."""
    for node in note.nodes:
        for ref in dict.fromkeys(node.refs):
            yield id, node.id, ref.type, storable_text(ref.ref), True
        for key in dict.fromkeys(citation.key for citation in node.citations):
            yield id, node.id, "cite", storable_text(key), False
        for kind, target in dict.fromkeys((link.type, link.dest) for link in node.links if link.type != "id"):
            yield id, node.id, kind, storable_text(target), False


def stored_spelling(name: str) -> str:
    """Return the spelling key of a name as it is stored: the beginning of what nobody types."""
    return storable_text(node_names.spelling_key(name))[: node_names.LONGEST_OFFERED + 1]
