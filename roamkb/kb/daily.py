"""One day of the notes: its daily, as org-roam-dailies has them, and what agents did that day.

A daily is the human's. What an agent adds to a day is a node of its own that links to it.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import date
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.json_form import OrNull
from roamkb.core.model import Node
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.request import KbOption
from roamkb.core.request import optional_argument
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import one_line
from roamkb.kb.notes.passages import creation_time
from roamkb.kb.notes.store.init_files import find_configured_paths
from roamkb.kb.notes.store.lookup import node_candidate
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.trash import TrashEntry
from roamkb.kb.notes.store.walk import NoteFile
from roamkb.kb.search.query import parse_day
from roamkb.kb.show import ShownNode
from roamkb.kb.show import file_without_id
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.org.agent_node import is_agent_node
from roamkb.org.body import body_of

#: Days from today.
_OFFSET = lazily(r"[+-]\d{1,5}")
_DAY_HINT = "say today, yesterday, tomorrow, 2026-11-22, 7d, or days from today as -3"
#: Below the notes, where nothing else is configured: org-roam's own default.
_USUAL_FOLDER = "daily"


@dataclass(frozen=True, slots=True)
class DailyRequest:
    """Options of `daily`."""

    day: str | None = optional_argument(
        "today (default), yesterday, tomorrow, 2026-11-22, 7d, or days from today as -3.", metavar="DAY"
    )
    _: KW_ONLY
    kb: KbOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAct:
    """One thing that agents did on a day, or that they wrote about it."""

    #: wrote, promoted (from this project's log) or trashed.
    what: str
    #: Local ISO 8601; a date where the note says no more.
    at: str
    id: str
    title: str
    path: Path
    agent: OrNull = ""
    project: OrNull = ""
    #: The learning that it was promoted from.
    learning: OrNull = ""
    #: The nodes that it replaced.
    replaces: Annotated[tuple[NodeCandidate, ...], Keys("id title path")] = ()
    #: Whether it links to the day's note.
    is_linked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyNote:
    """A day with its note and the acts of agents."""

    #: ISO 8601.
    day: str
    #: Where its note is, or where org-roam would make it.
    path: Path
    #: None where that isn't there or can't be read.
    node: ShownNode | None
    #: By their time.
    acts: tuple[AgentAct, ...]
    skipped: tuple[UnreadableFile, ...]


def parse_daily_day(text: str | None, *, today: date) -> date:
    """Return the day that `text` names; today without it.

    Raises:
        UsageError: it names none, or a month or a year.
    """
    written = (text or "today").strip().lower()
    try:
        if _OFFSET.fullmatch(written) or written == "tomorrow":
            return today + timedelta(days=1 if written == "tomorrow" else int(written))
        # of a month it would be the first day
        day = None if written.replace("-", "").isdigit() and len(written) < 8 else parse_day(written, today=today)
        if day is not None:
            return date.fromisoformat(day)
    except (OverflowError, ValueError):
        pass
    raise UsageError(f"{one_line(text or '')} is no day", hint=_DAY_HINT)


def daily(
    notes: Notes,
    day: date,
    *,
    home: Path,
    trashed: Sequence[TrashEntry] = (),
    learnings_by_node: Mapping[str, str] | None = None,
) -> DailyNote:
    """Return the day's note with what agents did that day.

    `home` is where Emacs' init files are, which may name another folder of dailies. `trashed` are the entries of
    the trash, and `learnings_by_node` the keys of promoted learnings by the ids of their nodes.
    """
    file, path = _find_daily_file(notes, day, home)
    shown = None if file is None else _shown_daily(notes, file)
    contents = notes.read_all()
    pairs = list(contents.node_pairs())
    wrote = _acts_of_writing(notes, pairs, day, shown.node.id if shown else "", learnings_by_node or {})
    acts = sorted((*wrote, *_acts_of_trashing(notes, trashed, day)), key=lambda act: (act.at, act.id))
    return DailyNote(day=day.isoformat(), path=path, node=shown, acts=tuple(acts), skipped=contents.skipped)


def get_daily_node(notes: Notes, day: date, *, home: Path) -> Node:
    """Return the node of the day's file, which a new node can link to.

    Raises:
        NotFound: the day has no file, or it no id; the error says how its human makes one.
    """
    file, path = _find_daily_file(notes, day, home)
    if file is None:
        raise NotFound(
            day.isoformat(),
            kind="daily of",
            hint=f"a human makes it, {path}, by `M-x org-roam-dailies-goto-date`; `roamkb daily {day}` lists what was "
            "written that day without a link, too",
        )
    shown = _shown_daily(notes, file)
    if shown is None or not shown.node.id:
        raise NotFound(
            day.isoformat(),
            kind="id in the daily of",
            hint=f"{path} has no :ID: at its top, so nothing can link to it: a human adds one there by "
            f"`M-x org-id-get-create`; `roamkb daily {day}` lists what was written that day without a link, too",
        )
    return shown.node


def _find_daily_file(notes: Notes, day: date, home: Path) -> tuple[NoteFile | None, Path]:
    """Return the note of the day, and its path or the one that org-roam would give it."""
    configured = find_configured_paths(home, notes.kb, "org-roam-dailies-directory")
    folders = configured or (notes.kb / _USUAL_FOLDER,)
    prefixes = [f"{folder.relative_to(notes.kb)}/" for folder in folders if folder.is_relative_to(notes.kb)]
    dated = [file for file in notes.kb_walk.files if _is_of_day(file.file, day)]
    in_folder = [file for file in dated if file.file.startswith(tuple(prefixes))]
    # where Emacs computes the folder, the only note called as the day is its daily
    candidates = in_folder or (dated if len(dated) == 1 else [])
    file = min(candidates, key=lambda file: (len(file.file), file.file), default=None)
    return file, folders[0] / f"{day}.org" if file is None else file.path


def _is_of_day(file: str, day: date) -> bool:
    """Say whether a note is called as the day is, alone or with more words."""
    stem = file.rpartition("/")[2].removesuffix(".org")
    return stem == f"{day:%Y%m%d}" or (stem.startswith(day.isoformat()) and not stem[10:11].isdigit())


def _shown_daily(notes: Notes, file: NoteFile) -> ShownNode | None:
    note = notes.read_note(file)
    if isinstance(note, UnreadableFile):
        return None
    node = next((node for node in note.nodes if not node.level), None) or file_without_id(note)
    return ShownNode(node=node, path=notes.note_path(note), body=body_of(note, node))


def _acts_of_writing(
    notes: Notes, pairs: Sequence[tuple[Note, Node]], day: date, daily_id: str, learnings_by_node: Mapping[str, str]
) -> Iterator[AgentAct]:
    """Yield what agents wrote on the day, or linked to its note."""
    for note, node in pairs:
        if not is_agent_node(note, node):
            continue
        at = creation_time(note, node)
        is_linked = bool(daily_id) and any(link.type == "id" and link.dest == daily_id for link in node.links)
        if is_linked or at[:10] == day.isoformat():
            replaced = [pair for pair in pairs if pair[1].properties.get(SUPERSEDED_BY) == node.id]
            learning = learnings_by_node.get(node.id, "")
            yield AgentAct(
                what="promoted" if learning else "wrote",
                at=at,
                id=node.id,
                title=node.title,
                path=notes.note_path(note),
                agent=node.properties.get("AGENT", ""),
                project=node.properties.get("PROJECT", ""),
                learning=learning,
                replaces=tuple(node_candidate(notes, *pair) for pair in replaced),
                is_linked=is_linked,
            )


def _acts_of_trashing(notes: Notes, entries: Sequence[TrashEntry], day: date) -> Iterator[AgentAct]:
    for entry in entries:
        if entry.when[:10] == day.isoformat():
            path = notes.kb / entry.file
            yield AgentAct(what="trashed", at=entry.when, id=entry.id, title=entry.title, path=path)
