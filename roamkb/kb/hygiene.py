"""Checks for things to tidy: orphans, duplicates, dead links, conflict copies; read-only."""

import unicodedata
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import Ref
from roamkb.core.model import UnreadableFile
from roamkb.core.request import KbOption
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.kb.conflicts import ConflictCopy
from roamkb.kb.conflicts import conflicts
from roamkb.kb.encrypted import EncryptedText
from roamkb.kb.encrypted import find_encrypted
from roamkb.kb.links import DeadLink
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.org_id_locations import ids_outside
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.org.agent_node import is_agent_node

_Pair = tuple[Note, Node]

#: The headings of one day may well be called what those of another are.
_DAILY = lazily(r"(?:.*/)?\d{4}-\d\d-\d\d\.org|(?:.*/)?(?:daily|dailies|journal)/.*")


@dataclass(frozen=True, slots=True)
class HygieneRequest:
    """Options of `hygiene`."""

    _: KW_ONLY
    org: bool = flag_option("--org", "As an org file to open in Emacs.")
    kb: KbOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLine:
    """A node and the line at which to look."""

    id: str
    title: str
    path: Path
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateNodes:
    """Nodes that share an id or a title, in the order of paths.

    roamkb takes the first of equal ids. So does org-roam when it makes its index anew, by
    an order of its own; an index that it keeps goes on with whichever it saw first.
    """

    JSON = "*first nodes"
    nodes: tuple[NodeLine, ...]

    @property
    def first(self) -> NodeLine:
        """The node that roamkb takes."""
        return self.nodes[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class HygieneReport:
    """The findings of all checks, each list in the order of paths and lines."""

    JSON = "orphans duplicate_ids duplicate_titles duplicate_refs dangling untitled conflict_copies encrypted skipped"
    kb: Path
    #: Agent nodes that no node links to, and that link to none.
    orphans: tuple[NodeLine, ...]
    duplicate_ids: tuple[DuplicateNodes, ...]
    duplicate_titles: tuple[DuplicateNodes, ...]
    #: Nodes about the same thing: org-roam leads from a ref to one of them.
    duplicate_refs: tuple[DuplicateNodes, ...]
    dangling: tuple[DeadLink, ...]
    #: Nodes that org-roam shows by their path, or by nothing.
    untitled: tuple[NodeLine, ...]
    conflict_copies: tuple[ConflictCopy, ...]
    #: What no search finds, since it isn't read.
    encrypted: tuple[EncryptedText, ...]
    skipped: tuple[UnreadableFile, ...]
    #: Whether it is wanted as an org document.
    org: bool = False


def hygiene(notes: Notes, *, home: Path, org: bool = False) -> HygieneReport:
    """Return the report of orphans, duplicates, dead links and other things to tidy."""
    contents = notes.read_all().without_copies()
    pairs = tuple(contents.node_pairs())
    return HygieneReport(
        kb=notes.kb,
        orphans=tuple(_node_line(notes, *pair) for pair in _orphan_nodes(pairs)),
        duplicate_ids=duplicate_ids(notes, pairs),
        duplicate_titles=_nodes_sharing_key(notes, _nodes_known_by_title(pairs), lambda node: _title_key(node.title)),
        duplicate_refs=_nodes_sharing_ref(notes, pairs),
        dangling=_dangling_links(notes, pairs, home),
        untitled=tuple(_node_line(notes, *pair) for pair in pairs if _is_untitled(*pair)),
        conflict_copies=conflicts(notes, find_nodes=lambda _: pairs).copies,
        encrypted=find_encrypted(notes, contents),
        skipped=contents.skipped,
        org=org,
    )


def duplicate_ids(notes: Notes, pairs: Iterable[_Pair]) -> tuple[DuplicateNodes, ...]:
    """Return those of the nodes that share an id."""
    return _nodes_sharing_key(notes, pairs, lambda node: node.id)


def _orphan_nodes(pairs: Iterable[_Pair]) -> Iterator[_Pair]:
    pairs = tuple(pairs)
    ids = {node.id for _, node in pairs}
    linking: set[str] = set()
    linked: set[str] = set()
    for _, node in pairs:
        for link in node.links:
            if link.type == "id" and link.dest in ids and link.dest != node.id:
                linking.add(node.id)
                linked.add(link.dest)
    for note, node in pairs:
        if is_agent_node(note, node) and node.id not in linking and node.id not in linked:
            yield note, node


def _dangling_links(notes: Notes, pairs: Sequence[_Pair], home: Path) -> tuple[DeadLink, ...]:
    """Return the links to ids that neither a note has nor, as Emacs' list says, another file."""
    ids = {node.id for _, node in pairs}
    dead_links = [
        DeadLink(id=link.dest, title=node.title, path=notes.note_path(note), line=link.line)
        for note, node in pairs
        for link in node.links
        if link.type == "id" and link.dest not in ids
    ]
    outside = ids_outside(home, notes.kb) if dead_links else {}
    return tuple(link for link in dead_links if link.id not in outside)


def _nodes_sharing_key(notes: Notes, pairs: Iterable[_Pair], key: Callable[[Node], str]) -> tuple[DuplicateNodes, ...]:
    """Return the groups of two or more nodes for which `key` is equal."""
    groups: dict[str, list[_Pair]] = defaultdict(list)
    for pair in pairs:
        groups[key(pair[1])].append(pair)
    return tuple(
        DuplicateNodes(nodes=tuple(_node_line(notes, *pair) for pair in group))
        for group in groups.values()
        if len(group) > 1
    )


def _nodes_sharing_ref(notes: Notes, pairs: Iterable[_Pair]) -> tuple[DuplicateNodes, ...]:
    """Return the groups of two or more nodes in force that have a ref in common."""
    groups: dict[Ref, dict[str, NodeLine]] = defaultdict(dict)
    for note, node in _nodes_in_force(pairs):
        for ref in node.refs:
            groups[ref].setdefault(node.id, _node_line(notes, note, node))
    return tuple(
        dict.fromkeys(DuplicateNodes(nodes=tuple(group.values())) for group in groups.values() if len(group) > 1)
    )


def _nodes_in_force(pairs: Iterable[_Pair]) -> Iterator[_Pair]:
    """Yield the nodes that no other one replaced which is there."""
    pairs = tuple(pairs)
    ids = {node.id for _, node in pairs}
    return (pair for pair in pairs if pair[1].properties.get(SUPERSEDED_BY) not in ids)


def _nodes_known_by_title(pairs: Iterable[_Pair]) -> Iterator[_Pair]:
    """Yield the nodes whose title should be unique, each id once; daily and replaced nodes left out."""
    seen_ids: set[str] = set()
    # the one that replaced it may well have its title
    for note, node in _nodes_in_force(pairs):
        if node.id in seen_ids or not node.title.strip() or _DAILY.fullmatch(note.file):
            continue
        seen_ids.add(node.id)
        yield note, node


def _title_key(title: str) -> str:
    """Return the title in the form in which equal titles compare equal."""
    return " ".join(unicodedata.normalize("NFC", title).casefold().split())


def _is_untitled(note: Note, node: Node) -> bool:
    if not node.title.strip():
        return True
    # org-roam's fallback
    return node.level == 0 and node.title == note.file.removesuffix(".org") and not _has_title(note)


def _has_title(note: Note) -> bool:
    lines = (line.strip() for line in note.text.split("\n"))
    return any(line[:8].lower() == "#+title:" and line[8:].strip() for line in lines)


def _node_line(notes: Notes, note: Note, node: Node) -> NodeLine:
    return NodeLine(id=node.id, title=node.title, path=notes.note_path(note), line=node.line)
