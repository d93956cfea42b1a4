"""A node with all that surrounds it, for a reader: its note, links both ways with their lines, what is related.

All but the note itself comes from the index, so that a page needn't wait until every note is read.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.model import Hit
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import clip_text
from roamkb.kb.notes.passages import creation_time
from roamkb.kb.notes.store.lookup import get_place
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.mentions import find_mentions
from roamkb.kb.search.index.node_directory import IndexDirectory
from roamkb.kb.search.index.views import LinkPlace
from roamkb.kb.search.index.views import citing_places
from roamkb.kb.search.index.views import link_places
from roamkb.kb.search.index.views import node_file
from roamkb.kb.search.index.views import node_titles
from roamkb.kb.search.index.views import nodes_about
from roamkb.kb.search.index.views import related_passages
from roamkb.kb.search.query import parse_words
from roamkb.kb.search.search import hit_of
from roamkb.kb.show import file_without_id
from roamkb.org.agent_node import is_agent_node
from roamkb.org.excerpt import excerpt_of

#: Backlinks that are shown with their line; a hub has thousands, and `roamkb links` lists them.
MOST_BACKLINKS = 100
#: Related nodes that are worth a reader's look.
_MOST_RELATED = 8
#: Places that name a node without a link; a common word stands everywhere.
_MOST_MENTIONS = 12
#: Letters of a backlink's line.
_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlink:
    """A link to a node from another one, or a place that names it, and the line that it stands in."""

    #: Empty for text that lies in no node.
    id: str
    title: str
    path: Path
    line: int
    #: The line as a reader sees it; empty where it shows nothing.
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """A node, its text, and what is around it."""

    note: Note
    #: Without an id for text that lies in no node.
    node: Node
    path: Path
    is_agent: bool
    #: When it was made, local ISO; empty where nothing says so.
    date: str
    backlinks: tuple[Backlink, ...]
    #: Backlinks and citations, beside those that are shown.
    more_backlinks: int
    #: Where other notes name it without a link.
    mentions: tuple[Backlink, ...]
    more_mentions: int
    #: Titles of the nodes that its text links to, by id; what is gone has none.
    forward: Mapping[str, str]
    related: tuple[Hit, ...]
    #: Ids of the nodes about works that it cites, by key.
    cited: Mapping[str, str]


def view_node(index: Index, notes: Notes, name: str, *, folder: Path | None = None) -> NodeView:
    """Return the view of the node called `name`, by id, title, alias or path.

    Raises:
        NotFound, Ambiguous: see `get_place`.
    """
    place = _place_by_id(index, notes, name) or _place_of_file(notes, name)
    note, node = place or get_place(IndexDirectory(index, notes), name, folder=folder)
    shown_node = node or file_without_id(note)
    places = _find_backlinks(index, shown_node)
    mentions = _find_mentions(index, notes, shown_node)
    parts = [shown_node, *_nodes_within(note, shown_node)]
    linked_ids = dict.fromkeys(link.dest for part in parts for link in part.links if link.type == "id")
    cited_keys = {citation.key for part in parts for citation in part.citations}
    return NodeView(
        note=note,
        node=shown_node,
        path=notes.note_path(note),
        is_agent=is_agent_node(note, shown_node),
        date=creation_time(note, shown_node),
        backlinks=tuple(_read_backlinks(notes, places[:MOST_BACKLINKS])),
        more_backlinks=max(len(places) - MOST_BACKLINKS, 0),
        mentions=mentions[:_MOST_MENTIONS],
        more_mentions=max(len(mentions) - _MOST_MENTIONS, 0),
        forward=_in_order(linked_ids, index.read_view(lambda db: node_titles(db, linked_ids))) if linked_ids else {},
        related=_find_related(index, notes, shown_node),
        cited=index.read_view(lambda db: nodes_about(db, cited_keys)) if cited_keys else {},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNodes:
    """The latest nodes that agents wrote, and how many there are in all."""

    nodes: tuple[Node, ...]
    #: Ids of those that another node replaced.
    replaced: frozenset[str]
    count: int


def latest_agent_nodes(index: Index, notes: Notes, *, most: int) -> AgentNodes:
    """Return at most `most` of the nodes that agents wrote, the latest first; only their files are read."""
    answers = index.find_passages(replace(parse_words(""), by_agent=True)).answers
    latest = sorted(answers, key=lambda answer: (answer.date, answer.id or ""), reverse=True)[:most]
    nodes = []
    for answer in latest:
        note_file = notes.find_note_file(answer.file)
        note = notes.read_note(note_file) if note_file else None
        if isinstance(note, Note):
            nodes += [node for node in note.nodes if node.id == answer.id]
    replaced = frozenset(answer.id for answer in latest if answer.id and "superseded" in answer.why)
    return AgentNodes(nodes=tuple(nodes), replaced=replaced, count=len(answers))


def _nodes_within(note: Note, node: Node) -> Iterator[Node]:
    """Yield the nodes of headings below a node, whose text is shown with its own."""
    for part in note.nodes:
        if part.level > node.level and node.line <= part.line <= node.end_line:
            yield part


def _in_order(ids: Mapping[str, object], titles: Mapping[str, str]) -> dict[str, str]:
    return {id: titles[id] for id in ids if id in titles}


def _place_by_id(index: Index, notes: Notes, id: str) -> tuple[Note, Node] | None:
    """Return the node with that very id and its note, where the index knows its file."""
    file = index.read_view(lambda db: node_file(db, id)) if id else None
    note_file = None if file is None else notes.find_note_file(file)
    note = None if note_file is None else notes.read_note(note_file)
    if note is None or isinstance(note, UnreadableFile):
        return None
    node = next((node for node in note.nodes if node.id == id), None)
    return None if node is None else (note, node)


def _place_of_file(notes: Notes, name: str) -> tuple[Note, Node | None] | None:
    """Return the note of that path in the knowledge base, and its first node."""
    # only what the walk found is a note: a name may lead anywhere
    note_file = next((file for file in notes.kb_walk.files if file.file == name), None)
    note = None if note_file is None else notes.read_note(note_file)
    if note is None or isinstance(note, UnreadableFile):
        return None
    return note, next(iter(note.nodes), None)


def _find_backlinks(index: Index, node: Node) -> Sequence[LinkPlace]:
    if not node.id:
        return ()
    keys = [ref.ref for ref in node.refs if ref.type == "cite"]
    linking = index.read_view(lambda db: link_places(db, node.id))
    known_ids = {place.id for place in linking}
    citing = index.read_view(lambda db: citing_places(db, keys)) if keys else []
    return [*linking, *(place for place in citing if place.id not in known_ids)]


def _read_backlinks(notes: Notes, places: Sequence[LinkPlace]) -> Iterator[Backlink]:
    """Yield the backlinks with their lines; each file is read once."""
    lines: list[str] = []
    file = ""
    for place in places:
        if place.file != file:
            file = place.file
            note_file = notes.find_note_file(file)
            text = notes.read_text(note_file) if note_file else ""
            lines = [] if isinstance(text, UnreadableFile) else text.split("\n")
        line = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
        yield Backlink(
            id=place.id,
            title=place.title,
            path=notes.kb / file,
            line=place.line,
            text=clip_text(excerpt_of(line), _LONGEST_LINE),
        )


def _find_mentions(index: Index, notes: Notes, node: Node) -> tuple[Backlink, ...]:
    if not node.id:
        return ()
    names = (node.title, *node.aliases)
    places = index.read_view(lambda db: find_mentions(db, node.id, file=node.file, names=names))
    return tuple(
        Backlink(
            id=place.id or "",
            title=place.title,
            path=notes.kb / place.file,
            line=place.line,
            text=clip_text(excerpt_of(place.text), _LONGEST_LINE),
        )
        for place in places
    )


def _find_related(index: Index, notes: Notes, node: Node) -> tuple[Hit, ...]:
    if not node.id or index.read_view(lambda db: node_file(db, node.id)) is None:
        return ()
    answers = index.read_view(lambda db: tuple(related_passages(db, node.id, _MOST_RELATED)))
    return tuple(hit_of(answer, notes.kb, answer.line, answer.full_title) for answer in answers)
