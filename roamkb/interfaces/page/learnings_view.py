"""Learnings: what the project's agents learned, with confidence, evidence and what contradicts it."""

from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlencode

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.errors import NoLog
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.interfaces.page.templating import first_rows
from roamkb.interfaces.page.templating import render_page
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState

#: Rows of a page; `roamkb export` has all.
_MOST_ROWS = 300
_MOST_PAIRS = 40
_LONGEST_QUOTE = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningRow:
    """A learning for a template."""

    id: str
    href: str
    key: str
    kind: str
    content: str
    #: In percent.
    confidence: int
    occurrences: int
    #: As it counts: verdict, status and scope, where they say something.
    state: tuple[str, ...]
    agent: str
    date: str
    #: The words that it was taken from.
    evidence: str
    files: tuple[str, ...]
    is_contested: bool


def view_learnings(kb: "server.ServedKnowledgeBase", _: Request) -> tuple[int, str]:
    """Return the page of the project's learnings, those with the highest confidence first."""
    try:
        learnings: Sequence[LearningState] = kb.log.export().learnings
    except NoLog as error:
        return 200, render_page("learnings.html", rows=(), more=0, pairs=(), problem=error, project=kb.served_project())
    in_force = sorted(
        (state for state in learnings if state.status != SUPERSEDED),
        key=lambda state: (-state.confidence, -(state.last_used or 0.0)),
    )
    disputed, more_pairs = first_rows(kb.disputed_pairs(), _MOST_PAIRS)
    shown, more = first_rows(in_force, _MOST_ROWS)
    return 200, render_page(
        "learnings.html",
        rows=[learning_row(state) for state in shown],
        more=more,
        pairs=[(learning_row(one), learning_row(other)) for one, other in disputed],
        more_pairs=more_pairs,
        problem=None,
        project=kb.served_project(),
    )


def learning_href(name: str) -> str:
    """Return the address of a learning's page, by its id or key."""
    return f"/learning?{urlencode({'id': name})}"


def learning_row(state: LearningState) -> LearningRow:
    """Return a learning as a template shows it."""
    learning = state.learning
    marks = (state.verdict, *(() if state.status == "active" else (state.status,)), *state.flags)
    return LearningRow(
        id=state.id,
        href=learning_href(state.id),
        key=learning.key,
        kind=learning.type,
        content=learning.content,
        confidence=state.confidence,
        occurrences=state.occurrences,
        state=tuple(mark.replace("_", " ") for mark in marks),
        agent=learning.agent,
        date=local_day(learning.ts),
        evidence=clip_text(quoted_evidence(state.learning.extra), _LONGEST_QUOTE),
        files=tuple(learning.files),
        is_contested=MAY_CONTRADICT in state.flags,
    )


def quoted_evidence(fields: Mapping[str, object]) -> str:
    """Return the words that a learning or an event was taken from, where it has some."""
    evidence = fields.get("evidence")
    quote = evidence.get("quote") if isinstance(evidence, Mapping) else None
    return quote if isinstance(quote, str) else ""


def local_day(seconds: float | None) -> str:
    """Return a moment's day here, empty where there is none."""
    try:
        return datetime.fromtimestamp(seconds).date().isoformat() if seconds else ""
    except (OverflowError, OSError, ValueError):
        return ""
