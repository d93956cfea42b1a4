"""What looking after a project's log found and did, as text and as JSON (docs/json.md)."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from roamkb.core.text import HIDDEN
from roamkb.core.text import cleaned
from roamkb.core.text import clipped
from roamkb.core.text import counted
from roamkb.core.text import shown
from roamkb.core.text import times
from roamkb.core.timestamps import iso
from roamkb.interfaces.output.encode import Json
from roamkb.interfaces.output.encode import object_json
from roamkb.interfaces.output.render import PrintedResult
from roamkb.interfaces.output.render import dumps
from roamkb.log.jsonl import event_line
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.pipeline.gate.references import STALE

if TYPE_CHECKING:
    from roamkb.curation.audit import Audit
    from roamkb.curation.curate import CurationProposal
    from roamkb.curation.refine import Refinement
    from roamkb.log.explain import Explanation
    from roamkb.log.export import LearningExport
    from roamkb.log.pin import MarkedLearning
    from roamkb.log.state.learning_state import LedgerEvent
    from roamkb.log.undo import UndoneEvent

#: A title's worth of a learning.
_TITLE = 120


def audit(result: "Audit") -> PrintedResult:
    """Say on a terminal what recall doubts and why; into a pipe go the lines as they were kept."""
    told = [action.told() for action in result.actions]
    path = str(result.path) if result.path else None
    summary: Json = {"action": "summary", **result.summary}

    def text(terminal: bool) -> str:
        if not terminal:
            return "\n".join(map(dumps, (*told, summary)))
        counts = ", ".join(f"{said} {result.summary[name]}" for name, said in _AUDITED.items())
        kept = f"; all of it is in {shown(path)}" if path else ""
        return "\n".join([*map(_audited, told), f"{counts}{kept}"])

    return PrintedResult(result=result, text=text)


#: The counts, as a reader would call them.
_AUDITED = {
    "total": "lines",
    "active": "answered from",
    "invalid_json": "unreadable",
    "filtered_noise": "noise",
    "duplicate_key": "same key",
    "duplicate_content": "same words",
    "stale_candidate": "about lost files",
    "needs_review": "to review",
}


def _audited(told: Json) -> str:
    match told:
        case {"action": "skip_invalid_json", "source": source, "line": line, "reason": reason}:
            return f"unreadable: {shown(str(source))}:{line}: {shown(str(reason))}"
        case {"action": "filter_noise", "key": key, "reason": reason}:
            return f"noise: {shown(str(key))}: {shown(str(reason))}"
        case {
            "action": "dedupe_key" | "dedupe_content" as name,
            "key": key,
            "kept_key": kept,
            "effect": effect,
        }:
            same = "same key" if name == "dedupe_key" else f"same words as {shown(str(kept))}"
            return f"{same}: {shown(str(key))} ({effect})"
        case {"key": key, "reasons": [*reasons]}:
            why = ", ".join(shown(str(reason)).replace("_", " ") for reason in reasons)
            return f"{'stale' if told.get('status') == STALE else 'to review'}: {shown(str(key))}: {why}"
    return dumps(told)


def curate(result: "CurationProposal") -> PrintedResult:
    """Print just the lines that would be, or were, appended to the ledger."""
    lines = [_ledger_line(event) for event in result.events]
    if result.is_applied:
        said = f"appended {counted(len(lines), 'line')} of the proposal {result.digest}"
    elif lines:
        said = (
            f"{counted(len(result.clusters), 'decision')}, {counted(len(lines), 'line')}. "
            f"The proposal is {result.digest}; "
            f'to append it: roamkb curate --apply {result.digest} --reason "WHY"'
        )
    else:
        said = "nothing to curate"
    return PrintedResult(
        result=result, text=lambda _: "\n".join(lines), status=0 if lines else 1, warnings=(said,)
    )


def review(result: "CurationProposal") -> PrintedResult:
    """Print the lines that were appended, if any."""
    printed = curate(result)
    if result.is_applied:
        return printed
    return PrintedResult(
        result=printed.result,
        text=printed.text,
        status=1,
        warnings=("nothing was approved, nothing was written",),
    )


def _ledger_line(event: "LedgerEvent") -> str:
    """Return the line as the ledger gets it; a character that could act on a terminal by its number."""
    line = event_line(event).decode()
    return HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], line)


def refine(result: "Refinement") -> PrintedResult:
    """Print each learning, what is wrong with it, and the command that says it again."""

    def text(_: bool) -> str:
        lines = []
        for one in result.learnings:
            learning = one.standing.learning
            lines.append(f"[{shown(learning.type).upper()}] {clipped(shown(learning.statement), _TITLE)}")
            lines += [f"  {shown(reason)}" for reason in one.reasons]
            lines.append(f"  {shown(one.command)}")
        return "\n".join(lines)

    return PrintedResult(result=result, text=text, status=0 if result.learnings else 1)


def explain(result: "Explanation") -> PrintedResult:
    """Print a learning's life, the constants last."""
    return PrintedResult(result=result, text=lambda _: "\n".join(_life(result)))


