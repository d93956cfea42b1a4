"""Shown: what was put before each session, what nearly was and why not, and what came of it."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request

from roamkb.app import server
from roamkb.context.shown import LEARNING
from roamkb.context.shown import NODE
from roamkb.context.shown import REMEDY
from roamkb.context.shown import NearMiss
from roamkb.context.shown import ShownItem
from roamkb.context.shown import ShownOccasion
from roamkb.core.errors import NoLog
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import shorten_title
from roamkb.interfaces.page.hits import node_href
from roamkb.interfaces.page.learnings_view import learning_href
from roamkb.interfaces.page.templating import render_page

#: Occasions of a page.
_PAGE: Final = 25
_LONGEST_NUMBER: Final = 4
#: What asked, in a reader's words.
_OCCASIONS: Final = {
    "brief": "at the session’s start",
    "prompt": "beside a prompt",
    "file": "before a file was changed",
    "error": "after an error",
    "subagent": "at a subagent’s start",
    "recall": "asked for: recall",
    "relevant": "asked for: relevant",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """What was shown, or nearly, for a template."""

    #: Empty where it is gone.
    href: str
    name: str
    kind: str
    outcome: str = ""
    #: Of a near miss: the bits that it had, those that it needed, and why it wasn't shown.
    bits: str = ""
    least_bits: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OccasionRow:
    """An occasion for a template."""

    date: str
    time: str
    asked: str
    prompt: str
    shown: tuple[ItemRow, ...]
    near: tuple[ItemRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRows:
    """The occasions of a session, as many as the page holds."""

    name: str
    href: str
    agent: str
    worktree: str
    occasions: tuple[OccasionRow, ...]


def view_shown(kb: "server.ServedKnowledgeBase", request: Request) -> tuple[int, str]:
    """Return the page of what sessions were shown, the latest first; with `session`, of that one alone."""
    session = request.query_params.get("session") or None
    page = _page_number(request.query_params.get("page", ""))
    values: dict[str, object] = {"session": session, "project": kb.served_project(), "page": page}
    try:
        listed = kb.log.shown(session=session, limit=page * _PAGE)
    except NoLog as error:
        return 200, render_page("shown.html", sessions=(), older="", newer="", problem=error, **values)
    occasions = listed.occasions[(page - 1) * _PAGE :]
    return 200, render_page(
        "shown.html",
        sessions=[*_by_session(occasions)],
        older=_address(session, page + 1) if listed.more else "",
        newer=_address(session, page - 1) if page > 1 else "",
        problem=None,
        **values,
    )


def _page_number(text: str) -> int:
    return max(int(text), 1) if text.isdecimal() and text.isascii() and len(text) <= _LONGEST_NUMBER else 1


def _address(session: str | None, page: int) -> str:
    named = {"session": session} if session else {}
    return f"/shown?{urlencode({**named, 'page': page})}"


def _by_session(occasions: tuple[ShownOccasion, ...]) -> Iterator[SessionRows]:
    """Yield each session with its occasions; the session that was shown something last comes first."""
    sessions: dict[str, list[ShownOccasion]] = {}
    for occasion in occasions:
        sessions.setdefault(occasion.session, []).append(occasion)
    for name, of_session in sessions.items():
        yield SessionRows(
            name=name,
            href=_address(name, 1) if name else "",
            agent=next((occasion.agent for occasion in of_session if occasion.agent), ""),
            worktree=of_session[0].worktree,
            occasions=tuple(map(_occasion_row, of_session)),
        )


def _occasion_row(occasion: ShownOccasion) -> OccasionRow:
    return OccasionRow(
        date=occasion.time[:10],
        time=occasion.time[11:16],
        asked=_OCCASIONS.get(occasion.by, occasion.by),
        prompt=occasion.prompt,
        shown=tuple(map(_item_row, occasion.shown)),
        near=tuple(map(_miss_row, occasion.near)),
    )


def _item_row(item: ShownItem) -> ItemRow:
    return ItemRow(href=_href(item), name=_name(item), kind=item.kind or "gone", outcome=item.outcome.replace("_", " "))


def _miss_row(miss: NearMiss) -> ItemRow:
    return ItemRow(
        href=_href(miss),
        name=_name(miss),
        kind=miss.kind or "gone",
        bits=f"{miss.bits:.1f}",
        least_bits=f"{miss.least_bits:.1f}",
        reason=miss.dropped,
    )


def _name(item: ShownItem | NearMiss) -> str:
    return shorten_title(item.text or item.name) or item.id


def _href(item: ShownItem | NearMiss) -> str:
    """Return where what is meant is shown; empty where it is gone."""
    if item.kind == NODE:
        return node_href(item.id)
    if item.kind == REMEDY:
        return f"/remedies?{urlencode({'error': item.name})}"
    return learning_href(item.id) if item.kind == LEARNING else ""
