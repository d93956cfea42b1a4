"""What is known against errors, as text and as JSON (docs/json.md)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.core.text import times
from roamkb.core.timestamps import iso
from roamkb.interfaces.output.encode import Json
from roamkb.interfaces.output.render import PrintedResult
from roamkb.remedies.effectiveness import Remedy
from roamkb.remedies.effectiveness import RemedyAttempt
from roamkb.remedies.effectiveness import RemedyTier

if TYPE_CHECKING:
    from roamkb.remedies.remedy import KnownErrors
    from roamkb.remedies.remedy import SuggestedRemedies

#: Of a technique or a step that is a page long, a person reads so much; JSON has the whole of it.
_WIDTH = 240
#: Why a remedy is for an error that it wasn't recorded with.
_WHY = {
    RemedyTier.PATTERN: "by its pattern",
    RemedyTier.TOLD: "met together",
    RemedyTier.SIMILAR: "a similar error",
}


def remedy(result: "SuggestedRemedies | KnownErrors") -> PrintedResult:
    """Say what to do about an error, or what is known of all of them."""
    from roamkb.remedies.remedy import KnownErrors

    return _known(result) if isinstance(result, KnownErrors) else _suggested(result)


def _suggested(result: "SuggestedRemedies") -> PrintedResult:
    recorded = result.recorded

    def text(_terminal: bool) -> str:
        said = [f"recorded for {result.fingerprint.digest}: {_error(result)}"] if recorded else []
        said += _blocks(result)
        if result.more:
            said.append(f"{result.more} more: add --limit")
        return "\n".join(said)

    json: Json = {**_json(result), "more": result.more}
    if recorded:
        json["recorded"] = _attempt(recorded)
    return PrintedResult(
        result=json,
        text=text,
        status=0 if result.remedies or recorded else 1,
        warnings=result.warnings,
    )


def _known(result: "KnownErrors") -> PrintedResult:
    def text(_terminal: bool) -> str:
        blocks = ["\n".join(_of_error(error, in_full=result.in_full)) for error in result.errors]
        if result.more:
            blocks.append(f"{result.more} more: add --limit")
        return ("\n\n" if result.in_full else "\n").join(blocks)

    return PrintedResult(
        result={
            "errors": [_json(error, attempts=result.in_full) for error in result.errors],
            "more": result.more,
        },
        text=text,
        status=0 if result.errors else 1,
    )


def _of_error(result: "SuggestedRemedies", *, in_full: bool) -> Iterator[str]:
    yield f"{result.fingerprint.digest}  {_error(result)}"
    for one in () if in_full else result.remedies:
        yield f"  {_figures(one)}  {_short(one.technique)}"
    if in_full:
        yield from _blocks(result, withdrawn=True)


def _blocks(result: "SuggestedRemedies", *, withdrawn: bool = False) -> Iterator[str]:
    """Yield the lines of each technique, and which are to be given up."""
    for one in result.remedies:
        if withdrawn or not one.is_withdrawn:
            yield f"{_figures(one)}  {_short(one.technique)}{_why(one)}"
            yield from (f"  {number}. {_short(step)}" for number, step in enumerate(one.steps, start=1))
    for one in result.withdrawn:
        yield (
            f"escalate: {one.failed_in_a_row} failed attempts with the same technique, "
            f"do something else: {_short(one.technique)}{_why(one)}"
        )


def _why(one: Remedy) -> str:
    """Say why a remedy of another error is there."""
    error = _short(one.attempts[-1].error.line or one.attempts[-1].error.text)
    if one.is_guess:
        return f" (a guess, {one.nearness:.2f} near: {error})"
    return f" ({_WHY[one.tier]}: {_short(one.attempts[-1].error.text)})" if one.tier in _WHY else ""


def _figures(one: Remedy) -> str:
    if one.rate is not None:
        return f"{one.successes}/{one.successes + one.failures} worked ({one.lower_bound:.2f} at least)"
    return f"worked in part {times(one.partial)}" if one.partial else "untried"


def _error(result: "SuggestedRemedies") -> str:
    return _short(result.fingerprint.line or result.fingerprint.text)


def _short(text: str) -> str:
    return clipped(shown(text), _WIDTH)


def _json(result: "SuggestedRemedies", *, attempts: bool = False) -> Json:
    return {
        "fingerprint": result.fingerprint.digest,
        "error": result.fingerprint.text,
        "line": result.fingerprint.line,
        "remedies": [_remedy(one, attempts=attempts) for one in result.remedies],
        "escalate": [
            {
                "technique": one.technique,
                "failures_in_a_row": one.failed_in_a_row,
                "why": one.tier.name.casefold(),
                "message": f"{one.failed_in_a_row} failed attempts with the same technique",
            }
            for one in result.withdrawn
        ],
    }


def _remedy(one: Remedy, *, attempts: bool) -> Json:
    told: Json = {
        "technique": one.technique,
        "steps": list(one.steps),
        "successes": one.successes,
        "failures": one.failures,
        "partial": one.partial,
        "rate": None if one.rate is None else round(one.rate, 4),
        "lower_bound": round(one.lower_bound, 4),
        "last_used": None if one.last_used is None else iso(one.last_used),
        "tried": one.is_tried,
        "why": one.tier.name.casefold(),
        "nearness": one.nearness,
        "for": one.attempts[-1].error.text,
        "context": {key: list(values) for key, values in one.context.items()},
    }
    return {**told, "attempts": [_attempt(each) for each in one.attempts]} if attempts else told


def _attempt(one: RemedyAttempt) -> Json:
    return {
        "id": one.id,
        "ts": iso(one.ts),
        "technique": one.technique,
        "outcome": one.outcome or None,
        "agent": one.agent,
        "task": one.task,
        "context": dict(one.context),
        "pattern": one.pattern,
        "regex": one.regex,
    }
