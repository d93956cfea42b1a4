"""What sessions are told: the brief, and what hooks put into prompts, as text and as JSON."""

import secrets
from typing import TYPE_CHECKING

from roamkb.context.brief_text import learning_line
from roamkb.context.brief_text import node_line
from roamkb.context.brief_text import told
from roamkb.core.text import counted
from roamkb.core.text import shown
from roamkb.core.untrusted import framed
from roamkb.interfaces.output.encode import object_json
from roamkb.interfaces.output.render import PrintedResult

if TYPE_CHECKING:
    from roamkb.app.hooks.events import HookSuggestions
    from roamkb.app.hooks.stop import StopQuestion
    from roamkb.context.brief_text import SessionBrief
    from roamkb.pipeline.promote import PromoteResult
    from roamkb.remedies.effectiveness import Remedy


def _nonce() -> str:
    return secrets.token_hex(4)


def brief_text(brief: "SessionBrief") -> str:
    """Return the brief for a prompt."""
    return told(brief, nonce=_nonce())[0]


def offer_text(offer: "HookSuggestions", *, source: str) -> str:
    """Return what fits, for a prompt; nothing where nothing does."""
    items = [
        *map(learning_line, offer.learnings),
        *(f"[node] {node_line(hit)}" for hit in offer.nodes),
    ]
    return framed(items, source=source, nonce=_nonce()) if items else ""


def remedy_text(remedy: "Remedy") -> str:
    """Return what fixed an error before, for a prompt."""
    tried = remedy.successes + remedy.failures
    how = f"worked {remedy.successes} of {counted(tried, 'time')}" if remedy.is_tried else "untried"
    steps = "".join(f"\n  {n}. {shown(step)}" for n, step in enumerate(remedy.steps, 1))
    item = f"{shown(remedy.technique)} ({how}){steps}"
    return framed([item], source="what helped against this error before", nonce=_nonce())


def asked_text(asked: "StopQuestion") -> str:
    """Return what an agent is asked when it stops."""
    texts = (asked.question, question_text(asked.promoted) if asked.promoted else "")
    return "\n\n".join(text for text in texts if text)


def question_text(found: "PromoteResult") -> str:
    """Return the question of the wrap-up, with what could be promoted as data."""
    few = found.candidates[:5]
    items = framed(map(learning_line, few), source="roamkb promote", nonce=_nonce())
    more = f" ({len(found.candidates) - len(few)} more: `roamkb promote`)" if found.candidates[5:] else ""
    count = len(found.candidates)
    is_any, promotes = ("Is it", "it") if count == 1 else ("Is any of them", "one")
    return (
        f"roamkb: {counted(count, 'verified learning')} of this project could be promoted to the "
        f"human's knowledge base{more}. {is_any} worth it? `roamkb promote KEY` promotes {promotes}; "
        f"none is a good answer, too. This is asked once a session.\n{items}"
    )


def brief(result: "SessionBrief") -> PrintedResult:
    """Say what a session is told at its start."""
    return PrintedResult(
        result={**object_json(result), "text": brief_text(result)}, text=lambda _: brief_text(result)
    )


def inject(result: bool) -> PrintedResult:
    """Say whether hooks put anything into prompts here."""
    return PrintedResult(
        result={"injection": "on" if result else "off"},
        text=lambda _: f"injection is {'on' if result else 'off'} in this project",
    )
