"""`remedy`: what fixed an error before, by how often it worked (document 004, FR-2)."""

from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from typing import Final

from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.request import argument
from roamkb.core.request import count
from roamkb.core.request import option
from roamkb.core.request import options
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import shown
from roamkb.fs.package_manager import how_to_add
from roamkb.kb.search.store.grep import linear
from roamkb.log.new_learning import MOST_BYTES
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.remedies import effectiveness as remedies
from roamkb.remedies.effectiveness import EVERY_ATTEMPT
from roamkb.remedies.effectiveness import CurrentError
from roamkb.remedies.effectiveness import Remedy
from roamkb.remedies.effectiveness import RemedyAttempt
from roamkb.remedies.episodes import ErrorEpisode
from roamkb.remedies.error_output import lines
from roamkb.remedies.fingerprint import FORM
from roamkb.remedies.fingerprint import ErrorFingerprint
from roamkb.remedies.fingerprint import fingerprint
from roamkb.secrets.detector import find_secret
from roamkb.secrets.detector import refuse_secrets

#: What an attempt is by that a session's deeds tell of.
EPISODE: Final = "episode"
#: How many are offered where nobody says.
DEFAULT: Final = 5
#: Letters and digits of a pattern; less would mean any error.
_LEAST: Final = 4
#: Characters of a file's type; what is longer is another part of its name.
_LONGEST_TYPE: Final = 12
#: Characters of a fingerprint that are enough to name it by.
_BEGINNING: Final = 6


