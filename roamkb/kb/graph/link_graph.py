"""The link graph of the whole knowledge base, for a drawing."""

from pathlib import Path
from typing import Annotated

from roamkb.core.json_form import Rows
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.views import Graph
from roamkb.kb.search.index.views import link_graph as graph_view


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGraph:
    """The nodes of the knowledge base and the links between them."""

    JSON = "nodes graph.edges"
    kb: Path
    graph: Graph

    @property
    def nodes(self) -> Annotated[list[tuple[str, str, Path, tuple[str, ...]]], Rows("id title path tags")]:
        """The nodes with their files."""
        return [(node.id, node.title, self.kb / node.file, node.tags) for node in self.graph.nodes]


def find_links(index: Index, kb: Path) -> LinkGraph:
    """Return all nodes and links."""
    return LinkGraph(kb=kb, graph=index.read_view(graph_view))
