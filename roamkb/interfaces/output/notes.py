"""Results about nodes, one or many, as text and as JSON (docs/json.md)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from roamkb.core.model import REPLACED_MARK
from roamkb.core.model import Node
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Project
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.core.text import strip_hidden
from roamkb.interfaces.output.render import PrintedResult
from roamkb.interfaces.output.render import TerminalStyle
from roamkb.interfaces.output.render import candidate_line
from roamkb.interfaces.output.render import format_location
from roamkb.interfaces.output.render import tags_text
from roamkb.interfaces.output.render import warnings_of
from roamkb.kb import daily as kb_daily
from roamkb.kb import index_admin
from roamkb.kb import links as kb_links
from roamkb.kb import nodes as kb_nodes
from roamkb.kb import show as kb_show
from roamkb.kb import supersede as kb_supersede
from roamkb.kb import tags as kb_tags
from roamkb.kb import trash as kb_trash
from roamkb.kb import write as kb_write
from roamkb.kb.graph import link_graph
from roamkb.kb.notes.store.bibliographies import describe_entry
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.org.syntax.syntax_table import BREAK


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowAnswer:
    """Answer of `show`."""

    node: "kb_show.ShownNode"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashAnswer:
    """Answer of `restore` without an id."""

    trash: tuple[NodeCandidate, ...]


#: Who types it may take it for a note of their own.
_WRITTEN_ADVICE = "tagged agent, as all that roamkb writes: agents may replace it; without the tag it is yours alone"
_PROVENANCE_KEYS = ("CREATED", "AGENT", "PROJECT", "SOURCE", "SUPERSEDED_BY")


def show(result: "kb_show.ShownNode") -> Annotated[PrintedResult, ShowAnswer]:
    """Render a node: its fields and its text."""
    newer = one_line(result.node.properties.get(SUPERSEDED_BY, ""))
    return PrintedResult(
        result=ShowAnswer(node=result),
        text=lambda terminal: _node_text(result, terminal),
        warnings=(_successor_advice(newer, is_there=not result.lacks_successor),) if newer else (),
    )


def _successor_advice(newer: str, *, is_there: bool) -> str:
    if is_there:
        return f"this note was superseded: `roamkb show {newer}` has what replaced it"
    gone = f"this note was superseded by {newer}, which isn't there"
    return f"{gone}: `roamkb restore {newer}` puts it back if it is in the trash"


def _node_text(result: "kb_show.ShownNode", terminal: bool) -> str:
    node = result.node
    style = TerminalStyle(terminal)
    state = " ".join(filter(None, (node.todo, f"[#{node.priority}]" if node.priority else "")))
    head = [
        style.bold(" ".join(filter(None, (state, shorten_title(node.title))))),
        style.cyan(format_location(result.path, node.line)),
    ]
    facts = (
        ("id", node.id),
        ("in", " / ".join(node.olp)),
        ("tags", tags_text(node.tags)),
        ("aliases", "; ".join(node.aliases)),
        ("refs", " ".join(map(str, node.refs))),
        ("scheduled", node.scheduled or ""),
        ("deadline", node.deadline or ""),
        *(("work", f"@{work.entry.key} {describe_entry(work.entry)}") for work in result.works),
        *((key.lower(), node.properties.get(key, "")) for key in _PROVENANCE_KEYS),
    )
    head += [f"{style.dim(name + ':')} {one_line(value)}" for name, value in facts if value]
    return "\n".join([*head, "", strip_hidden(result.body).rstrip("\n")]).rstrip("\n")


def daily(result: "kb_daily.DailyNote") -> PrintedResult:
    """Render a day: its note, and below it what agents did."""

    def render_text(terminal: bool) -> str:
        note = [_node_text(result.node, terminal), ""] if result.node else []
        return "\n".join([*note, *(_act_line(act, result.day) for act in result.acts)]).rstrip("\n")

    missing = () if result.node else (f"there is no daily of {result.day}: no {one_line(str(result.path))}",)
    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if result.node or result.acts else 1,
        warnings=(*missing, *warnings_of(result.skipped)),
    )


def _act_line(act: "kb_daily.AgentAct", day: str) -> str:
    """Return an act's line: its time, and its day where that is another."""
    when = (act.at[11:16] if act.at.startswith(day) else act.at[:10]) or day
    parts = (
        f"by {act.agent}" if act.agent else "",
        f"in {act.project}" if act.project else "",
        f"from {act.learning}" if act.learning else "",
        f"in place of {' and '.join(shorten_title(node.title) for node in act.replaces)}" if act.replaces else "",
        "for this day" if act.is_linked else "",
    )
    said = ", ".join(one_line(part) for part in parts if part)
    return f"{when} {act.what}: {shorten_title(act.title)} ({one_line(act.id)}){f', {said}' if said else ''}"


