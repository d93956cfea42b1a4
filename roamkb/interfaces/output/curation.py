"""Results of a log's curation, as text and as JSON (docs/json.md)."""

import json
from collections.abc import Iterator

from roamkb.core.text import HIDDEN_CHARACTERS
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import strip_hidden
from roamkb.core.text import times_phrase
from roamkb.core.timestamps import format_iso
from roamkb.curation import audit as curation_audit
from roamkb.curation import curate as curate_verb
from roamkb.curation import refine as curation_refine
from roamkb.interfaces.output.encode import Json
from roamkb.interfaces.output.encode import object_json
from roamkb.interfaces.output.render import PrintedResult
from roamkb.interfaces.output.render import dump_json
from roamkb.log import explain as log_explain
from roamkb.log import export as log_export
from roamkb.log import pin as log_pin
from roamkb.log import undo as log_undo
from roamkb.log.jsonl import event_line
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.pipeline.gate.references import STALE

#: A title's worth of a learning.
_TITLE_WIDTH = 120


def audit(result: "curation_audit.Audit") -> PrintedResult:
    """Render the doubts of recall with reasons; into a pipe go the lines as they were stored."""
    actions = [action.to_json_object() for action in result.actions]
    path = str(result.path) if result.path else None
    summary: Json = {"action": "summary", **result.summary}

    def render_text(terminal: bool) -> str:
        if not terminal:
            return "\n".join(map(dump_json, (*actions, summary)))
        counts = ", ".join(f"{label} {result.summary[name]}" for name, label in _COUNT_LABELS.items())
        file_note = f"; all of it is in {one_line(path)}" if path else ""
        return "\n".join([*map(_action_line, actions), f"{counts}{file_note}"])

    return PrintedResult(result=result, text=render_text)


#: The counts, as a reader would call them.
_COUNT_LABELS = {
    "total": "lines",
    "active": "answered from",
    "invalid_json": "unreadable",
    "newer_version": "of a newer version",
    "forgotten": "forgotten",
    "filtered_noise": "noise",
    "duplicate_key": "same key",
    "duplicate_content": "same words",
    "stale_candidate": "about lost files",
    "needs_review": "to review",
}


def _action_line(action: Json) -> str:
    match action:
        case {"action": "skip_invalid_json", "source": source, "line": line, "reason": reason}:
            return f"unreadable: {one_line(str(source))}:{line}: {one_line(str(reason))}"
        case {"action": "keep_newer_version", "source": source, "line": line, "reason": reason}:
            return f"newer: {one_line(str(source))}:{line}: {one_line(str(reason))}"
        case {"action": "forgotten", "id": id, "ts": ts, "operator": operator, "hidden_lines": lines}:
            hidden = f"; {lines} of its lines are there: `roamkb forget {one_line(str(id))}`" if lines else ""
            human = one_line(str(operator)) or "nobody named"
            return f"forgotten: {one_line(str(id))} on {str(ts)[:10]} by {human}{hidden}"
        case {"action": "filter_noise", "key": key, "reason": reason}:
            return f"noise: {one_line(str(key))}: {one_line(str(reason))}"
        case {
            "action": "dedupe_key" | "dedupe_content" as name,
            "key": key,
            "kept_key": kept,
            "effect": effect,
        }:
            same = "same key" if name == "dedupe_key" else f"same words as {one_line(str(kept))}"
            return f"{same}: {one_line(str(key))} ({effect})"
        case {"key": key, "reasons": [*reasons]}:
            why = ", ".join(one_line(str(reason)).replace("_", " ") for reason in reasons)
            return f"{'stale' if action.get('status') == STALE else 'to review'}: {one_line(str(key))}: {why}"
    return dump_json(action)


def curate(result: "curate_verb.CurationProposal") -> PrintedResult:
    """Render just the lines that would be, or were, appended to the ledger."""
    lines = [_ledger_line(event) for event in result.events]
    if result.is_applied:
        summary = f"appended {count_phrase(len(lines), 'line')} of the proposal {result.digest}"
    elif lines:
        summary = (
            f"{count_phrase(len(result.clusters), 'decision')}, {count_phrase(len(lines), 'line')}. "
            f"The proposal is {result.digest}; "
            f'to append it: roamkb curate --apply {result.digest} --reason "WHY"'
        )
    else:
        summary = "nothing to curate"
    left_out = count_phrase(result.left_out, "learning")
    warnings = (summary, f"left out, as too long to be compared: {left_out}") if result.left_out else (summary,)
    return PrintedResult(result=result, text=lambda _: "\n".join(lines), status=0 if lines else 1, warnings=warnings)


def printed_review(result: "curate_verb.CurationProposal") -> PrintedResult:
    """Render the lines that were appended, if any."""
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
    """Return the ledger's line, with characters that could act on a terminal as escapes."""
    line = event_line(event).decode()
    return HIDDEN_CHARACTERS.sub(lambda match: json.dumps(match.group())[1:-1], line)


