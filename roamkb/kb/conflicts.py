"""Conflict copies beside their originals: what differs, whose id it is, and a name for the lost ones.

A copy with its original's id is a version of it, for its human to merge. A copy with an id
of its own is another note that lost its name: two machines chose the same one in the same
second (D3). No search finds it until `adopt` gives it a name.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from roamkb.boundary.policy import WritePermit
from roamkb.core.errors import NotFound
from roamkb.core.line_diff import differing_lines
from roamkb.core.line_diff import line_changes
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.request import argument
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.locks import lock
from roamkb.kb.notes.file_names import note_name
from roamkb.kb.notes.passages import created
from roamkb.kb.notes.store.conflict_copies import CopyOnDisk
from roamkb.kb.notes.store.conflict_copies import NoteContent
from roamkb.kb.notes.store.conflict_copies import meant_places
from roamkb.kb.notes.store.conflict_copies import original_place
from roamkb.kb.notes.store.conflict_copies import read_copies
from roamkb.kb.notes.store.conflict_copies import real_place
from roamkb.kb.notes.store.conflict_copies import rename_copy
from roamkb.kb.notes.store.notes import Notes
from roamkb.org.agent_node import is_agent_node
from roamkb.org.slug import slug


@dataclass(frozen=True, slots=True)
class ConflictsRequest:
    """What `conflicts` takes."""

    file: str | None = argument("Only copies of this file.", metavar="FILE")
    _: KW_ONLY
    adopt: bool = switch(
        "--adopt", "Name copies that have an id of their own; a human's only if FILE says so."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictCopy:
    """What a syncer put aside when two machines had changed, or made, the same file."""

    #: The copy's first node; None and empty where there is none to be read.
    id: str | None
    title: str
    path: Path
    #: None where it is gone, or the copy's name doesn't tell.
    original: Path | None
    #: Whether it is a version of its original, and not a note of its own.
    same_id: bool
    #: Against the original; None where the two can't be compared.
    lines_added: int | None
    lines_removed: int | None
    #: What stands in the way of a name of its own; empty where `adopt` would give it one.
    obstacle: str
    #: The name that `adopt` gave it.
    adopted: Path | None = None
    #: The lines that differ, as `diff -U0 ORIGINAL COPY` prints them; none where the two can't be compared.
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictList:
    """The conflict copies, in the order of paths."""

    JSON = "copies"
    copies: tuple[ConflictCopy, ...]
    #: Whether names were to be given.
    adopting: bool = False


def conflicts(notes: Notes, *, file: str | None = None, folder: Path | None = None) -> ConflictList:
    """Return each conflict copy with how it differs from its original.

    With `file`, a copy or an original, only those of that file; `folder` is where relative
    paths start.

    Raises:
        NotFound: there is neither a note nor a copy of that name.
    """
    found = _judged(notes)
    meant = _meant(notes, [copy for _, copy in found], file, folder)
    return ConflictList(copies=tuple(copy for _, copy in found if copy in meant))


def adopt(
    notes: Notes,
    _permit: WritePermit,
    *,
    lock_file: Path,
    now: datetime,
    file: str | None = None,
    folder: Path | None = None,
) -> ConflictList:
    """Give each conflict copy with an id of its own a proper name; its bytes stay as they are.

    Without `file` only what agents wrote is adopted. Whoever names a copy may have a human
    note adopted as well: it is renamed, never opened for writing.

    Raises:
        ChangedOnDisk, NameTaken, Busy: that copy is as it was; those before it have their names.
        NotDurable: it has its name, and the disk would not promise to keep it.
    """
    found = _judged(notes)
    meant = _meant(notes, [copy for _, copy in found], file, folder)
    copies = []
    for on_disk, copy in found:
        if copy not in meant:
            continue
        if copy.obstacle or not isinstance(on_disk.held, NoteContent):
            copies.append(copy)
        elif file is None and not is_agent_node(on_disk.held.note, on_disk.held.note.nodes[0]):
            by_hand = "is a human note; `roamkb conflicts FILE --adopt` adopts it, or rename it yourself"
            copies.append(replace(copy, obstacle=by_hand))
        else:
            name = _proper_name(on_disk.held.note, now)
            path = rename_copy(notes, copy.path, name, was=on_disk.held.digest, lock=lock(lock_file))
            copies.append(replace(copy, adopted=path))
    return ConflictList(copies=tuple(copies), adopting=True)


def _judged(notes: Notes) -> list[tuple[CopyOnDisk, ConflictCopy]]:
    """Return each copy on the disk, and what is to be said of it."""
    on_disk = list(read_copies(notes))
    if not on_disk:
        return []
    places = {node.id: notes.path(note) for note, node in notes.read_all().nodes()}
    shared = Counter(id for copy in on_disk for id in {node.id for node in _nodes(copy.held)})
    return [(copy, _judge(copy, places, shared)) for copy in on_disk]


def _judge(copy: CopyOnDisk, places: dict[str, Path], shared: Counter[str]) -> ConflictCopy:
    nodes = _nodes(copy.held)
    ids = [node.id for node in nodes]
    same_id = bool({node.id for node in _nodes(copy.original_held)}.intersection(ids))
    added, removed = _changes(copy)
    return ConflictCopy(
        path=copy.path,
        original=copy.original,
        id=ids[0] if ids else None,
        title=copy.held.note.title if isinstance(copy.held, NoteContent) else "",
        same_id=same_id,
        lines_added=added,
        lines_removed=removed,
        obstacle=_obstacle(copy, ids, same_id, places, shared),
        diff=_diff(copy),
    )


def _obstacle(
    copy: CopyOnDisk, ids: Sequence[str], same_id: bool, places: dict[str, Path], shared: Counter[str]
) -> str:
    """Return why the copy can't have a name of its own, one clause."""
    if isinstance(copy.held, UnreadableFile):
        return copy.held.reason
    if same_id:
        return "is a version of its original: merge what it adds, then delete it"
    if copy.held.note.fault:
        return copy.held.note.fault
    if not ids:
        return "has no id"
    for id in ids:
        if id in places:
            return f"its id is in use: {places[id]}"
        if shared[id] > 1:
            return "another conflict copy has the same id: keep one of them"
    return ""


