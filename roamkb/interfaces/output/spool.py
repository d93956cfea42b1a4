"""Messages about calls that wait for a hook: when they are queued, and when they are done."""

from pathlib import Path

from roamkb.app.hooks.events import HookEventSession
from roamkb.app.spool import SpooledOutcome
from roamkb.app.spool import carry_out
from roamkb.core.request import ParameterShape
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import shorten_title
from roamkb.core.text import strip_hidden
from roamkb.interfaces.operations import find_operation
from roamkb.interfaces.output import render
from roamkb.spool.call import ParameterValues
from roamkb.spool.call import QueuedCall
from roamkb.spool.call import SpooledCall
from roamkb.wall.broker import FORWARDED_VERBS

_WAITS_FOR = "the hook after this command, which runs outside of its sandbox, finds its number and does it"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedAnswer:
    """Answer to a call that waits for a hook."""

    JSON = "queued verb id title path waits_in waits_for"
    queued: bool = True
    verb: str
    id: str | None
    title: str
    path: str | None = None
    waits_in: str
    waits_for: str = _WAITS_FOR


def queued(result: QueuedCall) -> render.PrintedResult:
    """Render the notice that a call waits."""
    call = result.call
    return render.PrintedResult(
        result=QueuedAnswer(
            verb=call.verb,
            id=call.id if call.verb in ("write", "supersede") else None,
            title=call.subject_text,
            waits_in=result.path,
        ),
        text=lambda _: (
            f"waits: {_call_subject(call)} ({Path(result.path).stem}): this sandbox keeps roamkb from writing; "
            f"{_WAITS_FOR}. Don't call it again"
        ),
    )


def carry_out_queued(session: HookEventSession, event: str) -> str:
    """Carry out the session's calls from its sandbox, and return a message on their outcomes."""
    outcomes = carry_out(session, printed=session.printed_output, is_over=event == "stop", parse_values=_parse_values)
    return "\n".join(map(_outcome_line, outcomes))


def _outcome_line(outcome: SpooledOutcome) -> str:
    call = outcome.call
    subject = _call_subject(call) if call else "a call"
    if outcome.error is not None:
        return f"roamkb: {subject}, which waited, is not done: {strip_hidden(render.error_text(outcome.error))}"
    if outcome.was_done or call is None:
        return f"roamkb: {subject}, which waited, was done before"
    printed = render.render_result(call.verb, outcome.result)
    printed_text = "\n".join((printed.text(False), *printed.warnings)).strip()
    return f"roamkb: {subject}, which waited, is done: {strip_hidden(printed_text)}"


def _call_subject(call: SpooledCall) -> str:
    return f"{call.verb} {shorten_title(call.subject_text)}".strip()


def _parse_values(call: SpooledCall) -> ParameterValues | None:
    """Return a call's values as the command line would parse them; None for a call that it would reject."""
    operation = find_operation(call.verb) if call.verb in FORWARDED_VERBS else None
    if operation is None or not call.values.keys() <= {
        known_parameter.name for known_parameter in operation.parameters
    }:
        return None
    values: dict[str, str | int | bool | tuple[str, ...] | None] = {}
    for parameter in operation.parameters:
        value = call.values.get(parameter.name)
        match parameter.shape:
            case ParameterShape.FLAG:
                is_valid = isinstance(value, bool | None)
                value = bool(value)
            case ParameterShape.TEXTS:
                is_valid = isinstance(value, tuple | None)
                value = value or ()
            case ParameterShape.COUNT:
                is_valid = value is None or (type(value) is int and value >= 0)
            case ParameterShape.TEXT | ParameterShape.OBJECTS:
                is_valid = isinstance(value, str | None)
        if not is_valid or (parameter.required and value is None):
            return None
        values[parameter.name] = value
    return values
