"""Texts for sessions: the brief, and additions of hooks to prompts, as text and as JSON."""

import os
from collections.abc import Iterator
from typing import Annotated
from typing import Literal

from roamkb.app.hooks import events
from roamkb.app.hooks import stop
from roamkb.context.brief_text import SessionBrief
from roamkb.context.brief_text import learning_line
from roamkb.context.brief_text import node_line
from roamkb.context.brief_text import render_brief
from roamkb.context.shown import ShownList
from roamkb.context.shown import ShownOccasion
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.untrusted import frame_items
from roamkb.interfaces.output.render import PrintedResult
from roamkb.pipeline import promote
from roamkb.remedies import effectiveness

#: Answers of an occasion that somebody reads who asks why they weren't shown.
_MOST_NEAR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefAnswer:
    """Answer of `brief`."""

    JSON = "*brief text"
    brief: "SessionBrief"
    #: For a prompt.
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectAnswer:
    """Answer of `inject`."""

    injection: Literal["on", "off"]


def _new_nonce() -> str:
    # what `secrets.token_hex` does, without the libraries that it loads
    return os.urandom(4).hex()


def brief_text(brief: "SessionBrief") -> str:
    """Return the brief for a prompt."""
    return render_brief(brief, nonce=_new_nonce())[0]


def suggestions_text(suggestions: "events.HookSuggestions", *, source: str) -> str:
    """Return the suggestions for a prompt; empty where there are none."""
    items = [
        *map(learning_line, suggestions.learnings),
        *map(node_line, suggestions.nodes),
    ]
    return frame_items(items, source=source, nonce=_new_nonce()) if items else ""


def remedy_text(remedy: "effectiveness.Remedy") -> str:
    """Return the remedy that fixed an error before, for a prompt."""
    tried = remedy.successes + remedy.failures
    success_text = f"worked {remedy.successes} of {count_phrase(tried, 'time')}" if remedy.is_tried else "untried"
    steps = "".join(f"\n  {n}. {one_line(step)}" for n, step in enumerate(remedy.steps, 1))
    item = f"{one_line(remedy.technique)} ({success_text}){steps}"
    return frame_items([item], source="what helped against this error before", nonce=_new_nonce())


def stop_question_text(stop_question: "stop.StopQuestion") -> str:
    """Return the question to an agent that stops."""
    texts = (stop_question.question, wrap_up_question(stop_question.promoted) if stop_question.promoted else "")
    return "\n\n".join(text for text in texts if text)


def wrap_up_question(promote_result: "promote.PromoteResult") -> str:
    """Return the question of the wrap-up, with the promotable learnings as data."""
    few = promote_result.candidates[: promote.ASKED_CANDIDATES]
    items = frame_items(map(learning_line, few), source="roamkb promote", nonce=_new_nonce())
    more = (
        f" ({len(promote_result.candidates) - len(few)} more: `roamkb promote`)"
        if len(promote_result.candidates) > len(few)
        else ""
    )
    count = len(promote_result.candidates)
    is_any, promotes = ("Is it", "it") if count == 1 else ("Is any of them", "one")
    return (
        f"roamkb: {count_phrase(count, 'verified learning')} of this project could be promoted to the "
        f"human's knowledge base{more}. {is_any} worth it? `roamkb promote KEY` promotes {promotes}; "
        f"none is a good answer, too. Of each this is asked once.\n{items}"
    )


def brief(result: "SessionBrief") -> Annotated[PrintedResult, BriefAnswer]:
    """Render the brief of a session's start."""
    return PrintedResult(result=BriefAnswer(brief=result, text=brief_text(result)), text=lambda _: brief_text(result))


def shown(result: "ShownList") -> PrintedResult:
    """Render the occasions on which something was shown, or nearly was."""

    def render_text(_: bool) -> str:
        more = [f"{result.more} more: --limit {len(result.occasions) + result.more}"] if result.more else []
        return "\n".join((trace_text(result, most_near=_MOST_NEAR), *more))

    return PrintedResult(result=result, text=render_text, status=0 if result.occasions else 1)


def trace_text(shown_list: "ShownList", *, most_near: int | None = None) -> str:
    """Return the occasions with what was shown and weighed, a line each; of what wasn't shown the nearest."""
    lines = [line for occasion in shown_list.occasions for line in _occasion_lines(occasion, most_near)]
    return "\n".join(lines or ["nothing was shown"])


def _occasion_lines(occasion: "ShownOccasion", most_near: int | None) -> Iterator[str]:
    """Yield an occasion's line, then one for each thing that was shown or weighed."""
    details = [f"prompt {occasion.prompt}"] if occasion.prompt else []
    details += [f"worktree {one_line(occasion.worktree)}"] if occasion.worktree else []
    details += [f"session {one_line(occasion.session)}"] if occasion.session else []
    yield ", ".join([f"{occasion.time} {occasion.by}", *details])
    for item in occasion.shown:
        outcome = f" ({item.outcome})" if item.outcome else ""
        yield f"  shown: {one_line(item.name or item.id)}{outcome}"
    near = occasion.near if most_near is None else sorted(occasion.near, key=lambda miss: -miss.bits)[:most_near]
    for miss in near:
        bits = f"{miss.bits:.1f} of {miss.least_bits:.1f} bits"
        yield f"  not shown: {one_line(miss.name or miss.id)}: {miss.dropped} ({bits})"
    if len(near) < len(occasion.near):
        yield f"  and {len(occasion.near) - len(near)} more that were weighed: --json"


def inject(result: bool) -> Annotated[PrintedResult, InjectAnswer]:
    """Render whether hooks put anything into prompts here."""
    return PrintedResult(
        result=InjectAnswer(injection="on" if result else "off"),
        text=lambda _: f"injection is {'on' if result else 'off'} in this project",
    )
