"""Changes: what became of the notes' files, by day, as the journal last saw it."""

import os
from itertools import groupby
from itertools import pairwise

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import count_phrase
from roamkb.core.timestamps import format_local_iso
from roamkb.interfaces.page.hits import place_href
from roamkb.interfaces.page.templating import first_rows
from roamkb.interfaces.page.templating import render_page
from roamkb.journal.moments import ChangeKind
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import Moment
from roamkb.journal.moments import describe_maker

#: Moments and files of a page; `roamkb journal` has all.
_MOST_ROWS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentRow:
    """A moment of the journal for a template."""

    #: The moment before it, since which these and all later changes are shown.
    before: int
    day: str
    time: str
    summary: str
    unexplained: int
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """A file's change since a moment, for a template."""

    what: str
    file: str
    moved_to: str
    by: str
    #: The note's page; empty where there is none any more.
    href: str
    is_explained: bool


def view_changes(kb: "server.ServedKnowledgeBase", request: Request) -> tuple[int, str]:
    """Return the page of the moments at which something had changed; with `since`, of what changed since one."""
    mark = request.query_params.get("since", "")
    changes, more_changes = first_rows(kb.journal_changes(mark) if mark else (), _MOST_ROWS)
    moments = kb.journal_moments()
    changed = [] if mark else [(moment, before) for moment, before in pairwise(moments) if moment.changed]
    rows, more = first_rows([_moment_row(*pair) for pair in changed], _MOST_ROWS)
    return 200, render_page(
        "changes.html",
        since=mark,
        since_time=next((format_local_iso(moment.at)[:16] for moment in moments if str(moment.id) == mark), mark),
        changes=[_change_row(change) for change in changes],
        days=[(day, list(group)) for day, group in groupby(rows, key=lambda row: row.day)],
        more=more + more_changes,
    )


def _moment_row(moment: Moment, before: Moment) -> MomentRow:
    at = format_local_iso(moment.at)
    sessions = (moment.session, *moment.during) if moment.session else moment.during
    return MomentRow(
        before=before.id,
        day=at[:10],
        time=at[11:16],
        summary=f"{count_phrase(moment.changed, 'file')} changed",
        unexplained=moment.unexplained,
        sessions=tuple(dict.fromkeys(map(str, sessions))),
    )


def _change_row(change: EntryChange) -> ChangeRow:
    file = os.fsdecode(change.path)
    moved_to = "" if change.moved_to is None else os.fsdecode(change.moved_to)
    is_there = change.what is not ChangeKind.VANISHED and (moved_to or file).endswith(".org")
    return ChangeRow(
        what=change.what.value,
        file=file,
        moved_to=moved_to,
        by=describe_maker(change.by),
        href=place_href(moved_to or file) if is_there else "",
        is_explained=change.is_explained,
    )