def _changes(copy: CopyOnDisk) -> tuple[int | None, int | None]:
    if isinstance(copy.held, NoteContent) and isinstance(copy.original_held, NoteContent):
        return line_changes(copy.original_held.note.text, copy.held.note.text)
    return None, None


def _diff(copy: CopyOnDisk) -> tuple[str, ...]:
    if isinstance(copy.held, NoteContent) and isinstance(copy.original_held, NoteContent):
        return differing_lines(copy.original_held.note.text, copy.held.note.text)
    return ()


def _nodes(held: NoteContent | UnreadableFile | None) -> Sequence[Node]:
    return held.note.nodes if isinstance(held, NoteContent) else ()


def _meant(
    notes: Notes, copies: Sequence[ConflictCopy], file: str | None, folder: Path | None
) -> Sequence[ConflictCopy]:
    """Return the copies that `file` names, themselves or by their original; all without it."""
    if file is None:
        return copies
    places = meant_places(file, (notes.kb, folder or notes.kb))
    meant = [copy for copy in copies if places.intersection(map(real_place, _names(copy)))]
    if not meant and not any(real_place(note.path) in places for note in notes.walk.files):
        raise NotFound(file, what="note or conflict copy", hint="`roamkb conflicts` lists the copies")
    return meant


def _names(copy: ConflictCopy) -> tuple[Path, ...]:
    original = original_place(copy.path)
    return (copy.path,) if original is None else (copy.path, original)


def _proper_name(note: Note, now: datetime) -> str:
    """Return the name that `note` would have got, had nobody else chosen it in that second."""
    node = note.nodes[0]
    # the copy's name knows the second, CREATED only the minute
    stated = created(note, None) or created(note, node)
    try:
        when = datetime.fromisoformat(stated)
    except ValueError:
        when = now
    return note_name(when, slug(node.title), node.id, tail=True)
