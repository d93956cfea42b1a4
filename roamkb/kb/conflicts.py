"""Conflict copies beside their originals: the difference, the owner of the id, and adoption.

A copy with its original's id is a version of it, for its human to merge. A copy with an id
of its own is another note that lost its name: two machines chose the same one in the same
second (D3). No search finds it until `adopt` gives it a name.
"""

import shlex
from collections import Counter
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from roamkb.boundary.policy import WritePermit
from roamkb.core.errors import NotFound
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.request import KbOption
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.locks import hold_lock
from roamkb.kb.notes.file_names import note_name
from roamkb.kb.notes.passages import creation_time
from roamkb.kb.notes.store.conflict_copies import CopyOnDisk
from roamkb.kb.notes.store.conflict_copies import NoteContent
from roamkb.kb.notes.store.conflict_copies import finish_rename
from roamkb.kb.notes.store.conflict_copies import meant_places
from roamkb.kb.notes.store.conflict_copies import original_place
from roamkb.kb.notes.store.conflict_copies import read_copies
from roamkb.kb.notes.store.conflict_copies import real_place
from roamkb.kb.notes.store.conflict_copies import rename_copy
from roamkb.kb.notes.store.lookup import WholeReading
from roamkb.kb.notes.store.notes import Notes
from roamkb.org.agent_node import is_agent_node
from roamkb.org.slug import slug
from roamkb.text.line_diff import count_line_changes
from roamkb.text.line_diff import differing_lines

#: Returns at least the nodes with some ids, each with its note.
FindNodes = Callable[[Collection[str]], Iterable[tuple[Note, Node]]]


@dataclass(frozen=True, slots=True)
class ConflictsRequest:
    """Options of `conflicts`."""

    file: str | None = optional_argument("Only copies of this file.", metavar="FILE", values="files")
    _: KW_ONLY
    adopt: bool = flag_option(
        "--adopt", "Name copies that have an id of their own, a human's only if FILE says so; add a log's to the log."
    )
    kb: KbOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictCopy:
    """A file that a syncer put aside, whatever it calls it, because two machines changed or created the same note."""

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
    #: Whether all that it held is in `adopted`, and it was removed.
    removed: bool = False
    #: The lines that differ, as `diff -U0 ORIGINAL COPY` prints them; none where the two can't be compared.
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictList:
    """The conflict copies, in the order of paths."""

    JSON = "copies"
    copies: tuple[ConflictCopy, ...]
    #: Whether names were to be given.
    adopting: bool = False


def log_copy(path: Path, original: Path, lacking: int, *, obstacle: str, adopting: bool) -> ConflictCopy:
    """Return a conflict copy of a project's log, which lacks so many lines of it, or lacked them and has them now."""
    is_taken_in = adopting and not obstacle
    to_do = "" if adopting else f"`roamkb conflicts {shlex.quote(str(path))} --adopt` adds them to it"
    return ConflictCopy(
        id=None,
        title="",
        path=path,
        original=original,
        same_id=True,
        lines_added=lacking,
        lines_removed=0,
        obstacle=obstacle or to_do,
        adopted=original if is_taken_in else None,
        removed=is_taken_in,
    )


def conflicts(
    notes: Notes, *, file: str | None = None, folder: Path | None = None, find_nodes: FindNodes | None = None
) -> ConflictList:
    """Return each conflict copy with how it differs from its original.

    With `file`, a copy or an original, only those of that file; `folder` is where relative
    paths start. `find_nodes` spares looking into all notes where what they hold is known.

    Raises:
        NotFound: there is neither a note nor a copy of that name.
    """
    judged = _judge_copies(notes, find_nodes or WholeReading(notes).read_by_ids)
    selected = _select_copies(notes, [copy for _, copy in judged], file, folder)
    return ConflictList(copies=tuple(copy for _, copy in judged if copy in selected))


