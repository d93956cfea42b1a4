"""The test whether a passage passes a query's filters, without an index."""

from collections.abc import Iterable
from collections.abc import Sequence

from roamkb.core.model import Node
from roamkb.core.text import fold_text
from roamkb.core.text import fold_to_line
from roamkb.kb.notes.passages import NotePassage
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import is_plain_word
from roamkb.org import writer
from roamkb.org.agent_node import is_agent_node
from roamkb.text.inflection import holds_form
from roamkb.text.tokenize import text_terms


def passes_filters(passage: NotePassage, query: Query) -> bool:
    """Say whether the passage passes all filters of the query."""
    tags = frozenset(fold_text(tag) for tag in passage.tags)
    node = passage.node
    return (
        not any(tags.isdisjoint(map(fold_text, tag_spellings(tag))) for tag in query.tags)
        and all(tags.isdisjoint(map(fold_text, tag_spellings(tag))) for tag in query.without_tags)
        and (query.by_agent is None or query.by_agent == (node is not None and is_agent_passage(passage)))
        and (not query.ids or (node is not None and node.id in query.ids))
        and all(node is not None and _has_ref(node, ref) for ref in query.refs)
        and all(node is not None and _refers_to(node, key) for key in query.cited)
        and (query.since is None or passage.date >= query.since)
        and (query.before is None or (passage.date != "" and passage.date < query.before))
        and not (query.without and _holds_any(passage, query.without))
    )


def tag_spellings(tag: str) -> Sequence[str]:
    """Return how nodes may have a tag: as it is asked for, and as a node of ours stores it."""
    return [tag] if tag.isalnum() else [tag, writer.normalised_tag(tag) or tag]


def _has_ref(node: Node, part: str) -> bool:
    return any(part in f"{ref.type}:{ref.ref}" for ref in node.refs)


def _refers_to(node: Node, key: str) -> bool:
    return any(citation.key == key for citation in node.citations) or any(
        ref.type == "cite" and ref.ref == key for ref in node.refs
    )


def is_agent_passage(passage: NotePassage) -> bool:
    """Say whether an agent wrote the passage: its node, or the file node around it."""
    return _agent_node(passage) is not None


def project_of_passage(passage: NotePassage) -> str:
    """Return the folder of the project that an agent wrote the passage in, as its drawer says; else empty."""
    node = _agent_node(passage)
    return node.properties.get("PROJECT", "").strip() if node else ""


def _agent_node(passage: NotePassage) -> Node | None:
    file_node = next((node for node in passage.note.nodes if not node.level), None)
    return file_node if file_node is not None and is_agent_node(passage.note, file_node) else None


def _holds_any(passage: NotePassage, unwanted: Iterable[str]) -> bool:
    names = (passage.title, *passage.tags, *(passage.node.aliases if passage.node else ()))
    text = "\n".join((*names, *(line for _, line in passage.lines)))
    passage_terms = None
    for piece in unwanted:
        if " " in piece:
            if fold_to_line(piece) in fold_to_line(text):
                return True
            continue
        if is_plain_word(piece):
            if holds_form(text, piece):
                return True
            continue
        passage_terms = passage_terms if passage_terms is not None else frozenset(text_terms(text))
        if frozenset(text_terms(piece)) <= passage_terms:
            return True
    return False
