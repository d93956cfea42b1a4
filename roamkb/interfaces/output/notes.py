"""What is said of nodes, one or many, as text and as JSON (docs/json.md)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.core.model import REPLACED
from roamkb.core.model import Node
from roamkb.core.model import Project
from roamkb.core.text import cleaned
from roamkb.core.text import counted
from roamkb.core.text import headline
from roamkb.core.text import shown
from roamkb.interfaces.output.render import PrintedResult
from roamkb.interfaces.output.render import TerminalStyle
from roamkb.interfaces.output.render import candidate_line
from roamkb.interfaces.output.render import place
from roamkb.interfaces.output.render import tags_text
from roamkb.interfaces.output.render import warnings_of
from roamkb.org.breaks import BREAK

if TYPE_CHECKING:
    from roamkb.kb.graph import LinkGraph
    from roamkb.kb.index_admin import IndexState
    from roamkb.kb.links import NodeLinks
    from roamkb.kb.nodes import NodeList
    from roamkb.kb.show import ShownNode
    from roamkb.kb.supersede import SupersededNode
    from roamkb.kb.tags import TagList
    from roamkb.kb.trash import NodeInventory
    from roamkb.kb.trash import RestoredNodes
    from roamkb.kb.trash import TrashedNodes
    from roamkb.kb.write import WrittenNode

_PROVENANCE = ("CREATED", "AGENT", "PROJECT", "SOURCE", "SUPERSEDED_BY")


def show(result: "ShownNode") -> PrintedResult:
    """Print a node: its fields and its text."""
    node = result.node

    def text(terminal: bool) -> str:
        style = TerminalStyle(terminal)
        state = " ".join(filter(None, (node.todo, f"[#{node.priority}]" if node.priority else "")))
        head = [
            style.bold(" ".join(filter(None, (state, headline(node.title))))),
            style.cyan(place(result.path, node.line)),
        ]
        facts = (
            ("id", node.id),
            ("in", " / ".join(node.olp)),
            ("tags", tags_text(node.tags)),
            ("aliases", "; ".join(node.aliases)),
            ("refs", " ".join(f"@{r.ref}" if r.type == "cite" else f"{r.type}:{r.ref}" for r in node.refs)),
            ("scheduled", node.scheduled or ""),
            ("deadline", node.deadline or ""),
            *((key.lower(), node.properties.get(key, "")) for key in _PROVENANCE),
        )
        head += [f"{style.dim(name + ':')} {shown(value)}" for name, value in facts if value]
        return "\n".join([*head, "", cleaned(result.body).rstrip("\n")]).rstrip("\n")

    return PrintedResult(result={"node": result}, text=text)


def _ends(result: "NodeLinks") -> PrintedResult:
    def text(terminal: bool) -> str:
        style = TerminalStyle(terminal)
        lines = [
            f"{mark} {place(node.path, node.line)}: {style.bold(headline(node.title))} ({shown(node.id)})"
            for mark, ends in (("->", result.forward), ("<-", result.back))
            for node in ends
        ]
        lines += [
            f"!! {place(dead.path, dead.line)}: links to {shown(dead.id)}, which is no node"
            for dead in result.dangling
        ]
        lines += [f"=> {shown(link.type)}:{shown(link.dest)}" for link in result.external]
        return "\n".join(lines)

    return PrintedResult(
        result=result,
        text=text,
        status=0 if result.forward or result.back or result.dangling or result.external else 1,
    )


def links(result: "NodeLinks | LinkGraph") -> PrintedResult:
    """Print a node's links, or all of them for Graphviz."""
    from roamkb.kb.graph import LinkGraph

    return _graph(result) if isinstance(result, LinkGraph) else _ends(result)


def _graph(result: "LinkGraph") -> PrintedResult:
    nodes, edges = result.graph.nodes, result.graph.edges

    def text(_: bool) -> str:
        named = (f"  {_dot(node.id)} [label={_dot(node.title)}];" for node in nodes)
        joined = (f"  {_dot(source)} -> {_dot(dest)};" for source, dest in edges)
        return "\n".join(["digraph roamkb {", "  node [shape=box];", *named, *joined, "}"])

    return PrintedResult(result=result, text=text, status=0 if nodes else 1)