@dataclass(frozen=True, slots=True)
class RemedyRequest:
    """What `remedy` takes."""

    action: Annotated[str, Argument("record, suggest, show or list.", metavar="ACTION")]
    name: str | None = argument(
        "show: an error's fingerprint, or a technique.", metavar="FINGERPRINT|TECHNIQUE"
    )
    _: KW_ONLY
    error: str | None = option(
        "--error", "The error, or a program's whole output; - reads standard input.", metavar="TEXT|-"
    )
    technique: str | None = option("--technique", "record: what was done, or could be.", metavar="TEXT")
    steps: Sequence[str] = options(
        "--step", "record: one step of it (again for more, in order).", metavar="S"
    )
    outcome: str | None = option(
        "--outcome", "record: success, failure or partial; without it nobody tried it yet.", metavar="O"
    )
    error_type: str | None = option(
        "--error-type", "The error's class, where the text doesn't say it.", metavar="T"
    )
    category: str | None = option(
        "--category", "What the task is about; decides between equals.", metavar="C"
    )
    file: str | None = option("--file", "The file that it was met in; only its type counts.", metavar="F")
    pattern: str | None = option(
        "--pattern", "record: for errors that have this in a line, * and ? being wild.", metavar="GLOB"
    )
    regex: str | None = option(
        "--regex", "record: for errors that match this (the extra roamkb[serve]).", metavar="RE2"
    )
    task: str | None = option("--task", "record: the task that it happened in.", metavar="ID")
    limit: int | None = count("--limit", "suggest, list: at most so many (5; list: all).")
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport:
    """An error as the caller gave it, and where it was met."""

    error: str
    #: Its class, where the text doesn't say it.
    type: str = ""
    category: str = ""
    #: The file that it was met in; only its type is kept.
    file: str = ""

    def fingerprint(self) -> ErrorFingerprint:
        """Return the error's identity, or raise where there is none."""
        if not shown(self.error):
            raise UsageError("there is no error", hint="roamkb remedy suggest --error \"KeyError: 'id'\"")
        return fingerprint(self.error, type=self.type)

    def context(self, agent: str) -> dict[str, str]:
        """Return where it was met, as an attempt keeps it."""
        ending = Path(self.file).suffix.lstrip(".").casefold()
        said = {
            "agent": agent,
            "category": self.category.strip(),
            "file_type": ending if len(ending) <= _LONGEST_TYPE else "",
        }
        return {key: value for key, value in said.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRemedy:
    """What was done about an error, or could be."""

    technique: str
    steps: tuple[str, ...] = ()
    #: success, failure, partial, or nothing where it is only proposed.
    outcome: str = ""
    task: str = ""
    #: Errors that it is meant for beside this one: a part of a line or a glob.
    pattern: str = ""
    #: The same as a regular expression.
    regex: str = ""


_ERROR: Final = "fingerprint=fingerprint.digest error=fingerprint.text fingerprint.line"
#: The keys of an error in a list; and where all that is known of it is asked for.
LISTED: Final = f"{_ERROR} remedies escalate=withdrawn"
IN_FULL: Final = f"{_ERROR} remedies=histories escalate=withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedRemedies:
    """The techniques for an error, the best first."""

    JSON = f"{LISTED} more recorded?"
    fingerprint: ErrorFingerprint
    remedies: tuple[Remedy, ...]
    #: Failed so often in a row that something else is to be done.
    withdrawn: Annotated[
        tuple[Remedy, ...], Keys("technique failures_in_a_row=failed_in_a_row why=tier message")
    ] = ()
    #: How many there are beyond those.
    more: int = 0
    #: What was recorded just now, if anything was.
    recorded: RemedyAttempt | None = None
    warnings: tuple[str, ...] = ()

    @property
    def histories(self) -> Annotated[tuple[Remedy, ...], EVERY_ATTEMPT]:
        """The techniques with each of their attempts."""
        return self.remedies


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownErrors:
    """Errors and what was done about each, the one that was met last first."""

    errors: tuple[SuggestedRemedies, ...]
    #: Whether all that is known of each is asked for.
    in_full: bool = False
    more: int = 0


def record(log: Log, told: ErrorReport, cure: NewRemedy, hand: Author) -> SuggestedRemedies:
    """Add one attempt, or a proposal, to the ledger, and return how that technique stands now.

    Raises:
        UsageError, SecretFound, DiskError: nothing was written. NotDurable: it was, perhaps.
    """
    identity = told.fingerprint()
    _check(told, cure)
    warnings = [] if _means(cure, told) else ["the pattern doesn't match the error that it is recorded with"]
    with log.locked():
        contents = log.read()
        attempt = RemedyAttempt(
            id="",
            ts=hand.ts,
            error=identity,
            technique=cure.technique.strip(),
            steps=tuple(step.strip() for step in cure.steps if shown(step)),
            outcome=cure.outcome,
            context=told.context(hand.agent),
            pattern=cure.pattern.strip(),
            regex=cure.regex,
        )
        event = EventFactory(hand, after=contents.last_event, by="remedy").event(
            remedies.ATTEMPTED, "", task=cure.task, **remedies.fields_of(attempt)
        )
        log.append(events=[event])
    known = remedies.attempts(contents.plus(events=[event]).state().named(remedies.ATTEMPTED))
    same = [one for one in known if one.error.digest == identity.digest]
    found = remedies.remedies(same, CurrentError(error=identity))
    mine = [one for one in found if event.id in {made.id for made in one.attempts}]
    return SuggestedRemedies(
        fingerprint=identity,
        remedies=tuple(mine),
        withdrawn=tuple(one for one in mine if one.is_withdrawn),
        recorded=next(one for one in same if one.id == event.id),
        warnings=tuple(warnings),
    )


def record_episodes(log: Log, episodes: Sequence[ErrorEpisode], hand: Author) -> list[RemedyAttempt]:
    """Add what fixed errors in a session, as its deeds tell, each once, and return the attempts.

    A look that was cut off is repeated: then the same episode of the same session is there already.

    Raises:
        DiskError: nothing was written. NotDurable: it was, perhaps.
    """
    if not episodes:
        return []
    with log.locked():
        contents = log.read()
        told = contents.state().named(remedies.ATTEMPTED)
        # what somebody said of it, or of what was offered, tells more than deeds
        known = {
            _of_session(event)
            for event in told
            if event.by == EPISODE or event.text("outcome") == remedies.SUCCESS
        }
        stamps = EventFactory(hand, after=contents.last_event, by=EPISODE)
        events: list[LedgerEvent] = []
        for episode in episodes:
            attempt = RemedyAttempt(
                id="",
                ts=hand.ts,
                error=fingerprint(episode.error),
                technique=episode.technique,
                steps=episode.deeds if len(episode.deeds) > 1 else (),
                outcome=remedies.SUCCESS,
                context=ErrorReport(error=episode.error).context(hand.agent),
            )
            plain = stamps.event(remedies.ATTEMPTED, "")
            fields = {"command": episode.command, **remedies.fields_of(attempt)}
            event = replace(plain, fields={**plain.fields, **fields})
            name = _of_session(event)
            if known.isdisjoint((name, (*name[:3], ""))) and not any(
                map(find_secret, (attempt.technique, *attempt.steps))
            ):
                known.add(name)
                events.append(event)
        if events:
            log.append(events=events)
    return remedies.attempts(events)


def _of_session(event: LedgerEvent) -> tuple[str, str, str, str]:
    """Return what names an episode within its session: the error and the deeds; others' words tell none."""
    deeds = "; ".join(event.texts("steps")) or event.text("technique")
    return event.session, event.text("fingerprint"), event.text("line"), deeds if event.by == EPISODE else ""


def last_mended(log: Log, session: str, *, since: float) -> ErrorFingerprint | None:
    """Return the error that went away last in a session, since a moment; None where none did."""
    told = [
        event
        for event in log.read().state().named(remedies.ATTEMPTED)
        if event.by == EPISODE and event.session == session and event.ts >= since
    ]
    found = remedies.attempts(told[-1:])
    return found[0].error if found else None


def mend(log: Log, name: str, technique: str, hand: Author) -> RemedyAttempt:
    """Put an agent's sentence in place of the deeds that an episode was recorded with; return the attempt.

    `name` is the beginning of the error's fingerprint, as an ask tells it, or the error. The deeds stay as
    steps.

    Raises:
        NotFound: no episode is called so. UsageError, SecretFound, DiskError: nothing was written.
    """
    digest = name.strip().casefold()
    if not (len(digest) >= _BEGINNING and FORM.fullmatch(digest.ljust(16, "0"))):
        digest = ErrorReport(error=name).fingerprint().digest
    _check(ErrorReport(error=name), NewRemedy(technique=technique))
    with log.locked():
        contents = log.read()
        told = [
            event
            for event in contents.state().named(remedies.ATTEMPTED)
            if event.by == EPISODE and event.text("fingerprint").startswith(digest)
        ]
        own = [event for event in told if event.session == hand.session] or told
        if not own:
            raise NotFound(name, what="mended error", hint="`roamkb remedy list` shows them")
        event = own[-1]
        (was,) = remedies.attempts([event])
        now = replace(was, technique=technique.strip(), steps=was.steps or (was.technique,), ts=hand.ts)
        stamps = EventFactory(hand, after=contents.last_event, by=EPISODE)
        undone = stamps.event("undone", event.id, reason="its agent says what fixed it")
        said = stamps.event(remedies.ATTEMPTED, "")
        fields = {**event.fields, **remedies.fields_of(now)}
        log.append(events=[undone, replace(said, fields=fields)])
    return now


def suggest(state: LogState, told: ErrorReport, *, agent: str, limit: int | None = None) -> SuggestedRemedies:
    """Return what is known against an error, the same one or one like it."""
    limit = DEFAULT if limit is None else limit
    if limit < 1:
        raise UsageError("--limit takes a number from 1")
    identity = told.fingerprint()
    expressions = _RecordedPatterns(told.error)
    found = remedies.remedies(
        remedies.attempts(state.named(remedies.ATTEMPTED)),
        CurrentError(
            error=identity,
            lines=expressions.lines,
            context=told.context(agent),
            matches=expressions.match,
        ),
    )
    offered = [one for one in found if not one.is_withdrawn]
    return SuggestedRemedies(
        fingerprint=identity,
        remedies=tuple(offered[:limit]),
        withdrawn=tuple(one for one in found if one.is_withdrawn),
        more=max(len(offered) - limit, 0),
        warnings=tuple(expressions.warnings()),
    )


def list_known(state: LogState, *, limit: int | None = None) -> KnownErrors:
    """Return every error that something was done about."""
    found = [
        _all_of(error, known)
        for error, known in remedies.for_errors(remedies.attempts(state.named(remedies.ATTEMPTED)))
    ]
    limit = len(found) if limit is None else limit
    return KnownErrors(errors=tuple(found[:limit]), more=max(len(found) - limit, 0))


def show_known(state: LogState, name: str) -> KnownErrors:
    """Return all that is known of one error, by its fingerprint, or of one technique, by its words.

    Raises:
        NotFound: neither is called so.
    """
    known = remedies.for_errors(remedies.attempts(state.named(remedies.ATTEMPTED)))
    digest = name.strip().casefold()
    errors = [
        _all_of(error, found)
        for error, found in known
        if len(digest) >= _BEGINNING and error.digest.startswith(digest)
    ]
    if not errors:
        for error, found in known:
            if used := remedies.same_technique(name, found):
                errors.append(_all_of(error, used))
    if not errors:
        is_digest = FORM.fullmatch(digest) is not None
        raise NotFound(
            name,
            what="error with the fingerprint" if is_digest else "technique",
            hint="`roamkb remedy list` shows both",
        )
    return KnownErrors(errors=tuple(errors), in_full=True)


def _all_of(error: ErrorFingerprint, found: Sequence[Remedy]) -> SuggestedRemedies:
    return SuggestedRemedies(
        fingerprint=error,
        remedies=tuple(found),
        withdrawn=tuple(one for one in found if one.is_withdrawn),
    )


def _check(told: ErrorReport, cure: NewRemedy) -> None:
    """Raise where an attempt can't be kept."""
    if not shown(cure.technique):
        raise UsageError(
            "what was done about it?", hint="say it with --technique TEXT, and --step for each step"
        )
    if cure.outcome and cure.outcome not in remedies.OUTCOMES:
        raise UsageError(
            f"no outcome {shown(cure.outcome)}",
            hint=f"one of {', '.join(remedies.OUTCOMES)}, or none where nobody tried it yet",
        )
    said = (cure.technique, *cure.steps, cure.task, cure.pattern, cure.regex, told.type, told.category)
    refuse_secrets(said)
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in said)
    if size > MOST_BYTES:
        raise UsageError(
            f"the technique has {size:,} bytes; it has at most {MOST_BYTES:,}",
            hint="say what to do, and where the rest is",
        )
    _check_pattern(cure)