def _life(result: "Explanation") -> Iterator[str]:
    standing = result.standing
    learning = standing.learning
    yield f"[{shown(learning.type).upper()}] {cleaned(learning.statement).strip()}"
    yield f"  {shown(learning.key)} | {shown(learning.id)}"
    told = iso(learning.ts)[:10] if learning.ts else "no date"
    who = " ".join(shown(one) for one in (learning.agent, learning.session, learning.task) if one)
    yield f"{told}  said{f' by {who}' if who else ''}: {as_fraction(result.start):.2f}, since {result.why}"
    for step in standing.history:
        event = step.event
        who = " ".join(shown(one) for one in (event.by, event.agent, event.session, event.task) if one)
        effect = step.after - step.before
        moved = (
            f"{as_fraction(effect):+.2f} to {as_fraction(step.after):.2f}" if effect else "no effect on it"
        )
        yield f"{iso(event.ts)[:10]}  {shown(event.event)} by {who or 'nobody named'}: {moved}"
        fields = {"id": event.id, **event.fields}
        yield from (f"    {shown(name)}: {_field(value)}" for name, value in fields.items())
    marks = [standing.status, standing.verdict, f"scope {standing.scope}", times(standing.occurrences)]
    marks += ["pinned"] if standing.is_pinned else []
    marks += [f"preferred by {agent}" for agent in sorted(standing.preferred_by)]
    marks += ["overridden by a human"] if standing.is_overridden else []
    marks += ["archived"] if standing.is_archived else []
    yield (
        f"now {as_fraction(standing.confidence):.2f}, ranked as {as_fraction(result.ranked):.2f}: "
        + ", ".join(map(shown, marks))
    )
    yield from (f"  {shown(name)}: {shown(why)}" for name, why in standing.flags.items())
    yield "constants:"
    widest = max(map(len, result.constants), default=0)
    for name, value in result.constants.items():
        yield f"  {name.replace('_', ' '):{widest}} {as_fraction(value):.2f}"


def _field(value: object) -> str:
    return clipped(shown(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)), 300)


def pin(result: "MarkedLearning") -> PrintedResult:
    """Say whether it is pinned now."""
    standing = result.standing
    state = "pinned" if standing.is_pinned else "not pinned"
    already = "" if result.is_new else " already; nothing was written"
    return _marked(result, f"{shown(standing.learning.key)} is {state}{already}")


def prefer(result: "MarkedLearning") -> PrintedResult:
    """Say who prefers it now."""
    standing = result.standing
    agents = ", ".join(map(shown, sorted(standing.preferred_by))) or "nobody"
    already = "" if result.is_new else "; nothing was written"
    return _marked(result, f"{shown(standing.learning.key)} is preferred by {agents}{already}")


def undo(result: "UndoneEvent") -> PrintedResult:
    """Say what doesn't count any more, and what its learning counts now."""
    event, standing = result.event, result.standing
    now = (
        f": {shown(standing.learning.key)} counts {as_fraction(standing.confidence):.2f}" if standing else ""
    )
    already = "" if result.is_new else " already; nothing was written"
    return PrintedResult(
        result=result, text=lambda _: f"{shown(event.event)} {shown(event.id)} doesn't count{already}{now}"
    )


def override(result: "MarkedLearning") -> PrintedResult:
    """Say what it counts now."""
    standing = result.standing
    return _marked(
        result, f"{shown(standing.learning.key)} counts {as_fraction(standing.confidence):.2f} from now on"
    )


def _marked(result: "MarkedLearning", said: str) -> PrintedResult:
    return PrintedResult(result=result, text=lambda _: said)


def export(result: "LearningExport") -> PrintedResult:
    """Print each learning as one JSON object a line."""
    told = [object_json(standing, EVERY_KEY) for standing in result.learnings]
    return PrintedResult(result=result, text=lambda _: "\n".join(map(dumps, told)), status=0 if told else 1)
