"""`snapshot`: what a project's log and the agents' notes held, kept beside them, and put back where lost.

A log's snapshots lie in its own local state, those of agent nodes in the user's state folder:
nothing of a project's leaves its tree, and nothing of a human's is in either.
"""

import contextlib
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated
from typing import Final

from roamkb.boundary.policy import WritePermit
from roamkb.core.errors import NameTaken
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.request import argument
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_bytes
from roamkb.fs.files import random_token
from roamkb.fs.files import read_file
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.trash import Trash
from roamkb.kb.notes.store.walk import check_kb
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log
from roamkb.org.agent_node import is_agent_node
from roamkb.org.coding import decode_note
from roamkb.org.reader import parse_note
from roamkb.sharing.store.snapshot_archive import Snapshot
from roamkb.sharing.store.snapshot_archive import get_snapshot
from roamkb.sharing.store.snapshot_archive import has_of_day
from roamkb.sharing.store.snapshot_archive import keep
from roamkb.sharing.store.snapshot_archive import members_of
from roamkb.sharing.store.snapshot_archive import snapshot_id
from roamkb.sharing.store.snapshot_archive import snapshots

_FOLDER: Final = "snapshots"


@dataclass(frozen=True, slots=True)
class SnapshotRequest:
    """What `snapshot` takes."""

    action: str | None = argument("list or restore; without it, make one.", metavar="ACTION")
    name: str | None = argument("restore: the snapshot's id (the latest).", metavar="ID")
    _: KW_ONLY
    daily: bool = switch("--daily", "Make none where there is one of today.")
    yes: bool = switch("--yes", "restore: do it, don't only say what is lost.")


