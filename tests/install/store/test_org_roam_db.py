"""org-roam's database, whatever lies at its place."""

import sqlite3
from pathlib import Path

import pytest

from roamkb.install.store.org_roam_db import UnreadableDatabase
from roamkb.install.store.org_roam_db import find_database

_TABLES = """
CREATE TABLE files (file, hash); CREATE TABLE nodes (id, file, level, title, todo);
CREATE TABLE tags (node_id, tag); CREATE TABLE aliases (node_id, alias); CREATE TABLE refs (node_id, ref, type);
PRAGMA user_version = 20;
"""


def _database(home: Path, kb: Path, *, level: object = 0) -> Path:
    path = home / ".emacs.d" / "org-roam.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as connection:
        connection.executescript(_TABLES)
        connection.execute("INSERT INTO files VALUES (?, ?)", (f'"{kb}/a \\"b\\".org"', '"abc"'))
        connection.execute("INSERT INTO nodes VALUES ('\"n\"', ?, ?, ?, NULL)", (f'"{kb}/a \\"b\\".org"', level, '"T"'))
        connection.execute("INSERT INTO tags VALUES ('\"n\"', '\"t\"')")
    connection.close()
    return path


def test_it_is_read_as_emacs_prints_it(tmp_path: Path) -> None:
    """For the notes of this folder alone."""
    kb = tmp_path / "kb"
    path = _database(tmp_path, kb)
    database = find_database(tmp_path, kb)
    assert database is not None
    assert (database.path, database.version, dict(database.hashes)) == (path, 20, {'a "b".org': "abc"})
    assert (database.nodes["n"].title, database.nodes["n"].tags) == ("T", frozenset({"t"}))
    assert find_database(tmp_path, tmp_path / "other") is None
    assert find_database(tmp_path / "nobody", kb) is None


@pytest.mark.parametrize(
    ("printed", "title"),
    [("a\\11b", "a\tb"), ("\\0331", "\x1b1"), ("a\\nb", "a\nb"), ("a\nb", "a\nb"), ("\\\\11", "\\11")],
)
def test_control_characters_are_printed_as_numbers(tmp_path: Path, printed: str, title: str) -> None:
    """A tab is `\\11` there, and a line's end a letter."""
    path = _database(tmp_path, tmp_path / "kb")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE nodes SET title = ?", (f'"{printed}"',))
    connection.close()
    database = find_database(tmp_path, tmp_path / "kb")
    assert database is not None
    assert title == database.nodes["n"].title


@pytest.mark.parametrize("data", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_what_is_none_is_told(tmp_path: Path, data: bytes) -> None:
    """With what to do about it."""
    path = _database(tmp_path, tmp_path / "kb")
    path.write_bytes(data)
    with pytest.raises(UnreadableDatabase, match="can't be read"):
        find_database(tmp_path, tmp_path / "kb")


def test_what_is_being_written_or_holds_nonsense_is_told(tmp_path: Path) -> None:
    """A copy of it would be torn."""
    path = _database(tmp_path, tmp_path / "kb", level="high")
    with pytest.raises(UnreadableDatabase, match="high"):
        find_database(tmp_path, tmp_path / "kb")
    path.with_name("org-roam.db-journal").write_bytes(b"x")
    with pytest.raises(UnreadableDatabase, match="writing to it"):
        find_database(tmp_path, tmp_path / "kb")
