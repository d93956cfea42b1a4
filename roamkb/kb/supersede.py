"""Replacement of an agent node by a new one; the old one stays and names its successor."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Annotated

from roamkb.boundary.policy import WritePermit
from roamkb.core.errors import DiskError
from roamkb.core.errors import NearDuplicate
from roamkb.core.errors import NotDurable
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.model import Node
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Note
from roamkb.core.request import Argument
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.fs import files as disk
from roamkb.kb.agent_notes import file_of
from roamkb.kb.agent_notes import get_agent_node
from roamkb.kb.notes.store.lookup import node_candidate
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.own_writes import OwnWrite
from roamkb.kb.notes.store.own_writes import record_own_writes
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.index.node_directory import IndexDirectory
from roamkb.kb.write import ContentOptions
from roamkb.kb.write import NodeContent
from roamkb.kb.write import NodeStamp
from roamkb.kb.write import PlannedNode
from roamkb.kb.write import WriteOptions
from roamkb.kb.write import WrittenNode
from roamkb.kb.write import find_written_before
from roamkb.kb.write import plan_write
from roamkb.kb.write import write_planned
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.org.coding import decode_note
from roamkb.org.writer import append_link
from roamkb.org.writer import insert_property


@dataclass(frozen=True, slots=True)
class SupersedeRequest(ContentOptions):
    """Options of `supersede`."""

    name: Annotated[str, Argument("The agent node to replace.", metavar="ID", values="titles")]
    title: Annotated[str, Argument("The fact in one line.", metavar="TITLE")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersededNode:
    """The new node and the replaced node."""

    JSON = "*written supersedes=old"
    written: WrittenNode
    old: NodeCandidate


def supersede(
    notes: Notes,
    index: Index,
    permit: WritePermit,
    name: str,
    fact: NodeContent,
    stamp: NodeStamp,
    options: WriteOptions,
    *,
    lock: AbstractContextManager[object],
) -> SupersededNode:
    """Write `fact` and mark the agent node called `name` as superseded by it; both or neither.

    Where an earlier call was killed between the two, the same call marks the old node and writes nothing twice.
    `NotDurable` means both, as far as anybody can see now.

    Raises:
        UsageError: the old node is the human's, or superseded already.
        ChangedOnDisk: the old node changed meanwhile or is open in Emacs.
        and what `write` raises.
    """
    directory = IndexDirectory(index, notes)
    note, old_node, data = get_agent_node(directory, name, folder=options.folder)
    if newer := old_node.properties.get(SUPERSEDED_BY):
        is_there = any(node.id == newer for _, node in directory.read_by_ids((newer,)))
        raise UsageError(
            f"{shorten_title(old_node.title)} is superseded already"
            + ("" if is_there else f", by {one_line(newer)}, which isn't there any more"),
            hint=f"supersede {one_line(newer)} instead"
            if is_there
            else f"`roamkb restore {one_line(newer)}` puts it back if it is in the trash; or trash this one "
            "and write the fact anew",
        )
    fact = _inherit(fact, old_node)
    path = notes.note_path(note)
    text = _exact_text(path, data)
    planned, earlier = _plan_successor(partial(plan_write, notes, index, permit, fact, stamp), options, old_node)
    written = earlier or planned.node
    marked = _marked_text(notes, note, old_node, text, written)
    if not options.dry_run:
        permit.require_direct(notes.kb)
        mark = partial(_swap_marked, notes, path, marked.encode(), was=disk.content_digest(data), lock=lock)
        if earlier:
            mark()
        else:
            written = _put_and_mark(notes, permit, planned, mark)
    return SupersededNode(written=written, old=node_candidate(notes, note, old_node))


def _inherit(fact: NodeContent, old_node: Node) -> NodeContent:
    """Return `fact` with what it doesn't say of tags, aliases and refs as the old node had them."""
    return replace(
        fact,
        tags=fact.tags or old_node.tags,
        aliases=fact.aliases or old_node.aliases,
        refs=fact.refs or tuple(map(str, old_node.refs)),
    )


def _plan_successor(
    plan: Callable[..., PlannedNode], options: WriteOptions, old_node: Node
) -> tuple[PlannedNode, WrittenNode | None]:
    """Return the plan, and the same node where an earlier call wrote it and was killed before the mark."""
    try:
        return plan(replace(options, anyway=False), supersedes=old_node), None
    except NearDuplicate as error:
        planned = plan(replace(options, anyway=True), supersedes=old_node)
        if earlier := find_written_before(planned.node, error.candidates):
            return planned, replace(earlier, warnings=(), dry_run=options.dry_run)
        if not options.anyway:
            raise
        return planned, None


def _swap_marked(notes: Notes, path: Path, data: bytes, *, was: str, lock: AbstractContextManager[object]) -> None:
    with record_own_writes(notes.own, OwnWrite(path=path, was=was, now=disk.content_digest(data))):
        disk.swap_file(path, data, expected_digest=was, lock=lock)


def _marked_text(notes: Notes, note: Note, old_node: Node, text: str, new_node: WrittenNode) -> str:
    """Return `text` with the property and the link, after our own reader found both in the old node."""
    text = insert_property(text, SUPERSEDED_BY, new_node.id)
    text = append_link(text, "superseded by", id=new_node.id, title=new_node.title)
    reread_note = notes.parse_text(file_of(notes, note), decode_note(text.encode())[0])
    nodes = reread_note.nodes if [node.id for node in reread_note.nodes] == [node.id for node in note.nodes] else ()
    for node in nodes:
        links = (link.dest for link in node.links if link.type == "id")
        if node.id == old_node.id and node.properties.get(SUPERSEDED_BY) == new_node.id and new_node.id in links:
            return text
    raise UsageError(
        f"{one_line(note.file)} would not read back as superseded; nothing was written",
        hint="something in its drawer or text hides the new lines; look at it in Emacs",
    )


def _put_and_mark(notes: Notes, permit: WritePermit, planned: PlannedNode, mark: Callable[[], None]) -> WrittenNode:
    """Write the new node and mark the replaced node.

    Where the disk won't promise to keep the new one, it is there all the same, so the old one
    is marked as well before the error goes on: two nodes that both claim to hold would be worse.
    """
    try:
        written = write_planned(notes, permit, planned)
    except NotDurable as error:
        _mark_or_take_back(notes, mark, error.path, planned.node.text)
        raise
    _mark_or_take_back(notes, mark, written.path, written.text)
    return written


def _mark_or_take_back(notes: Notes, mark: Callable[[], None], new_path: Path, text: str) -> None:
    try:
        mark()
    except NotDurable:
        # the old node points to the new one by now
        raise
    except RoamkbError:
        _take_back(notes, new_path, text)
        raise


def _exact_text(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DiskError(path, "isn't valid UTF-8, so roamkb never rewrites it") from error


def _take_back(notes: Notes, new_path: Path, text: str) -> None:
    """Remove the new node, unless it was changed since."""
    if disk.read_file(new_path) == text.encode():
        with record_own_writes(notes.own, OwnWrite(path=new_path, was=disk.content_digest(text.encode()))):
            disk.discard_file(new_path)
