"""The links of a node: forward links, backlinks and dangling links."""

from pathlib import Path
from typing import Annotated

from roamkb.core.json_form import Keys
from roamkb.core.model import Link
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.notes.store.lookup import get_node
from roamkb.kb.notes.store.notes import Notes


@dataclass(frozen=True, slots=True)
class LinksRequest:
    """Options of `links`."""

    name: str | None = optional_argument(
        "Id, title, alias or path of the node.", metavar="ID|TITLE|PATH", values="titles"
    )
    _: KW_ONLY
    graph: bool = flag_option("--graph", "All nodes and links, as Graphviz draws them.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEnd:
    """The node at the other end of a link."""

    id: str
    title: str
    path: Path
    #: Where to look: the target's first line for a forward link, the link itself for a backlink.
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLink:
    """An `id:` link to a missing node, with the path and line where it stands."""

    id: str
    title: str
    path: Path
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLinks:
    """The links from and to a node."""

    id: str
    forward: tuple[LinkEnd, ...]
    back: tuple[LinkEnd, ...]
    dangling: tuple[DeadLink, ...]
    #: Links that lead out of the knowledge base: pages, files, mail.
    external: Annotated[tuple[Link, ...], Keys("type dest line")]


def links(notes: Notes, name: str, *, folder: Path | None = None) -> NodeLinks:
    """Return the links of the node called `name`, each pair of nodes once a line.

    Raises:
        NotFound, Ambiguous: see `get_node`.
    """
    _, node = get_node(notes, name, folder=folder)
    pairs = list(notes.read_all().node_pairs())
    by_id: dict[str, tuple[Note, Node]] = {}
    for note, kb_node in pairs:
        by_id.setdefault(kb_node.id, (note, kb_node))
    by_id[node.id] = next((n, o) for n, o in pairs if o.id == node.id and o.file == node.file)
    path = notes.kb / node.file
    inner = [link for link in node.links if link.type == "id"]
    return NodeLinks(
        id=node.id,
        forward=tuple(_forward_end(notes, *by_id[link.dest]) for link in inner if link.dest in by_id),
        back=tuple(
            LinkEnd(id=kb_node.id, title=kb_node.title, path=notes.note_path(note), line=link.line)
            for note, kb_node in pairs
            for link in kb_node.links
            if link.type == "id" and link.dest == node.id
        ),
        dangling=tuple(
            DeadLink(id=link.dest, title=node.title, path=path, line=link.line)
            for link in inner
            if link.dest not in by_id
        ),
        external=tuple(link for link in node.links if link.type != "id"),
    )


def _forward_end(notes: Notes, note: Note, node: Node) -> LinkEnd:
    return LinkEnd(id=node.id, title=node.title, path=notes.note_path(note), line=node.line)
