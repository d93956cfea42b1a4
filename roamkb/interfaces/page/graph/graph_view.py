"""Graph: notes and the links between them, around a note or all, as far as a query finds them."""

import json
from datetime import datetime
from urllib.parse import urlencode

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import shorten_title
from roamkb.interfaces.page.hits import asked_kb
from roamkb.interfaces.page.hits import node_href
from roamkb.interfaces.page.templating import first_rows
from roamkb.interfaces.page.templating import render_page
from roamkb.kb.graph.selection import MOST_DEPTH
from roamkb.kb.graph.selection import GraphSelection
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import parse_query

DRAWING_PATH = "/graph.json"
#: Nodes that the page lists beside the drawing.
_MOST_LISTED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNodeRow:
    """A node for a template."""

    href: str
    title: str
    is_agent: bool
    #: Of the links that are drawn.
    links: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _GraphRequest:
    """What a reader asked for."""

    around: str
    depth: int
    filter: str
    query: Query | None
    #: Empty for the default one.
    kb: str

    @property
    def address(self) -> str:
        """What draws the same."""
        values = {"id": self.around, "depth": str(self.depth) if self.around else "", "q": self.filter, "kb": self.kb}
        return f"{DRAWING_PATH}?{urlencode({key: value for key, value in values.items() if value})}"


def view_graph(kb: "server.ServedKnowledgeBase", request: Request) -> tuple[int, str]:
    """Return the page of the graph: its form, the drawing's place, and the same nodes as a list."""
    asked = _read_request(kb, request)
    there = kb.of_kb(asked.kb or None)
    drawn = there.select_graph(query=asked.query, around=asked.around, depth=asked.depth)
    links = _count_links(drawn)
    rows, more = first_rows(
        [
            GraphNodeRow(
                href=node_href(node.id, kb=there.kb_name),
                title=shorten_title(node.title) or "untitled",
                is_agent=node.is_agent,
                links=count,
            )
            for node, count in zip(drawn.nodes, links, strict=True)
        ],
        _MOST_LISTED,
    )
    return 200, render_page(
        "graph.html",
        asked=asked,
        kb=asked.kb,
        middle=rows[0] if drawn.middle is not None else None,
        rows=rows,
        more=more,
        count=len(drawn.nodes),
        links=len(drawn.edges),
        left_out=drawn.more,
        depths=range(1, MOST_DEPTH + 1),
    )


def draw_graph(kb: "server.ServedKnowledgeBase", request: Request) -> str:
    """Return what the script draws: nodes as id, title, place, agent's or not; links as pairs of their numbers."""
    asked = _read_request(kb, request)
    there = kb.of_kb(asked.kb or None)
    drawn = there.select_graph(query=asked.query, around=asked.around, depth=asked.depth)
    xs, ys = there.place_graph(drawn)
    nodes = [
        (node.id, shorten_title(node.title) or "untitled", round(x, 1), round(y, 1), int(node.is_agent))
        for node, x, y in zip(drawn.nodes, xs, ys, strict=True)
    ]
    edges = [number for edge in drawn.edges for number in edge]
    return json.dumps({"nodes": nodes, "links": edges, "middle": drawn.middle}, separators=(",", ":"))


def _read_request(kb: "server.ServedKnowledgeBase", request: Request) -> _GraphRequest:
    text = request.query_params.get("q", "").strip()
    depth = request.query_params.get("depth", "") or "1"
    if depth not in map(str, range(1, MOST_DEPTH + 1)):
        raise UsageError("the depth is no number of links", hint=f"1 to {MOST_DEPTH}")
    today = datetime.fromtimestamp(kb.current_time).date()
    return _GraphRequest(
        around=request.query_params.get("id", ""),
        depth=int(depth),
        filter=text,
        query=parse_query(text, today=today) if text else None,
        kb=asked_kb(request) or "",
    )


def _count_links(drawn: GraphSelection) -> list[int]:
    counts = [0] * len(drawn.nodes)
    for edge in drawn.edges:
        for number in edge:
            counts[number] += 1
    return counts