def adopt_copies(
    notes: Notes,
    permit: WritePermit,
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
    permit.require_direct(notes.kb)
    find_nodes = WholeReading(notes).read_by_ids
    judged = _judge_copies(notes, find_nodes)
    selected = _select_copies(notes, [copy for _, copy in judged], file, folder)
    copies = []
    for on_disk, copy in judged:
        if copy not in selected:
            continue
        if not isinstance(on_disk.content, NoteContent) or not on_disk.content.note.nodes:
            copies.append(copy)
            continue
        is_humans = file is None and not is_agent_node(on_disk.content.note, on_disk.content.note.nodes[0])
        if not is_humans and (renamed := _finish_adoption(notes, on_disk.content, copy, find_nodes, lock_file)):
            copies.append(replace(copy, adopted=renamed, obstacle="", removed=True))
        elif copy.obstacle:
            copies.append(copy)
        elif is_humans:
            by_hand = "is a human note; `roamkb conflicts FILE --adopt` adopts it, or rename it yourself"
            copies.append(replace(copy, obstacle=by_hand))
        else:
            name = _proper_name(on_disk.content.note, now)
            path = rename_copy(notes, copy.path, name, was=on_disk.content.digest, lock=hold_lock(lock_file))
            copies.append(replace(copy, adopted=path))
    return ConflictList(copies=tuple(copies), adopting=True)


def _finish_adoption(
    notes: Notes, content: NoteContent, copy: ConflictCopy, find_nodes: FindNodes, lock_file: Path
) -> Path | None:
    """Return the note that a killed adoption made of the copy, which is removed now; None where there is none."""
    if not copy.obstacle or copy.same_id or copy.id is None:
        return None
    for note, _ in find_nodes([copy.id]):
        renamed = notes.note_path(note)
        if finish_rename(notes, copy.path, renamed, was=content.digest, lock=hold_lock(lock_file)):
            return renamed
    return None


def _judge_copies(notes: Notes, find_nodes: FindNodes) -> list[tuple[CopyOnDisk, ConflictCopy]]:
    """Return each copy on the disk with its description and its obstacle to adoption."""
    on_disk = list(read_copies(notes))
    if not on_disk:
        return []
    shared = Counter(id for copy in on_disk for id in {node.id for node in _content_nodes(copy.content)})
    places = {node.id: notes.note_path(note) for note, node in find_nodes(shared)}
    return [(copy, _judge_copy(copy, places, shared)) for copy in on_disk]


def _judge_copy(copy: CopyOnDisk, places: dict[str, Path], shared: Counter[str]) -> ConflictCopy:
    nodes = _content_nodes(copy.content)
    ids = [node.id for node in nodes]
    same_id = bool({node.id for node in _content_nodes(copy.original_content)}.intersection(ids))
    added, removed = _count_changed_lines(copy)
    return ConflictCopy(
        path=copy.path,
        original=copy.original,
        id=ids[0] if ids else None,
        title=copy.content.note.title if isinstance(copy.content, NoteContent) else "",
        same_id=same_id,
        lines_added=added,
        lines_removed=removed,
        obstacle=_adoption_obstacle(copy, ids, same_id, places, shared),
        diff=_copy_diff(copy),
    )


def _adoption_obstacle(
    copy: CopyOnDisk, ids: Sequence[str], same_id: bool, places: dict[str, Path], shared: Counter[str]
) -> str:
    """Return the reason why the copy can't have a name of its own, as one clause."""
    if isinstance(copy.content, UnreadableFile):
        return copy.content.reason
    if same_id:
        return "is a version of its original: merge what it adds, then delete it"
    if copy.content.note.fault:
        return copy.content.note.fault
    if not ids:
        return "has no id"
    for id in ids:
        if id in places:
            return f"its id is in use: {places[id]}"
        if shared[id] > 1:
            return "another conflict copy has the same id: keep one of them"
    return ""


def _count_changed_lines(copy: CopyOnDisk) -> tuple[int | None, int | None]:
    if isinstance(copy.content, NoteContent) and isinstance(copy.original_content, NoteContent):
        return count_line_changes(copy.original_content.note.text, copy.content.note.text)
    return None, None


def _copy_diff(copy: CopyOnDisk) -> tuple[str, ...]:
    if isinstance(copy.content, NoteContent) and isinstance(copy.original_content, NoteContent):
        return differing_lines(copy.original_content.note.text, copy.content.note.text)
    return ()


def _content_nodes(content: NoteContent | UnreadableFile | None) -> Sequence[Node]:
    return content.note.nodes if isinstance(content, NoteContent) else ()


def _select_copies(
    notes: Notes, copies: Sequence[ConflictCopy], file: str | None, folder: Path | None
) -> Sequence[ConflictCopy]:
    """Return the copies that `file` names, themselves or by their original; all without it."""
    if file is None:
        return copies
    places = meant_places(file, (notes.kb, folder or notes.kb))
    selected = [copy for copy in copies if places.intersection(map(real_place, _copy_and_original(copy)))]
    if not selected and not any(real_place(note.path) in places for note in notes.kb_walk.files):
        raise NotFound(file, kind="note or conflict copy", hint="`roamkb conflicts` lists the copies")
    return selected


def _copy_and_original(copy: ConflictCopy) -> tuple[Path, ...]:
    original = copy.original or original_place(copy.path)
    return (copy.path,) if original is None else (copy.path, original)


def _proper_name(note: Note, now: datetime) -> str:
    """Return the file name that `note` would have got if it had been free in that second."""
    node = note.nodes[0]
    # the copy's name knows the second, CREATED only the minute
    stated = creation_time(note, None) or creation_time(note, node)
    try:
        when = datetime.fromisoformat(stated)
    except ValueError:
        when = now
    # the id may be a stranger's, with a `/` in it
    return note_name(when, slug(node.title), slug(node.id), tail=True)