def _check_pattern(cure: NewRemedy) -> None:
    if cure.pattern and cure.regex:
        raise UsageError("--pattern or --regex, not both")
    if cure.pattern and sum(map(str.isalnum, cure.pattern)) < _LEAST:
        raise UsageError(
            f"the pattern {shown(cure.pattern)} means nearly every error",
            hint=f"a part of its line, or a glob such as '*connection pool*full*': {_LEAST} letters at least",
        )
    if cure.regex and linear(cure.regex) is None:
        raise UsageError(
            "regular expressions of errors need google-re2, whose time is linear",
            hint=f"{how_to_add('serve')}, or give a glob with --pattern",
        )


def _means(cure: NewRemedy, told: ErrorReport) -> bool:
    """Say whether the pattern, if there is one, means the error that it comes with."""
    expressions = _RecordedPatterns(told.error)
    if cure.regex:
        return expressions.match(cure.regex)
    return not cure.pattern or remedies.is_meant(cure.pattern, expressions.lines)


class _RecordedPatterns:
    """Regular expressions that others recorded, against one error."""

    def __init__(self, error: str) -> None:
        self.lines = tuple(lines(error))
        self._text = "\n".join(self.lines)
        self._unread = 0

    def match(self, regex: str) -> bool:
        """Say whether the error matches; what can't be tried here doesn't."""
        try:
            search: Callable[[str], bool] | None = linear(regex)
        except UsageError:
            return False
        self._unread += search is None
        return search is not None and search(self._text)

    def warnings(self) -> list[str]:
        """Return what couldn't be tried."""
        if not self._unread:
            return []
        return [
            f"{self._unread} regular expressions of errors weren't tried: "
            f"they need google-re2 ({how_to_add('serve')})"
        ]
