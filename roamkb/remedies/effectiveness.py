"""What fixed an error before: techniques by how often they worked, folded from the ledger.

`attempted`   fingerprint, error_type and error (its class and folded message), line (as it was said,
              redacted), others (fingerprints of what the same output told beside it), marks (the words
              and names of its lines), technique, steps,
              outcome (success, failure, partial; nothing where it is only proposed), context (agent,
              category, file_type), pattern or regex (further errors that it is meant for).

A technique that failed three times in a row is withdrawn: who goes on should do something else.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from enum import IntEnum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Annotated
from typing import Final

from roamkb.core.json_form import Keys
from roamkb.core.json_form import OrNull
from roamkb.core.json_form import Share
from roamkb.core.json_form import name_of
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.timestamps import Time
from roamkb.core.wilson_score import lower_bound
from roamkb.log.state.learning_state import ATTEMPTED as ATTEMPTED
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.remedies.error_similarity import is_surely_same
from roamkb.remedies.fingerprint import ALIKE
from roamkb.remedies.fingerprint import ErrorFingerprint
from roamkb.remedies.fingerprint import graded_nearness
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import TextLikeness
from roamkb.text.similarity.jaccard import likeness
from roamkb.text.similarity.jaccard import shape
from roamkb.text.similarity.similarity_join import NearTexts

SUCCESS: Final = "success"
FAILURE: Final = "failure"
PARTIAL: Final = "partial"
OUTCOMES: Final = (SUCCESS, FAILURE, PARTIAL)
#: What an attempt's context may say.
CONTEXT: Final = ("agent", "category", "file_type")
#: Failures in a row after which a technique is withdrawn.
ENOUGH: Final = 3
#: Techniques for errors that are less than `ALIKE`, and how near those are at least: guesses.
_MOST_GUESSES: Final = 3
_NEAR_ENOUGH: Final = 0.2
#: The least similarity of two techniques that are one, inclusive, if they claim the same.
_ALIKE: Final = 0.85


class RemedyTier(IntEnum):
    """Why a remedy is for an error, the best reason first."""

    #: It was for the same error.
    SAME = 0
    #: Who recorded it said that it is for errors that look so.
    PATTERN = 1
    #: The one error was told beside the other, in one output.
    TOLD = 2
    #: It was for an error that is near, by class, words and names.
    SIMILAR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RemedyAttempt:
    """Something that was done about an error, or could be."""

    JSON = "id ts technique outcome agent task context pattern regex"
    #: The event's id.
    id: str
    #: Seconds since 1970.
    ts: Time
    error: ErrorFingerprint
    technique: str
    steps: tuple[str, ...] = ()
    #: One of `OUTCOMES`; empty where nobody tried it yet.
    outcome: OrNull = ""
    context: Mapping[str, str] = field(default_factory=dict)
    #: A part of a line, or a glob with `*` and `?` over one.
    pattern: str = ""
    #: A regular expression of RE2.
    regex: str = ""
    agent: str = ""
    task: str = ""


_KEYS: Final = (
    "technique steps successes failures partial rate lower_bound last_used is_tried why=tier "
    "nearness for=error.text context"
)
EVERY_ATTEMPT: Final = Keys(f"{_KEYS} attempts")


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A technique and how it did, of attempts that concern one error."""

    JSON = _KEYS
    #: In the words of the first attempt.
    technique: str
    #: The oldest first; at least one.
    attempts: tuple[RemedyAttempt, ...]
    tier: Annotated[RemedyTier, name_of] = RemedyTier.SAME
    #: How alike the errors are, up to 1.
    nearness: float = 1.0

    @property
    def error(self) -> ErrorFingerprint:
        """The error that it was for last."""
        return self.attempts[-1].error

    @property
    def message(self) -> str:
        """What is said of it once it is withdrawn."""
        return f"{self.failed_in_a_row} failed attempts with the same technique"

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps as they were recorded last."""
        return next((one.steps for one in reversed(self.attempts) if one.steps), ())

    @property
    def outcomes(self) -> tuple[str, ...]:
        """How it went, the oldest first, proposals left out."""
        return tuple(one.outcome for one in self.attempts if one.outcome)

    @property
    def successes(self) -> int:
        """How often it worked."""
        return self.outcomes.count(SUCCESS)

    @property
    def failures(self) -> int:
        """How often it didn't."""
        return self.outcomes.count(FAILURE)

    @property
    def partial(self) -> int:
        """How often it worked in part, which counts as neither."""
        return self.outcomes.count(PARTIAL)

    @property
    def is_guess(self) -> bool:
        """Whether it was for an error that is only something like this one."""
        return self.nearness < ALIKE

    @property
    def is_tried(self) -> bool:
        """Whether anybody tried it."""
        return bool(self.outcomes)

    @property
    def rate(self) -> Share | None:
        """The share of successes; None where nothing counts."""
        trials = self.successes + self.failures
        return self.successes / trials if trials else None

    @property
    def lower_bound(self) -> Share:
        """What share of successes it has at least, by Wilson."""
        return lower_bound(self.successes, self.successes + self.failures)

    @property
    def failed_in_a_row(self) -> int:
        """How often it failed since it last worked."""
        row = [outcome for outcome in self.outcomes if outcome != PARTIAL]
        return next((n for n, outcome in enumerate(reversed(row)) if outcome != FAILURE), len(row))

    @property
    def is_withdrawn(self) -> bool:
        """Whether it failed too often to be offered again."""
        return self.failed_in_a_row >= ENOUGH

    @property
    def last_used(self) -> Time | None:
        """When it was tried last, in seconds since 1970; None where nobody did."""
        return max((one.ts for one in self.attempts if one.outcome), default=None)

    @cached_property
    def context(self) -> Mapping[str, tuple[str, ...]]:
        """What the attempts said of where they were made, each thing once."""
        said = {key: [one.context[key] for one in self.attempts if key in one.context] for key in CONTEXT}
        return {key: tuple(dict.fromkeys(values)) for key, values in said.items() if values}


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentError:
    """An error that somebody has now."""

    error: ErrorFingerprint
    #: Its lines, for patterns.
    lines: Sequence[str] = ()
    context: Mapping[str, str] = field(default_factory=dict)
    #: Says whether the error matches a regular expression; where nothing can, none does.
    matches: Callable[[str], bool] = lambda _: False


