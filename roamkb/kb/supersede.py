"""Replace an agent node by a new one; the old one stays, and says what replaced it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Annotated

from roamkb.boundary.policy import WritePermit
from roamkb.core.errors import DiskError
from roamkb.core.errors import NotDurable
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.model import Node
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Note
from roamkb.core.request import Argument
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import headline
from roamkb.core.text import shown
from roamkb.fs import files as disk
from roamkb.kb.agent_notes import SUPERSEDED_BY
from roamkb.kb.agent_notes import file_of
from roamkb.kb.agent_notes import get_agent_node
from roamkb.kb.notes.store.lookup import candidate
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.own_writes import OwnWrite
from roamkb.kb.notes.store.own_writes import recorded
from roamkb.kb.search.index.index import Index
from roamkb.kb.write import ContentOptions
from roamkb.kb.write import NodeContent
from roamkb.kb.write import NodeStamp
from roamkb.kb.write import PlannedNode
from roamkb.kb.write import WriteOptions
from roamkb.kb.write import WrittenNode
from roamkb.kb.write import plan_write
from roamkb.kb.write import put
from roamkb.org.coding import decode_note
from roamkb.org.writer import append_link
from roamkb.org.writer import insert_property


@dataclass(frozen=True, slots=True)
class SupersedeRequest(ContentOptions):
    """What `supersede` takes."""

    name: Annotated[str, Argument("The agent node to replace.", metavar="ID")]
    title: Annotated[str, Argument("The fact in one line.", metavar="TITLE")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersededNode:
    """The new node and the one that it replaces."""

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

    `NotDurable` means both, as far as anybody can see now.

    Raises:
        UsageError: the old node is the human's, or superseded already.
        ChangedOnDisk: the old node changed meanwhile or is open in Emacs.
        and what `write` raises.
    """
    note, old, data = get_agent_node(notes, name, folder=options.folder)
    if newer := old.properties.get(SUPERSEDED_BY):
        is_there = any(node.id == newer for _, node in notes.read_all().nodes())
        raise UsageError(
            f"{headline(old.title)} is superseded already"
            + ("" if is_there else f", by {shown(newer)}, which isn't there any more"),
            hint=f"supersede {shown(newer)} instead"
            if is_there
            else f"`roamkb restore {shown(newer)}` puts it back if it is in the trash; or write the fact "
            "anew and trash this one",
        )
    path = notes.path(note)
    text = _exact_text(path, data)
    planned = plan_write(notes, index, permit, fact, stamp, options, supersedes=old)
    marked = _marked(notes, note, old, text, planned.node)
    written = planned.node
    if not options.dry_run:
        mark = partial(_mark, notes, path, marked.encode(), was=disk.digest(data), lock=lock)
        written = _put_and_mark(notes, permit, planned, mark)
    return SupersededNode(written=written, old=candidate(notes, note, old))


def _mark(notes: Notes, path: Path, data: bytes, *, was: str, lock: AbstractContextManager[object]) -> None:
    with recorded(notes.own, OwnWrite(path=path, was=was, now=disk.digest(data))):
        disk.swap(path, data, was=was, lock=lock)


def _marked(notes: Notes, note: Note, old: Node, text: str, new: WrittenNode) -> str:
    """Return `text` with the property and the link, which our own reader must find in the old node."""
    text = insert_property(text, SUPERSEDED_BY, new.id)
    text = append_link(text, "superseded by", id=new.id, title=new.title)
    read = notes.parse(file_of(notes, note), decode_note(text.encode())[0])
    nodes = read.nodes if [node.id for node in read.nodes] == [node.id for node in note.nodes] else ()
    for node in nodes:
        links = (link.dest for link in node.links if link.type == "id")
        if node.id == old.id and node.properties.get(SUPERSEDED_BY) == new.id and new.id in links:
            return text
    raise UsageError(
        f"{shown(note.file)} would not read back as superseded; nothing was written",
        hint="something in its drawer or text hides the new lines; look at it in Emacs",
    )


def _put_and_mark(
    notes: Notes, permit: WritePermit, planned: PlannedNode, mark: Callable[[], None]
) -> WrittenNode:
    """Write the new node and mark the old one.

    Where the disk won't promise to keep the new one, it is there all the same, so the old one
    is marked as well before the error goes on: two nodes that both claim to hold would be worse.
    """
    try:
        written = put(notes, permit, planned)
    except NotDurable as error:
        _mark_or_take_back(notes, mark, error.path, planned.node.text)
        raise
    _mark_or_take_back(notes, mark, written.path, written.text)
    return written


def _mark_or_take_back(notes: Notes, mark: Callable[[], None], new: Path, text: str) -> None:
    try:
        mark()
    except NotDurable:
        # the old node points to the new one by now
        raise
    except RoamkbError:
        _take_back(notes, new, text)
        raise


def _exact_text(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DiskError(path, "isn't valid UTF-8, so roamkb never rewrites it") from error


def _take_back(notes: Notes, new: Path, text: str) -> None:
    """Remove the new node, unless somebody touched it."""
    if disk.read_file(new) == text.encode():
        with recorded(notes.own, OwnWrite(path=new, was=disk.digest(text.encode()))):
            disk.discard(new)
