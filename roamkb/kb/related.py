"""The search for nodes that are similar to a node and not yet linked with it."""

from pathlib import Path

from roamkb.kb.notes.store.lookup import get_node
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.node_directory import IndexDirectory
from roamkb.kb.search.index.schema import count_copies
from roamkb.kb.search.index.views import related_passages as related_view
from roamkb.kb.search.search import DEFAULT_LIMIT
from roamkb.kb.search.search import SearchResult
from roamkb.kb.search.search import check_limit
from roamkb.kb.search.search import hit_of


def related(
    index: Index, notes: Notes, name: str, *, limit: int | None = None, folder: Path | None = None
) -> SearchResult:
    """Return the nodes that share words, tags or neighbours with the node `name`, best first.

    Raises:
        NotFound, Ambiguous: see `get_node`.
    """
    check_limit(limit)
    _, node = get_node(IndexDirectory(index, notes), name, folder=folder)
    answers, copies = index.read_view(
        lambda db: (tuple(related_view(db, node.id, limit or DEFAULT_LIMIT)), count_copies(db))
    )
    copies += len(notes.kb_walk.conflict_copies)
    hits = tuple(hit_of(answer, notes.kb, answer.line, answer.full_title) for answer in answers)
    return SearchResult(query=node.title, hits=hits, skipped=(), conflict_copies=copies)
