"""Lookup of a node by id, path, title, alias or ref."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from os.path import expanduser  # Path's raises where there is no such user
from pathlib import Path

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NoNode
from roamkb.core.errors import NotFound
from roamkb.core.model import Node
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_to_line
from roamkb.core.text import one_line
from roamkb.kb.notes.store.notes import Notes
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.org.breaks import BREAK
from roamkb.org.syntax.links import displayed_text
from roamkb.org.syntax.property_values import UnbalancedQuote
from roamkb.org.syntax.refs import read_refs

_Pair = tuple[Note, Node]
#: A note with the node that is meant; None for what lies in none of its nodes.
_Place = tuple[Note, Node | None]

#: Nodes that are offered in place of one that isn't there.
MOST_CANDIDATES = 3
#: Comparing letters takes time that grows with the square of the length.
_LONGEST_SLIP = 100
#: PATH:LINE, as a search prints it.
_PLACE = lazily(r"(.+\.org):(\d+):?")
#: Enough of a ULID or UUID to be nobody else's by accident.
_ID_START = lazily(r"[0-9A-Za-z-]{8,35}")


def get_node(notes: Notes, name: str, *, folder: Path | None = None) -> _Pair:
    """Return the only node called `name`, the surest meaning first; relative paths start at `folder`.

    Raises:
        NoNode: nothing is called so; the error names what is spelt nearly so.
        Ambiguous: several are; the error lists them.
    """
    note, node = get_place(notes, name, folder=folder)
    if node is None:
        raise NotFound(
            name,
            hint=f"{one_line(note.file)} has text there, but no :ID:, so nothing can link to it; "
            "`roamkb show` opens it",
        )
    return note, node


def get_place(notes: Notes, name: str, *, folder: Path | None = None) -> _Place:
    """Return the result of `get_node`, or a note alone for a path and line outside all nodes.

    Raises:
        NotFound, Ambiguous: see `get_node`.
    """
    query_name = name.strip()
    if query_name.lower().startswith("id:"):
        query_name = query_name[3:]
    for matches in map(_current_places, _matches_by_certainty(notes, query_name, folder)):
        if len(matches) > 1:
            raise Ambiguous(name, [node_candidate(notes, note, node) for note, node in matches if node])
        if matches:
            return matches[0]
    raise NoNode(name, _spelt_nearly(notes, query_name))


def _current_places(matches: Sequence[_Place]) -> Sequence[_Place]:
    """Return the matches without those that another of them superseded, which may have inherited the name."""
    ids = {node.id for _, node in matches if node}
    return [
        (note, node) for note, node in matches if not (node and node.properties.get(SUPERSEDED_BY) in ids - {node.id})
    ]


def _spelt_nearly(notes: Notes, query_name: str) -> list[NodeCandidate]:
    """Return the nodes with titles or aliases that may have been meant."""
    from difflib import get_close_matches

    if not query_name or len(query_name) > _LONGEST_SLIP:
        return []
    by_fold = {
        _spelling_key(name): (note, node)
        for note, node in notes.read_all().node_pairs()
        for name in (node.title, *node.aliases)
    }
    close = get_close_matches(_spelling_key(query_name), by_fold, n=MOST_CANDIDATES, cutoff=0.8)
    return list(dict.fromkeys(node_candidate(notes, *by_fold[name]) for name in close))


def _spelling_key(name: str) -> str:
    """Return the form in which spellings of one name compare equal, without breaks, case and accents."""
    return fold_to_line(displayed_text(name).replace(BREAK, ""))


def node_candidate(notes: Notes, note: Note, node: Node) -> NodeCandidate:
    """Return the id, title and path that identify the node to a reader."""
    return NodeCandidate(id=node.id, title=node.title, path=notes.note_path(note))


def _matches_by_certainty(notes: Notes, query_name: str, folder: Path | None) -> Iterator[Sequence[_Place]]:
    """Yield the matches of the name, one list for each way of naming, the surest first."""
    if not query_name:
        return
    yield [pair for pair in _nodes_in_files_with_id(notes, query_name) if pair[1].id == query_name]
    place = _PLACE.fullmatch(query_name)
    yield _places_at_path(notes, place[1] if place else query_name, folder, line=int(place[2]) if place else None)
    contents = list(notes.read_all().node_pairs())
    spelling = _spelling_key(query_name)
    tests: tuple[Callable[[Node], bool], ...] = (
        lambda node: node.title == query_name,
        lambda node: query_name in node.aliases,
        lambda node: _spelling_key(node.title) == spelling,
        lambda node: spelling in map(_spelling_key, node.aliases),
    )
    for holds in tests:
        yield [pair for pair in contents if holds(pair[1])]
    yield _nodes_with_ref(contents, query_name)
    if _ID_START.fullmatch(query_name):
        yield [pair for pair in contents if pair[1].id.startswith(query_name)]


def _nodes_with_ref(pairs: Sequence[_Pair], written: str) -> list[_Pair]:
    """Return the nodes with a ref that is `written` as in ROAM_REFS: a URL, `@citekey`, `[cite:@citekey]`."""
    try:
        # as `ref:` and `cite:` of a search name a work
        key = written.removeprefix("cite:").lstrip("@")
        wanted_refs = set(read_refs(f"@{key}" if written.startswith("cite:") else written))
    except UnbalancedQuote:
        return []
    return [pair for pair in pairs if len(wanted_refs) == 1 and wanted_refs <= set(pair[1].refs)]


def _nodes_in_files_with_id(notes: Notes, id: str) -> Iterator[_Pair]:
    """Yield the nodes of files that hold the id's text: the rest need not be parsed."""
    for file in notes.kb_walk.files:
        text = notes.read_text(file)
        if not isinstance(text, UnreadableFile) and id in text:
            note = notes.parse_text(file, text)
            yield from ((note, node) for node in note.nodes)


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
    places = {str(notes.kb / query_name), expanduser(query_name)}
    if folder is not None:
        places.add(str(folder / query_name))
    for file in notes.kb_walk.files:
        if file.place in places or file.file == query_name or str(file.path.resolve()) in places:
            note = notes.read_note(file)
            if isinstance(note, UnreadableFile):
                return []
            return [(note, next(iter(note.nodes), None) if line is None else _innermost_node(note, line))]
    return []
