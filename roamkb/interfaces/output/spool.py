"""Calls that wait for a hook: what is said of them when they begin to, and what when they are done."""

from pathlib import Path

from roamkb.app.hooks.events import HookEventSession
from roamkb.app.spool import SpooledOutcome
from roamkb.app.spool import carry_out
from roamkb.core.request import ParameterShape
from roamkb.core.text import cleaned
from roamkb.core.text import headline
from roamkb.interfaces.operations import find_operation
from roamkb.interfaces.output import render
from roamkb.spool.call import QueuedCall
from roamkb.spool.call import SpooledCall
from roamkb.spool.call import Values
from roamkb.wall.broker import VERBS

_WAITS_FOR = "the hook after this command, which runs outside of its sandbox, finds its number and does it"


def queued(result: QueuedCall) -> render.PrintedResult:
    """Return what is said of a call that waits."""
    call = result.call
    return render.PrintedResult(
        result={
            "queued": True,
            "verb": call.verb,
            "id": call.id if call.verb in ("write", "supersede") else None,
            "title": call.subject,
            "path": None,
            "waits_in": result.path,
            "waits_for": _WAITS_FOR,
        },
        text=lambda _: (
            f"waits: {_what(call)} ({Path(result.path).stem}): this sandbox keeps roamkb from writing; "
            f"{_WAITS_FOR}. Don't call it again"
        ),
    )


def carried_out(session: HookEventSession, event: str) -> str:
    """Carry out what the session called in its sandbox, and return what is to be said of it."""
    outcomes = carry_out(session, printed=session.printed, is_over=event == "stop", read=_values)
    return "\n".join(map(_line, outcomes))


def _line(outcome: SpooledOutcome) -> str:
    call = outcome.call
    what = _what(call) if call else "a call"
    if outcome.error is not None:
        return f"roamkb: {what}, which waited, is not done: {cleaned(render.error_text(outcome.error))}"
    if outcome.was_done or call is None:
        return f"roamkb: {what}, which waited, was done before"
    printed = render.render(call.verb, outcome.result)
    said = "\n".join((printed.text(False), *printed.warnings)).strip()
    return f"roamkb: {what}, which waited, is done: {cleaned(said)}"


def _what(call: SpooledCall) -> str:
    return f"{call.verb} {headline(call.subject)}".strip()


def _values(call: SpooledCall) -> Values | None:
    """Return a call's values as the command line would give them; None where it would take no such call."""
    operation = find_operation(call.verb) if call.verb in VERBS else None
    if operation is None or not call.values.keys() <= {one.name for one in operation.parameters}:
        return None
    values: dict[str, str | int | bool | tuple[str, ...] | None] = {}
    for parameter in operation.parameters:
        value = call.values.get(parameter.name)
        match parameter.shape:
            case ParameterShape.FLAG:
                fits = isinstance(value, bool | None)
                value = bool(value)
            case ParameterShape.TEXTS:
                fits = isinstance(value, tuple | None)
                value = value or ()
            case ParameterShape.COUNT:
                fits = value is None or (type(value) is int and value >= 0)
            case ParameterShape.TEXT | ParameterShape.OBJECTS:
                fits = isinstance(value, str | None)
        if not fits or (parameter.required and value is None):
            return None
        values[parameter.name] = value
    return values
