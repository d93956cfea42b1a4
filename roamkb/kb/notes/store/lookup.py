"""Find a node by what a person or an agent calls it: id, path, title or alias."""

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
from roamkb.core.text import flat
from roamkb.core.text import shown
from roamkb.kb.notes.store.notes import Notes
from roamkb.org.breaks import BREAK
from roamkb.org.syntax.links import displayed

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
    """Return the one node called `name`, the surest meaning first; `folder` is where relative paths start.

    Raises:
        NoNode: nothing is called so; the error names what is spelt nearly so.
        Ambiguous: several are; the error lists them.
    """
    note, node = get_place(notes, name, folder=folder)
    if node is None:
        raise NotFound(
            name,
            hint=f"{shown(note.file)} has text there, but no :ID:, so nothing can link to it; "
            "`roamkb show` opens it",
        )
    return note, node


def get_place(notes: Notes, name: str, *, folder: Path | None = None) -> _Place:
    """Return what `get_node` does; or a note alone, where a path and line name text that is in no node.

    Raises:
        NotFound, Ambiguous: see `get_node`.
    """
    wanted = name.strip()
    if wanted.lower().startswith("id:"):
        wanted = wanted[3:]
    for found in _meanings(notes, wanted, folder):
        if len(found) > 1:
            raise Ambiguous(name, [candidate(notes, note, node) for note, node in found if node])
        if found:
            return found[0]
    raise NoNode(name, _spelt_nearly(notes, wanted))


def _spelt_nearly(notes: Notes, wanted: str) -> list[NodeCandidate]:
    """Return the nodes with titles or aliases that may have been meant."""
    from difflib import get_close_matches

    if not wanted or len(wanted) > _LONGEST_SLIP:
        return []
    by_fold = {
        _spelling(name): (note, node)
        for note, node in notes.read_all().nodes()
        for name in (node.title, *node.aliases)
    }
    close = get_close_matches(_spelling(wanted), by_fold, n=MOST_CANDIDATES, cutoff=0.8)
    return list(dict.fromkeys(candidate(notes, *by_fold[name]) for name in close))


def _spelling(name: str) -> str:
    """Return what two spellings of one name share: neither breaks nor case and accents count."""
    return flat(displayed(name).replace(BREAK, ""))


def candidate(notes: Notes, note: Note, node: Node) -> NodeCandidate:
    """Return what identifies the node to a reader."""
    return NodeCandidate(id=node.id, title=node.title, path=notes.path(note))


def _meanings(notes: Notes, wanted: str, folder: Path | None) -> Iterator[Sequence[_Place]]:
    """Yield what `wanted` names, one way of naming after the other."""
    if not wanted:
        return
    yield [pair for pair in _holding(notes, wanted) if pair[1].id == wanted]
    place = _PLACE.fullmatch(wanted)
    yield _at_path(notes, place[1] if place else wanted, folder, line=int(place[2]) if place else None)
    contents = list(notes.read_all().nodes())
    spelling = _spelling(wanted)
    tests: tuple[Callable[[Node], bool], ...] = (
        lambda node: node.title == wanted,
        lambda node: wanted in node.aliases,
        lambda node: _spelling(node.title) == spelling,
        lambda node: spelling in map(_spelling, node.aliases),
    )
    for holds in tests:
        yield [pair for pair in contents if holds(pair[1])]
    if _ID_START.fullmatch(wanted):
        yield [pair for pair in contents if pair[1].id.startswith(wanted)]


def _holding(notes: Notes, id: str) -> Iterator[_Pair]:
    """Yield the nodes of files that hold the id's text: the rest need not be parsed."""
    for file in notes.walk.files:
        text = notes.text(file)
        if not isinstance(text, UnreadableFile) and id in text:
            note = notes.parse(file, text)
            yield from ((note, node) for node in note.nodes)


def _around(note: Note, line: int) -> Node | None:
    """Return the innermost node around `line`; that of the file for a line behind its end."""
    inner = [node for node in note.nodes if not node.level or node.line <= line <= node.end_line]
    return max(inner, key=lambda node: (node.level, node.line), default=None)


def _at_path(notes: Notes, wanted: str, folder: Path | None, *, line: int | None) -> list[_Place]:
    """Return what the note at a path has around `line`, or its first node; `None` for its text alone.

    The path is absolute, or relative to the KB or to `folder`.
    """
    if not wanted.endswith(".org"):
        return []
    places = {str(notes.kb / wanted), expanduser(wanted)}
    if folder is not None:
        places.add(str(folder / wanted))
    for file in notes.walk.files:
        if file.place in places or file.file == wanted or str(file.path.resolve()) in places:
            note = notes.read(file)
            if isinstance(note, UnreadableFile):
                return []
            return [(note, next(iter(note.nodes), None) if line is None else _around(note, line))]
    return []
