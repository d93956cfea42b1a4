"""The command `snapshot`: copies of a project's log and of agents' notes, to restore what is lost.

A log's snapshots lie in its own local state, those of agent nodes in the user's state folder:
nothing of a project's leaves its tree, and nothing of a human's is in either.
"""

import contextlib
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated
from typing import Final

from roamkb.boundary.policy import WritePermit
from roamkb.core.errors import DurabilityDoubts
from roamkb.core.errors import NameTaken
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.core.errors import tell_progress
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.progress import counted
from roamkb.core.request import Option
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import count_phrase
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_bytes
from roamkb.fs.files import random_token
from roamkb.fs.files import read_file
from roamkb.kb.agent_notes import parse_agent_note
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.trash import Trash
from roamkb.kb.notes.store.walk import check_kb
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log
from roamkb.sharing.store.snapshot_archive import Snapshot
from roamkb.sharing.store.snapshot_archive import get_snapshot
from roamkb.sharing.store.snapshot_archive import has_snapshot_of_day
from roamkb.sharing.store.snapshot_archive import list_archives
from roamkb.sharing.store.snapshot_archive import read_members
from roamkb.sharing.store.snapshot_archive import save_snapshot
from roamkb.sharing.store.snapshot_archive import snapshot_id

_SNAPSHOTS_FOLDER: Final = "snapshots"


@dataclass(frozen=True, slots=True)
class SnapshotRequest:
    """The options of `snapshot`."""

    action: str | None = optional_argument(
        "list or restore; without it, make one.", metavar="ACTION", values=("list", "restore")
    )
    name: str | None = optional_argument("restore: the snapshot's id (the latest).", metavar="ID")
    _: KW_ONLY
    kb: Annotated[
        str | None,
        Option(
            "--kb",
            "The agents' notes of that knowledge base alone; all: of each, beside the log (the log and the default).",
            metavar="NAME",
        ),
    ] = None
    daily: bool = flag_option("--daily", "Make none where there is one of today.")
    yes: bool = flag_option("--yes", "restore: do it, don't only say what is lost.")


