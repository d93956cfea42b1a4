"""The links of the whole knowledge base, for a drawing."""

from dataclasses import dataclass
from pathlib import Path

from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.views import Graph
from roamkb.kb.search.index.views import graph as graph_view


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGraph:
    """The nodes and the links between them."""

    kb: Path
    graph: Graph


def graph(index: Index, kb: Path) -> LinkGraph:
    """Return all nodes and links."""
    return LinkGraph(kb=kb, graph=index.view(graph_view))
