"""Remedies: what was tried against each error, and how far its outcomes can be trusted."""

from collections.abc import Iterator

from starlette.requests import Request

from roamkb.app import server
from roamkb.core.errors import NoLog
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import times_phrase
from roamkb.interfaces.page.learnings_view import local_day
from roamkb.interfaces.page.templating import first_rows
from roamkb.interfaces.page.templating import render_page
from roamkb.remedies.effectiveness import Remedy
from roamkb.remedies.effectiveness import RemedyAttempt
from roamkb.remedies.remedy import KnownErrors
from roamkb.remedies.remedy import SuggestedRemedies

#: Errors of a page, and attempts of a remedy; `roamkb remedy list` and `show` have all.
_MOST_ERRORS = 50
_MOST_ATTEMPTS = 30
_LONGEST_TEXT = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class RemedyRow:
    """A remedy for a template."""

    technique: str
    steps: tuple[str, ...]
    #: Whether a success or a failure counts, so that there are bounds.
    is_counted: bool
    #: By Wilson, and the plain share, in percent.
    lower: int
    upper: int
    share: int
    #: How often it worked, and what that tells.
    figures: str
    bounds: str
    is_withdrawn: bool
    message: str
    #: Its attempts and proposals: day, outcome, by whom.
    attempts: tuple[tuple[str, str, str], ...]
    more_attempts: int
    #: How many of those there are, and of steps.
    history: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """An error with its remedies for a template, the best first."""

    digest: str
    line: str
    last_met: str
    remedies: tuple[RemedyRow, ...]


def view_remedies(kb: "server.ServedKnowledgeBase", request: Request) -> tuple[int, str]:
    """Return the page of the errors that something was tried against, the one met last first; `error` names one."""
    name = request.query_params.get("error", "")
    try:
        known = kb.log.remedy("show", name) if name else kb.log.remedy("list")
    except NoLog as error:
        return 200, render_page(
            "remedies.html", errors=(), more=0, problem=error, asked="", project=kb.served_project()
        )
    errors, more = first_rows(known.errors if isinstance(known, KnownErrors) else (), _MOST_ERRORS)
    return 200, render_page(
        "remedies.html",
        errors=[_error_row(error) for error in errors],
        more=more,
        problem=None,
        asked=name,
        project=kb.served_project(),
    )


def _error_row(error: SuggestedRemedies) -> ErrorRow:
    identity = error.fingerprint
    return ErrorRow(
        digest=identity.digest,
        line=_short(identity.line or identity.text),
        last_met=local_day(max((attempt.ts for remedy in error.remedies for attempt in remedy.attempts), default=None)),
        remedies=tuple(map(_remedy_row, error.remedies)),
    )


def _remedy_row(remedy: Remedy) -> RemedyRow:
    lower, upper = round(remedy.lower_bound * 100), round(remedy.upper_bound * 100)
    attempts = remedy.attempts[::-1]
    return RemedyRow(
        technique=_short(remedy.technique),
        steps=tuple(map(_short, remedy.steps)),
        is_counted=remedy.rate is not None,
        lower=lower,
        upper=upper,
        share=round((remedy.rate or 0.0) * 100),
        figures=_figures(remedy),
        bounds=f"likely between {lower} % and {upper} %",
        is_withdrawn=remedy.is_withdrawn,
        message=remedy.message,
        attempts=tuple(map(_attempt_row, attempts[:_MOST_ATTEMPTS])),
        more_attempts=len(attempts[_MOST_ATTEMPTS:]),
        history=", ".join(_history_parts(remedy)),
    )


def _figures(remedy: Remedy) -> str:
    return ", ".join(_figure_parts(remedy)) or "nobody tried it yet"


def _figure_parts(remedy: Remedy) -> Iterator[str]:
    tried = remedy.successes + remedy.failures
    if tried:
        yield f"worked {remedy.successes} of {count_phrase(tried, 'time')}"
    if remedy.partial:
        yield f"in part {times_phrase(remedy.partial)}"


def _history_parts(remedy: Remedy) -> Iterator[str]:
    tried, proposed = len(remedy.tried_outcomes), len(remedy.attempts) - len(remedy.tried_outcomes)
    if tried:
        yield count_phrase(tried, "attempt")
    if proposed:
        yield count_phrase(proposed, "proposal")
    if remedy.steps:
        yield count_phrase(len(remedy.steps), "step")


def _attempt_row(attempt: RemedyAttempt) -> tuple[str, str, str]:
    by = " · ".join(part for part in (attempt.agent, attempt.task) if part)
    return local_day(attempt.ts), attempt.outcome or "proposed", _short(by)


def _short(text: str) -> str:
    return clip_text(one_line(text), _LONGEST_TEXT)
