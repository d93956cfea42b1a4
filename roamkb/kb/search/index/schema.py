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
from itertools import chain
from operator import itemgetter

from roamkb.core.model import OUTLINE_STEP
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import blake2b
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import fold_text
from roamkb.core.text import fold_to_line
from roamkb.core.text import strip_points
from roamkb.kb.notes import node_names
from roamkb.kb.notes import passages
from roamkb.kb.notes import renamed_copies
from roamkb.kb.search import filters
from roamkb.kb.search.index import document_frequency as index_counts
from roamkb.kb.search.index.document_frequency import COLUMNS
from roamkb.kb.search.index.document_frequency import TOKENS
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.text import language
from roamkb.text.initials import initials_of
from roamkb.text.store.word_vector_file import table_sizes
from roamkb.text.store.word_vector_file import word_table
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import identifier_parts
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import text_terms
from roamkb.text.tokenize import words_beside_unspaced

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

#: Separates names and tags; no title, alias or tag holds it.
SEPARATOR = "\x1f"

#: Characters of tags that a heading's entry keeps, far above what anybody writes: each inherits all above it.
_MOST_TAG_TEXT = 1000


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
    entries = [_passage_row(passage) for passage in passages.split_passages(note)] if note else []
    if any(row.is_cut for row in entries):
        trouble = trouble or f"the text of a node has over {_MOST_TEXT:,} characters; words find its beginning only"
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
            (id, source, link.dest, link.line, storable_text(link.text[:_LONGEST_NAME])) for id, source, link in links
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassageRow:
    """A passage as a table row."""

    line: int
    node: str | None
    date: str
    is_agent: bool
    #: The project that an agent wrote it in; empty for a human's.
    project: str
    #: Words that count for its length.
    length: int
    tag_set: str
    #: The id of the node that replaced it, as it says itself; None where none did.
    successor: str | None
    #: What it is called, folded; the terms of that, of its tags, and of the titles above a heading.
    names: tuple[str, str, str, str]
    #: The titles above a heading, as they are shown.
    outline: str
    numbers: str
    #: Title, aliases, tags, text, and what only the index sees.
    indexed: tuple[str, str, str, str, str]
    is_foreign: bool
    vector: bytes | None
    #: Whether only its beginning is searched by words.
    is_cut: bool


#: Characters of a title or an alias, and of all aliases of a node, by which it is found and shown.
_LONGEST_NAME = 1_000
_MOST_NAMES = 10_000
#: Of each title above a heading, as it is shown.
_LONGEST_STEP = 60
#: Of the text of one node; more is somebody's data, and all questions would have to read it.
_MOST_TEXT = 500_000
#: Of a line, which is shown as a whole; a longer one is several.
_LONGEST_LINE = 2_000
#: The text of a numbered line.
_TEXT = itemgetter(1)


def _kept_names(node: Node) -> Iterator[str]:
    """Yield the aliases by which a node is found; of very many only the first."""
    room = _MOST_NAMES
    for alias in node.aliases:
        room -= len(alias)
        if room < 0:
            return
        yield alias[:_LONGEST_NAME]


def _text_length(passage: "passages.NotePassage") -> int:
    return sum(map(len, map(_TEXT, passage.lines))) + len(passage.lines)


def _kept_lines(passage: "passages.NotePassage") -> Sequence[tuple[int, str]]:
    """Return the lines of a passage that are searched by words; a long line in several pieces."""
    longest = max(map(len, map(_TEXT, passage.lines)), default=0)
    is_whole = longest <= _LONGEST_LINE and _text_length(passage) < _MOST_TEXT
    return passage.lines if is_whole else tuple(_cut_lines(passage.lines))


