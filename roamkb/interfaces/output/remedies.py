"""What is known against errors, as text and as JSON (docs/json.md)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.core.text import times
from roamkb.interfaces.output.encode import encode
from roamkb.interfaces.output.render import PrintedResult
from roamkb.remedies.effectiveness import Remedy
from roamkb.remedies.effectiveness import RemedyTier
from roamkb.remedies.fingerprint import ErrorFingerprint
from roamkb.remedies.remedy import IN_FULL
from roamkb.remedies.remedy import LISTED

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
        said = [f"recorded for {result.fingerprint.digest}: {_error(result.fingerprint)}"] if recorded else []
        said += _blocks(result)
        if result.more:
            said.append(f"{result.more} more: add --limit")
        return "\n".join(said)

    return PrintedResult(
        result=result, text=text, status=0 if result.remedies or recorded else 1, warnings=result.warnings
    )


def _known(result: "KnownErrors") -> PrintedResult:
    def text(_terminal: bool) -> str:
        blocks = ["\n".join(_of_error(error, in_full=result.in_full)) for error in result.errors]
        if result.more:
            blocks.append(f"{result.more} more: add --limit")
        return ("\n\n" if result.in_full else "\n").join(blocks)

    return PrintedResult(
        result={
            "errors": encode(result.errors, IN_FULL if result.in_full else LISTED),
            "more": result.more,
        },
        text=text,
        status=0 if result.errors else 1,
    )


def _of_error(result: "SuggestedRemedies", *, in_full: bool) -> Iterator[str]:
    yield f"{result.fingerprint.digest}  {_error(result.fingerprint)}"
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
        yield (f"escalate: {one.message}, do something else: {_short(one.technique)}{_why(one)}")


def _why(one: Remedy) -> str:
    """Say why a remedy of another error is there."""
    error = _error(one.error)
    if one.is_guess:
        return f" (a guess, {one.nearness:.2f} near: {error})"
    return f" ({_WHY[one.tier]}: {_short(one.error.text)})" if one.tier in _WHY else ""


def _figures(one: Remedy) -> str:
    if one.rate is not None:
        return f"{one.successes}/{one.successes + one.failures} worked ({one.lower_bound:.2f} at least)"
    return f"worked in part {times(one.partial)}" if one.partial else "untried"


def _error(error: ErrorFingerprint) -> str:
    return _short(error.line or error.text)


def _short(text: str) -> str:
    return clipped(shown(text), _WIDTH)
