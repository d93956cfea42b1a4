"""Lookup of a node by id, path, title, alias or ref."""

import re
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property
from os.path import expanduser  # Path's raises where there is no such user
from os.path import realpath
from pathlib import Path
from typing import Protocol

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NoNode
from roamkb.core.errors import NotFound
from roamkb.core.model import Node
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Note
from roamkb.core.model import Ref
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import one_line
from roamkb.kb.notes.node_names import find_likely_spellings
from roamkb.kb.notes.node_names import spelling_key
from roamkb.kb.notes.store import copied_notes
from roamkb.kb.notes.store.notes import Notes
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.org.syntax.property_values import UnbalancedQuote
from roamkb.org.syntax.refs import read_refs

NodePair = tuple[Note, Node]
#: A note with the node that is meant; None for what lies in none of its nodes.
_Place = tuple[Note, Node | None]

#: PATH:LINE, as a search prints it.
_PLACE = lazily(r"(.+\.org):(\d+):?")
#: What may be an id; titles mostly have blanks.
_LIKE_ID = lazily(r"[\w.:-]{1,64}")
#: Why a copy's path names no node.
_COPY = "it is a syncer's conflict copy, which nothing searches; `roamkb conflicts` compares it"
#: Enough of a ULID or UUID to be nobody else's by accident.
ID_START = lazily(r"[0-9A-Za-z-]{8,35}")


class NodeDirectory(Protocol):
    """What reads nodes by their names and links: at least those that are asked for, by files and lines."""

    notes: Notes

    def read_called(self, name: str) -> Sequence[NodePair]:
        """Return at least the nodes that `name` may mean, but for a path."""

    def read_spelt_like(self, key: str) -> Sequence[NodePair]:
        """Return at least the nodes with one of the likely spellings of `key`."""

    def read_by_ids(self, ids: Collection[str]) -> Sequence[NodePair]:
        """Return at least the nodes with those ids."""

    def read_sharing_ids(self) -> Sequence[NodePair]:
        """Return at least the nodes that share an id, in the order of all."""

    def read_linking(self, node: Node) -> Sequence[NodePair]:
        """Return at least the nodes with links to `node`."""

    def read_around(self, node: Node) -> Sequence[NodePair]:
        """Return at least the nodes of the file of `node`, what it links to or cites, and what does that to it."""