@dataclass(frozen=True, slots=True, kw_only=True)
class KbSide:
    """A personal project's leave to look after what agents wrote to the knowledge base."""

    notes: Notes
    permit: WritePermit
    trash: Trash
    #: Where its snapshots lie.
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotsTaken:
    """The snapshots that were made, and why others weren't."""

    made: tuple[Snapshot, ...]
    #: What, and why not: "log" or "kb", one clause.
    skipped: Annotated[tuple[tuple[str, str], ...], Rows("what reason")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotList:
    """What is kept, the latest first."""

    snapshots: tuple[Snapshot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverResult:
    """What is lost and in a snapshot, and whether it was put back."""

    snapshots: tuple[Snapshot, ...]
    learnings: Annotated[tuple[Learning, ...], Keys("id key content")]
    events: Annotated[tuple[LedgerEvent, ...], len]
    nodes: tuple[NodeCandidate, ...]
    #: Notes whose place another file has by now.
    taken: tuple[Path, ...] = ()
    #: What there is no snapshot of: "log", "kb".
    without: tuple[str, ...] = ()
    done: bool


def snapshot_folder(log: Log) -> Path:
    """Return where the log's snapshots lie."""
    return log.local / _FOLDER


def take_snapshot(
    log: Log | None,
    kb: KbSide | None,
    *,
    now: datetime,
    daily: bool = False,
    token: Callable[[], str] = random_token,
) -> SnapshotsTaken:
    """Keep what the log and the agents' notes hold; with `daily`, once a day.

    Raises:
        DiskError, Busy: it couldn't be kept. NotDurable: it was, and the disk wouldn't promise to keep it.
    """
    id = snapshot_id(now, token())
    made: list[Snapshot] = []
    skipped: list[tuple[str, str]] = []

    def take(what: str, folder: Path, members: Callable[[], Mapping[str, bytes]]) -> None:
        if daily and has_of_day(folder, now):
            skipped.append((what, "there is one of today"))
            return
        held = members()
        if not held:
            skipped.append((what, "there is nothing to keep"))
        elif kept := keep(folder, held, what=what, id=id, now=now):
            made.append(kept)
        else:
            skipped.append((what, "nothing changed since the latest"))

    if log is not None:
        take("log", snapshot_folder(log), lambda: _log_members(log))
    if kb is not None:
        try:
            take("kb", kb.folder, lambda: _agents_notes(kb.notes))
        except NoKnowledgeBase as error:
            skipped.append(("kb", error.message))
    return SnapshotsTaken(made=tuple(made), skipped=tuple(skipped))


def list_snapshots(log: Log | None, kb: KbSide | None) -> SnapshotList:
    """Return the snapshots of the log and of the agents' notes."""
    found = [one for folder in _folders(log, kb) for one in snapshots(folder)]
    return SnapshotList(snapshots=tuple(sorted(found, key=lambda one: one.id, reverse=True)))


def restore_snapshot(
    log: Log | None, kb: KbSide | None, id: str | None, *, yes: bool = False
) -> RecoverResult:
    """Put back what is in the snapshot `id`, or the latest, and nowhere else any more.

    Nothing that is there is changed: lost lines are appended to the log, lost notes made anew
    unless they are in the trash. Without `yes` it only says what would be done.

    Raises:
        NotFound: no such snapshot. DiskError: it is damaged; nothing was put back.
    """
    of_log = _chosen(snapshot_folder(log), id) if log else None
    of_kb = _chosen(kb.folder, id) if kb else None
    if of_log is None and of_kb is None:
        raise NotFound(
            id or "", what="snapshot", hint="`roamkb snapshot` makes one, `roamkb snapshot list` shows them"
        )
    # both are read before anything is put back: a damaged one stops all
    of_log_members = members_of(of_log) if of_log else {}
    of_kb_members = members_of(of_kb) if of_kb else {}
    lines = _lost_lines(log, of_log_members) if log else _LostLines()
    notes = _lost_notes(kb, of_kb_members) if kb else []
    if yes and log:
        lines = _put_lines_back(log, of_log_members)
    taken = _put_notes_back(kb, notes) if yes and kb else []
    return RecoverResult(
        snapshots=tuple(one for one in (of_log, of_kb) if one),
        learnings=tuple(lines.learnings),
        events=tuple(lines.events),
        nodes=tuple(
            NodeCandidate(id=note.nodes[0].id, title=note.nodes[0].title, path=kb.notes.kb / note.file)
            for note, _ in notes
            if kb and kb.notes.kb / note.file not in taken
        ),
        taken=tuple(taken),
        without=tuple(
            what
            for what, is_asked, found in (("log", log, of_log), ("kb", kb, of_kb))
            if id is None and is_asked and found is None
        ),
        done=yes,
    )


def _folders(log: Log | None, kb: KbSide | None) -> list[Path]:
    return ([snapshot_folder(log)] if log else []) + ([kb.folder] if kb else [])


def _chosen(folder: Path, id: str | None) -> Snapshot | None:
    if id is None:
        return next(iter(snapshots(folder)), None)
    with contextlib.suppress(NotFound):
        return get_snapshot(folder, id)
    return None


# The log


def _log_members(log: Log) -> dict[str, bytes]:
    """Return the log's files that hold anything, as they were at one moment."""
    with log.locked():
        found = {path.name: read_bytes(path) for path in _log_files(log)}
    return {name: data for name, data in found.items() if data}


def _log_files(log: Log) -> tuple[Path, Path, Path]:
    return log.knowledge, log.archive, log.ledger


class _LostLines:
    """Lines that a snapshot has and the log lacks."""

    def __init__(self) -> None:
        self.lines: dict[Path, list[bytes]] = {}
        self.learnings: list[Learning] = []
        self.events: list[LedgerEvent] = []


def _lost_lines(log: Log, members: Mapping[str, bytes]) -> _LostLines:
    """Return what the log lacks, by the ids of what lines say: who edited a line lost nothing."""
    lost = _LostLines()
    contents = log.read()
    known = {one.id for one in (*contents.learnings, *contents.archived)}
    happened = {event.id for event in contents.events}
    for path in (log.knowledge, log.archive):
        for line in members.get(path.name, b"").split(b"\n"):
            said = [one.learning for one in read_learnings((line,)) if isinstance(one, LearningLine)]
            new = [one for one in said if one.id not in known]
            if new:
                lost.lines.setdefault(path, []).append(line)
                lost.learnings += new
                known.update(one.id for one in new)
    for line in members.get(log.ledger.name, b"").split(b"\n"):
        events = [
            one for one in read_events((line,)) if isinstance(one, LedgerEvent) and one.id not in happened
        ]
        if events:
            lost.lines.setdefault(log.ledger, []).append(line)
            lost.events += events
            happened.update(event.id for event in events)
    return lost


def _put_lines_back(log: Log, members: Mapping[str, bytes]) -> _LostLines:
    """Append what the log lacks now, and return it."""
    with log.locked():
        lost = _lost_lines(log, members)
        for path, lines in lost.lines.items():
            append_lines(path, lines)
    return lost


# The agents' notes


def _agents_notes(notes: Notes) -> dict[str, bytes]:
    """Return the files that agents wrote and no human made their own, by their names in the KB."""
    found = {}
    for file in notes.walk.files:
        data = read_file(file.path)
        if not isinstance(data, UnreadableFile) and _agents_note(notes, file.file, data):
            found[file.file] = data
    return found


def _agents_note(notes: Notes, name: str, data: bytes) -> Note | None:
    """Return the note where all of it is an agent's."""
    # its drawer names the agent
    if b":agent:" not in data.lower():
        return None
    text = decode_note(data)[0]
    note = parse_note(text, file=name, setup=notes.setup_text, todo_lines=notes.todo_lines)
    return note if len(note.nodes) == 1 and is_agent_node(note, note.nodes[0]) else None


def _lost_notes(kb: KbSide, members: Mapping[str, bytes]) -> list[tuple[Note, bytes]]:
    """Return the archived notes whose nodes are neither in the knowledge base nor in its trash."""
    if not members:
        return []
    check_kb(kb.notes.kb)
    known = {node.id for _, node in kb.notes.read_all().nodes()} | {one.id for one in kb.trash.entries()}
    found = []
    for name, data in members.items():
        note = _agents_note(kb.notes, name, data)
        if note and note.nodes[0].id not in known:
            known.add(note.nodes[0].id)
            found.append((note, data))
    return found


def _put_notes_back(kb: KbSide, lost: Sequence[tuple[Note, bytes]]) -> list[Path]:
    """Create the notes; return the places that others have by now."""
    taken = []
    for note, data in lost:
        try:
            kb.notes.put_back(kb.permit, note.file, data)
        except NameTaken as error:
            taken.append(error.path)
    return taken
