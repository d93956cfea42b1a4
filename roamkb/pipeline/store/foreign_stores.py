"""Other systems' databases and JSON documents, read whole; nothing of theirs is touched.

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
from roamkb.core.text import shown
from roamkb.fs.files import disk_error
from roamkb.fs.files import read_file
from roamkb.pipeline.ingest.foreign_entries import TABLES
from roamkb.pipeline.ingest.foreign_entries import entries_of_document
from roamkb.pipeline.ingest.foreign_entries import entries_of_table

_MAGIC: Final = b"SQLite format 3\x00"
#: Bytes of a document and of a database that are read; entries of some KiB are usual, and some thousands.
_LONGEST_DOCUMENT: Final = 64 * 1024 * 1024
_LARGEST_DATABASE: Final = 1024 * 1024 * 1024
_HEAD: Final = 64 * 1024


def store_entries(path: Path) -> Iterator[dict[str, object]] | None:
    """Return the entries of a database or a JSON document; None where `path` holds lines, or nothing.

    Raises:
        DiskError: it can't be read, or is larger than any such store. UsageError: nobody knows its shape.
    """
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except (OSError, ValueError):
        # who reads the lines says what is wrong
        return None
    if head.startswith(_MAGIC):
        return _rows(path)
    return _document(path, head)


def _document(path: Path, head: bytes) -> Iterator[dict[str, object]] | None:
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not begin.startswith((b"{", b"[")):
        return None
    first = begin.partition(b"\n")[0].strip()
    if first.startswith(b'{"key"') or (found := read_file(path, limit=_LONGEST_DOCUMENT)) is None:
        return None
    if isinstance(found, UnreadableFile):
        return None
    try:
        told = json.loads(found)
    except (ValueError, RecursionError):
        # one for each line, then
        return None
    entries = entries_of_document(told)
    if entries is not None:
        return iter(entries)
    if first == found.strip().lstrip(b"\xef\xbb\xbf"):
        return None
    raise UsageError(
        f"{shown(str(path))} is one JSON document of a shape that roamkb doesn't know; nothing was read",
        hint="it reads a knowledge.jsonl, a bundle of Day1's, Oro's database and document 004's tables",
    )


def _rows(path: Path) -> Iterator[dict[str, object]]:
    with TemporaryDirectory() as folder:
        copy = Path(folder, "store.db")
        try:
            if path.stat().st_size > _LARGEST_DATABASE:
                raise DiskError(path, f"has more than {_LARGEST_DATABASE:,} bytes; nothing was read")
            shutil.copyfile(path, copy)
            log = path.with_name(f"{path.name}-wal")
            if log.is_file():
                shutil.copyfile(log, copy.with_name(f"{copy.name}-wal"))
        except OSError as error:
            raise disk_error(path, error) from error
        try:
            with contextlib.closing(sqlite3.connect(copy)) as db:
                db.row_factory = sqlite3.Row
                db.text_factory = lambda data: data.decode("utf-8", "replace")
                yield from _entries(db, path)
        except sqlite3.Error as error:
            raise DiskError(path, f"can't be read: {error}", hint="nothing more of it was read") from error


def _entries(db: sqlite3.Connection, path: Path) -> Iterator[dict[str, object]]:
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {
        table: {row["name"] for row in db.execute(f"SELECT name FROM pragma_table_xinfo('{table}')")}
        for table in TABLES.keys() & set(tables)
    }
    known = [table for table in TABLES if TABLES[table] <= columns.get(table, set())]
    if not known:
        named = ", ".join(sorted(shown(table) for table in tables)[:8]) or "none"
        raise UsageError(
            f"{shown(str(path))} is a database of another kind; nothing was read (its tables: {named})",
            hint="it knows Oro's memories and document 004's knowledge_entries",
        )
    for table in known:
        rows = (dict(row) for row in db.execute(f"SELECT * FROM {table} ORDER BY rowid"))
        yield from entries_of_table(table, rows)
