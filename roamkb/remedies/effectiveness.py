"""Effectiveness of remedies: techniques by how often they fixed an error, folded from the ledger.

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
from roamkb.core.json_form import member_name
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.timestamps import Time
from roamkb.log.state.learning_state import ATTEMPTED as ATTEMPTED
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.wilson_score import wilson_lower_bound
from roamkb.log.state.wilson_score import wilson_upper_bound
from roamkb.remedies.error_similarity import is_surely_same
from roamkb.remedies.fingerprint import SAME_CURE_SIMILARITY
from roamkb.remedies.fingerprint import ErrorFingerprint
from roamkb.remedies.fingerprint import graded_nearness
from roamkb.remedies.remedy_hazards import remedy_hazard
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import TextLikeness
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.jaccard import text_likeness
from roamkb.text.similarity.similarity_join import NearTexts

SUCCESS: Final = "success"
FAILURE: Final = "failure"
PARTIAL: Final = "partial"
OUTCOMES: Final = (SUCCESS, FAILURE, PARTIAL)
#: What an attempt's context may say.
CONTEXT_KEYS: Final = ("agent", "category", "file_type")
#: Failures in a row after which a technique is withdrawn.
WITHDRAWN_AFTER: Final = 3
#: Techniques for errors that are less than `ALIKE`, and how near those are at least: guesses.
_MOST_GUESSES: Final = 3
_LEAST_NEARNESS: Final = 0.2
#: The least similarity of two techniques that are one, inclusive, if they claim the same.
_TECHNIQUE_SIMILARITY: Final = 0.85


class RemedyTier(IntEnum):
    """Reasons why a remedy is for an error, the best first."""

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
    """A remedy for an error, tried or only proposed."""

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


_JSON_KEYS: Final = (
    "technique steps successes failures partial rate lower_bound last_used is_tried why=tier "
    "nearness is_sure hazard for=error.text context"
)
EVERY_ATTEMPT: Final = Keys(f"{_JSON_KEYS} attempts")


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A technique and its outcomes, of attempts that concern one error."""

    JSON = _JSON_KEYS
    #: In the words of the first attempt.
    technique: str
    #: The oldest first; at least one.
    attempts: tuple[RemedyAttempt, ...]
    tier: Annotated[RemedyTier, member_name] = RemedyTier.SAME
    #: How alike the errors are, up to 1.
    nearness: float = 1.0
    #: Whether it surely is for the error at hand, so that it may be suggested unasked.
    is_sure: bool = True

    @property
    def error(self) -> ErrorFingerprint:
        """The error of its last attempt."""
        return self.attempts[-1].error

    @property
    def message(self) -> str:
        """The message once it is withdrawn."""
        return f"{self.failed_in_a_row} failed attempts with the same technique"

    @property
    def hazard(self) -> str:
        """Why it is told to nobody unasked, as a clause; empty where it may be."""
        return remedy_hazard(self.technique, self.steps)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps as they were recorded last."""
        return next((attempt.steps for attempt in reversed(self.attempts) if attempt.steps), ())

    @property
    def tried_outcomes(self) -> tuple[str, ...]:
        """The outcomes, the oldest first, proposals left out."""
        return tuple(attempt.outcome for attempt in self.attempts if attempt.outcome)

    @property
    def successes(self) -> int:
        """The number of successes."""
        return self.tried_outcomes.count(SUCCESS)

    @property
    def failures(self) -> int:
        """The number of failures."""
        return self.tried_outcomes.count(FAILURE)

    @property
    def partial(self) -> int:
        """The number of partial successes, which count as neither."""
        return self.tried_outcomes.count(PARTIAL)

    @property
    def is_guess(self) -> bool:
        """Whether it was for an error that is only similar to this one, or for another thing in the same words."""
        return not self.is_sure or self.nearness < SAME_CURE_SIMILARITY

    @property
    def is_tried(self) -> bool:
        """Whether it was ever tried."""
        return bool(self.tried_outcomes)

    @property
    def rate(self) -> Share | None:
        """The share of successes; None where nothing counts."""
        trials = self.successes + self.failures
        return self.successes / trials if trials else None

    @property
    def lower_bound(self) -> Share:
        """The least share of successes, by Wilson."""
        return wilson_lower_bound(self.successes, self.successes + self.failures)

    @property
    def upper_bound(self) -> float:
        """The greatest share of successes, by Wilson."""
        return wilson_upper_bound(self.successes, self.successes + self.failures)

    @property
    def failed_in_a_row(self) -> int:
        """The number of failures since its last success."""
        counted = [outcome for outcome in self.tried_outcomes if outcome != PARTIAL]
        return next((count for count, outcome in enumerate(reversed(counted)) if outcome != FAILURE), len(counted))

    @property
    def is_withdrawn(self) -> bool:
        """Whether it failed too often to be offered again."""
        return self.failed_in_a_row >= WITHDRAWN_AFTER

    @property
    def last_used(self) -> Time | None:
        """The time of the last trial, in seconds since 1970; None where there was none."""
        return max((attempt.ts for attempt in self.attempts if attempt.outcome), default=None)

    @cached_property
    def context(self) -> Mapping[str, tuple[str, ...]]:
        """The contexts of the attempts, each value once."""
        values_by_key = {
            key: [attempt.context[key] for attempt in self.attempts if key in attempt.context] for key in CONTEXT_KEYS
        }
        return {key: tuple(dict.fromkeys(values)) for key, values in values_by_key.items() if values}


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentError:
    """An error that occurs now."""

    error: ErrorFingerprint
    #: Its lines, for patterns.
    lines: Sequence[str] = ()
    context: Mapping[str, str] = field(default_factory=dict)
    #: Says whether the error matches a regular expression; where nothing can, none does.
    matches_regex: Callable[[str], bool] = lambda _: False


def parse_attempts(events: Iterable[LedgerEvent]) -> list[RemedyAttempt]:
    """Return the attempts in a ledger's `events`, in order."""
    return [_parse_attempt(event) for event in events if event.event == ATTEMPTED and _is_complete(event)]


