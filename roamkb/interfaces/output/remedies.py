"""Known remedies against errors, as text and as JSON (docs/json.md)."""

from collections.abc import Iterator
from typing import Annotated

from roamkb.core.json_form import Keys
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.core.text import times_phrase
from roamkb.interfaces.output.render import PrintedResult
from roamkb.remedies.effectiveness import Remedy
from roamkb.remedies.effectiveness import RemedyTier
from roamkb.remedies.fingerprint import ErrorFingerprint
from roamkb.remedies.remedy import FULL_KEYS
from roamkb.remedies.remedy import LISTED_KEYS
from roamkb.remedies.remedy import KnownErrors
from roamkb.remedies.remedy import SuggestedRemedies

#: Of a technique or a step that is a page long, a person reads so much; JSON has the whole of it.
_TEXT_WIDTH = 240
#: Why a remedy is for an error that it wasn't recorded with.
_TIER_NOTES = {
    RemedyTier.PATTERN: "by its pattern",
    RemedyTier.TOLD: "met together",
    RemedyTier.SIMILAR: "a similar error",
}


def remedy(
    result: "SuggestedRemedies | KnownErrors",
) -> "Annotated[PrintedResult, SuggestedRemedies, ListedErrors, ErrorsInFull]":
    """Render the remedies for an error, or the known ones of all errors."""
    return _printed_known_errors(result) if isinstance(result, KnownErrors) else _printed_suggestions(result)


def _printed_suggestions(result: "SuggestedRemedies") -> PrintedResult:
    recorded = result.recorded

    def render_text(_terminal: bool) -> str:
        lines = [f"recorded for {result.fingerprint.digest}: {_error_line(result.fingerprint)}"] if recorded else []
        lines += _remedy_lines(result)
        if result.more:
            lines.append(f"{result.more} more: add --limit")
        return "\n".join(lines)

    return PrintedResult(
        result=result, text=render_text, status=0 if result.remedies or recorded else 1, warnings=result.warnings
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedErrors:
    """Answer of `remedy list`."""

    errors: Annotated[tuple["SuggestedRemedies", ...], Keys(LISTED_KEYS)]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorsInFull:
    """Answer of `remedy show`: with every attempt."""

    errors: Annotated[tuple["SuggestedRemedies", ...], Keys(FULL_KEYS)]
    more: int


def _printed_known_errors(result: "KnownErrors") -> PrintedResult:
    def render_text(_terminal: bool) -> str:
        blocks = ["\n".join(_known_error_lines(error, in_full=result.in_full)) for error in result.errors]
        if result.more:
            blocks.append(f"{result.more} more: add --limit")
        return ("\n\n" if result.in_full else "\n").join(blocks)

    return PrintedResult(
        result=(ErrorsInFull if result.in_full else ListedErrors)(errors=result.errors, more=result.more),
        text=render_text,
        status=0 if result.errors else 1,
    )


def _known_error_lines(result: "SuggestedRemedies", *, in_full: bool) -> Iterator[str]:
    yield f"{result.fingerprint.digest}  {_error_line(result.fingerprint)}"
    for known_remedy in () if in_full else result.remedies:
        figures, technique = _success_figures(known_remedy), _short_text(known_remedy.technique)
        yield f"  {figures}  {technique}{_hazard_note(known_remedy)}"
    if in_full:
        yield from _remedy_lines(result, withdrawn=True)


def _remedy_lines(result: "SuggestedRemedies", *, withdrawn: bool = False) -> Iterator[str]:
    """Yield the lines of each technique, and of those to be given up."""
    for known_remedy in result.remedies:
        if withdrawn or not known_remedy.is_withdrawn:
            yield (
                f"{_success_figures(known_remedy)}  {_short_text(known_remedy.technique)}"
                f"{_relation_note(known_remedy)}{_hazard_note(known_remedy)}"
            )
            yield from (f"  {number}. {_short_text(step)}" for number, step in enumerate(known_remedy.steps, start=1))
    for known_remedy in result.withdrawn:
        yield (
            f"escalate: {known_remedy.message}, do something else:"
            f" {_short_text(known_remedy.technique)}{_relation_note(known_remedy)}"
        )


def _relation_note(known_remedy: Remedy) -> str:
    """Return a note on why a remedy of another error is listed."""
    error = _error_line(known_remedy.error)
    if known_remedy.is_guess:
        return f" (a guess, {known_remedy.nearness:.2f} near: {error})"
    return (
        f" ({_TIER_NOTES[known_remedy.tier]}: {_short_text(known_remedy.error.text)})"
        if known_remedy.tier in _TIER_NOTES
        else ""
    )


def _hazard_note(known_remedy: Remedy) -> str:
    """Return a note on why it is for a human to decide, and so offered to nobody unasked."""
    return f" (ask your human first: {known_remedy.hazard})" if known_remedy.hazard else ""


def _success_figures(known_remedy: Remedy) -> str:
    if known_remedy.rate is not None:
        return (
            f"{known_remedy.successes}/{known_remedy.successes + known_remedy.failures} worked"
            f" ({known_remedy.lower_bound:.2f} at least)"
        )
    return f"worked in part {times_phrase(known_remedy.partial)}" if known_remedy.partial else "untried"


def _error_line(error: ErrorFingerprint) -> str:
    return _short_text(error.line or error.text)


def _short_text(text: str) -> str:
    return clip_text(one_line(text), _TEXT_WIDTH)