def _cut_lines(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the pieces of lines up to a text's last letter that is searched by words."""
    room = _MOST_TEXT
    for number, line in lines:
        line = line[:room]
        room -= len(line) + 1
        while len(line) > _LONGEST_LINE:
            cut = line.rfind(" ", _LONGEST_LINE // 2, _LONGEST_LINE) + 1 or _LONGEST_LINE
            yield number, line[:cut]
            line = line[cut:]
        yield number, line
        if room <= 0:
            return


def _passage_row(passage: "passages.NotePassage") -> _PassageRow:
    node = passage.node
    title, aliases = passage.title[:_LONGEST_NAME], SEPARATOR.join(_kept_names(node)) if node else ""
    is_agent = node is not None and filters.is_agent_passage(passage)
    lines = _kept_lines(passage)
    if is_agent:
        lines = [line for line in lines if not _PROVENANCE.match(line[1])]
    body = "\n".join(map(_TEXT, lines))
    tags = _kept_tags(passage)
    names_and_body = f"{title}\n{aliases}\n{body}"
    passage_words = split_words(names_and_body)
    is_foreign = not language.is_english(passage_words[:_TELLING])
    table = word_table()
    unspaced_tags = SEPARATOR.join(filter(UNSPACED.search, tags))
    hidden_words = (*passage_words, *split_words(unspaced_tags)) if unspaced_tags else passage_words
    hidden = _hidden_terms(f"{names_and_body}\n{unspaced_tags}", hidden_words, is_foreign)
    initials = [letters for name in (title, *aliases.split(SEPARATOR)) for letters in initials_of(name)]
    raw_columns = (title, aliases, SEPARATOR.join(tags), body, " ".join((*hidden, *initials)))
    indexed: tuple[str, str, str, str, str] = tuple(storable_text(text) for text in raw_columns)  # type: ignore[assignment]
    above = [title for title in passage.titles_above if title]
    return _PassageRow(
        line=passage.first_line(),
        node=node.id if node else None,
        date=passage.date,
        is_agent=is_agent,
        project=storable_text(filters.project_of_passage(passage)[:_LONGEST_NAME]) if is_agent else "",
        length=len(passage_words) + len(hidden) + len(tags),
        tag_set=tag_set(tags),
        numbers=_format_ranges([number for number, _ in lines]),
        is_cut=_text_length(passage) > _MOST_TEXT,
        successor=_successor_of(node) if node else None,
        names=(*_compared_names(*indexed[:3], initials), _joined_terms(" ".join(above)[:_LONGEST_NAME])),
        outline=storable_text(OUTLINE_STEP.join(clip_text(title, _LONGEST_STEP) for title in above)[:_LONGEST_NAME]),
        indexed=indexed,
        is_foreign=is_foreign,
        # the table's words are English
        vector=table.text_vector(passage_words[:_TELLING]) if table and not is_foreign else None,
    )


def _successor_of(node: Node) -> str | None:
    """Return the id of the node that is said to replace a node; None where none is, or it names itself."""
    successor = storable_text(node.properties.get(SUPERSEDED_BY, ""))
    return successor if successor and successor != node.id else None


#: What `write` says in the drawer of where a node comes from: a project's name tells nothing of what it says.
_PROVENANCE = lazily(r":(?:CREATED|AGENT|PROJECT|SOURCE):\s")


def _compared_names(title: str, aliases: str, tags: str, initials: Sequence[str]) -> tuple[str, str, str]:
    """Return the folded names, their terms and the tags' terms, with which queries are compared."""
    called = map(fold_to_line, (title, *aliases.split(SEPARATOR)) if aliases else (title,))
    return SEPARATOR.join(called), _joined_terms(" ".join((title, aliases, *initials))), _joined_terms(tags)


def _joined_terms(text: str) -> str:
    return storable_text(SEPARATOR.join(dict.fromkeys(text_terms(text))))


def _kept_tags(passage: "passages.NotePassage") -> Sequence[str]:
    """Return the tags to index; of a heading that inherits too many, only the nearest ones."""
    if passage.node is None or not passage.node.level:
        return passage.tags
    room = _MOST_TAG_TEXT
    for place in range(len(passage.tags) - 1, -1, -1):
        room -= len(passage.tags[place]) + 1
        if room < 0:
            return passage.tags[place + 1 :]
    return passage.tags


#: Words that are enough to tell a language by, and a subject: with those of a longer text, sets of questions about
#: long messages, sessions and abstracts are answered no better (tests/benchmarks/recall.py), and of messages worse.
_TELLING = 400


def storable_text(text: str) -> str:
    """Return `text` as SQLite accepts it, without NUL and lone surrogates."""
    text = text.replace("\0", " ")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _hidden_terms(text: str, words: Sequence[str], is_foreign: bool) -> list[str]:
    """Return the extra terms for the words of a text that SQLite's own tokenizer doesn't split as needed."""
    parts = _HIDDEN_PARTS[is_foreign]
    if len(parts) > _MOST_REMEMBERED:
        parts.clear()
    terms = list(chain.from_iterable(map(parts.__getitem__, words)))
    # SQLite takes a word and the unspaced letters beside it for one word
    return terms + [strip_points(word) for word in words_beside_unspaced(text)]


class _HiddenParts(dict[str, Sequence[str]]):
    """The extra terms for each word; those of words that may come again are remembered."""

    def __init__(self, *, is_foreign: bool) -> None:
        super().__init__()
        self._is_foreign = is_foreign

    def __missing__(self, word: str) -> Sequence[str]:
        if UNSPACED.match(word):
            # a whole sentence, which comes once
            return language.unspaced_groups(word)
        terms = []
        if (plain := strip_points(word)) != word:
            # to SQLite points are letters
            terms.append(plain)
        # SQLite itself takes an underscore for a blank
        if "_" not in word:
            terms += [part for part in identifier_parts(word) if len(part) > 1]
        if self._is_foreign:
            terms += language.letter_groups(word)
        if len(word) <= _LONGEST_REMEMBERED:
            # most words have none, and share that
            self[word] = tuple(terms)
        return terms


#: Words whose terms are remembered, and letters of each.
_MOST_REMEMBERED = 50_000
_LONGEST_REMEMBERED = 64
#: For texts in English, and in other languages.
_HIDDEN_PARTS = (_HiddenParts(is_foreign=False), _HiddenParts(is_foreign=True))


def tag_set(tags: Sequence[str]) -> str:
    """Return the folded tags in one string, with a separator on each side of each tag."""
    return SEPARATOR + "".join(storable_text(fold_text(tag)) + SEPARATOR for tag in tags)


def _format_ranges(numbers: Sequence[int]) -> str:
    """Return line numbers as `first+count` for each run of them."""
    # a number less its place is the same all along a run, and most passages are one
    if numbers and numbers[-1] - numbers[0] == len(numbers) - 1 and len(set(numbers)) == len(numbers):
        return f"{numbers[0]}+{len(numbers)}"
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][0] + runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return " ".join(f"{start}+{count}" for start, count in runs)


def line_numbers(ranges: str) -> list[int]:
    """Return the line numbers that `_format_ranges` wrote."""
    numbers: list[int] = []
    for run in ranges.split():
        start, _, count = run.partition("+")
        numbers += range(int(start), int(start) + int(count))
    return numbers
