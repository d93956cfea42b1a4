"""Learning: its text, the words that it was taken from, what happened to it, and what can be done about it."""

import json
from collections.abc import Iterator

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.interfaces.page.learnings_view import learning_row
from roamkb.interfaces.page.learnings_view import local_day
from roamkb.interfaces.page.templating import render_page
from roamkb.log.explain import Explanation
from roamkb.log.state.learning_state import ConfidenceStep
from roamkb.log.undo import UNDOABLE_EVENTS
from roamkb.tasks.stats import OUTCOMES

#: Letters of what an event says of itself.
_LONGEST_FIELD = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """An event of a learning's life for a template."""

    id: str
    date: str
    name: str
    by: str
    #: What it did to the confidence, in percent; empty where nothing.
    effect: str
    after: int
    details: tuple[tuple[str, str], ...]
    is_undoable: bool


def view_learning(kb: "server.ServedKnowledgeBase", request: Request) -> tuple[int, str]:
    """Return the page of the learning with `id`, an id or a key."""
    name = request.query_params.get("id", "")
    if not name:
        raise UsageError("the page of which learning?", hint="choose one of the learnings")
    explained: Explanation = kb.log.explain(name)
    standing = explained.standing
    learnings = kb.log.export().learnings
    return 200, render_page(
        "learning.html",
        row=learning_row(standing),
        standing=standing,
        learning=standing.learning,
        start=explained.start,
        why=explained.why,
        ranked=explained.ranked,
        events=[*_event_rows(standing.history)][::-1],
        flags=[(flag.replace("_", " "), why) for flag, why in standing.flags.items()],
        agents=sorted({state.learning.agent for state in learnings} | {kb.server_agent}),
        outcomes=OUTCOMES,
        back=learning_row(standing).href,
    )


def _event_rows(history: list[ConfidenceStep]) -> Iterator[EventRow]:
    for step in history:
        event, effect = step.event, step.after - step.before
        yield EventRow(
            id=event.id,
            date=local_day(event.ts),
            name=event.event.replace("_", " "),
            by=" ".join(part for part in (event.by, event.agent, event.task) if part),
            effect=f"{effect:+d} %" if effect else "",
            after=step.after,
            details=tuple((name.replace("_", " "), _field_text(value)) for name, value in event.fields.items()),
            is_undoable=event.event in UNDOABLE_EVENTS,
        )


def _field_text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return clip_text(one_line(text), _LONGEST_FIELD)
