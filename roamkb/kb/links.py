"""The links of a node: forward links, backlinks, dangling links, and what links by refs and citations."""

from collections.abc import Container
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from roamkb.core.json_form import Keys
from roamkb.core.json_form import OrNull
from roamkb.core.model import Link
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.request import KbOption
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.notes.store.bibliographies import Bibliographies
from roamkb.kb.notes.store.bibliographies import CitedEntry
from roamkb.kb.notes.store.lookup import NodeDirectory
from roamkb.kb.notes.store.lookup import get_node
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.org_id_locations import ids_outside


@dataclass(frozen=True, slots=True)
class LinksRequest:
    """Options of `links`."""

    name: str | None = optional_argument(
        "Id, title, alias, ref or path of the node.", metavar="ID|TITLE|PATH", values="titles"
    )
    _: KW_ONLY
    graph: bool = flag_option("--graph", "All nodes and links, as Graphviz draws them.")
    kb: KbOption = None


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
class CitedWork:
    """A work that the node cites, and the node that is about it, if there is one."""

    key: str
    line: int
    id: OrNull
    title: OrNull
    #: What a bibliography at hand says of it.
    work: CitedEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLinks:
    """The links from and to a node."""

    id: str
    forward: tuple[LinkEnd, ...]
    back: tuple[LinkEnd, ...]
    dangling: tuple[DeadLink, ...]
    #: Links that lead out of the knowledge base: pages, files, mail.
    external: Annotated[tuple[Link, ...], Keys("type dest line")]
    #: Where others link to or cite what the node is about, its refs: org-roam's reflinks.
    reflinks: tuple[LinkEnd, ...]
    cited: tuple[CitedWork, ...]


def links(
    directory: NodeDirectory,
    name: str,
    *,
    home: Path,
    folder: Path | None = None,
    bibliographies: Bibliographies | None = None,
) -> NodeLinks:
    """Return the links of the node called `name`, each pair of nodes once a line.

    An id that Emacs knows outside of the notes leads out of the knowledge base; `home` is where its list lies.

    Raises:
        NotFound, Ambiguous: see `get_node`.
    """
    notes = directory.notes
    own_note, node = get_node(directory, name, folder=folder)
    pairs = directory.read_around(node)
    by_id: dict[str, tuple[Note, Node]] = {}
    for note, kb_node in pairs:
        by_id.setdefault(kb_node.id, (note, kb_node))
    # between two readings its file may have become another, or unreadable
    own_pair = ((n, o) for n, o in pairs if o.id == node.id and o.file == node.file)
    by_id[node.id] = next(own_pair, (own_note, node))
    path = notes.kb / node.file
    outside = _ids_led_outside(node, by_id, home=home, kb=notes.kb)
    inner = [link for link in node.links if link.type == "id" and link.dest not in outside]
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
        external=tuple(link for link in node.links if link.type != "id" or link.dest in outside),
        reflinks=tuple(_reflinks(notes, node, pairs)),
        cited=tuple(_cited_works(node, pairs, bibliographies.find_works(own_note, node) if bibliographies else ())),
    )


def _ids_led_outside(node: Node, known_ids: Mapping[str, object], *, home: Path, kb: Path) -> Container[str]:
    """Return the ids that no note has and Emacs finds elsewhere."""
    is_any_missing = any(link.type == "id" and link.dest not in known_ids for link in node.links)
    return ids_outside(home, kb).keys() - known_ids.keys() if is_any_missing else ()


def _reflinks(notes: Notes, node: Node, pairs: Sequence[tuple[Note, Node]]) -> Iterator[LinkEnd]:
    """Yield each place where a node links to or cites one of the refs of `node`."""
    refs = {(ref.type, ref.ref) for ref in node.refs}
    for note, other in pairs:
        places = {link.line for link in other.links if (link.type, link.dest) in refs}
        places |= {citation.line for citation in other.citations if ("cite", citation.key) in refs}
        for line in sorted(places):
            yield LinkEnd(id=other.id, title=other.title, path=notes.note_path(note), line=line)


def _cited_works(node: Node, pairs: Sequence[tuple[Note, Node]], works: Sequence[CitedEntry]) -> Iterator[CitedWork]:
    works_by_key = {work.entry.key: work for work in works}
    nodes_by_key = {ref.ref: other for _, other in reversed(pairs) for ref in other.refs if ref.type == "cite"}
    for citation in node.citations:
        about = nodes_by_key.get(citation.key)
        yield CitedWork(
            key=citation.key,
            line=citation.line,
            id=about.id if about else "",
            title=about.title if about else "",
            work=works_by_key.get(citation.key),
        )


def _forward_end(notes: Notes, note: Note, node: Node) -> LinkEnd:
    return LinkEnd(id=node.id, title=node.title, path=notes.note_path(note), line=node.line)
