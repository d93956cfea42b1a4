"""The nodes of a name or around a node: the index knows their files, and only those are read.

What a file holds is taken from the file, so that the answer is that of a reading of all notes.
"""

import json
import sqlite3
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property

from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import Ref
from roamkb.kb.notes.node_names import find_likely_spellings
from roamkb.kb.notes.store.lookup import ID_START
from roamkb.kb.notes.store.lookup import NodeDirectory
from roamkb.kb.notes.store.lookup import NodePair
from roamkb.kb.notes.store.lookup import WholeReading
from roamkb.kb.notes.store.lookup import ref_of_name
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.schema import stored_spelling
from roamkb.kb.search.stored_text import storable_text

_NAMED = (
    "SELECT note.file FROM name JOIN note ON note.id = name.note WHERE spelling IN (SELECT value FROM json_each(?))"
)
_IDENTIFIED = "SELECT file FROM entry WHERE node IN (SELECT value FROM json_each(?))"
_SHARING = (
    "SELECT file FROM entry WHERE node IN (SELECT node FROM entry WHERE node != '' GROUP BY node HAVING count(*) > 1)"
)
_STARTING = "SELECT file FROM entry WHERE node BETWEEN ?1 AND ?1 || char(0x10FFFF)"
_LINKING = "SELECT note.file FROM link JOIN note ON note.id = link.note WHERE dest = ?"
_REFERRING = (
    "SELECT note.file FROM json_each(?1) AS ref JOIN reference ON target = json_extract(ref.value, '$[1]') "
    "JOIN note ON note.id = reference.note WHERE reference.type = json_extract(ref.value, '$[0]') AND is_own = ?2"
)


class IndexDirectory:
    """The directory that asks the index first; all notes are read where that isn't at hand."""

    def __init__(self, index: Index, notes: Notes) -> None:
        self.notes = notes
        self._index = index

    @cached_property
    def _whole(self) -> NodeDirectory:
        return WholeReading(self.notes)

    def read_called(self, name: str) -> Sequence[NodePair]:
        """Return at least the nodes that `name` may mean, but for a path."""
        ref = ref_of_name(name)

        def find_files(db: sqlite3.Connection) -> Iterator[str]:
            yield from _files(db, _NAMED, json.dumps([stored_spelling(name)]))
            yield from _files(db, _IDENTIFIED, json.dumps([name]))
            if ref:
                yield from _files(db, _REFERRING, _ref_list([ref]), True)
            if ID_START.fullmatch(name):
                yield from _files(db, _STARTING, name)

        pairs = self._read_files(find_files)
        return self._whole.read_called(name) if pairs is None else pairs

    def read_spelt_like(self, key: str) -> Sequence[NodePair]:
        """Return at least the nodes with one of the likely spellings of `key`."""

        def find_files(db: sqlite3.Connection) -> Iterator[str]:
            spellings = (spelling for (spelling,) in db.execute("SELECT DISTINCT spelling FROM name"))
            return _files(db, _NAMED, json.dumps(find_likely_spellings(key, spellings)))

        pairs = self._read_files(find_files)
        return self._whole.read_spelt_like(key) if pairs is None else pairs

    def read_by_ids(self, ids: Collection[str]) -> Sequence[NodePair]:
        """Return at least the nodes with those ids."""
        pairs = self._read_files(lambda db: _files(db, _IDENTIFIED, json.dumps([*ids])))
        return self._whole.read_by_ids(ids) if pairs is None else pairs

    def read_sharing_ids(self) -> Sequence[NodePair]:
        """Return at least the nodes that share an id, in the order of all."""
        pairs = self._read_files(lambda db: _files(db, _SHARING))
        return self._whole.read_sharing_ids() if pairs is None else pairs

    def read_linking(self, node: Node) -> Sequence[NodePair]:
        """Return at least the nodes with links to `node`."""
        pairs = self._read_files(lambda db: _files(db, _LINKING, node.id))
        return self._whole.read_linking(node) if pairs is None else pairs

    def read_around(self, node: Node) -> Sequence[NodePair]:
        """Return at least the nodes of the file of `node`, what it links to or cites, and what does that to it."""
        dests = [link.dest for link in node.links if link.type == "id"]
        works = [Ref(type="cite", ref=citation.key) for citation in node.citations]

        def find_files(db: sqlite3.Connection) -> Iterator[str]:
            yield node.file
            yield from _files(db, _LINKING, node.id)
            yield from _files(db, _IDENTIFIED, json.dumps(dests))
            yield from _files(db, _REFERRING, _ref_list(node.refs), False)
            yield from _files(db, _REFERRING, _ref_list(works), True)

        pairs = self._read_files(find_files)
        return self._whole.read_around(node) if pairs is None else pairs

    def _read_files(self, find_files: Callable[[sqlite3.Connection], Iterator[str]]) -> Sequence[NodePair] | None:
        """Return the nodes of the files that `find_files` yields; None where no index is at hand."""
        files = self._index.read_near_view(lambda db: sorted(set(find_files(db))))
        if files is None:
            return None
        read = (self.notes.read_note(note_file) for file in files if (note_file := self.notes.find_note_file(file)))
        return [(note, node) for note in read if isinstance(note, Note) for node in note.nodes]


def _files(db: sqlite3.Connection, query: str, *values: object) -> Iterator[str]:
    return (file for (file,) in db.execute(query, values))


def _ref_list(refs: Collection[Ref]) -> str:
    return json.dumps([(ref.type, storable_text(ref.ref)) for ref in refs])