def attempts(events: Iterable[LedgerEvent]) -> list[RemedyAttempt]:
    """Return the attempts that a ledger's `events`, in order, tell of."""
    return [_attempt(event) for event in events if event.event == ATTEMPTED and _says_enough(event)]


def _says_enough(event: LedgerEvent) -> bool:
    return bool(event.text("fingerprint") and event.text("technique").strip())


def _attempt(event: LedgerEvent) -> RemedyAttempt:
    told = event.fields.get("context")
    context = told if isinstance(told, Mapping) else {}
    outcome = event.text("outcome")
    return RemedyAttempt(
        id=event.id,
        ts=event.ts,
        error=ErrorFingerprint(
            digest=event.text("fingerprint"),
            name=event.text("error_type"),
            form=event.text("error"),
            line=event.text("line"),
            others=event.texts("others"),
            marks=event.texts("marks"),
        ),
        technique=event.text("technique"),
        steps=event.texts("steps"),
        outcome=outcome if outcome in OUTCOMES else "",
        context={key: value for key in CONTEXT if isinstance(value := context.get(key), str) and value},
        pattern=event.text("pattern"),
        regex=event.text("regex"),
        agent=event.agent,
        task=event.task,
    )


def fields_of(attempt: RemedyAttempt) -> dict[str, object]:
    """Return what the event of an attempt holds beside what every event does."""
    told: dict[str, object] = {
        "fingerprint": attempt.error.digest,
        "error_type": attempt.error.name,
        "error": attempt.error.form,
        "line": attempt.error.line,
        "others": list(attempt.error.others),
        "marks": list(attempt.error.marks),
        "technique": attempt.technique,
        "steps": list(attempt.steps),
        "outcome": attempt.outcome,
        "context": dict(attempt.context),
        "pattern": attempt.pattern,
        "regex": attempt.regex,
    }
    return {key: value for key, value in told.items() if value}


def remedies(known: Iterable[RemedyAttempt], trouble: CurrentError) -> list[Remedy]:
    """Return every technique for the error, the best first; the withdrawn ones are among them.

    Techniques for errors that are only something like it come last, three at most.
    """
    judged: dict[ErrorFingerprint, float] = {}
    meant: dict[tuple[str, str], bool] = {}
    concerned: list[tuple[RemedyAttempt, RemedyTier, float]] = []
    for attempt in known:
        look = attempt.pattern, attempt.regex
        if look not in meant:
            meant[look] = _is_meant(attempt, trouble)
        tier = _tier(attempt, trouble, is_meant=meant[look])
        by_words = tier in (RemedyTier.SAME, RemedyTier.SIMILAR)
        if by_words and attempt.error not in judged:
            judged[attempt.error] = graded_nearness(attempt.error, trouble.error)
        near = judged[attempt.error] if by_words else 1.0
        if near >= _NEAR_ENOUGH:
            concerned.append((attempt, tier, near))
    found = sorted(
        (_of_technique(group) for group in _by_technique(concerned)), key=lambda one: _rank(one, trouble)
    )
    guesses = [one for one in found if one.is_guess and not one.is_withdrawn][:_MOST_GUESSES]
    return [one for one in found if not one.is_guess or one in guesses]


