"""Note: a node's text as HTML, what links to it with its lines, and what it links to."""

import posixpath
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote
from urllib.parse import urlencode

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.errors import UsageError
from roamkb.core.model import DEFAULT_KB
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import shorten_title
from roamkb.interfaces.page.hits import asked_kb
from roamkb.interfaces.page.hits import node_href
from roamkb.interfaces.page.hits import place_href
from roamkb.interfaces.page.hits import plain_line
from roamkb.interfaces.page.templating import as_markup
from roamkb.interfaces.page.templating import render_page
from roamkb.kb.node_view import Backlink
from roamkb.kb.node_view import NodeView
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.org.html.document import render_node
from roamkb.org.html.markup import NodeTarget
from roamkb.org.html.markup import shown
from roamkb.org.html.markup import web_link

#: Properties of an agent's node that say where it comes from, and what they are called on the page.
_ORIGIN = {"AGENT": "agent", "PROJECT": "project", "SOURCE": "source", "TASK": "task", "SUPERSEDES": "replaces"}
_LONGEST_NUMBER = 9


def view_note(kb: "server.ServedKnowledgeBase", request: Request) -> tuple[int, str]:
    """Return the page of the node with `id`, or of what `name` names, with the place `line` marked."""
    name = request.query_params.get("id") or request.query_params.get("name")
    if not name:
        raise UsageError("the page of which note?", hint="search for it")
    line = request.query_params.get("line", "")
    there = kb.of_kb(asked_kb(request))
    view = there.view_node(name)
    targets = _PageTargets(view=view, kb_name=there.kb_name, kb=there.rule.kb, has_image=there.has_image)
    href = targets.node_href
    rendered = render_node(
        view.note.text,
        view.node,
        targets,
        todo_lines=there.rule.todo_lines,
        line=int(line) if line.isdecimal() and line.isascii() and len(line) <= _LONGEST_NUMBER else None,
    )
    id = view.node.id
    return 200, render_page(
        "note.html",
        view=view,
        kb=there.kb_name if there.is_named else "",
        title=shorten_title(view.node.title or view.note.title) or "untitled",
        text=as_markup(rendered.html),
        is_cut=rendered.is_cut,
        emacs=f"org-protocol://roam-node?node={quote(id, safe='')}" if id else "",
        origin=[(label, view.node.properties[key]) for key, label in _ORIGIN.items() if view.node.properties.get(key)],
        replaced_by=_replacement(view, href),
        refs=[as_markup(_ref_html(ref.type, ref.ref)) for ref in view.node.refs],
        backlinks=[targets.place_row(link) for link in view.backlinks],
        mentions=[targets.place_row(mention) for mention in view.mentions],
        forward=[(href(target), title, "") for target, title in view.forward.items()],
        related=[(href(hit.id), hit.full_title, "") for hit in view.related if hit.id],
        file=view.node.file,
        file_href=place_href(view.node.file, kb=there.kb_name),
    )


def _replacement(view: NodeView, href: Callable[[str], str]) -> str:
    """Return the address of the node that replaced this one; empty where none did."""
    successor = view.node.properties.get(SUPERSEDED_BY, "")
    # its text links to it, and what is gone has no title
    return href(successor) if successor in view.forward else ""


def _ref_html(kind: str, ref: str) -> str:
    written = f"@{ref}" if kind == "cite" else f"{kind}:{ref}"
    return web_link(f"{kind}:{ref}", shown(written))


@dataclass(frozen=True, slots=True, kw_only=True)
class _PageTargets:
    """The page's addresses of what a note links to."""

    view: NodeView
    kb_name: str
    kb: Path
    has_image: Callable[[str], bool]

    def node_href(self, id: str, *, line: int | None = None) -> str:
        return node_href(id, line=line, kb=self.kb_name)

    def place_row(self, place: Backlink) -> tuple[str, str, str]:
        """Return the address, the name and the line of a place that links to the node, or names it."""
        file = str(place.path.relative_to(self.kb))
        line = place.line or None
        href = self.node_href(place.id, line=line) if place.id else place_href(file, line=line, kb=self.kb_name)
        return href, shorten_title(place.title) or place.path.name, plain_line(place.text)

    def find_node(self, id: str) -> NodeTarget | None:
        titles: Mapping[str, str] = self.view.forward
        return NodeTarget(href=self.node_href(id), title=titles[id]) if id in titles else None

    def find_file(self, path: str) -> str | None:
        file = self._file_in_kb(path)
        return place_href(file, kb=self.kb_name) if file and file.endswith(".org") else None

    def find_image(self, path: str, *, is_attachment: bool) -> str | None:
        id = self.view.node.id
        if is_attachment:
            # as org-attach keeps it by default
            path = f"data/{id[:2]}/{id[2:]}/{path}" if len(id) > 2 else ""
        file = self._file_in_kb(path)
        query = urlencode({"path": file} if self.kb_name == DEFAULT_KB else {"path": file, "kb": self.kb_name})
        return f"/image?{query}" if file and self.has_image(file) else None

    def find_cited(self, key: str) -> str | None:
        id = self.view.cited.get(key)
        return self.node_href(id) if id else None

    def _file_in_kb(self, path: str) -> str | None:
        """Return a path relative to the knowledge base; None for one that leads out of it."""
        if not path or path.startswith("~"):
            return None
        if path.startswith("/"):
            return str(Path(path).relative_to(self.kb)) if Path(path).is_relative_to(self.kb) else None
        file = posixpath.normpath(posixpath.join(posixpath.dirname(self.view.node.file), path))
        return None if file.startswith("..") else file
