"""Readers of other systems' databases and JSON documents; neither is changed.

A database is read in a copy, together with what its writer hasn't folded into it yet: SQLite itself would
write beside the original, also where it only reads.
"""

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.model import UnreadableFile
from roamkb.core.text import one_line
from roamkb.fs.files import as_disk_error
from roamkb.fs.files import read_file
from roamkb.pipeline.ingest.foreign_entries import KNOWN_TABLES
from roamkb.pipeline.ingest.foreign_entries import entries_of_document
from roamkb.pipeline.ingest.foreign_entries import entries_of_table

_SQLITE_MAGIC: Final = b"SQLite format 3\x00"
#: Bytes of a document and of a database that are read; entries of some KiB are usual, and some thousands.
_LONGEST_DOCUMENT: Final = 64 * 1024 * 1024
_LARGEST_DATABASE: Final = 1024 * 1024 * 1024
_HEAD_BYTES: Final = 64 * 1024


def store_entries(path: Path) -> Iterator[dict[str, object]] | None:
    """Return the entries of a database or a JSON document; None where `path` holds lines, or nothing.

    Raises:
        DiskError: it can't be read, or is larger than any such store. UsageError: nobody knows its shape.
    """
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except (OSError, ValueError):
        # who reads the lines says what is wrong
        return None
    if head.startswith(_SQLITE_MAGIC):
        return _database_entries(path)
    return _document_entries(path, head)


def _document_entries(path: Path, head: bytes) -> Iterator[dict[str, object]] | None:
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not begin.startswith((b"{", b"[")):
        return None
    first_line = begin.partition(b"\n")[0].strip()
    if first_line.startswith(b'{"key"') or (data := read_file(path, limit=_LONGEST_DOCUMENT)) is None:
        return None
    if isinstance(data, UnreadableFile):
        return None
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        # one for each line, then
        return None
    entries = entries_of_document(document)
    if entries is not None:
        return iter(entries)
    if first_line == data.strip().lstrip(b"\xef\xbb\xbf"):
        return None
    raise UsageError(
        f"{one_line(str(path))} is one JSON document of a shape that roamkb doesn't know; nothing was read",
        hint="it reads a knowledge.jsonl, a bundle of Day1's, Oro's database and document 004's tables",
    )


def _database_entries(path: Path) -> Iterator[dict[str, object]]:
    with TemporaryDirectory() as folder:
        copy = Path(folder, "store.db")
        with as_disk_error(path):
            if path.stat().st_size > _LARGEST_DATABASE:
                raise DiskError(path, f"has more than {_LARGEST_DATABASE:,} bytes; nothing was read")
            shutil.copyfile(path, copy)
            log = path.with_name(f"{path.name}-wal")
            if log.is_file():
                shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
        try:
            with contextlib.closing(sqlite3.connect(copy)) as db:
                db.row_factory = sqlite3.Row
                db.text_factory = lambda data: data.decode("utf-8", "replace")
                yield from _table_entries(db, path)
        except sqlite3.Error as error:
            raise DiskError(path, f"can't be read: {error}", hint="nothing more of it was read") from error


def _table_entries(db: sqlite3.Connection, path: Path) -> Iterator[dict[str, object]]:
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {
        table: {row["name"] for row in db.execute(f"SELECT name FROM pragma_table_xinfo('{table}')")}
        for table in KNOWN_TABLES.keys() & set(tables)
    }
    known_tables = [table for table in KNOWN_TABLES if KNOWN_TABLES[table] <= columns.get(table, set())]
    if not known_tables:
        table_names = ", ".join(sorted(one_line(table) for table in tables)[:8]) or "none"
        raise UsageError(
            f"{one_line(str(path))} is a database of another kind; nothing was read (its tables: {table_names})",
            hint="it knows Oro's memories and document 004's knowledge_entries",
        )
    for table in known_tables:
        rows = (dict(row) for row in db.execute(f"SELECT * FROM {table} ORDER BY rowid"))
        yield from entries_of_table(table, rows)
