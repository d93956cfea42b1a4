"""Home: what agents wrote, what waits, what contradicts, what a syncer put aside, what failed.

Only what is quick is looked at: nothing here reads every note.
"""

from collections.abc import Callable
from collections.abc import Sequence
from datetime import datetime
from datetime import timedelta

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.errors import NoLog
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.interfaces.page.hits import ShownHit
from roamkb.interfaces.page.hits import shown_hit
from roamkb.interfaces.page.templating import render_page

#: Days of which the page tells.
_DAYS = 7
#: Entries of a part of the page; more are counted.
_MOST = 5
_MOST_WRITTEN = 40
_LONGEST_TEXT = 140


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePart:
    """A part of the page: what was found, and the command that deals with it."""

    title: str
    #: In one line: what is there, or that nothing is.
    summary: str
    command: str = ""
    entries: tuple[str, ...] = ()
    #: Whether somebody should look.
    is_open: bool = False
    #: A view that shows all of it.
    href: str = ""


def view_home(kb: "server.ServedKnowledgeBase", _: Request | None) -> tuple[int, str]:
    """Return the first page."""
    today, week = _written_nodes(kb)
    parts = [
        _part("Waiting for you", "roamkb review", lambda: _waiting(kb)),
        _part("Contradictions", "roamkb curate --dry-run", lambda: _contradictions(kb)),
        _part("Conflict copies", "roamkb conflicts", lambda: _conflict_copies(kb)),
        _part("Hooks", "roamkb doctor", lambda: _hooks(kb)),
        _part("The wall", "roamkb doctor", lambda: _wall(kb)),
    ]
    # what wants a look comes first
    parts.sort(key=lambda part: not part.is_open)
    return 200, render_page(
        "home.html", today=today, week=week, parts=parts, project=kb.served_project(), reader=kb.classify()
    )


def _written_nodes(kb: "server.ServedKnowledgeBase") -> tuple[Sequence[ShownHit], Sequence[ShownHit]]:
    """Return the nodes that agents wrote today, and those of the days before, the latest first."""
    now = datetime.fromtimestamp(kb.current_time)
    since = (now - timedelta(days=_DAYS - 1)).date().isoformat()
    hits = sorted(kb.search("", agent=True, since=since, limit=_MOST_WRITTEN).hits, key=lambda hit: hit.date)[::-1]
    day = now.date().isoformat()
    shown = [shown_hit(hit, frozenset()) for hit in hits]
    return [hit for hit in shown if hit.date == day], [hit for hit in shown if hit.date != day]


def _part(title: str, command: str, look: Callable[[], HomePart]) -> HomePart:
    """Return a part of the page; what can't be looked at is said there, and hides no other part."""
    try:
        return replace(look(), title=title, command=command)
    except NoLog:
        return HomePart(title=title, summary="this project has no log", command="roamkb init")
    except RoamkbError as error:
        return HomePart(title=title, summary=error.message, command=command, is_open=True)
    except OSError as error:
        summary = f"{error.filename or 'disk'}: {error.strerror}"
        return HomePart(title=title, summary=summary, command="roamkb doctor", is_open=True)


def _listed(texts: Sequence[str], noun: str, plural: str = "", *, none: str, href: str = "") -> HomePart:
    entries = [clip_text(one_line(text), _LONGEST_TEXT) for text in texts[:_MOST]]
    if len(texts) > _MOST:
        entries.append(f"and {len(texts) - _MOST} more")
    summary = count_phrase(len(texts), noun, plural) if texts else none
    return HomePart(title="", summary=summary, entries=tuple(entries), is_open=bool(texts), href=href)


def _waiting(kb: "server.ServedKnowledgeBase") -> HomePart:
    queue = kb.log.review()
    proposals = getattr(queue, "proposals", ())
    lines = [f"{waiting.text.removeprefix('- ')} → {waiting.proposal.target}" for waiting in proposals]
    return _listed(lines, "proposed line", none="no proposal waits", href="/review")


def _contradictions(kb: "server.ServedKnowledgeBase") -> HomePart:
    texts = [f"{one.learning.content} ↔ {other.learning.content}" for one, other in kb.disputed_pairs()]
    return _listed(texts, "pair that may contradict", "pairs that may contradict", none="none", href="/learnings")


def _conflict_copies(kb: "server.ServedKnowledgeBase") -> HomePart:
    copies = kb.conflicts().copies
    texts = [f"{copy.title or copy.path.name}: {copy.path.name}" for copy in copies]
    return _listed(texts, "conflict copy", "conflict copies", none="none", href="/conflicts")


def _hooks(kb: "server.ServedKnowledgeBase") -> HomePart:
    return _listed(kb.hook_errors(), "failure of late", "failures of late", none="no failure of late")


def _wall(kb: "server.ServedKnowledgeBase") -> HomePart:
    settings = kb.wall_settings()
    missing = [f"{setting.harness}: {setting.advice}" for setting in settings if not setting.is_set]
    if missing:
        return _listed(missing, "harness without it", "harnesses without it", none="", href="/checks")
    names = ", ".join(setting.harness for setting in settings)
    summary = f"set for {names}; the checks try it" if names else "no harness here has roamkb's hooks"
    return HomePart(title="", summary=summary, href="/checks")