class WholeReading:
    """The directory that reads all notes, once: where they are few, or no index knows them."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes

    @cached_property
    def _pairs(self) -> Sequence[NodePair]:
        return tuple(self.notes.read_all().without_copies().node_pairs())

    @cached_property
    def _copied_notes(self) -> "copied_notes.CopiedNotes":
        return copied_notes.CopiedNotes(self.notes)

    def read_called(self, _name: object) -> Sequence[NodePair]:
        """Return all nodes."""
        return self._pairs

    read_spelt_like = read_linking = read_around = read_called

    def read_sharing_ids(self) -> Sequence[NodePair]:
        """Return all nodes."""
        return self._pairs

    def read_by_ids(self, ids: Collection[str]) -> Sequence[NodePair]:
        """Return the nodes of the files that hold the text of one of the ids: the rest need not be parsed."""
        pairs: list[NodePair] = []
        for file in self.notes.kb_walk.files:
            text = self.notes.read_text(file)
            holds_id = not isinstance(text, UnreadableFile) and any(id in text for id in ids)
            if not isinstance(text, UnreadableFile) and holds_id and not self._copied_notes.find_original(file.file):
                note = self.notes.parse_text(file, text)
                pairs += ((note, node) for node in note.nodes)
        return pairs


def get_node(directory: NodeDirectory, name: str, *, folder: Path | None = None) -> NodePair:
    """Return the only node called `name`, the surest meaning first; relative paths start at `folder`.

    Raises:
        NoNode: nothing is called so; the error names what is spelt nearly so.
        Ambiguous: several are; the error lists them.
    """
    note, node = get_place(directory, name, folder=folder)
    if node is None:
        raise NotFound(
            name,
            hint=f"{one_line(note.file)} has text there, but no :ID:, so nothing can link to it; "
            "`roamkb show` opens it",
        )
    return note, node


def get_place(directory: NodeDirectory, name: str, *, folder: Path | None = None) -> _Place:
    """Return the result of `get_node`, or a note alone for a path and line outside all nodes.

    Raises:
        NotFound, Ambiguous: see `get_node`.
    """
    query_name = name.strip()
    if query_name.lower().startswith("id:"):
        query_name = query_name[3:]
    for matches in map(_current_places, _matches_by_certainty(directory, query_name, folder)):
        if len(matches) > 1:
            candidates = [node_candidate(directory.notes, note, node) for note, node in matches if node]
            raise Ambiguous(name, candidates)
        if matches:
            return matches[0]
    if reason := _unread_reason(directory.notes, query_name, folder):
        raise NotFound(name, hint=reason)
    raise NoNode(name, _spelt_like(directory, query_name), hint=_fault_of_id(directory.notes, query_name))


def _current_places(matches: Sequence[_Place]) -> Sequence[_Place]:
    """Return the matches without those that another of them superseded, which may have inherited the name."""
    ids = {node.id for _, node in matches if node}
    return [
        (note, node) for note, node in matches if not (node and node.properties.get(SUPERSEDED_BY) in ids - {node.id})
    ]


def _fault_of_id(notes: Notes, id: str) -> str:
    """Return why org-roam has no node of a note that says it has the id; empty where none does."""
    # nothing but the text of such a note knows it
    texts = ((file, notes.read_text(file)) for file in (notes.kb_walk.files if _LIKE_ID.fullmatch(id) else ()))
    for file, text in texts:
        if isinstance(text, UnreadableFile) or id not in text:
            continue
        note = notes.parse_text(file, text)
        if note.fault and re.search(rf"(?im)^[ \t]*:ID:[ \t]+{re.escape(id)}[ \t]*$", text):
            return f"{one_line(file.file)} has it, and org-roam leaves the file out: {one_line(note.fault)}"
    return ""


def _spelt_like(directory: NodeDirectory, query_name: str) -> list[NodeCandidate]:
    """Return the nodes with titles or aliases that may have been meant."""
    key = spelling_key(query_name)
    pairs_by_spelling = {
        spelling_key(name): pair
        for pair in directory.read_spelt_like(key)
        for name in (pair[1].title, *pair[1].aliases)
    }
    likely = find_likely_spellings(key, pairs_by_spelling)
    return list(dict.fromkeys(node_candidate(directory.notes, *pairs_by_spelling[spelling]) for spelling in likely))


def node_candidate(notes: Notes, note: Note, node: Node) -> NodeCandidate:
    """Return the id, title and path that identify the node to a reader."""
    return NodeCandidate(id=node.id, title=node.title, path=notes.note_path(note))


def _matches_by_certainty(directory: NodeDirectory, query_name: str, folder: Path | None) -> Iterator[Sequence[_Place]]:
    """Yield the matches of the name, one list for each way of naming, the surest first."""
    if not query_name:
        return
    yield [pair for pair in directory.read_by_ids((query_name,)) if pair[1].id == query_name]
    place = _PLACE.fullmatch(query_name)
    yield _places_at_path(
        directory.notes, place[1] if place else query_name, folder, line=int(place[2]) if place else None
    )
    pairs = directory.read_called(query_name)
    key = spelling_key(query_name)
    tests: tuple[Callable[[Node], bool], ...] = (
        lambda node: node.title == query_name,
        lambda node: spelling_key(node.title) == key,
        lambda node: query_name in node.aliases,
        lambda node: key in map(spelling_key, node.aliases),
    )
    for holds in tests:
        yield [pair for pair in pairs if holds(pair[1])]
    ref = ref_of_name(query_name)
    yield [pair for pair in pairs if ref in pair[1].refs]
    if ID_START.fullmatch(query_name):
        yield [pair for pair in pairs if pair[1].id.startswith(query_name)]


def ref_of_name(name: str) -> Ref | None:
    """Return the ref that is written in a name as in ROAM_REFS: a URL, `@citekey`, `[cite:@citekey]`."""
    try:
        # as `ref:` and `cite:` of a search name a work
        key = name.removeprefix("cite:").lstrip("@")
        refs = set(read_refs(f"@{key}" if name.startswith("cite:") else name))
    except UnbalancedQuote:
        return None
    return refs.pop() if len(refs) == 1 else None


def _innermost_node(note: Note, line: int) -> Node | None:
    """Return the innermost node around `line`; that of the file for a line behind its end."""
    inner = [node for node in note.nodes if not node.level or node.line <= line <= node.end_line]
    return max(inner, key=lambda node: (node.level, node.line), default=None)


def _places_at_path(notes: Notes, query_name: str, folder: Path | None, *, line: int | None) -> list[_Place]:
    """Return the node around `line` of the note at a path, or its first node; `None` for text alone.

    The path is absolute, or relative to the KB or to `folder`.
    """
    if not query_name.endswith(".org"):
        return []
    places = _named_places(notes, query_name, folder)
    inodes = set(map(_inode, places))
    for file in notes.kb_walk.files:
        # a path behind a link is that of the same inode
        is_same = (file.inode, file.device) in inodes and str(file.path.resolve()) in places
        if is_same or file.place in places or file.file == query_name:
            note = notes.read_note(file)
            if isinstance(note, UnreadableFile) or copied_notes.CopiedNotes(notes).find_original(file.file):
                return []
            return [(note, next(iter(note.nodes), None) if line is None else _innermost_node(note, line))]
    return []


def _named_places(notes: Notes, path: str, folder: Path | None) -> set[str]:
    """Return the absolute paths that a path may mean."""
    places = {str(notes.kb / path), expanduser(path), *([str(folder / path)] if folder is not None else ())}
    # a link may lead to the knowledge base, and not only within it
    try:
        return places | set(map(realpath, places))
    except ValueError:
        # no system has such a path
        return places


def _unread_reason(notes: Notes, query_name: str, folder: Path | None) -> str:
    """Return why the file at a path is none of the notes; empty where there is no such file."""
    walk = notes.kb_walk
    places = _named_places(notes, query_name, folder)
    if any(str(copy) in places for copy in walk.conflict_copies):
        return _COPY
    for encrypted in walk.encrypted:
        if str(encrypted) in places:
            return "it is encrypted, and only its human reads it, in Emacs"
    named = [file for file in walk.files if {file.place, str(file.path)} & places]
    if any(copied_notes.CopiedNotes(notes).find_original(file.file) for file in named):
        return _COPY
    read_files = (notes.read_data(file.place) for file in named)
    for unread in (*walk.unreadable, *read_files):
        if isinstance(unread, UnreadableFile) and str(unread.path) in places:
            return f"the file is there, but {unread.reason}"
    return ""


def _inode(place: str) -> tuple[int, int] | None:
    try:
        status = Path(place).stat()
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_dev