def _dot(text: str) -> str:
    """Return `text` as Graphviz reads it literally."""
    return '"' + shown(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def tags(result: "TagList") -> PrintedResult:
    """Print the tags with their counts."""
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(f"{one.nodes:6} {shown(one.tag)}" for one in result.tags),
        status=0 if result.tags else 1,
    )


def index(result: "IndexState") -> PrintedResult:
    """Say where the index lies and how large it is."""

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

    return PrintedResult(result=result, text=text, status=1 if result.differences else 0)


def nodes(result: "NodeList") -> PrintedResult:
    """Print every node with its place."""
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(_node_line(result.kb, node) for node in result.nodes),
        status=0 if result.nodes else 1,
        warnings=warnings_of(result.skipped),
    )


def _node_line(kb: Path, node: Node) -> str:
    return f"{place(kb / node.file, node.line)}: {headline(node.title)} {tags_text(node.tags)}".rstrip()


def write(result: "WrittenNode") -> PrintedResult:
    """Say where a node was written, or would be."""

    def text(terminal: bool) -> str:
        if result.dry_run:
            # with its zero-width spaces, since they will be there as well
            text = BREAK.join(map(cleaned, result.text.split(BREAK)))
            return f"{shown(str(result.path))} (not written)\n\n{text}".rstrip("\n")
        style = TerminalStyle(terminal)
        return f"{style.cyan(shown(str(result.path)))}: {style.bold(headline(result.title))} ({result.id})"

    return PrintedResult(result=result, text=text, warnings=result.warnings)


def supersede(result: "SupersededNode") -> PrintedResult:
    """Say what was written and what it replaced."""
    new = write(result.written)

    def text(terminal: bool) -> str:
        return f"{new.text(terminal)}\n  supersedes {headline(result.old.title)} ({shown(result.old.id)})"

    return PrintedResult(result=result, text=text, warnings=new.warnings)


def trash(result: "TrashedNodes") -> PrintedResult:
    """Print what went to the trash, or would go."""
    verb = "moved to the trash" if result.done else "would be moved to the trash; add --yes to do it"

    def text(_terminal: bool) -> str:
        lines = list(map(candidate_line, result.nodes))
        back = "; `roamkb restore --last` brings them back" if result.done and len(lines) > 1 else ""
        return "\n".join([*lines, f"{counted(len(lines), 'node')} {verb}{back}"])

    return PrintedResult(
        result=result, text=text, status=0 if result.nodes else 1, warnings=tuple(_left_dangling(result))
    )


def _left_dangling(result: "TrashedNodes") -> Iterator[str]:
    """Yield what links to a node that is gone, and what to do about it."""
    for node in result.linked_from:
        says = "is superseded by" if node in result.replaced else "links to"
        yield (
            f"{headline(node.title)} ({shown(node.id)}) {says} what {'is' if result.done else 'would be'} in "
            "the trash: `roamkb restore ID` puts that back, or edit the link"
        )


def restore(result: "RestoredNodes") -> PrintedResult:
    """Print what came back, or what is in the trash."""

    def text(_terminal: bool) -> str:
        lines = list(map(candidate_line, result.nodes))
        count = counted(len(lines), "node")
        if not lines:
            return ""
        if result.done:
            return "\n".join([*lines, f"{count} put back"])
        # who has seen only the first line must not think that it is done
        head = f"{count} in the trash, none put back: `roamkb restore ID` does one, `--last` the last trashed"
        return "\n".join([head, *lines])

    return PrintedResult(
        result=result if result.done else {"trash": result.nodes},
        text=text,
        status=0 if result.nodes else 1,
        warnings=tuple(
            f"{candidate_line(node)} stays in the trash: {shown(reason)}" for node, reason in result.left
        ),
    )


def inventory(result: "NodeInventory") -> PrintedResult:
    """Print what agents wrote."""

    def text(_terminal: bool) -> str:
        return "\n".join(
            _node_line(result.kb, node) + (REPLACED if "SUPERSEDED_BY" in node.properties else "")
            for node in result.nodes
        )

    return PrintedResult(
        result=result, text=text, status=0 if result.nodes else 1, warnings=warnings_of(result.skipped)
    )


def classify(result: Project) -> PrintedResult:
    """Say what a project is, and why."""

    def text(terminal: bool) -> str:
        style = TerminalStyle(terminal)
        root = shown(str(result.root)) if result.root else "no project root"
        return f"{style.bold(result.kind.value)}: {root} ({shown(result.reason)})"

    return PrintedResult(result=result, text=text)
