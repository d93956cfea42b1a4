"""`stats`: figures over receipts and outcomes, whether shown learnings helped (document 004, FR-4)."""

from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from math import sqrt
from typing import Final

from roamkb.core.json_form import Counts
from roamkb.core.request import AsOfOption
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.state import confidence
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import VALIDATED
from roamkb.log.state.learning_state import LogState
from roamkb.remedies.effectiveness import parse_attempts
from roamkb.remedies.effectiveness import remedies_by_error

#: What an agent can say of a learning that it was shown; the last: another agent's, it found it true.
OUTCOMES: Final = ("success", "failure", "partial", "not_applied", "prevented", VALIDATED)
#: How it came to be shown.
MATCH_KINDS: Final = ("exact", "similar", "suggested")

#: Finding out again costs so many times the tokens of reading the answer: a guess, said openly.
_REDISCOVERY_FACTOR: Final = 20
#: Characters of a token, roughly.
_TOKEN_LENGTH: Final = 4
TOKENS_SAVED_FORMULA: Final = (
    f"successes × {_REDISCOVERY_FACTOR} × characters / {_TOKEN_LENGTH} − times shown × characters / {_TOKEN_LENGTH}, "
    "summed over learnings"
)


@dataclass(frozen=True, slots=True)
class StatsRequest:
    """Parameters of `stats`."""

    _: KW_ONLY
    metrics: bool = flag_option("--metrics", "The figures by which it is judged whether all this helps.")
    as_of: AsOfOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReuseFigures:
    """Figures of how often learnings were shown, and with which outcomes."""

    JSON = (
        "total_entries=total by_type high_confidence promotion_candidates shown learnings_shown applied "
        "outcomes=by_outcome hit_rate days_since_use never_used tokens_saved tokens_saved_formula "
        "reuse_rate duplicate_rate confidence_outcome_correlation=correlation *effects"
    )
    shown: int
    #: Different learnings among them.
    learnings_shown: int
    applied: int
    by_outcome: Counts
    #: Successes and preventions of all outcomes that say something; None without any.
    hit_rate: float | None
    never_used: tuple[str, ...]
    #: Days since some learning last helped; None where none did.
    days_since_use: float | None
    tokens_saved: int
    #: Of the learnings that were shown, those that helped at least once.
    reuse_rate: float | None
    #: Repetitions of all that was said.
    duplicate_rate: float | None
    #: Pearson's r of confidence and success, None under three outcomes or without variance.
    correlation: float | None
    total: int
    by_type: Counts
    high_confidence: int
    promotion_candidates: int
    #: Techniques that were tried against an error, None where nobody asked; the mean share of successes.
    strategies: int | None = None
    effectiveness: float | None = None

    @property
    def tokens_saved_formula(self) -> str:
        """The formula of the estimate."""
        return TOKENS_SAVED_FORMULA

    @property
    def effects(self) -> Mapping[str, float | None] | None:
        """The figures of techniques against errors; None where they weren't asked for."""
        if self.strategies is None:
            return None
        return {"strategies_tried": self.strategies, "mean_effectiveness": self.effectiveness}


def reuse_figures(
    state: LogState, shown_ids: Iterable[Sequence[str]], *, now: float, strategies: bool = False
) -> ReuseFigures:
    """Return the figures of a log; `shown` holds the ids of each receipt.

    How `strategies` against errors did is only looked at where it is asked for.
    """
    rates = _success_rates(state) if strategies else []
    counts = Counter(id for ids in shown_ids for id in ids)
    standings = [standing for standing in state.standings.values() if standing.status != SUPERSEDED]
    outcomes: Counter[str] = Counter()
    pairs: list[tuple[float, float]] = []
    helped_at: list[float] = []
    saved = 0.0
    for standing in state.standings.values():
        outcomes.update(standing.outcomes)
        successes = standing.outcomes.get("success", 0) + standing.outcomes.get("prevented", 0)
        size = len(standing.learning.content) / _TOKEN_LENGTH
        saved += successes * _REDISCOVERY_FACTOR * size - counts[standing.id] * size
        for step in standing.history:
            outcome = step.event.text_field("outcome")
            if step.event.event == "reused" and outcome in ("success", "prevented", "failure"):
                helped_now = outcome != "failure"
                pairs.append((step.before / 100, float(helped_now)))
                if helped_now:
                    helped_at.append(step.event.ts)
    good, bad = outcomes["success"] + outcomes["prevented"], outcomes["failure"]
    shown_standings = [standing for standing in standings if counts[standing.id]]
    helped = [
        standing
        for standing in shown_standings
        if standing.outcomes.get("success") or standing.outcomes.get("prevented")
    ]
    learning_count = len(state.standings)
    repeated = sum(standing.occurrences - 1 for standing in state.standings.values())
    return ReuseFigures(
        shown=sum(counts[id] for id in state.standings),
        learnings_shown=sum(counts[id] > 0 for id in state.standings),
        applied=sum(outcomes.values()) - outcomes["not_applied"],
        by_outcome=tuple(sorted(outcomes.items())),
        hit_rate=good / (good + bad) if good + bad else None,
        never_used=tuple(standing.learning.key for standing in standings if not standing.outcomes),
        days_since_use=(now - max(helped_at)) / 86400 if helped_at else None,
        tokens_saved=round(saved),
        reuse_rate=len(helped) / len(shown_standings) if shown_standings else None,
        duplicate_rate=repeated / (repeated + learning_count) if learning_count else None,
        correlation=_pearson_correlation(pairs),
        total=len(standings),
        by_type=tuple(Counter(standing.learning.canonical_type for standing in standings).most_common()),
        high_confidence=sum(standing.confidence >= confidence.DURABLE for standing in standings),
        promotion_candidates=sum(
            standing.confidence >= confidence.DURABLE and standing.occurrences >= confidence.PROMOTION_OCCURRENCES
            for standing in standings
        ),
        strategies=len(rates) if strategies else None,
        effectiveness=sum(rates) / len(rates) if rates else None,
    )


def _success_rates(state: LogState) -> list[float]:
    """Return the share of successes of each technique against each error, where anything counts."""
    errors_and_remedies = remedies_by_error(parse_attempts(state.events))
    return [remedy.rate for _, remedies in errors_and_remedies for remedy in remedies if remedy.rate is not None]


def _pearson_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return the correlation of two series (Pearson, 1895); None where it isn't defined."""
    if len(pairs) < 3:
        return None
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    sx, sy = sum((x - mx) ** 2 for x in xs), sum((y - my) ** 2 for y in ys)
    if not sx or not sy:
        return None
    return round(sum((x - mx) * (y - my) for x, y in pairs) / sqrt(sx * sy), 4)
