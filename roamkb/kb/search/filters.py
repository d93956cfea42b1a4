"""Which passages a query's filters let through, apart from its words (grep has no index to ask)."""

from collections.abc import Iterable

from roamkb.core.text import flat
from roamkb.core.text import folded
from roamkb.kb.notes.passages import NotePassage
from roamkb.kb.search.query import Query
from roamkb.org.agent_node import is_agent_node
from roamkb.text.tokenize import terms


def passes_filters(passage: NotePassage, query: Query) -> bool:
    """Say whether the passage is one that the query's filters let through."""
    tags = frozenset(folded(tag) for tag in passage.tags)
    node = passage.node
    return (
        all(folded(tag) in tags for tag in query.tags)
        and not any(folded(tag) in tags for tag in query.without_tags)
        and (query.by_agent is None or query.by_agent == (node is not None and is_agent_passage(passage)))
        and (not query.ids or (node is not None and node.id in query.ids))
        and (query.since is None or passage.date >= query.since)
        and (query.before is None or (passage.date != "" and passage.date < query.before))
        and not (query.without and _holds_any(passage, query.without))
    )


def is_agent_passage(passage: NotePassage) -> bool:
    """Say whether an agent wrote it: its node, or the file node that it stands in."""
    file_node = next((node for node in passage.note.nodes if not node.level), None)
    return file_node is not None and is_agent_node(passage.note, file_node)


def _holds_any(passage: NotePassage, unwanted: Iterable[str]) -> bool:
    names = (passage.title, *passage.tags, *(passage.node.aliases if passage.node else ()))
    text = "\n".join((*names, *(line for _, line in passage.lines)))
    held = None
    for piece in unwanted:
        if " " in piece:
            if flat(piece) in flat(text):
                return True
            continue
        held = held if held is not None else frozenset(terms(text))
        if frozenset(terms(piece)) <= held:
            return True
    return False