def _printed_links(result: "kb_links.NodeLinks") -> PrintedResult:
    def render_text(terminal: bool) -> str:
        style = TerminalStyle(terminal)
        lines = [
            f"{mark} {format_location(node.path, node.line)}: {style.bold(shorten_title(node.title))}"
            f" ({one_line(node.id)})"
            for mark, ends in (("->", result.forward), ("<-", result.back), ("<=", result.reflinks))
            for node in ends
        ]
        lines += [
            f"!! {format_location(dead.path, dead.line)}: links to {one_line(dead.id)}, which is no node"
            for dead in result.dangling
        ]
        lines += [f"=> {one_line(link.type)}:{one_line(link.dest)}" for link in result.external]
        lines += [f"=> @{one_line(work.key)}: {_described_work(work)}" for work in result.cited]
        return "\n".join(lines)

    has_links = _has_links(result)
    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if has_links else 1,
        advice="" if has_links else "no links from it or to it",
    )


def _has_links(result: "kb_links.NodeLinks") -> bool:
    both_ways = result.forward or result.back or result.reflinks
    return bool(both_ways or result.dangling or result.external or result.cited)


def _described_work(work: "kb_links.CitedWork") -> str:
    about = f"{shorten_title(work.title)} ({one_line(work.id)})" if work.id else "no note is about it"
    return f"{one_line(describe_entry(work.work.entry))}; {about}" if work.work else about


def links(result: "kb_links.NodeLinks | link_graph.LinkGraph") -> PrintedResult:
    """Render a node's links, or all of them for Graphviz."""
    return _printed_graph(result) if isinstance(result, link_graph.LinkGraph) else _printed_links(result)


def _printed_graph(result: "link_graph.LinkGraph") -> PrintedResult:
    nodes, edges = result.graph.nodes, result.graph.edges

    def render_text(_: bool) -> str:
        node_lines = (f"  {_dot_string(node.id)} [label={_dot_string(node.title)}];" for node in nodes)
        edge_lines = (f"  {_dot_string(source)} -> {_dot_string(dest)};" for source, dest in edges)
        return "\n".join(["digraph roamkb {", "  node [shape=box];", *node_lines, *edge_lines, "}"])

    return PrintedResult(result=result, text=render_text, status=0 if nodes else 1)


def _dot_string(text: str) -> str:
    """Return `text` as Graphviz reads it literally."""
    return '"' + one_line(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def tags(result: "kb_tags.TagList") -> PrintedResult:
    """Render the tags with their counts."""
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(f"{tag_count.nodes:6} {one_line(tag_count.tag)}" for tag_count in result.tags),
        status=0 if result.tags else 1,
    )


def index(result: "index_admin.IndexState") -> PrintedResult:
    """Render the index's location and size."""

    def render_text(_: bool) -> str:
        index_path = one_line(str(result.path)) if result.path else "in memory: it can't be kept here"
        lines = [
            f"{count_phrase(result.notes, 'note')}, {count_phrase(result.entries, 'entry', 'entries')}, "
            f"{count_phrase(result.words, 'word')}, {result.size} bytes",
            index_path,
        ]
        if result.differences is not None:
            lines.append(f"{result.differences} differences from an index made just now")
        return "\n".join(lines)

    return PrintedResult(result=result, text=render_text, status=1 if result.differences else 0)


def nodes(result: "kb_nodes.NodeList") -> PrintedResult:
    """Render every node with its location."""
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(_node_line(result.kb, node) for node in result.nodes),
        status=0 if result.nodes else 1,
        warnings=warnings_of(result.skipped),
    )


def _node_line(kb: Path, node: Node) -> str:
    return f"{format_location(kb / node.file, node.line)}: {shorten_title(node.title)} {tags_text(node.tags)}".rstrip()


