"""Agents' notes: every node that agents wrote, the latest first, and those that went to the trash."""

from itertools import groupby

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.model import Node
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import shorten_title
from roamkb.interfaces.page.hits import node_href
from roamkb.interfaces.page.templating import first_rows
from roamkb.interfaces.page.templating import render_page
from roamkb.org.agent_node import AGENT_TAG

#: Notes of a page; `roamkb inventory` has all.
_MOST_ROWS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNoteRow:
    """An agent's note for a template."""

    id: str
    href: str
    title: str
    date: str
    agent: str
    project: str
    source: str
    tags: tuple[str, ...]
    is_replaced: bool


def view_agents(kb: "server.ServedKnowledgeBase", _: Request) -> tuple[int, str]:
    """Return the page of all agents' notes, by the month that they were made in."""
    written = kb.latest_agent_nodes(_MOST_ROWS)
    rows = [_row(node, is_replaced=node.id in written.replaced) for node in written.nodes]
    months = [(month or "undated", list(group)) for month, group in groupby(rows, key=lambda row: row.date[:7])]
    return 200, render_page("agents.html", months=months, count=written.count, more=written.count - len(written.nodes))


def view_trash(kb: "server.ServedKnowledgeBase", _: Request) -> tuple[int, str]:
    """Return the page of what is in the trash, the latest first."""
    rows, more = first_rows(kb.restore().nodes, _MOST_ROWS)
    return 200, render_page("trash.html", rows=rows, more=more)


def _row(node: Node, *, is_replaced: bool) -> AgentNoteRow:
    properties = node.properties
    return AgentNoteRow(
        id=node.id,
        href=node_href(node.id),
        title=shorten_title(node.title) or "untitled",
        date=properties.get("CREATED", "").strip("[]<>")[:10],
        agent=properties.get("AGENT", ""),
        project=properties.get("PROJECT", ""),
        source=properties.get("SOURCE", ""),
        tags=tuple(tag for tag in node.tags if tag != AGENT_TAG),
        is_replaced=is_replaced,
    )
