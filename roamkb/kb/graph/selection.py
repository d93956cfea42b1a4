"""The part of the link graph that is drawn: around a node or all of it, as far as a query allows."""

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.core.errors import NotFound
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.views import LinkedNode
from roamkb.kb.search.index.views import drawable_graph
from roamkb.kb.search.query import Query

#: Nodes of a drawing; of more, those with the most links.
MOST_NODES = 30_000
#: Links from the node in the middle to the farthest.
MOST_DEPTH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSelection:
    """The nodes that are drawn, those with the most links first, and the links between them."""

    nodes: tuple[LinkedNode, ...]
    #: The numbers of two linked nodes, each pair once.
    edges: tuple[tuple[int, int], ...]
    #: The number of the node in the middle, if there is one.
    middle: int | None
    #: Nodes that a drawing has no room for.
    more: int


def select_graph(index: Index, *, query: Query | None = None, around: str = "", depth: int = 1) -> GraphSelection:
    """Return the nodes that `query` finds, all without one; `around` a node only those within `depth` links of it.

    The node in the middle is among them in any case.

    Raises:
        NotFound: there is no node `around`.
    """
    nodes, neighbours, matching = index.read_view(lambda db: drawable_graph(db, query))
    if around and around not in nodes:
        raise NotFound(around)
    wanted = _nodes_around(neighbours, around, min(max(depth, 1), MOST_DEPTH)) if around else nodes.keys()
    if matching is not None:
        wanted = wanted & matching | ({around} if around else set())
    degrees = {id: sum(other in nodes for other in neighbours.get(id, ())) for id in wanted if id in nodes}
    order = sorted(degrees, key=lambda id: (id != around, -degrees[id], nodes[id].title, id))[:MOST_NODES]
    return GraphSelection(
        nodes=tuple(nodes[id] for id in order),
        edges=_edges_between(order, neighbours),
        middle=0 if around else None,
        more=len(degrees) - len(order),
    )


def _nodes_around(neighbours: Mapping[str, Collection[str]], middle: str, depth: int) -> set[str]:
    reached = {middle}
    edge = {middle}
    for _ in range(depth):
        edge = {other for id in edge for other in neighbours.get(id, ())} - reached
        reached |= edge
    return reached


def _edges_between(ids: Sequence[str], neighbours: Mapping[str, Collection[str]]) -> tuple[tuple[int, int], ...]:
    numbers = {id: number for number, id in enumerate(ids)}
    return tuple(
        sorted(
            (number, numbers[other])
            for id, number in numbers.items()
            for other in neighbours.get(id, ())
            if number < numbers.get(other, -1)
        )
    )
