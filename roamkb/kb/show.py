"""The view of one node: its fields, place and text; or of a file that holds no node."""

from pathlib import Path
from typing import Annotated

from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.request import AnyKbOption
from roamkb.core.request import Argument
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.notes.store.bibliographies import Bibliographies
from roamkb.kb.notes.store.bibliographies import CitedEntry
from roamkb.kb.notes.store.lookup import NodeDirectory
from roamkb.kb.notes.store.lookup import get_place
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.org.body import body_of


@dataclass(frozen=True, slots=True)
class ShowRequest:
    """Options of `show`."""

    name: Annotated[
        str, Argument("Id, title, alias, ref or path of the node.", metavar="ID|TITLE|PATH", values="titles")
    ]
    _: KW_ONLY
    kb: AnyKbOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNode:
    """A node with its text; for an agent node the text as it was given.

    Text that lies in no node is shown as its file, by a node without an id.
    """

    JSON = "*node path body works kb?"
    node: Node
    path: Path
    body: str
    #: The works that it is about or cites, as the bibliographies at hand have them.
    works: tuple[CitedEntry, ...] = ()
    #: The name of its knowledge base; None where there is one alone.
    kb: str | None = None
    #: Whether what replaced it is gone, into the trash or for good.
    lacks_successor: bool = False


def show(
    directory: NodeDirectory, name: str, *, folder: Path | None = None, bibliographies: Bibliographies | None = None
) -> ShownNode:
    """Return the node called `name` by id, title or alias, or the place that a search found by its path.

    Raises:
        NotFound, Ambiguous: see `get_node`.
    """
    note, placed_node = get_place(directory, name, folder=folder)
    node = placed_node or file_without_id(note)
    notes = directory.notes
    works = bibliographies.find_works(note, node) if bibliographies else ()
    newer = node.properties.get(SUPERSEDED_BY)
    return ShownNode(
        node=node,
        path=notes.note_path(note),
        body=body_of(note, node),
        works=works,
        kb=notes.label,
        lacks_successor=newer is not None
        and not any(other.id == newer for _, other in directory.read_by_ids((newer,))),
    )


def file_without_id(note: Note) -> Node:
    """Return a file in the shape of a node without an id."""
    return Node(id="", file=note.file, line=1, pos=1, level=0, title=note.title, end_line=note.text.count("\n") + 1)
