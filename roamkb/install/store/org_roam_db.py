"""org-roam's own database, as the person's Emacs last left it; read as a copy in memory, never opened in place."""

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from roamkb.core.errors import RoamkbError
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.files import MissingFile
from roamkb.fs.files import read_file
from roamkb.kb.notes.store.init_files import find_configured_paths
from roamkb.org.syntax.property_values import split_quoted

#: Below HOME: of plain Emacs, of the XDG base directories, of Doom, of Spacemacs.
_USUAL_PLACES = (
    ".emacs.d/org-roam.db",
    ".config/emacs/org-roam.db",
    ".config/emacs/.local/cache/org-roam.db",
    ".emacs.d/.local/cache/org-roam.db",
    ".emacs.d/.cache/org-roam.db",
)
#: Many times what a hundred thousand nodes take.
_LARGEST = 512 * 2**20


class UnreadableDatabase(RoamkbError):
    """A database of org-roam that can't be read."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} can't be read: {reason}", hint="`M-x org-roam-db-sync` makes it anew; then call again"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OrgRoamNode:
    """A node as org-roam has it: what each version of org-roam means alike."""

    file: str
    level: int
    title: str
    todo: str
    tags: frozenset[str]
    aliases: frozenset[str]
    #: The citation keys among its refs: URLs are stored in two ways.
    cite_refs: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrgRoamDatabase:
    """What org-roam knows of one folder of notes."""

    path: Path
    #: Its schema's number: 18 of org-roam 2.2, 20 of 2.3.
    version: int
    #: SHA-1 of each file, as hex, by its path relative to the notes.
    hashes: Mapping[str, str]
    nodes: Mapping[str, OrgRoamNode]


def find_database(home: Path, kb: Path) -> OrgRoamDatabase | None:
    """Return the database of the notes in `kb` among those of this home; None where no file of theirs is in any.

    Raises:
        UnreadableDatabase: the only ones there are can't be read.
    """
    configured = find_configured_paths(home, kb, "org-roam-db-location")
    fault: UnreadableDatabase | None = None
    for path in dict.fromkeys((*configured, *(home / place for place in _USUAL_PLACES))):
        try:
            database = _read_database(path, kb)
        except UnreadableDatabase as error:
            fault = error
            continue
        if database and database.hashes:
            return database
    if fault:
        raise fault
    return None


def _read_database(path: Path, kb: Path) -> OrgRoamDatabase | None:
    data = read_file(path, limit=_LARGEST)
    if isinstance(data, MissingFile):
        return None
    if isinstance(data, UnreadableFile):
        raise UnreadableDatabase(path, data.reason)
    if not data:
        raise UnreadableDatabase(path, "it is empty")
    if os.path.lexists(f"{path}-journal"):
        raise UnreadableDatabase(path, "Emacs is writing to it, or was cut off")
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.deserialize(data)
            return _read_tables(connection, path, kb)
        except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
            raise UnreadableDatabase(path, str(error)) from error


def _read_tables(connection: sqlite3.Connection, path: Path, kb: Path) -> OrgRoamDatabase:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    roots = tuple(dict.fromkeys(f"{root}/" for root in (str(kb), os.path.realpath(kb))))
    hashes = {
        file: _text(digest)
        for name, digest in connection.execute("SELECT file, hash FROM files")
        if (file := _relative(_text(name), roots))
    }
    tags = _texts_by_node(connection.execute("SELECT node_id, tag FROM tags"))
    aliases = _texts_by_node(connection.execute("SELECT node_id, alias FROM aliases"))
    cite_refs = _texts_by_node(connection.execute("""SELECT node_id, ref FROM refs WHERE type = '"cite"'"""))
    nodes = {
        written_id: OrgRoamNode(
            file=file,
            level=int(level),
            title=_text(title),
            todo=_text(todo),
            tags=frozenset(tags[written_id]),
            aliases=frozenset(aliases[written_id]),
            cite_refs=frozenset(cite_refs[written_id]),
        )
        for written_id, name, level, title, todo in connection.execute("SELECT id, file, level, title, todo FROM nodes")
        if (file := _relative(_text(name), roots))
    }
    return OrgRoamDatabase(
        path=path, version=version, hashes=hashes, nodes={_text(written): node for written, node in nodes.items()}
    )


def _texts_by_node(rows: Iterator[Sequence[object]]) -> dict[object, set[str]]:
    found: dict[object, set[str]] = defaultdict(set)
    for node_id, text in rows:
        found[node_id].add(_text(text))
    return found


def _relative(name: str, roots: Sequence[str]) -> str:
    """Return a path below one of the notes' names, relative to it; empty for others."""
    return next((name.removeprefix(root) for root in roots if name.startswith(root)), "")


def _text(written: object) -> str:
    """Return the text of a column, which is a string as Lisp prints it, or nil."""
    text = str(written) if written is not None else ""
    return split_quoted(text)[0] if text.startswith('"') else ""
