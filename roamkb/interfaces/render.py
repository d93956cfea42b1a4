"""Results as text and as JSON (design section 10). What is shown is cleaned; what is stored never is."""

import json
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NearDuplicate
from roamkb.core.errors import Refused
from roamkb.core.errors import RoamkbError
from roamkb.core.model import REPLACED
from roamkb.core.model import Candidate
from roamkb.core.model import Hit
from roamkb.core.model import Node
from roamkb.core.model import Project
from roamkb.core.model import Unreadable
from roamkb.core.text import HIDDEN
from roamkb.core.text import cleaned
from roamkb.core.text import clipped
from roamkb.core.text import counted
from roamkb.core.text import shown

if TYPE_CHECKING:
    from roamkb.actions.graph import LinkGraph
    from roamkb.actions.index import IndexState
    from roamkb.actions.links import Links
    from roamkb.actions.nodes import NodeList
    from roamkb.actions.search import SearchResult
    from roamkb.actions.show import Shown
    from roamkb.actions.supersede import Superseded
    from roamkb.actions.tags import Tags
    from roamkb.actions.trash import Inventory
    from roamkb.actions.trash import Restored
    from roamkb.actions.trash import Trashed
    from roamkb.actions.write import Written

SCHEMA = 1
#: A line of a minified page would fill the screen; JSON has the whole of it.
_LINE_WIDTH = 240

Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A result, ready to be printed one way or the other."""

    json: Json
    #: The text, for a terminal (True) or a pipe (False).
    text: Callable[[bool], str]
    status: int = 0
    #: Said on standard error beside the text.
    warnings: tuple[str, ...] = ()


def dumps(value: Json) -> str:
    """Return one JSON object in which no character can act on a terminal; nothing is lost."""
    text = json.dumps(value, ensure_ascii=False)
    return HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], text)


def error_json(error: RoamkbError) -> Json:
    """Return the error as the contract has it."""
    if isinstance(error, Refused):
        return {
            "schema": SCHEMA,
            "refused": {
                "kind": error.project.kind.value,
                "root": _text(error.project.root),
                "reason": error.project.reason,
                "fact": error.fact,
                "written_to": _text(error.written_to),
                "hint": error.hint,
            },
        }
    body: Json = {"code": error.code, "message": error.message, "hint": error.hint}
    if isinstance(error, (NearDuplicate, Ambiguous)):
        body["candidates"] = [_candidate(candidate) for candidate in error.candidates]
    return {"schema": SCHEMA, "error": body}


def error_text(error: RoamkbError) -> str:
    """Return the error for standard error: what happened, then what to do."""
    return error.message + (f"\n  {error.hint}" if error.hint else "")


def render(name: str, result: object) -> Printed:
    """Return the result of the operation called `name`, ready to be printed."""
    return _RENDERERS[name](result)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _candidate(candidate: Candidate) -> Json:
    return {"id": candidate.id, "title": candidate.title, "path": str(candidate.path)}


def _candidate_line(candidate: Candidate) -> str:
    return f"{shown(str(candidate.path))}: {shown(candidate.title)} ({shown(candidate.id)})"


def _skipped(skipped: Iterable[Unreadable]) -> list[Json]:
    return [{"path": str(entry.path), "reason": entry.reason} for entry in skipped]


def _warnings(skipped: Iterable[Unreadable]) -> tuple[str, ...]:
    return tuple(f"{shown(str(entry.path))}: {shown(entry.reason)}" for entry in skipped)


class _Style:
    """Colours for a terminal, nothing for a pipe."""

    def __init__(self, terminal: bool) -> None:
        self._terminal = terminal

    def _paint(self, code: int, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._terminal and text else text

    def bold(self, text: str) -> str:
        return self._paint(1, text)

    def dim(self, text: str) -> str:
        return self._paint(2, text)

    def green(self, text: str) -> str:
        return self._paint(32, text)

    def cyan(self, text: str) -> str:
        return self._paint(36, text)


def _search(result: "SearchResult") -> Printed:
    hits = [
        {
            "id": hit.id,
            "title": hit.title,
            "path": str(hit.path),
            "line": hit.line,
            "tags": list(hit.tags),
            "score": hit.score,
            "text": hit.text,
            "why": list(hit.why),
            "date": hit.date or None,
            "lines": [{"line": number, "text": line.strip()} for number, line in hit.lines],
        }
        for hit in result.hits
    ]

    def text(terminal: bool) -> str:
        if result.only_files:
            return "\n".join(shown(str(hit.path)) for hit in result.hits)
        if not terminal:
            return "\n".join(f"{shown(str(h.path))}:{h.line}: {_said(h)}" for h in result.hits)
        style = _Style(terminal)
        return "\n".join(
            f"{style.bold(shown(hit.title))}  {style.dim(_about(hit))}\n"
            f"  {style.cyan(f'{shown(str(hit.path))}:{hit.line}')}\n"
            f"  {_said(hit)}"
            for hit in result.hits
        )

    return Printed(
        json={
            "schema": SCHEMA,
            "query": result.query,
            "hits": hits,
            "skipped": _skipped(result.skipped),
            "conflict_copies": result.conflict_copies,
        },
        text=text,
        status=0 if result.hits else 1,
        warnings=_warnings(result.skipped),
    )


def _said(hit: Hit) -> str:
    return clipped(shown(hit.text), _LINE_WIDTH) + hit.mark


def _about(hit: Hit) -> str:
    return " ".join(filter(None, (hit.date[:10], _tags(hit.tags), ", ".join(hit.why))))


def _tags(tags: Iterable[str]) -> str:
    joined = ":".join(shown(tag) for tag in tags)
    return f":{joined}:" if joined else ""


def node_json(node: Node) -> Json:
    """Return a node with all its fields."""
    return {
        "id": node.id,
        "file": node.file,
        "line": node.line,
        "level": node.level,
        "title": node.title,
        "olp": list(node.olp),
        "todo": node.todo,
        "priority": node.priority,
        "scheduled": node.scheduled,
        "deadline": node.deadline,
        "tags": list(node.tags),
        "aliases": list(node.aliases),
        "refs": [{"type": ref.type, "ref": ref.ref} for ref in node.refs],
        "links": [
            {"type": link.type, "dest": link.dest, "search": link.search, "line": link.line}
            for link in node.links
        ],
        "citations": [{"key": citation.key, "line": citation.line} for citation in node.citations],
        "properties": dict(node.properties),
    }


def _show(result: "Shown") -> Printed:
    node = result.node

    def text(terminal: bool) -> str:
        style = _Style(terminal)
        state = " ".join(filter(None, (node.todo, f"[#{node.priority}]" if node.priority else "")))
        head = [
            style.bold(" ".join(filter(None, (state, shown(node.title))))),
            style.cyan(_place(result.path, node.line)),
        ]
        facts = (
            ("id", node.id),
            ("in", " / ".join(node.olp)),
            ("tags", _tags(node.tags)),
            ("aliases", "; ".join(node.aliases)),
            ("refs", " ".join(f"@{r.ref}" if r.type == "cite" else f"{r.type}:{r.ref}" for r in node.refs)),
            ("scheduled", node.scheduled or ""),
            ("deadline", node.deadline or ""),
            *((key.lower(), node.properties.get(key, "")) for key in _PROVENANCE),
        )
        head += [f"{style.dim(name + ':')} {shown(value)}" for name, value in facts if value]
        return "\n".join([*head, "", cleaned(result.body).rstrip("\n")]).rstrip("\n")

    return Printed(
        json={"schema": SCHEMA, "node": {**node_json(node), "path": str(result.path), "body": result.body}},
        text=text,
    )


_PROVENANCE = ("CREATED", "AGENT", "PROJECT", "SOURCE", "SUPERSEDED_BY")


def _place(path: Path, line: int) -> str:
    return f"{shown(str(path))}:{line}"


def _links(result: "Links") -> Printed:
    def end(id: str, title: str, path: Path, line: int) -> Json:
        return {"id": id, "title": title, "path": str(path), "line": line}

    def text(terminal: bool) -> str:
        style = _Style(terminal)
        lines = [
            f"{mark} {_place(node.path, node.line)}: {style.bold(shown(node.title))} ({shown(node.id)})"
            for mark, ends in (("->", result.forward), ("<-", result.back))
            for node in ends
        ]
        lines += [
            f"!! {_place(dead.path, dead.line)}: links to {shown(dead.id)}, which is no node"
            for dead in result.dangling
        ]
        lines += [f"=> {shown(link.type)}:{shown(link.dest)}" for link in result.external]
        return "\n".join(lines)

    return Printed(
        json={
            "schema": SCHEMA,
            "id": result.id,
            "forward": [end(n.id, n.title, n.path, n.line) for n in result.forward],
            "back": [end(n.id, n.title, n.path, n.line) for n in result.back],
            "dangling": [end(n.id, n.title, n.path, n.line) for n in result.dangling],
            "external": [
                {"type": link.type, "dest": link.dest, "line": link.line} for link in result.external
            ],
        },
        text=text,
        status=0 if result.forward or result.back or result.dangling or result.external else 1,
    )


def _links_or_graph(result: "Links | LinkGraph") -> Printed:
    from roamkb.actions.graph import LinkGraph

    return _graph(result) if isinstance(result, LinkGraph) else _links(result)


def _graph(result: "LinkGraph") -> Printed:
    nodes, edges = result.graph.nodes, result.graph.edges

    def text(_: bool) -> str:
        named = (f"  {_dot(node.id)} [label={_dot(node.title)}];" for node in nodes)
        joined = (f"  {_dot(source)} -> {_dot(dest)};" for source, dest in edges)
        return "\n".join(["digraph roamkb {", "  node [shape=box];", *named, *joined, "}"])

    return Printed(
        json={
            "schema": SCHEMA,
            "nodes": [
                {
                    "id": node.id,
                    "title": node.title,
                    "path": str(result.kb / node.file),
                    "tags": list(node.tags),
                }
                for node in nodes
            ],
            "edges": [{"source": source, "dest": dest} for source, dest in edges],
        },
        text=text,
        status=0 if nodes else 1,
    )


def _dot(text: str) -> str:
    """Return `text` as Graphviz reads it literally."""
    return '"' + shown(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tag_counts(result: "Tags") -> Printed:
    return Printed(
        json={"schema": SCHEMA, "tags": [{"tag": one.tag, "nodes": one.nodes} for one in result.tags]},
        text=lambda _: "\n".join(f"{one.nodes:6} {shown(one.tag)}" for one in result.tags),
        status=0 if result.tags else 1,
    )


def _index(result: "IndexState") -> Printed:
    def text(_: bool) -> str:
        where = shown(str(result.path)) if result.path else "in memory: it can't be kept here"
        lines = [
            f"{counted(result.notes, 'note')}, {counted(result.entries, 'entry', 'entries')}, "
            f"{counted(result.words, 'word')}, {result.size} bytes",
            where,
        ]
        if result.differences is not None:
            lines.append(f"{result.differences} differences from an index made just now")
        return "\n".join(lines)

    return Printed(
        json={
            "schema": SCHEMA,
            "path": _text(result.path),
            "notes": result.notes,
            "entries": result.entries,
            "words": result.words,
            "size": result.size,
            "differences": result.differences,
        },
        text=text,
        status=1 if result.differences else 0,
    )


def _nodes(result: "NodeList") -> Printed:
    return Printed(
        json={
            "schema": SCHEMA,
            "kb": str(result.kb),
            "nodes": [node_json(node) for node in result.nodes],
            "skipped": _skipped(result.skipped),
        },
        text=lambda _: "\n".join(_node_line(result.kb, node) for node in result.nodes),
        status=0 if result.nodes else 1,
        warnings=_warnings(result.skipped),
    )


def _node_line(kb: Path, node: Node) -> str:
    return f"{_place(kb / node.file, node.line)}: {shown(node.title)} {_tags(node.tags)}".rstrip()


def _written(result: "Written") -> Json:
    return {
        "schema": SCHEMA,
        "id": result.id,
        "path": str(result.path),
        "title": result.title,
        "tags": list(result.tags),
        "project": {"kind": result.project.kind.value, "root": _text(result.project.root)},
        "warnings": list(result.warnings),
        **({"dry_run": True, "text": result.text} if result.dry_run else {}),
    }


def _write(result: "Written") -> Printed:
    def text(terminal: bool) -> str:
        if result.dry_run:
            return f"{shown(str(result.path))} (not written)\n\n{cleaned(result.text)}".rstrip("\n")
        style = _Style(terminal)
        return f"{style.cyan(shown(str(result.path)))}: {style.bold(shown(result.title))} ({result.id})"

    return Printed(json=_written(result), text=text, warnings=result.warnings)


def _supersede(result: "Superseded") -> Printed:
    new = _write(result.written)
    old = _candidate(result.old)

    def text(terminal: bool) -> str:
        return f"{new.text(terminal)}\n  supersedes {shown(result.old.title)} ({shown(result.old.id)})"

    return Printed(json={**new.json, "supersedes": old}, text=text, warnings=new.warnings)


def _trash(result: "Trashed") -> Printed:
    verb = "moved to the trash" if result.done else "would be moved to the trash; add --yes to do it"

    def text(_terminal: bool) -> str:
        lines = list(map(_candidate_line, result.nodes))
        back = "; `roamkb restore --last` brings them back" if result.done and len(lines) > 1 else ""
        return "\n".join([*lines, f"{counted(len(lines), 'node')} {verb}{back}"])

    return Printed(
        json={
            "schema": SCHEMA,
            "trashed": [_candidate(node) for node in result.nodes],
            "done": result.done,
            "linked_from": [_candidate(node) for node in result.linked_from],
        },
        text=text,
        status=0 if result.nodes else 1,
        warnings=tuple(_left_dangling(result)),
    )


def _left_dangling(result: "Trashed") -> Iterator[str]:
    """Yield what links to a node that is gone, and what to do about it."""
    for node in result.linked_from:
        says = "is superseded by" if node in result.replaced else "links to"
        yield (
            f"{shown(node.title)} ({shown(node.id)}) {says} what {'is' if result.done else 'would be'} in "
            "the trash: `roamkb restore ID` puts that back, or edit the link"
        )


def _restore(result: "Restored") -> Printed:
    def text(_terminal: bool) -> str:
        lines = list(map(_candidate_line, result.nodes))
        count = counted(len(lines), "node")
        if not lines:
            return ""
        if result.done:
            return "\n".join([*lines, f"{count} put back"])
        # who has seen only the first line must not think that it is done
        head = f"{count} in the trash, none put back: `roamkb restore ID` does one, `--last` the last trashed"
        return "\n".join([head, *lines])

    nodes = [_candidate(node) for node in result.nodes]
    left: list[Json] = [{**_candidate(node), "reason": reason} for node, reason in result.left]
    return Printed(
        json={"schema": SCHEMA, **({"restored": nodes, "left": left} if result.done else {"trash": nodes})},
        text=text,
        status=0 if result.nodes else 1,
        warnings=tuple(
            f"{_candidate_line(node)} stays in the trash: {shown(reason)}" for node, reason in result.left
        ),
    )


def _inventory(result: "Inventory") -> Printed:
    def text(_terminal: bool) -> str:
        return "\n".join(
            _node_line(result.kb, node) + (REPLACED if "SUPERSEDED_BY" in node.properties else "")
            for node in result.nodes
        )

    return Printed(
        json={
            "schema": SCHEMA,
            "nodes": [{**node_json(node), "path": str(result.kb / node.file)} for node in result.nodes],
            "skipped": _skipped(result.skipped),
        },
        text=text,
        status=0 if result.nodes else 1,
        warnings=_warnings(result.skipped),
    )


def _classify(result: Project) -> Printed:
    def text(terminal: bool) -> str:
        style = _Style(terminal)
        root = shown(str(result.root)) if result.root else "no project root"
        return f"{style.bold(result.kind.value)}: {root} ({shown(result.reason)})"

    return Printed(
        json={
            "schema": SCHEMA,
            "kind": result.kind.value,
            "root": _text(result.root),
            "reason": result.reason,
            "hint": result.hint,
        },
        text=text,
    )


def _report(name: str, room: str = "reports") -> Callable[[object], Printed]:
    """Return a renderer of another room, which few calls need."""

    def render_report(result: object) -> Printed:
        from importlib import import_module

        renderer: Callable[[object], Printed] = getattr(import_module(f"roamkb.interfaces.{room}"), name)
        return renderer(result)

    return render_report


#: Renderers that few calls need, by the room that they are in.
_ROOMS = {
    "log_reports": ("init", "learn", "observe", "consolidate", "recall", "ingest"),
    "gate_reports": ("verify", "promote"),
    "approval_reports": ("review", "approve", "reject", "rollback"),
    "task_reports": ("task", "relevant", "used", "stats"),
    "remedy_reports": ("remedy",),
    "brief_reports": ("brief", "inject"),
    "curation_reports": (
        "audit",
        "refine",
        "curate",
        "explain",
        "pin",
        "prefer",
        "undo",
        "override",
        "export",
    ),
}
_RENDERERS: dict[str, Callable[..., Printed]] = {
    "search": _search,
    "show": _show,
    "links": _links_or_graph,
    "tags": _tag_counts,
    "index": _index,
    "nodes": _nodes,
    "write": _write,
    "supersede": _supersede,
    "trash": _trash,
    "restore": _restore,
    "inventory": _inventory,
    "classify": _classify,
    **{name: _report(name, room) for room, names in _ROOMS.items() for name in names},
    **{name: _report(name, "stage_reports") for name in ("template", "bundle", "snapshot")},
    "hygiene": _report("hygiene"),
    "conflicts": _report("conflicts"),
    "doctor": _report("doctor"),
    "install": _report("install"),
    "uninstall": _report("uninstall"),
}