def is_for(remedy: Remedy, error: ErrorFingerprint) -> bool:
    """Say whether a remedy is sure enough to be for an error that it may be offered unasked."""
    if remedy.tier is RemedyTier.PATTERN:
        return True
    return any(is_surely_same(error.marks, one.error.marks) for one in remedy.attempts)


def for_errors(known: Iterable[RemedyAttempt]) -> list[tuple[ErrorFingerprint, list[Remedy]]]:
    """Return each error with its techniques, the error that was met last first."""
    by_error: dict[str, list[RemedyAttempt]] = {}
    for attempt in known:
        by_error.setdefault(attempt.error.digest, []).append(attempt)
    latest = sorted(by_error.values(), key=lambda group: (group[-1].ts, group[-1].id), reverse=True)
    return [(group[-1].error, remedies(group, CurrentError(error=group[-1].error))) for group in latest]


def same_technique(technique: str, remedies: Iterable[Remedy]) -> list[Remedy]:
    """Return those of `remedies` that are `technique`, in its words or others."""
    said = shape(technique)
    return [one for one in remedies if _is_same(shape(one.technique), said)]


def _is_same(one: PreparedText, other: PreparedText) -> bool:
    return likeness(one, other, limit=_ALIKE) in (TextLikeness.SAME, TextLikeness.SIMILAR)


def is_meant(pattern: str, lines: Iterable[str]) -> bool:
    """Say whether a pattern means an error: a part of a line, or with `*` or `?` a glob over a whole one.

    Case doesn't count, since messages change theirs from version to version, and brackets are
    themselves, since errors are full of them.
    """
    wanted = pattern.strip().casefold()
    if "*" not in wanted and "?" not in wanted:
        return bool(wanted) and any(wanted in line.casefold() for line in lines)
    glob = wanted.replace("[", "[[]")
    return any(fnmatchcase(line.strip().casefold(), glob) for line in lines)


def _is_meant(attempt: RemedyAttempt, trouble: CurrentError) -> bool:
    if attempt.regex:
        return trouble.matches(attempt.regex)
    return bool(attempt.pattern) and is_meant(attempt.pattern, trouble.lines)


def _tier(attempt: RemedyAttempt, trouble: CurrentError, *, is_meant: bool) -> RemedyTier:
    """Return the best reason why an attempt may concern the error; `SIMILAR` is still to be seen."""
    if attempt.error.digest == trouble.error.digest:
        return RemedyTier.SAME
    if is_meant:
        return RemedyTier.PATTERN
    if attempt.error.digest in trouble.error.others or trouble.error.digest in attempt.error.others:
        return RemedyTier.TOLD
    return RemedyTier.SIMILAR


def _by_technique(
    concerned: Iterable[tuple[RemedyAttempt, RemedyTier, float]],
) -> Iterator[list[tuple[RemedyAttempt, RemedyTier, float]]]:
    """Yield the attempts of each technique; each joins the first that is the same in other words."""
    groups: list[list[tuple[RemedyAttempt, RemedyTier, float]]] = []
    shapes: list[PreparedText] = []
    near: NearTexts[int] = NearTexts(_ALIKE)
    by_text: dict[str, list[tuple[RemedyAttempt, RemedyTier, float]]] = {}
    for one in concerned:
        text = one[0].technique
        if text not in by_text:
            said = shape(text)
            alike = (number for number in near.candidates(said) if _is_same(shapes[number], said))
            number = next(alike, len(groups))
            if number == len(groups):
                near.add(number, said)
                shapes.append(said)
                groups.append([])
            by_text[text] = groups[number]
        by_text[text].append(one)
    yield from groups


def _of_technique(group: Sequence[tuple[RemedyAttempt, RemedyTier, float]]) -> Remedy:
    """Return what the attempts say that concern the error most; proposals count where nobody tried it."""
    tried = [one for one in group if one[0].outcome] or group
    tier = min(tier for _, tier, _ in tried)
    near = max(near for _, of_tier, near in tried if of_tier is tier)
    counted = [one for one, of_tier, _ in group if of_tier is tier]
    return Remedy(technique=group[0][0].technique, attempts=tuple(counted), tier=tier, nearness=near)


def _rank(remedy: Remedy, trouble: CurrentError) -> tuple[object, ...]:
    """Rank what worked before the untried and the failed; then by closeness, effectiveness, recency."""
    standing = 0 if remedy.successes else 2 if remedy.failures else 1
    shared = sum(trouble.context.get(key) in values for key, values in remedy.context.items())
    is_to_the_letter = any(one.error.line == trouble.error.line for one in remedy.attempts)
    return (
        remedy.is_withdrawn,
        remedy.is_guess,
        -remedy.nearness if remedy.is_guess else 0,
        standing,
        remedy.tier,
        -remedy.nearness,
        -remedy.lower_bound,
        remedy.failures,
        -remedy.partial,
        # only where both are as good
        -shared,
        not is_to_the_letter,
        -remedy.attempts[-1].ts,
        remedy.technique,
    )
