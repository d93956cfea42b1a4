"""`remedy`: techniques that fixed an error before, by how often they worked (document 004, FR-2)."""

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
from roamkb.core.request import count_option
from roamkb.core.request import optional_argument
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.fs.package_manager import extra_install_command
from roamkb.kb.search.store.grep import linear_matcher
from roamkb.log.new_learning import MOST_LEARNING_BYTES
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
from roamkb.remedies.error_output import readable_lines
from roamkb.remedies.fingerprint import DIGEST_FORM
from roamkb.remedies.fingerprint import ErrorFingerprint
from roamkb.remedies.fingerprint import fingerprint
from roamkb.secrets.detector import find_secret
from roamkb.secrets.detector import refuse_secrets

#: What an attempt is by that a session's deeds tell of.
EPISODE: Final = "episode"
#: How many are offered where nobody says.
DEFAULT_LIMIT: Final = 5
#: Letters and digits of a pattern; less would mean any error.
_LEAST_PATTERN: Final = 4
#: Characters of a file's type; what is longer is another part of its name.
_LONGEST_TYPE: Final = 12
#: Characters of a fingerprint that are enough to name it by.
_SHORTEST_DIGEST: Final = 6


@dataclass(frozen=True, slots=True)
class RemedyRequest:
    """Parameters of `remedy`."""

    action: Annotated[
        str,
        Argument("record, suggest, show or list.", metavar="ACTION", values=("record", "suggest", "show", "list")),
    ]
    name: str | None = optional_argument(
        "show: an error's fingerprint, or a technique.", metavar="FINGERPRINT|TECHNIQUE"
    )
    _: KW_ONLY
    error: str | None = text_option(
        "--error", "The error, or a program's whole output; - reads standard input.", metavar="TEXT|-"
    )
    technique: str | None = text_option("--technique", "record: what was done, or could be.", metavar="TEXT")
    steps: Sequence[str] = repeatable_option(
        "--step", "record: one step of it (again for more, in order).", metavar="S"
    )
    outcome: str | None = text_option(
        "--outcome",
        "record: success, failure or partial; without it nobody tried it yet.",
        metavar="O",
        values=remedies.OUTCOMES,
    )
    error_type: str | None = text_option(
        "--error-type", "The error's class, where the text doesn't say it.", metavar="T"
    )
    category: str | None = text_option("--category", "What the task is about; decides between equals.", metavar="C")
    file: str | None = text_option(
        "--file", "The file that it was met in; only its type counts.", metavar="F", values="files"
    )
    pattern: str | None = text_option(
        "--pattern", "record: for errors that have this in a line, * and ? being wild.", metavar="GLOB"
    )
    regex: str | None = text_option(
        "--regex", "record: for errors that match this (the extra roamkb[serve]).", metavar="RE2"
    )
    task: str | None = text_option("--task", "record: the task that it happened in.", metavar="ID", values="tasks")
    limit: int | None = count_option("--limit", "suggest, list: at most so many (5; list: all).")
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport:
    """An error as the caller gave it, and its context."""

    error: str
    #: Its class, where the text doesn't say it.
    type: str = ""
    category: str = ""
    #: The file that it was met in; only its type is kept.
    file: str = ""

    def get_fingerprint(self) -> ErrorFingerprint:
        """Return the error's identity, or raise where there is none."""
        if not one_line(self.error):
            raise UsageError("there is no error", hint="roamkb remedy suggest --error \"KeyError: 'id'\"")
        return fingerprint(self.error, type=self.type)

    def attempt_context(self, agent: str) -> dict[str, str]:
        """Return the context as an attempt records it."""
        ending = Path(self.file).suffix.lstrip(".").casefold()
        fields = {
            "agent": agent,
            "category": self.category.strip(),
            "file_type": ending if len(ending) <= _LONGEST_TYPE else "",
        }
        return {key: value for key, value in fields.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRemedy:
    """A technique that was tried against an error, or is proposed."""

    technique: str
    steps: tuple[str, ...] = ()
    #: success, failure, partial, or nothing where it is only proposed.
    outcome: str = ""
    task: str = ""
    #: Errors that it is meant for beside this one: a part of a line or a glob.
    pattern: str = ""
    #: The same as a regular expression.
    regex: str = ""


_ERROR_KEYS: Final = "fingerprint=fingerprint.digest error=fingerprint.text fingerprint.line"
#: The keys of an error in a list; and where all that is known of it is asked for.
LISTED_KEYS: Final = f"{_ERROR_KEYS} remedies escalate=withdrawn"
FULL_KEYS: Final = f"{_ERROR_KEYS} remedies=histories escalate=withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedRemedies:
    """The techniques for an error, the best first."""

    JSON = f"{LISTED_KEYS} more recorded?"
    fingerprint: ErrorFingerprint
    remedies: tuple[Remedy, ...]
    #: Failed so often in a row that something else is to be done.
    withdrawn: Annotated[tuple[Remedy, ...], Keys("technique failures_in_a_row=failed_in_a_row why=tier message")] = ()
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
    """Errors with their techniques, the error that was met last first."""

    errors: tuple[SuggestedRemedies, ...]
    #: Whether all that is known of each is asked for.
    in_full: bool = False
    more: int = 0


def record_attempt(log: Log, report: ErrorReport, new_remedy: NewRemedy, author: Author) -> SuggestedRemedies:
    """Add one attempt, or a proposal, to the ledger, and return the technique's present remedy.

    Raises:
        UsageError, SecretFound, DiskError: nothing was written. NotDurable: it was, perhaps.
    """
    identity = report.get_fingerprint()
    _check_attempt(report, new_remedy)
    warnings = (
        []
        if _is_pattern_match(new_remedy, report)
        else ["the pattern doesn't match the error that it is recorded with"]
    )
    with log.append_lock():
        contents = log.read_contents()
        attempt = RemedyAttempt(
            id="",
            ts=author.ts,
            error=identity,
            technique=new_remedy.technique.strip(),
            steps=tuple(step.strip() for step in new_remedy.steps if one_line(step)),
            outcome=new_remedy.outcome,
            context=report.attempt_context(author.agent),
            pattern=new_remedy.pattern.strip(),
            regex=new_remedy.regex,
        )
        event = EventFactory(author, after=contents.last_event, command="remedy").new_event(
            remedies.ATTEMPTED, "", task=new_remedy.task, **remedies.event_fields_of(attempt)
        )
        log.append_entries(events=[event])
    all_attempts = remedies.parse_attempts(
        contents.plus_lines(events=[event]).replay_state().events_named(remedies.ATTEMPTED)
    )
    same_error = [entry for entry in all_attempts if entry.error.digest == identity.digest]
    ranked = remedies.rank_remedies(same_error, CurrentError(error=identity))
    recorded_remedies = [entry for entry in ranked if event.id in {past_attempt.id for past_attempt in entry.attempts}]
    return SuggestedRemedies(
        fingerprint=identity,
        remedies=tuple(recorded_remedies),
        withdrawn=tuple(entry for entry in recorded_remedies if entry.is_withdrawn),
        recorded=next(entry for entry in same_error if entry.id == event.id),
        warnings=tuple(warnings),
    )


def record_episodes(log: Log, episodes: Sequence[ErrorEpisode], author: Author) -> list[RemedyAttempt]:
    """Record the episodes of a session, each once, and return the attempts.

    A look that was cut off is repeated: then the same episode of the same session is there already.

    Raises:
        DiskError: nothing was written. NotDurable: it was, perhaps.
    """
    if not episodes:
        return []
    with log.append_lock():
        contents = log.read_contents()
        attempt_events = contents.replay_state().events_named(remedies.ATTEMPTED)
        # what somebody said of it, or of what was offered, tells more than deeds
        known_episodes = {
            _episode_key(event)
            for event in attempt_events
            if event.by == EPISODE or event.text_field("outcome") == remedies.SUCCESS
        }
        stamps = EventFactory(author, after=contents.last_event, command=EPISODE)
        events: list[LedgerEvent] = []
        for episode in episodes:
            attempt = RemedyAttempt(
                id="",
                ts=author.ts,
                error=fingerprint(episode.error),
                technique=episode.technique,
                steps=episode.deeds if len(episode.deeds) > 1 else (),
                outcome=remedies.SUCCESS,
                context=ErrorReport(error=episode.error).attempt_context(author.agent),
            )
            plain = stamps.new_event(remedies.ATTEMPTED, "")
            fields = {"command": episode.command, **remedies.event_fields_of(attempt)}
            event = replace(plain, fields={**plain.fields, **fields})
            name = _episode_key(event)
            if known_episodes.isdisjoint((name, (*name[:3], ""))) and not any(
                map(find_secret, (attempt.technique, *attempt.steps))
            ):
                known_episodes.add(name)
                events.append(event)
        if events:
            log.append_entries(events=events)
    return remedies.parse_attempts(events)


def _episode_key(event: LedgerEvent) -> tuple[str, str, str, str]:
    """Return a key of an episode within its session: error and deeds; no deeds for others' attempts."""
    deeds = "; ".join(event.text_list_field("steps")) or event.text_field("technique")
    return (
        event.session,
        event.text_field("fingerprint"),
        event.text_field("line"),
        deeds if event.by == EPISODE else "",
    )


def last_fixed_error(log: Log, session: str, *, since: float) -> ErrorFingerprint | None:
    """Return the error that was fixed last in a session, since a moment; None where there is none."""
    episode_events = [
        event
        for event in log.read_contents().replay_state().events_named(remedies.ATTEMPTED)
        if event.by == EPISODE and event.session == session and event.ts >= since
    ]
    attempts = remedies.parse_attempts(episode_events[-1:])
    return attempts[0].error if attempts else None


def replace_technique(log: Log, name: str, technique: str, author: Author) -> RemedyAttempt:
    """Replace the deeds of a recorded episode by an agent's sentence; return the attempt.

    `name` is the beginning of the error's fingerprint, as an ask tells it, or the error. The deeds stay as
    steps.

    Raises:
        NotFound: no episode is called so. UsageError, SecretFound, DiskError: nothing was written.
    """
    digest = name.strip().casefold()
    if not (len(digest) >= _SHORTEST_DIGEST and DIGEST_FORM.fullmatch(digest.ljust(16, "0"))):
        digest = ErrorReport(error=name).get_fingerprint().digest
    _check_attempt(ErrorReport(error=name), NewRemedy(technique=technique))
    with log.append_lock():
        contents = log.read_contents()
        episode_events = [
            event
            for event in contents.replay_state().events_named(remedies.ATTEMPTED)
            if event.by == EPISODE and event.text_field("fingerprint").startswith(digest)
        ]
        own_events = [event for event in episode_events if event.session == author.session] or episode_events
        if not own_events:
            raise NotFound(name, kind="mended error", hint="`roamkb remedy list` shows them")
        event = own_events[-1]
        (previous,) = remedies.parse_attempts([event])
        updated = replace(
            previous, technique=technique.strip(), steps=previous.steps or (previous.technique,), ts=author.ts
        )
        stamps = EventFactory(author, after=contents.last_event, command=EPISODE)
        undone = stamps.new_event("undone", event.id, reason="its agent says what fixed it")
        new_event = stamps.new_event(remedies.ATTEMPTED, "")
        fields = {**event.fields, **remedies.event_fields_of(updated)}
        log.append_entries(events=[undone, replace(new_event, fields=fields)])
    return updated


def suggest_remedies(
    state: LogState, report: ErrorReport, *, agent: str, limit: int | None = None
) -> SuggestedRemedies:
    """Return the remedies known against an error, the same one or a similar one."""
    limit = DEFAULT_LIMIT if limit is None else limit
    if limit < 1:
        raise UsageError("--limit takes a number from 1")
    identity = report.get_fingerprint()
    expressions = _RecordedPatterns(report.error)
    ranked = remedies.rank_remedies(
        remedies.parse_attempts(state.events_named(remedies.ATTEMPTED)),
        CurrentError(
            error=identity,
            lines=expressions.lines,
            context=report.attempt_context(agent),
            matches_regex=expressions.matches_error,
        ),
    )
    offered = [remedy for remedy in ranked if not remedy.is_withdrawn]
    return SuggestedRemedies(
        fingerprint=identity,
        remedies=tuple(offered[:limit]),
        withdrawn=tuple(remedy for remedy in ranked if remedy.is_withdrawn),
        more=max(len(offered) - limit, 0),
        warnings=tuple(expressions.untried_warnings()),
    )


def list_errors(state: LogState, *, limit: int | None = None) -> KnownErrors:
    """Return every error that has attempts."""
    known_errors = [
        _all_remedies(error, error_remedies)
        for error, error_remedies in remedies.remedies_by_error(
            remedies.parse_attempts(state.events_named(remedies.ATTEMPTED))
        )
    ]
    limit = len(known_errors) if limit is None else limit
    return KnownErrors(errors=tuple(known_errors[:limit]), more=max(len(known_errors) - limit, 0))


def show_errors(state: LogState, name: str) -> KnownErrors:
    """Return all attempts against one error, by its fingerprint, or of one technique, by its words.

    Raises:
        NotFound: neither is called so.
    """
    errors_and_remedies = remedies.remedies_by_error(remedies.parse_attempts(state.events_named(remedies.ATTEMPTED)))
    digest = name.strip().casefold()
    errors = [
        _all_remedies(error, error_remedies)
        for error, error_remedies in errors_and_remedies
        if len(digest) >= _SHORTEST_DIGEST and error.digest.startswith(digest)
    ]
    if not errors:
        for error, error_remedies in errors_and_remedies:
            if used := remedies.find_same_technique(name, error_remedies):
                errors.append(_all_remedies(error, used))
    if not errors:
        is_digest = DIGEST_FORM.fullmatch(digest) is not None
        raise NotFound(
            name,
            kind="error with the fingerprint" if is_digest else "technique",
            hint="`roamkb remedy list` shows both",
        )
    return KnownErrors(errors=tuple(errors), in_full=True)


def _all_remedies(error: ErrorFingerprint, error_remedies: Sequence[Remedy]) -> SuggestedRemedies:
    return SuggestedRemedies(
        fingerprint=error,
        remedies=tuple(error_remedies),
        withdrawn=tuple(remedy for remedy in error_remedies if remedy.is_withdrawn),
    )


def _check_attempt(report: ErrorReport, new_remedy: NewRemedy) -> None:
    """Raise where an attempt can't be recorded."""
    if not one_line(new_remedy.technique):
        raise UsageError("what was done about it?", hint="say it with --technique TEXT, and --step for each step")
    if new_remedy.outcome and new_remedy.outcome not in remedies.OUTCOMES:
        raise UsageError(
            f"no outcome {one_line(new_remedy.outcome)}",
            hint=f"one of {', '.join(remedies.OUTCOMES)}, or none where nobody tried it yet",
        )
    texts = (
        new_remedy.technique,
        *new_remedy.steps,
        new_remedy.task,
        new_remedy.pattern,
        new_remedy.regex,
        report.type,
        report.category,
    )
    refuse_secrets(texts)
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    if size > MOST_LEARNING_BYTES:
        raise UsageError(
            f"the technique has {size:,} bytes; it has at most {MOST_LEARNING_BYTES:,}",
            hint="say what to do, and where the rest is",
        )
    _check_pattern(new_remedy)


def _check_pattern(new_remedy: NewRemedy) -> None:
    if new_remedy.pattern and new_remedy.regex:
        raise UsageError("--pattern or --regex, not both")
    if new_remedy.pattern and sum(map(str.isalnum, new_remedy.pattern)) < _LEAST_PATTERN:
        raise UsageError(
            f"the pattern {one_line(new_remedy.pattern)} means nearly every error",
            hint=f"a part of its line, or a glob such as '*connection pool*full*': {_LEAST_PATTERN} letters at least",
        )
    if new_remedy.regex and linear_matcher(new_remedy.regex) is None:
        raise UsageError(
            "regular expressions of errors need google-re2, whose time is linear",
            hint=f"{extra_install_command('serve')}, or give a glob with --pattern",
        )


def _is_pattern_match(new_remedy: NewRemedy, report: ErrorReport) -> bool:
    """Say whether the pattern, if there is one, matches the error that it comes with."""
    expressions = _RecordedPatterns(report.error)
    if new_remedy.regex:
        return expressions.matches_error(new_remedy.regex)
    return not new_remedy.pattern or remedies.is_pattern_match(new_remedy.pattern, expressions.lines)


class _RecordedPatterns:
    """Recorded regular expressions, matched against one error."""

    def __init__(self, error: str) -> None:
        self.lines = tuple(readable_lines(error))
        self._text = "\n".join(self.lines)
        self._unread = 0

    def matches_error(self, regex: str) -> bool:
        """Say whether the error matches; an expression that can't be tried here doesn't."""
        try:
            search: Callable[[str], bool] | None = linear_matcher(regex)
        except UsageError:
            return False
        self._unread += search is None
        return search is not None and search(self._text)

    def untried_warnings(self) -> list[str]:
        """Return a warning of the expressions that couldn't be tried."""
        if not self._unread:
            return []
        return [
            f"{self._unread} regular expressions of errors weren't tried: "
            f"they need google-re2 ({extra_install_command('serve')})"
        ]