def write(result: "kb_write.WrittenNode") -> PrintedResult:
    """Render the path of the written node, or of a dry run's."""

    def render_text(terminal: bool) -> str:
        if result.dry_run:
            # with its zero-width spaces, since they will be there as well
            text = BREAK.join(map(strip_hidden, result.text.split(BREAK)))
            return f"{one_line(str(result.path))} (not written)\n\n{text}".rstrip("\n")
        style = TerminalStyle(terminal)
        return f"{style.cyan(one_line(str(result.path)))}: {style.bold(shorten_title(result.title))} ({result.id})"

    return PrintedResult(result=result, text=render_text, warnings=result.warnings, advice=_WRITTEN_ADVICE)


def supersede(result: "kb_supersede.SupersededNode") -> PrintedResult:
    """Render the new node and the one that it replaced."""
    printed_new = write(result.written)

    def render_text(terminal: bool) -> str:
        return (
            f"{printed_new.text(terminal)}\n  supersedes {shorten_title(result.old.title)} ({one_line(result.old.id)})"
        )

    return PrintedResult(result=result, text=render_text, warnings=printed_new.warnings)


def trash(result: "kb_trash.TrashedNodes") -> PrintedResult:
    """Render the nodes that went to the trash, or would go."""
    verb = "moved to the trash" if result.done else "would be moved to the trash; add --yes to do it"

    def render_text(_terminal: bool) -> str:
        lines = list(map(candidate_line, result.nodes))
        back = f"; `roamkb restore --last{result.kb_option}` brings them back" if result.done and len(lines) > 1 else ""
        return "\n".join([*lines, f"{count_phrase(len(lines), 'node')} {verb}{back}"])

    return PrintedResult(
        result=result, text=render_text, status=0 if result.nodes else 1, warnings=tuple(_dangling_warnings(result))
    )


def _dangling_warnings(result: "kb_trash.TrashedNodes") -> Iterator[str]:
    """Yield warnings about links to a trashed node, with advice."""
    for node in result.linked_from:
        says = "is superseded by" if node in result.replaced else "links to"
        yield (
            f"{shorten_title(node.title)} ({one_line(node.id)}) {says} what {'is' if result.done else 'would be'} in "
            f"the trash: `roamkb restore ID{result.kb_option}` puts that back, or edit the link"
        )


def restore(result: "kb_trash.RestoredNodes") -> "Annotated[PrintedResult, kb_trash.RestoredNodes, TrashAnswer]":
    """Render the nodes that came back, or the content of the trash."""

    def render_text(_terminal: bool) -> str:
        lines = list(map(candidate_line, result.nodes))
        count = count_phrase(len(lines), "node")
        if not lines:
            return ""
        if result.done:
            return "\n".join([*lines, f"{count} put back"])
        # who has seen only the first line must not think that it is done
        command = f"roamkb restore ID{result.kb_option}"
        head = f"{count} in the trash, none put back: `{command}` does one, `--last` the last trashed"
        return "\n".join([head, *lines])

    return PrintedResult(
        result=result if result.done else TrashAnswer(trash=result.nodes),
        text=render_text,
        status=0 if result.nodes else 1,
        warnings=tuple(f"{candidate_line(node)} stays in the trash: {one_line(reason)}" for node, reason in result.left)
        or (() if result.nodes else ("the trash is empty",)),
    )


def inventory(result: "kb_trash.NodeInventory") -> PrintedResult:
    """Render the agents' nodes."""

    def render_text(_terminal: bool) -> str:
        lines = [
            _node_line(result.kb, node) + (REPLACED_MARK if node.id in result.replaced else "") for node in result.nodes
        ]
        lines += [
            f"{format_location(node.path, node.line)}: {shorten_title(node.title)} (the human's now: {node.why}; "
            f"{one_line(node.agent)} wrote it)"
            for node in result.taken_over
        ]
        return "\n".join(lines)

    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if result.nodes or result.taken_over else 1,
        warnings=warnings_of(result.skipped),
    )


def classify(result: Project) -> PrintedResult:
    """Render a project's kind with its reason."""

    def render_text(terminal: bool) -> str:
        style = TerminalStyle(terminal)
        root = one_line(str(result.root)) if result.root else "no project root"
        return f"{style.bold(result.kind.value)}: {root} ({one_line(result.reason)})"

    return PrintedResult(result=result, text=render_text)
