"""Learning: its text, the words that it was taken from, what happened to it, and what can be done about it."""

import json
from collections.abc import Iterator
from collections.abc import Sequence

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.interfaces.page.learnings_view import learning_row
from roamkb.interfaces.page.learnings_view import local_day
from roamkb.interfaces.page.learnings_view import quoted_evidence
from roamkb.interfaces.page.records.confidence_line import draw_confidence
from roamkb.interfaces.page.templating import first_rows
from roamkb.interfaces.page.templating import render_page
from roamkb.log.explain import Explanation
from roamkb.log.state.learning_state import ConfidenceStep
from roamkb.log.undo import UNDOABLE_EVENTS
from roamkb.tasks.stats import OUTCOMES

#: Letters of what an event says of itself.
_LONGEST_FIELD = 300
#: Fields of an event that no reader compares; `roamkb explain` has them.
_FIELDS_OF_PROGRAMS = frozenset({"confidence", "digest", "proof", "proposal", "receipt", "scores"})
#: Events of a page; `roamkb explain` has all.
_MOST_EVENTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """An event of a learning's life for a template."""

    id: str
    #: As in the drawing, the first one being 1.
    number: int
    date: str
    name: str
    by: str
    #: What it did to the confidence, in percent; empty where nothing.
    effect: str
    after: int
    #: The words that it was taken from, where it says some.
    quote: str
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
    events, more_events = first_rows([*_event_rows(standing.history)][::-1], _MOST_EVENTS)
    line = draw_confidence(explained.start, standing.history, said=standing.learning.ts, now=kb.current_time)
    return 200, render_page(
        "learning.html",
        row=learning_row(standing),
        standing=standing,
        learning=standing.learning,
        start=explained.start,
        why=explained.why,
        ranked=explained.ranked,
        events=events,
        more_events=more_events,
        line=line,
        line_days=(local_day(line.begin), local_day(line.end)),
        flags=[(flag.replace("_", " "), why) for flag, why in standing.flags.items()],
        agents=sorted({state.learning.agent for state in learnings} | {kb.server_agent}),
        outcomes=OUTCOMES,
        back=learning_row(standing).href,
    )


def _event_rows(history: Sequence[ConfidenceStep]) -> Iterator[EventRow]:
    for number, step in enumerate(history, start=1):
        event, effect = step.event, step.after - step.before
        quote = quoted_evidence(event.fields)
        yield EventRow(
            id=event.id,
            number=number,
            date=local_day(event.ts),
            name=event.event.replace("_", " "),
            by=event.agent or event.by,
            effect=f"{effect:+d} %".replace("-", "\N{MINUS SIGN}") if effect else "",
            after=step.after,
            quote=clip_text(quote, _LONGEST_FIELD),
            details=tuple(
                (name.replace("_", " "), _field_text(value))
                for name, value in {"task": event.task, **event.fields}.items()
                if value and name not in _FIELDS_OF_PROGRAMS and not (quote and name == "evidence")
            ),
            is_undoable=event.event in UNDOABLE_EVENTS,
        )


def _field_text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return clip_text(one_line(text), _LONGEST_FIELD)