@dataclass(frozen=True, slots=True, kw_only=True)
class KbSnapshotSource:
    """A personal project's permit, notes and trash, for snapshots of what agents wrote."""

    notes: Notes
    permit: WritePermit
    trash: Trash
    #: Where its snapshots lie.
    folder: Path
    #: What they are called: "kb", or "kb/club" of one with a name.
    what: str = "kb"


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotsTaken:
    """The snapshots that were made, and the reasons why others weren't."""

    made: tuple[Snapshot, ...]
    #: What, and why not: "log", "kb" or "kb/NAME", one clause.
    skipped: Annotated[tuple[tuple[str, str], ...], Rows("what reason")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotList:
    """The existing snapshots, the latest first."""

    snapshots: tuple[Snapshot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverResult:
    """The lost learnings, events and notes of a snapshot, and whether they were restored."""

    snapshots: tuple[Snapshot, ...]
    learnings: Annotated[tuple[Learning, ...], Keys("id key content")]
    events: Annotated[tuple[LedgerEvent, ...], len]
    nodes: tuple[NodeCandidate, ...]
    #: Notes whose place another file has by now.
    taken: tuple[Path, ...] = ()
    #: What there is no snapshot of: "log", "kb", "kb/NAME".
    without: tuple[str, ...] = ()
    done: bool


def snapshot_folder(log: Log) -> Path:
    """Return the folder of the log's snapshots."""
    return log.local_folder / _SNAPSHOTS_FOLDER


def take_snapshot(
    log: Log | None,
    kbs: Sequence[KbSnapshotSource],
    *,
    now: datetime,
    daily: bool = False,
    token: Callable[[], str] = random_token,
) -> SnapshotsTaken:
    """Save a snapshot of the log and of the agents' notes in each of `kbs`; with `daily`, once a day.

    Raises:
        DiskError, Busy: it couldn't be kept. NotDurable: it was, and the disk wouldn't promise to keep it.
    """
    id = snapshot_id(now, token())
    snapshots_made: list[Snapshot] = []
    skipped: list[tuple[str, str]] = []

    def take_one(source: str, folder: Path, members: Callable[[], Mapping[str, bytes]]) -> None:
        if daily and has_snapshot_of_day(folder, now):
            skipped.append((source, "there is one of today"))
            return
        contents = members()
        if not contents:
            skipped.append((source, "there is nothing to keep"))
        elif snapshot := save_snapshot(folder, contents, source=source, id=id, now=now):
            snapshots_made.append(snapshot)
        else:
            skipped.append((source, "nothing changed since the latest"))

    if log is not None:
        take_one("log", snapshot_folder(log), lambda: _log_members(log))
    for kb in kbs:
        try:
            take_one(kb.what, kb.folder, partial(_read_agent_notes, kb.notes))
        except NoKnowledgeBase as error:
            skipped.append((kb.what, error.message))
    return SnapshotsTaken(made=tuple(snapshots_made), skipped=tuple(skipped))


def list_snapshots(log: Log | None, kbs: Sequence[KbSnapshotSource]) -> SnapshotList:
    """Return the snapshots of the log and of the agents' notes."""
    folders = ([snapshot_folder(log)] if log else []) + [kb.folder for kb in kbs]
    all_snapshots = [snapshot for folder in folders for snapshot in list_archives(folder)]
    return SnapshotList(snapshots=tuple(sorted(all_snapshots, key=lambda snapshot: snapshot.id, reverse=True)))


def restore_snapshot(
    log: Log | None, kb: KbSnapshotSource | None, id: str | None, *, yes: bool = False
) -> RecoverResult:
    """Restore what is in the snapshot `id`, or the latest, and nowhere else any more.

    Nothing that is there is changed: lost lines are appended to the log, lost notes made anew
    unless they are in the trash. Without `yes` it only says what would be done.

    Raises:
        NotFound: no such snapshot. DiskError: it is damaged; nothing was put back.
    """
    log_snapshot = _find_chosen(snapshot_folder(log), id) if log else None
    kb_snapshot = _find_chosen(kb.folder, id) if kb else None
    if log_snapshot is None and kb_snapshot is None:
        raise NotFound(id or "", kind="snapshot", hint="`roamkb snapshot` makes one, `roamkb snapshot list` shows them")
    # both are read before anything is put back: a damaged one stops all
    of_log_members = read_members(log_snapshot) if log_snapshot else {}
    of_kb_members = read_members(kb_snapshot) if kb_snapshot else {}
    lines = _lost_lines(log, of_log_members) if log else _LostLines()
    notes = _lost_notes(kb, of_kb_members) if kb else []
    occupied_paths: list[Path] = []
    if yes:
        lines, occupied_paths = _put_back(log, of_log_members, kb, notes)
    return RecoverResult(
        snapshots=tuple(snapshot for snapshot in (log_snapshot, kb_snapshot) if snapshot),
        learnings=tuple(lines.learnings),
        events=tuple(lines.events),
        nodes=tuple(
            NodeCandidate(id=note.nodes[0].id, title=note.nodes[0].title, path=kb.notes.kb / note.file)
            for note, _ in notes
            if kb and kb.notes.kb / note.file not in occupied_paths
        ),
        taken=tuple(occupied_paths),
        without=tuple(
            source
            for source, is_asked, snapshot_found in (
                ("log", log, log_snapshot),
                (kb.what if kb else "", kb, kb_snapshot),
            )
            if id is None and is_asked and snapshot_found is None
        ),
        done=yes,
    )


def _put_back(
    log: Log | None, members: Mapping[str, bytes], kb: KbSnapshotSource | None, notes: Sequence[tuple[Note, bytes]]
) -> "tuple[_LostLines, list[Path]]":
    """Restore lines and notes; return the lines, and the paths that other files occupy by now.

    Raises:
        DiskError, Busy: the message says what is back. NotDurable: all is.
    """
    doubts, lines_back, notes_back = DurabilityDoubts(), list[bytes](), list[Note]()
    with tell_progress(
        lambda: (
            f"{count_phrase(len(lines_back), 'line')} of the log and {len(notes_back)} of "
            f"{count_phrase(len(notes), 'note')} are back"
        ),
        hint="call it again for the rest; nothing is restored twice",
    ):
        lines = _put_lines_back(log, members, lines_back, doubts) if log else _LostLines()
        occupied_paths = _put_notes_back(kb, notes, notes_back, doubts) if kb else []
    doubts.raise_first()
    return lines, occupied_paths


def _find_chosen(folder: Path, id: str | None) -> Snapshot | None:
    if id is None:
        return next(iter(list_archives(folder)), None)
    with contextlib.suppress(NotFound):
        return get_snapshot(folder, id)
    return None


# The log


def _log_members(log: Log) -> dict[str, bytes]:
    """Return the log's files that aren't empty, as they were at one moment."""
    with log.append_lock():
        contents_by_name = {path.name: log.seen_part(read_bytes(path), path.name) for path in _log_files(log)}
    return {name: data for name, data in contents_by_name.items() if data}


def _log_files(log: Log) -> tuple[Path, Path, Path]:
    return log.knowledge, log.archive, log.ledger


class _LostLines:
    """Lines that a snapshot has and the log lacks."""

    def __init__(self) -> None:
        self.lines: dict[Path, list[bytes]] = {}
        self.learnings: list[Learning] = []
        self.events: list[LedgerEvent] = []


def _lost_lines(log: Log, members: Mapping[str, bytes]) -> _LostLines:
    """Return the lines that the log lacks, by the ids in them: an edited line isn't lost."""
    lost = _LostLines()
    contents = log.read_contents()
    members = {name: log.seen_part(data, name) for name, data in members.items()}
    known_ids = {learning.id for learning in (*contents.learnings, *contents.archived_learnings)}
    known_event_ids = {event.id for event in contents.events}
    for path in (log.knowledge, log.archive):
        for line in members.get(path.name, b"").split(b"\n"):
            learnings = [
                learning.learning for learning in read_learnings((line,)) if isinstance(learning, LearningLine)
            ]
            lost_learnings = [
                learning
                for learning in learnings
                if learning.id not in known_ids and not contents.tombstones.covers(learning)
            ]
            if lost_learnings:
                lost.lines.setdefault(path, []).append(line)
                lost.learnings += lost_learnings
                known_ids.update(learning.id for learning in lost_learnings)
    for line in members.get(log.ledger.name, b"").split(b"\n"):
        events = [
            learning
            for learning in read_events((line,))
            if isinstance(learning, LedgerEvent)
            and learning.id not in known_event_ids
            and not contents.tombstones.covers_event(learning)
        ]
        if events:
            lost.lines.setdefault(log.ledger, []).append(line)
            lost.events += events
            known_event_ids.update(event.id for event in events)
    return lost


def _put_lines_back(log: Log, members: Mapping[str, bytes], back: list[bytes], doubts: DurabilityDoubts) -> _LostLines:
    """Append the lines that the log lacks now, adding them to `back`, and return them."""
    with log.append_lock():
        lost = _lost_lines(log, members)
        for path, lines in lost.lines.items():
            with doubts.collect():
                append_lines(path, lines)
            back += lines
    return lost


# The agents' notes


def _read_agent_notes(notes: Notes) -> dict[str, bytes]:
    """Return the files that are wholly an agent's, by their names in the KB."""
    data_by_name = {}
    for file in counted(notes.kb_walk.files, "reading notes"):
        data = read_file(file.path)
        if not isinstance(data, UnreadableFile) and parse_agent_note(notes, file.file, data):
            data_by_name[file.file] = data
    return data_by_name


def _lost_notes(kb: KbSnapshotSource, members: Mapping[str, bytes]) -> list[tuple[Note, bytes]]:
    """Return the archived notes whose nodes are neither in the knowledge base nor in its trash."""
    if not members:
        return []
    check_kb(kb.notes.kb)
    known_ids = {node.id for _, node in kb.notes.read_all().node_pairs()} | {
        trashed.id for trashed in kb.trash.list_entries()
    }
    lost_notes = []
    for name, data in members.items():
        note = parse_agent_note(kb.notes, name, data)
        if note and note.nodes[0].id not in known_ids:
            known_ids.add(note.nodes[0].id)
            lost_notes.append((note, data))
    return lost_notes


def _put_notes_back(
    kb: KbSnapshotSource, lost: Sequence[tuple[Note, bytes]], back: list[Note], doubts: DurabilityDoubts
) -> list[Path]:
    """Create the notes, adding them to `back`; return the paths that other files occupy by now."""
    occupied_paths = []
    for note, data in lost:
        try:
            with doubts.collect():
                kb.notes.recreate_note(kb.permit, note.file, data)
            back.append(note)
        except NameTaken as error:
            occupied_paths.append(error.path)
    return occupied_paths
