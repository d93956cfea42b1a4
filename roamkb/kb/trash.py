"""Agent nodes moved to the trash, listed there, and restored."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from pathlib import Path
from typing import Annotated

from roamkb.boundary.policy import WritePermit
from roamkb.core.errors import NotFound
from roamkb.core.errors import NotWritable
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.errors import tell_progress
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.model import Node
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.request import KbOption
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.fs.files import content_digest
from roamkb.kb.agent_notes import TakenOverNode
from roamkb.kb.agent_notes import get_agent_node
from roamkb.kb.agent_notes import nodes_taken_over
from roamkb.kb.agent_notes import read_again
from roamkb.kb.agent_notes import require_restorable
from roamkb.kb.notes.passages import creation_time
from roamkb.kb.notes.store.lookup import NodeDirectory
from roamkb.kb.notes.store.lookup import NodePair
from roamkb.kb.notes.store.lookup import node_candidate
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.trash import Trash
from roamkb.kb.notes.store.trash import TrashEntry
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.org.agent_node import is_agent_node


@dataclass(frozen=True, slots=True)
class TrashRequest:
    """Options of `trash`."""

    name: str | None = optional_argument("The agent node.", metavar="ID", values="titles")
    _: KW_ONLY
    all_agent: bool = flag_option("--all-agent", "All agent nodes that the filters let through.")
    since: str | None = text_option("--since", "With --all-agent: made on or after this day.", metavar="D")
    from_project: str | None = text_option("--from", "With --all-agent: written from this project.", metavar="PROJECT")
    yes: bool = flag_option("--yes", "With --all-agent: do it, don't only list them.")
    kb: KbOption = None


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """Options of `restore`."""

    name: str | None = optional_argument("The trashed node's id.", metavar="ID")
    _: KW_ONLY
    last: bool = flag_option("--last", "All that the last `trash` moved, one node or many.")
    kb: KbOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryRequest:
    """Options of `inventory`."""

    kb: KbOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashedNodes:
    """The nodes that went to the trash, or would go."""

    JSON = "trashed=nodes done linked_from"
    nodes: tuple[NodeCandidate, ...]
    done: bool
    #: Nodes that stay, and link to one of those.
    linked_from: tuple[NodeCandidate, ...] = ()
    #: Of them, those that say that it replaced them.
    replaced: tuple[NodeCandidate, ...] = ()
    #: What a command says to mean the same knowledge base; empty for the default one.
    kb_option: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredNodes:
    """The nodes that came back, or those in the trash."""

    JSON = "restored=nodes left"
    nodes: tuple[NodeCandidate, ...]
    done: bool
    #: What stays in the trash of all that was to come back, each with the reason.
    left: Annotated[tuple[tuple[NodeCandidate, str], ...], Rows("node reason"), Keys("*node reason")] = ()
    #: As above.
    kb_option: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInventory:
    """Every node that agents wrote, newest first."""

    JSON = "nodes=placed taken_over skipped"
    kb: Path
    nodes: tuple[Node, ...]
    #: Nodes that agents wrote and their human took over: no agent changes them any more.
    taken_over: tuple[TakenOverNode, ...]
    skipped: tuple[UnreadableFile, ...]
    #: Ids of the nodes whose successor is in the knowledge base, as against in the trash.
    replaced: frozenset[str]

    @property
    def placed(self) -> Annotated[list[tuple[Node, Path]], Rows("node path"), Keys("*node path")]:
        """The nodes with their files."""
        return [(node, self.kb / node.file) for node in self.nodes]


def inventory(notes: Notes) -> NodeInventory:
    """Return the agent nodes."""
    contents = notes.read_all().without_copies()
    # CREATED has no seconds, and an id begins with its milliseconds
    pairs = list(contents.node_pairs())
    dated_nodes = [(creation_time(note, node), node.id, node) for note, node in pairs if is_agent_node(note, node)]
    dated_nodes.sort(key=lambda dated_node: dated_node[:2], reverse=True)
    nodes = tuple(node for _, _, node in dated_nodes)
    ids = {node.id for _, node in pairs}
    return NodeInventory(
        kb=notes.kb,
        nodes=nodes,
        replaced=frozenset(node.id for node in nodes if node.properties.get(SUPERSEDED_BY) in ids - {node.id}),
        taken_over=nodes_taken_over(notes, contents),
        skipped=contents.skipped,
    )


def trash(
    directory: NodeDirectory, permit: WritePermit, bin: Trash, name: str, *, folder: Path | None = None
) -> TrashedNodes:
    """Move the agent node called `name` to the trash.

    Raises:
        UsageError: it is the human's, or its file holds other nodes.
        ChangedOnDisk: it changed meanwhile or is open in Emacs.
    """
    notes = directory.notes
    note, node, data = get_agent_node(directory, name, folder=folder)
    _require_alone(note)
    permit.require_direct(notes.kb)
    linking = directory.read_linking(node)
    path, earlier = notes.note_path(note), bin.list_entries()
    bin.trash_note(path, was=content_digest(data), id=node.id, title=node.title, earlier=earlier)
    return _trash_report(notes, [(note, node)], linking, done=True)


def sweep_nodes(
    notes: Notes,
    permit: WritePermit,
    bin: Trash,
    *,
    since: str | None,
    projects: frozenset[str],
    yes: bool,
) -> TrashedNodes:
    """Move to the trash all agent nodes made since a day and written from one of `projects`.

    Without `yes` nothing moves: the result says what would. A node that can't be moved
    stops the sweep with its error; what went before is in the trash and can be restored.
    """
    permit.require_for(notes.kb)

    def passes_filters(note: Note, node: Node) -> bool:
        return (
            is_agent_node(note, node)
            and (since is None or creation_time(note, node) >= since)
            and (not projects or node.properties.get("PROJECT", "").rstrip("/") in projects)
            and len(note.nodes) == 1
        )

    selected = [pair for pair in notes.read_all().without_copies().node_pairs() if passes_filters(*pair)]
    if yes:
        permit.require_direct(notes.kb)
        moved: list[tuple[Note, Node]] = []
        with tell_progress(
            lambda: f"{len(moved)} of {len(selected)} are in the trash, the others are where they were",
            hint="call it again to move the rest; `roamkb restore --last` puts back what was moved",
        ):
            moved.extend(_sweep_files(notes, bin, {note.file for note, _ in selected}, passes_filters))
        selected = moved
    return _trash_report(notes, selected, [*notes.read_all().node_pairs()], done=yes)


def _trash_report(notes: Notes, removed: Sequence[NodePair], others: Iterable[NodePair], *, done: bool) -> TrashedNodes:
    """Return the report on the removed nodes, with those of the others whose links lead nowhere now."""
    ids = {node.id for _, node in removed}
    linking = [
        (note, node)
        for note, node in others
        if node.id not in ids and any(link.type == "id" and link.dest in ids for link in node.links)
    ]
    replaced = [pair for pair in linking if pair[1].properties.get(SUPERSEDED_BY) in ids]
    return TrashedNodes(
        nodes=tuple(node_candidate(notes, note, node) for note, node in removed),
        done=done,
        linked_from=tuple(node_candidate(notes, note, node) for note, node in linking),
        replaced=tuple(node_candidate(notes, note, node) for note, node in replaced),
    )


def _sweep_files(
    notes: Notes, bin: Trash, names: Set[str], passes: Callable[[Note, Node], bool]
) -> Iterator[tuple[Note, Node]]:
    """Move each file whose node still `passes`: a human may have changed it since it was listed."""
    run, earlier = bin.new_run(), bin.list_entries()
    for file in notes.kb_walk.files:
        if file.file not in names:
            continue
        note, data = read_again(notes, file)
        for node in note.nodes:
            if passes(note, node):
                digest = content_digest(data)
                bin.trash_note(file.path, was=digest, id=node.id, title=node.title, run=run, earlier=earlier)
                yield note, node


def restore(directory: NodeDirectory, permit: WritePermit, bin: Trash, id: str) -> RestoredNodes:
    """Put the trashed node `id` back where it was.

    Raises:
        NotFound: it isn't in the trash. UsageError, SecretFound: what lies there isn't what `write` writes.
        NameTaken: another file has its name by now.
    """
    entry = bin.get_entry(id)
    permit.require_direct(directory.notes.kb)
    return RestoredNodes(nodes=(_put_back(directory, bin, entry, _node_places(directory, [entry])),), done=True)


def restore_last(directory: NodeDirectory, permit: WritePermit, bin: Trash) -> RestoredNodes:
    """Restore all that the last call of `trash` moved; list what stays, with the reason.

    Raises:
        NotFound: the trash is empty.
    """
    entries = bin.latest_run()
    if not entries:
        raise NotFound("to restore", kind="node", hint="the trash of this machine is empty")
    permit.require_direct(directory.notes.kb)
    places = _node_places(directory, entries)
    restored: list[NodeCandidate] = []
    remaining: list[tuple[NodeCandidate, str]] = []
    for entry in entries:
        try:
            restored.append(_put_back(directory, bin, entry, places))
        except RoamkbError as error:
            if isinstance(error, NotWritable) and not restored:
                # so it would be with all of them
                raise
            stays = NodeCandidate(id=entry.id, title=entry.title, path=directory.notes.kb / entry.file)
            remaining.append((stays, error.message))
    return RestoredNodes(nodes=tuple(restored), done=True, left=tuple(remaining))


def _node_places(directory: NodeDirectory, entries: Iterable[TrashEntry]) -> dict[str, Path]:
    """Return the paths of nodes, by id: at least of those that have the ids of trashed ones."""
    pairs = directory.read_by_ids({entry.id for entry in entries})
    return {node.id: directory.notes.note_path(note) for note, node in pairs}


def _put_back(directory: NodeDirectory, bin: Trash, entry: TrashEntry, places: Mapping[str, Path]) -> NodeCandidate:
    if entry.id in places:
        if path := bin.finish_restore(entry):
            return NodeCandidate(id=entry.id, title=entry.title, path=path)
        raise UsageError(
            f"{shorten_title(entry.title)} ({one_line(entry.id)}) is in the knowledge base already: "
            f"{one_line(str(places[entry.id]))}",
            hint="two nodes with one id would fight in Emacs",
        )
    data = bin.read_entry(entry)
    require_restorable(directory.notes, entry.file, data, entry.id)
    return NodeCandidate(id=entry.id, title=entry.title, path=bin.restore_entry(entry, data))


def list_trashed(bin: Trash, kb: Path) -> RestoredNodes:
    """Return the nodes in the trash, the latest first."""
    entries: Iterable[NodeCandidate] = (
        NodeCandidate(id=entry.id, title=entry.title, path=kb / entry.file) for entry in bin.list_entries()
    )
    return RestoredNodes(nodes=tuple(entries), done=False)


def _require_alone(note: Note) -> None:
    if len(note.nodes) > 1:
        others = ", ".join(shorten_title(node.title) for node in note.nodes[1:])
        raise UsageError(
            f"{one_line(note.file)} holds other nodes as well: {others}",
            hint="move them to a note of their own in Emacs (org-roam-extract-subtree) first",
        )
