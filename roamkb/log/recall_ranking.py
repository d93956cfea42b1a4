"""Ranking of recalled learnings: the match's score, weighted by status, confidence and doubts.

A better match beats a better standing, within reason: what was reviewed comes first among
equals, what was replaced comes last, and doubt lowers (docs/architecture.md, D8).
"""

from bisect import insort
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

from roamkb.core.json_form import Share
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import fold_text
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import ARCHIVED
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.text.similarity import contradiction
from roamkb.text.similarity.jaccard import normal_words

#: What a review's word is worth beside the match.
_CANONICAL_WEIGHT = 1.5
_REVIEW_WEIGHT = 0.8
#: What an agent's own preference is worth to it.
_PREFERRED_WEIGHT = 1.5
#: What each doubt is worth.
_DOUBT_WEIGHT = 0.8
#: The share of a full confidence in the score: it decides among near equals.
_CONFIDENCE_SHARE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledLearning:
    """A learning that answers a query, with its score and the reasons."""

    JSON = "*standing flags=doubts score why path?"
    standing: LearningState
    #: 1 for the best match of the words; 0 where none were asked for.
    score: Share = 0.0
    why: tuple[str, ...] = ()
    #: Doubts about it, with reasons: from the ledger and from a look at the project.
    doubts: Mapping[str, str]
    #: The note, where it is a node of the knowledge base.
    path: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFilter:
    """The conditions of a recall beside its words; an empty one admits all."""

    type: str = ""
    #: A task or bead.
    topic: str = ""
    scope: str = ""
    #: In hundredths.
    least_confidence: int = 0
    action: str = ""
    #: All of them, and none of those.
    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    #: Whether a learning's own patterns meet the file that is asked about.
    concerns: Callable[[Sequence[str]], bool] | None = None
    #: Whether what a curator archived passes; what rotation moved always does.
    archived: bool = False

    @property
    def is_selective(self) -> bool:
        """Whether few learnings may pass the filter."""
        chosen = self.topic or self.scope or self.least_confidence or self.action or self.is_by_tags
        return bool(chosen) or self.concerns is not None

    @property
    def is_by_tags(self) -> bool:
        """Whether the filter has tags."""
        return bool(self.tags or self.without_tags)

    def is_match(self, standing: LearningState) -> bool:
        """Say whether `standing` passes the filter."""
        learning = standing.learning
        return (
            (self.archived or standing.status != ARCHIVED)
            and (learning.canonical_type == self.type if self.type else not learning.is_summary)
            and (not self.topic or self.topic in (learning.bead, learning.task, *standing.tasks))
            and (not self.scope or standing.scope == self.scope)
            and standing.confidence >= self.least_confidence
            and (not self.action or self.action.casefold() in map(str.casefold, learning.actions))
            and (self.concerns is None or self.concerns(learning.files))
            and (not self.is_by_tags or self._has_tags(learning))
        )

    def _has_tags(self, learning: Learning) -> bool:
        tags = {fold_text(tag) for tag in (learning.canonical_type, *learning.tags)}
        return all(fold_text(tag) in tags for tag in self.tags) and not any(
            fold_text(tag) in tags for tag in self.without_tags
        )


def weighted_score(recalled: RecalledLearning, now: float, *, agent: str = "") -> float:
    """Return the match's score, weighted by the learning's state and by the preference of `agent`."""
    standing = recalled.standing
    score = recalled.score * (1 - _CONFIDENCE_SHARE + _CONFIDENCE_SHARE * standing.rank_confidence(now) / 100)
    if standing.status == CANONICAL:
        score *= _CANONICAL_WEIGHT
    if standing.status == NEEDS_REVIEW:
        score *= _REVIEW_WEIGHT
    if agent in standing.preferred_by:
        score *= _PREFERRED_WEIGHT
    doubts: float = _DOUBT_WEIGHT ** len(recalled.doubts)
    return score * doubts


def rank_recalled(recalled: Iterable[RecalledLearning], now: float, *, agent: str = "") -> list[RecalledLearning]:
    """Return the recalled learnings, the best first, the latest of equals; superseded ones come last."""
    return sorted(recalled, key=lambda entry: _rank_key(entry, now, agent), reverse=True)


def best_recalled(
    recalled: Iterable[RecalledLearning],
    count: int,
    now: float,
    *,
    agent: str = "",
    with_doubts: Callable[[RecalledLearning], RecalledLearning],
) -> list[RecalledLearning]:
    """Return the first `count` learnings of the ranking after each has its doubts.

    A doubt only lowers, so that nothing is looked at that would come later even without.
    """
    unchecked = rank_recalled(recalled, now, agent=agent)[::-1]
    checked: list[tuple[tuple[bool, float, float, str], RecalledLearning]] = []
    chosen: list[RecalledLearning] = []
    while len(chosen) < count and (unchecked or checked):
        while unchecked and (not checked or _rank_key(unchecked[-1], now, agent) > checked[-1][0]):
            entry = with_doubts(unchecked.pop())
            insort(checked, (_rank_key(entry, now, agent), entry), key=itemgetter(0))
        chosen.append(checked.pop()[1])
    return chosen


def _rank_key(recalled: RecalledLearning, now: float, agent: str) -> tuple[bool, float, float, str]:
    standing = recalled.standing
    is_current = standing.status != SUPERSEDED
    return is_current, round(weighted_score(recalled, now, agent=agent), 9), standing.learning.ts, standing.id


def preference_reason(standing: LearningState, agent: str) -> tuple[str, ...]:
    """Return the reason that a learning comes first for `agent`, if it prefers it."""
    return (f"preferred by {agent}",) if agent in standing.preferred_by else ()


def collapse_repetitions(recalled: Iterable[RecalledLearning]) -> list[RecalledLearning]:
    """Return the learnings without exact and normalised repetitions; the latest stands for all.

    `x == 1` and `x != 1` have the same words, and neither hides the other.
    """
    groups: dict[tuple[str, str], list[RecalledLearning]] = {}
    for entry in sorted(recalled, key=lambda entry: representative_key(entry.standing), reverse=True):
        group = groups.setdefault(repetition_key(entry.standing.learning), [])
        content = entry.standing.learning.statement
        if all(contradiction.differ_in_claim(content, earlier.standing.learning.statement) for earlier in group):
            group.append(entry)
    return [entry for group in groups.values() for entry in group]


def repetition_key(learning: Learning) -> tuple[str, str]:
    """Return a key that a learning shares with its exact and normalised repetitions."""
    return learning.canonical_type, normal_words(learning.content) or learning.statement.strip()


def representative_key(standing: LearningState) -> tuple[bool, bool, bool, float, str]:
    """Return a key by which the greatest of several repetitions stands for all."""
    learning = standing.learning
    is_clean = learning.statement == learning.content
    return standing.status != SUPERSEDED, standing.status == CANONICAL, is_clean, learning.ts, learning.id
