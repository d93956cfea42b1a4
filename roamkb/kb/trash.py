"""Take agent nodes out of the knowledge base, list them, put them back."""

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
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.model import Node
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.request import argument
from roamkb.core.request import option
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import headline
from roamkb.core.text import shown
from roamkb.fs.files import digest
from roamkb.kb.agent_notes import SUPERSEDED_BY
from roamkb.kb.agent_notes import get_agent_node
from roamkb.kb.agent_notes import read_again
from roamkb.kb.notes.passages import created
from roamkb.kb.notes.store.lookup import candidate
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.trash import Trash
from roamkb.kb.notes.store.trash import TrashEntry
from roamkb.org.agent_node import is_agent_node


@dataclass(frozen=True, slots=True)
class TrashRequest:
    """What `trash` takes."""

    name: str | None = argument("The agent node.", metavar="ID")
    _: KW_ONLY
    all_agent: bool = switch("--all-agent", "All agent nodes that the filters let through.")
    since: str | None = option("--since", "With --all-agent: made on or after this day.", metavar="D")
    from_project: str | None = option(
        "--from", "With --all-agent: written from this project.", metavar="PROJECT"
    )
    yes: bool = switch("--yes", "With --all-agent: do it, don't only list them.")


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """What `restore` takes."""

    name: str | None = argument("The trashed node's id.", metavar="ID")
    _: KW_ONLY
    last: bool = switch("--last", "All that the last `trash` moved, one node or many.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashedNodes:
    """What went to the trash, or would go."""

    JSON = "trashed=nodes done linked_from"
    nodes: tuple[NodeCandidate, ...]
    done: bool
    #: Nodes that stay, and link to one of those.
    linked_from: tuple[NodeCandidate, ...] = ()
    #: Of them, those that say that it replaced them.
    replaced: tuple[NodeCandidate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredNodes:
    """What came back, or what is in the trash."""

    JSON = "restored=nodes left"
    nodes: tuple[NodeCandidate, ...]
    done: bool
    #: What stays in the trash of all that was to come back, each with the reason.
    left: Annotated[tuple[tuple[NodeCandidate, str], ...], Rows("node reason"), Keys("*node reason")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInventory:
    """Every node that agents wrote, newest first."""

    JSON = "nodes=placed skipped"
    kb: Path
    nodes: tuple[Node, ...]
    skipped: tuple[UnreadableFile, ...]

    @property
    def placed(self) -> Annotated[list[tuple[Node, Path]], Rows("node path"), Keys("*node path")]:
        """The nodes with their files."""
        return [(node, self.kb / node.file) for node in self.nodes]


def inventory(notes: Notes) -> NodeInventory:
    """Return the agent nodes."""
    contents = notes.read_all()
    # CREATED has no seconds, and an id begins with its milliseconds
    found = [
        (created(note, node), node.id, node) for note, node in contents.nodes() if is_agent_node(note, node)
    ]
    found.sort(key=lambda made: made[:2], reverse=True)
    return NodeInventory(kb=notes.kb, nodes=tuple(node for _, _, node in found), skipped=contents.skipped)


def trash(
    notes: Notes, _permit: WritePermit, bin: Trash, name: str, *, folder: Path | None = None
) -> TrashedNodes:
    """Move the agent node called `name` to the trash.

    Raises:
        UsageError: it is the human's, or its file holds other nodes.
        ChangedOnDisk: it changed meanwhile or is open in Emacs.
    """
    note, node, data = get_agent_node(notes, name, folder=folder)
    _require_alone(note)
    bin.put(notes.path(note), was=digest(data), id=node.id, title=node.title)
    return _trashed(notes, [(note, node)], done=True)


def sweep(
    notes: Notes,
    _permit: WritePermit,
    bin: Trash,
    *,
    since: str | None,
    projects: frozenset[str],
    yes: bool,
) -> TrashedNodes:
    """Move all agent nodes to the trash that were made since a day and written from one of `projects`.

    Without `yes` nothing moves: the result says what would. A node that can't be moved
    stops the sweep with its error; what went before is in the trash and can be restored.
    """

    def passes(note: Note, node: Node) -> bool:
        return (
            is_agent_node(note, node)
            and (since is None or created(note, node) >= since)
            and (not projects or node.properties.get("PROJECT", "").rstrip("/") in projects)
            and len(note.nodes) == 1
        )

    found = [pair for pair in notes.read_all().nodes() if passes(*pair)]
    if yes:
        found = list(_swept(notes, bin, {note.file for note, _ in found}, passes))
    return _trashed(notes, found, done=yes)


def _trashed(notes: Notes, gone: Sequence[tuple[Note, Node]], *, done: bool) -> TrashedNodes:
    """Return the report on what is `gone`, with the nodes whose links lead nowhere by that."""
    ids = {node.id for _, node in gone}
    linking = [
        (note, node)
        for note, node in notes.read_all().nodes()
        if node.id not in ids and any(link.type == "id" and link.dest in ids for link in node.links)
    ]
    replaced = [pair for pair in linking if pair[1].properties.get(SUPERSEDED_BY) in ids]
    return TrashedNodes(
        nodes=tuple(candidate(notes, note, node) for note, node in gone),
        done=done,
        linked_from=tuple(candidate(notes, note, node) for note, node in linking),
        replaced=tuple(candidate(notes, note, node) for note, node in replaced),
    )


def _swept(
    notes: Notes, bin: Trash, names: Set[str], passes: Callable[[Note, Node], bool]
) -> Iterator[tuple[Note, Node]]:
    """Move what still `passes`: a human may have made one of them their own since it was listed."""
    run = bin.new_run()
    for file in notes.walk.files:
        if file.file not in names:
            continue
        note, data = read_again(notes, file)
        for node in note.nodes:
            if passes(note, node):
                bin.put(file.path, was=digest(data), id=node.id, title=node.title, run=run)
                yield note, node


def restore(notes: Notes, _permit: WritePermit, bin: Trash, id: str) -> RestoredNodes:
    """Put the trashed node `id` back where it was.

    Raises:
        NotFound: it isn't in the trash.
        NameTaken: another file has its name by now.
    """
    return RestoredNodes(nodes=(_put_back(bin, bin.get(id), _places(notes)),), done=True)


def restore_last(notes: Notes, _permit: WritePermit, bin: Trash) -> RestoredNodes:
    """Put back all that the last call of `trash` moved; what can't come back stays, with the reason.

    Raises:
        NotFound: the trash is empty.
    """
    entries = bin.last()
    if not entries:
        raise NotFound("the last one", what="trashed node", hint="the trash of this machine is empty")
    places = _places(notes)
    back: list[NodeCandidate] = []
    left: list[tuple[NodeCandidate, str]] = []
    for entry in entries:
        try:
            back.append(_put_back(bin, entry, places))
        except RoamkbError as error:
            if isinstance(error, NotWritable) and not back:
                # so it would be with all of them
                raise
            stays = NodeCandidate(id=entry.id, title=entry.title, path=notes.kb / entry.file)
            left.append((stays, error.message))
    return RestoredNodes(nodes=tuple(back), done=True, left=tuple(left))


def _places(notes: Notes) -> dict[str, Path]:
    """Return where each node is."""
    return {node.id: notes.path(note) for note, node in notes.read_all().nodes()}


def _put_back(bin: Trash, entry: TrashEntry, places: Mapping[str, Path]) -> NodeCandidate:
    if entry.id in places:
        raise UsageError(
            f"{headline(entry.title)} ({shown(entry.id)}) is in the knowledge base already: "
            f"{shown(str(places[entry.id]))}",
            hint="two nodes with one id would fight in Emacs",
        )
    return NodeCandidate(id=entry.id, title=entry.title, path=bin.restore(entry))


def trashed(bin: Trash, kb: Path) -> RestoredNodes:
    """Return what is in the trash, the latest first."""
    entries: Iterable[NodeCandidate] = (
        NodeCandidate(id=entry.id, title=entry.title, path=kb / entry.file) for entry in bin.entries()
    )
    return RestoredNodes(nodes=tuple(entries), done=False)


def _require_alone(note: Note) -> None:
    if len(note.nodes) > 1:
        others = ", ".join(headline(node.title) for node in note.nodes[1:])
        raise UsageError(
            f"{shown(note.file)} holds other nodes as well: {others}",
            hint="move them to a note of their own in Emacs (org-roam-extract-subtree) first",
        )