def refine(result: "curation_refine.Refinement") -> PrintedResult:
    """Render each learning, its faults, and the command that rewords it."""

    def render_text(_: bool) -> str:
        lines = []
        for refinable in result.learnings:
            learning = refinable.standing.learning
            lines.append(f"[{one_line(learning.type).upper()}] {clip_text(one_line(learning.statement), _TITLE_WIDTH)}")
            lines += [f"  {one_line(reason)}" for reason in refinable.reasons]
            lines.append(f"  {one_line(refinable.command)}")
        return "\n".join(lines)

    return PrintedResult(result=result, text=render_text, status=0 if result.learnings else 1)


def explain(result: "log_explain.Explanation") -> PrintedResult:
    """Render a learning's life, the constants last."""
    return PrintedResult(result=result, text=lambda _: "\n".join(_life_lines(result)))


def _life_lines(result: "log_explain.Explanation") -> Iterator[str]:
    learning_state = result.standing
    learning = learning_state.learning
    yield f"[{one_line(learning.type).upper()}] {strip_hidden(learning.statement).strip()}"
    yield f"  {one_line(learning.key)} | {one_line(learning.id)}"
    learned_on = format_iso(learning.ts)[:10] if learning.ts else "no date"
    actors = " ".join(
        one_line(name_part) for name_part in (learning.agent, learning.session, learning.task) if name_part
    )
    yield f"{learned_on}  said{f' by {actors}' if actors else ''}: {as_fraction(result.start):.2f}, since {result.why}"
    for step in learning_state.history:
        event = step.event
        actors = " ".join(
            one_line(name_part) for name_part in (event.by, event.agent, event.session, event.task) if name_part
        )
        effect = step.after - step.before
        moved = f"{as_fraction(effect):+.2f} to {as_fraction(step.after):.2f}" if effect else "no effect on it"
        yield f"{format_iso(event.ts)[:10]}  {one_line(event.event)} by {actors or 'nobody named'}: {moved}"
        fields = {"id": event.id, **event.fields}
        yield from (f"    {one_line(name)}: {_field_text(value)}" for name, value in fields.items())
    marks = [
        learning_state.status,
        learning_state.verdict,
        f"scope {learning_state.scope}",
        times_phrase(learning_state.occurrences),
    ]
    marks += ["pinned"] if learning_state.is_pinned else []
    marks += [f"preferred by {agent}" for agent in sorted(learning_state.preferred_by)]
    marks += ["overridden by a human"] if learning_state.is_overridden else []
    marks += ["line in the archive"] if learning_state.is_archived else []
    yield (
        f"now {as_fraction(learning_state.confidence):.2f}, ranked as {as_fraction(result.ranked):.2f}: "
        + ", ".join(map(one_line, marks))
    )
    yield from (f"  {one_line(name)}: {one_line(why)}" for name, why in learning_state.flags.items())
    yield "constants:"
    widest = max(map(len, result.constants), default=0)
    for name, value in result.constants.items():
        yield f"  {name.replace('_', ' '):{widest}} {as_fraction(value):.2f}"


def _field_text(value: object) -> str:
    return clip_text(one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)), 300)


def pin(result: "log_pin.MarkedLearning") -> PrintedResult:
    """Render whether it is pinned now."""
    standing = result.standing
    state = "pinned" if standing.is_pinned else "not pinned"
    already = "" if result.is_new else " already; nothing was written"
    return _printed_line(result, f"{one_line(standing.learning.key)} is {state}{already}")


def prefer(result: "log_pin.MarkedLearning") -> PrintedResult:
    """Render the agents that prefer it now."""
    standing = result.standing
    agents = ", ".join(map(one_line, sorted(standing.preferred_by))) or "nobody"
    already = "" if result.is_new else "; nothing was written"
    return _printed_line(result, f"{one_line(standing.learning.key)} is preferred by {agents}{already}")


def undo(result: "log_undo.UndoneEvent") -> PrintedResult:
    """Render the undone event, and its learning's present confidence."""
    event, standing = result.event, result.standing
    state_note = (
        f": {one_line(standing.learning.key)} counts {as_fraction(standing.confidence):.2f}" if standing else ""
    )
    already = "" if result.is_new else " already; nothing was written"
    return PrintedResult(
        result=result, text=lambda _: f"{one_line(event.event)} {one_line(event.id)} doesn't count{already}{state_note}"
    )


def override(result: "log_pin.MarkedLearning") -> PrintedResult:
    """Render its new confidence."""
    standing = result.standing
    line = f"{one_line(standing.learning.key)} counts {as_fraction(standing.confidence):.2f} from now on"
    return PrintedResult(result=result, text=lambda _: line, warnings=result.warnings)


def _printed_line(result: "log_pin.MarkedLearning", line: str) -> PrintedResult:
    return PrintedResult(result=result, text=lambda _: line)


def export(result: "log_export.LearningExport") -> PrintedResult:
    """Render each learning as one JSON object a line."""
    rows = [object_json(standing, EVERY_KEY) for standing in result.learnings]
    return PrintedResult(result=result, text=lambda _: "\n".join(map(dump_json, rows)), status=0 if rows else 1)
