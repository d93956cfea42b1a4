"""Find a node by what a person or an agent calls it: id, path, title or alias."""

from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NotFound
from roamkb.core.model import Candidate
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import Unreadable
from roamkb.core.text import folded
from roamkb.storage.nodes import Notes

_Pair = tuple[Note, Node]


def get_node(notes: Notes, name: str, *, folder: Path | None = None) -> _Pair:
    """Return the one node called `name`, the surest meaning first; `folder` is where relative paths start.

    Raises:
        NotFound: nothing is called so.
        Ambiguous: several are; the error lists them.
    """
    wanted = name.strip()
    if wanted.lower().startswith("id:"):
        wanted = wanted[3:]
    for found in _meanings(notes, wanted, folder):
        if len(found) > 1:
            raise Ambiguous(name, [candidate(notes, note, node) for note, node in found])
        if found:
            return found[0]
    raise NotFound(name)


def candidate(notes: Notes, note: Note, node: Node) -> Candidate:
    """Return what identifies the node to a reader."""
    return Candidate(id=node.id, title=node.title, path=notes.path(note))


def _meanings(notes: Notes, wanted: str, folder: Path | None) -> Iterator[list[_Pair]]:
    """Yield the nodes that `wanted` names, one way of naming after the other."""
    if not wanted:
        return
    yield [pair for pair in _holding(notes, wanted) if pair[1].id == wanted]
    yield _at_path(notes, wanted, folder)
    contents = list(notes.read_all().nodes())
    tests: tuple[Callable[[Node], bool], ...] = (
        lambda node: node.title == wanted,
        lambda node: wanted in node.aliases,
        lambda node: folded(node.title) == folded(wanted),
        lambda node: folded(wanted) in map(folded, node.aliases),
    )
    for holds in tests:
        yield [pair for pair in contents if holds(pair[1])]


def _holding(notes: Notes, id: str) -> Iterator[_Pair]:
    """Yield the nodes of files that hold the id's text: the rest need not be parsed."""
    for file in notes.walk.files:
        text = notes.text(file)
        if not isinstance(text, Unreadable) and id in text:
            note = notes.parse(file, text)
            yield from ((note, node) for node in note.nodes)


def _at_path(notes: Notes, wanted: str, folder: Path | None) -> list[_Pair]:
    """Return the first node of the note at a path: absolute, or relative to the KB or to `folder`."""
    if not wanted.endswith(".org"):
        return []
    places = {str(notes.kb / wanted), str(Path(wanted).expanduser())}
    if folder is not None:
        places.add(str(folder / wanted))
    for file in notes.walk.files:
        if file.place in places or file.file == wanted or str(file.path.resolve()) in places:
            note = notes.read(file)
            return [] if isinstance(note, Unreadable) or not note.nodes else [(note, note.nodes[0])]
    return []