def _is_complete(event: LedgerEvent) -> bool:
    return bool(event.text_field("fingerprint") and event.text_field("technique").strip())


def _parse_attempt(event: LedgerEvent) -> RemedyAttempt:
    given_context = event.fields.get("context")
    context = given_context if isinstance(given_context, Mapping) else {}
    outcome = event.text_field("outcome")
    return RemedyAttempt(
        id=event.id,
        ts=event.ts,
        error=ErrorFingerprint(
            digest=event.text_field("fingerprint"),
            name=event.text_field("error_type"),
            form=event.text_field("error"),
            line=event.text_field("line"),
            others=event.text_list_field("others"),
            marks=event.text_list_field("marks"),
        ),
        technique=event.text_field("technique"),
        steps=event.text_list_field("steps"),
        outcome=outcome if outcome in OUTCOMES else "",
        context={key: value for key in CONTEXT_KEYS if isinstance(value := context.get(key), str) and value},
        pattern=event.text_field("pattern"),
        regex=event.text_field("regex"),
        agent=event.agent,
        task=event.task,
    )


def event_fields_of(attempt: RemedyAttempt) -> dict[str, object]:
    """Return the fields of an attempt's event beside those that every event has."""
    fields: dict[str, object] = {
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
    return {key: value for key, value in fields.items() if value}


def rank_remedies(all_attempts: Iterable[RemedyAttempt], trouble: CurrentError) -> list[Remedy]:
    """Return every technique for the error, the best first; the withdrawn ones are among them.

    Techniques for errors that are only something like it come last, three at most.
    """
    judged: dict[ErrorFingerprint, float] = {}
    is_meant_by: dict[tuple[str, str], bool] = {}
    concerned: list[tuple[RemedyAttempt, RemedyTier, float]] = []
    for attempt in all_attempts:
        look = attempt.pattern, attempt.regex
        if look not in is_meant_by:
            is_meant_by[look] = _is_attempt_match(attempt, trouble)
        tier = _remedy_tier(attempt, trouble, is_meant=is_meant_by[look])
        by_words = tier in (RemedyTier.SAME, RemedyTier.SIMILAR)
        if by_words and attempt.error not in judged:
            judged[attempt.error] = graded_nearness(attempt.error, trouble.error)
        near = judged[attempt.error] if by_words else 1.0
        if near >= _LEAST_NEARNESS:
            concerned.append((attempt, tier, near))
    ranked = sorted(
        (_merge_attempts(group) for group in _group_by_technique(concerned)),
        key=lambda remedy: _rank_key(remedy, trouble),
    )
    guesses = [remedy for remedy in ranked if remedy.is_guess and not remedy.is_withdrawn][:_MOST_GUESSES]
    return [remedy for remedy in ranked if not remedy.is_guess or remedy in guesses]


def is_surely_for(remedy: Remedy, error: ErrorFingerprint) -> bool:
    """Say whether a remedy surely is for an error, so that it may be suggested unasked."""
    if remedy.tier is RemedyTier.PATTERN:
        return True
    return any(is_surely_same(error.marks, attempt.error.marks) for attempt in remedy.attempts)


def remedies_by_error(all_attempts: Iterable[RemedyAttempt]) -> list[tuple[ErrorFingerprint, list[Remedy]]]:
    """Return each error with its techniques, the error that was met last first."""
    by_error: dict[str, list[RemedyAttempt]] = {}
    for attempt in all_attempts:
        by_error.setdefault(attempt.error.digest, []).append(attempt)
    latest = sorted(by_error.values(), key=lambda group: (group[-1].ts, group[-1].id), reverse=True)
    return [(group[-1].error, rank_remedies(group, CurrentError(error=group[-1].error))) for group in latest]


def find_same_technique(technique: str, remedies: Iterable[Remedy]) -> list[Remedy]:
    """Return the remedies with that technique, in its words or others."""
    prepared = prepare_text(technique)
    return [remedy for remedy in remedies if _is_same_technique(prepare_text(remedy.technique), prepared)]


def _is_same_technique(technique: PreparedText, other_technique: PreparedText) -> bool:
    return text_likeness(technique, other_technique, limit=_TECHNIQUE_SIMILARITY) in (
        TextLikeness.SAME,
        TextLikeness.SIMILAR,
    )


def is_pattern_match(pattern: str, lines: Iterable[str]) -> bool:
    """Say whether a pattern matches an error: a part of a line, or with `*` or `?` a glob over one.

    Case doesn't count, since messages change theirs from version to version, and brackets are
    themselves, since errors are full of them.
    """
    folded_pattern = pattern.strip().casefold()
    if "*" not in folded_pattern and "?" not in folded_pattern:
        return bool(folded_pattern) and any(folded_pattern in line.casefold() for line in lines)
    glob = folded_pattern.replace("[", "[[]")
    return any(fnmatchcase(line.strip().casefold(), glob) for line in lines)


def _is_attempt_match(attempt: RemedyAttempt, trouble: CurrentError) -> bool:
    if attempt.regex:
        return trouble.matches_regex(attempt.regex)
    return bool(attempt.pattern) and is_pattern_match(attempt.pattern, trouble.lines)


def _remedy_tier(attempt: RemedyAttempt, trouble: CurrentError, *, is_meant: bool) -> RemedyTier:
    """Return the best reason why an attempt may concern the error; similarity is checked later."""
    if attempt.error.digest == trouble.error.digest:
        return RemedyTier.SAME
    if is_meant:
        return RemedyTier.PATTERN
    if attempt.error.digest in trouble.error.others or trouble.error.digest in attempt.error.others:
        return RemedyTier.TOLD
    return RemedyTier.SIMILAR


def _group_by_technique(
    concerned: Iterable[tuple[RemedyAttempt, RemedyTier, float]],
) -> Iterator[list[tuple[RemedyAttempt, RemedyTier, float]]]:
    """Yield the attempts of each technique; each joins the first that is the same in other words."""
    groups: list[list[tuple[RemedyAttempt, RemedyTier, float]]] = []
    shapes: list[PreparedText] = []
    near: NearTexts[int] = NearTexts(_TECHNIQUE_SIMILARITY)
    by_text: dict[str, list[tuple[RemedyAttempt, RemedyTier, float]]] = {}
    for entry in concerned:
        text = entry[0].technique
        if text not in by_text:
            prepared = prepare_text(text)
            same_numbers = (
                number for number in near.find_alike(prepared) if _is_same_technique(shapes[number], prepared)
            )
            number = next(same_numbers, len(groups))
            if number == len(groups):
                near.add_text(number, prepared)
                shapes.append(prepared)
                groups.append([])
            by_text[text] = groups[number]
        by_text[text].append(entry)
    yield from groups


def _merge_attempts(group: Sequence[tuple[RemedyAttempt, RemedyTier, float]]) -> Remedy:
    """Return the remedy of the attempts that concern the error most; proposals count if none was tried."""
    tried = [entry for entry in group if entry[0].outcome] or group
    tier = min(tier for _, tier, _ in tried)
    near = max(near for _, of_tier, near in tried if of_tier is tier)
    counted = [entry for entry, of_tier, _ in group if of_tier is tier]
    return Remedy(technique=group[0][0].technique, attempts=tuple(counted), tier=tier, nearness=near)


def _rank_key(remedy: Remedy, trouble: CurrentError) -> tuple[object, ...]:
    """Return a key that orders by success, then by closeness, effectiveness and recency."""
    standing = 0 if remedy.successes else 2 if remedy.failures else 1
    shared = sum(trouble.context.get(key) in values for key, values in remedy.context.items())
    is_to_the_letter = any(attempt.error.line == trouble.error.line for attempt in remedy.attempts)
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
