"""Which learnings answer, and in which order: the search's ranking, and what became of each since.

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
from roamkb.core.text import folded
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.text.similarity.contradiction import differ
from roamkb.text.similarity.jaccard import normal

#: What a review's word is worth beside the match.
_CANONICAL = 1.5
_REVIEW = 0.8
#: What an agent's own preference is worth to it.
_PREFERRED = 1.5
#: What each doubt is worth.
_DOUBT = 0.8
#: The share of a full confidence in the score: it decides among near equals.
_CONFIDENCE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledLearning:
    """One learning that answers, and why."""

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
    """What a recall asks for beside its words; empty means anything."""

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
    archived: bool = False

    @property
    def is_choosy(self) -> bool:
        """Whether few learnings may be let through."""
        chosen = self.topic or self.scope or self.least_confidence or self.action or self.is_by_tags
        return bool(chosen) or self.concerns is not None

    @property
    def is_by_tags(self) -> bool:
        """Whether tags decide."""
        return bool(self.tags or self.without_tags)

    def lets_through(self, standing: LearningState) -> bool:
        """Say whether `standing` is one of those that are asked for."""
        learning = standing.learning
        return (
            # most of a large log lies in the archive
            (self.archived or not standing.is_archived)
            and (not self.type or learning.canonical_type == self.type)
            and (not self.topic or self.topic in (learning.bead, learning.task, *standing.tasks))
            and (not self.scope or standing.scope == self.scope)
            and standing.confidence >= self.least_confidence
            and (not self.action or self.action.casefold() in map(str.casefold, learning.actions))
            and (self.concerns is None or self.concerns(learning.files))
            and (not self.is_by_tags or self._has_tags(learning))
        )

    def _has_tags(self, learning: Learning) -> bool:
        tags = {folded(tag) for tag in (learning.canonical_type, *learning.tags)}
        return all(folded(tag) in tags for tag in self.tags) and not any(
            folded(tag) in tags for tag in self.without_tags
        )


def weighed(found: RecalledLearning, now: float, *, agent: str = "") -> float:
    """Return the match's score, with what became of the learning in it, and what `agent` prefers."""
    standing = found.standing
    score = found.score * (1 - _CONFIDENCE + _CONFIDENCE * standing.rank_confidence(now) / 100)
    if standing.status == CANONICAL:
        score *= _CANONICAL
    if standing.status == NEEDS_REVIEW:
        score *= _REVIEW
    if agent in standing.preferred_by:
        score *= _PREFERRED
    doubts: float = _DOUBT ** len(found.doubts)
    return score * doubts


def ordered(found: Iterable[RecalledLearning], now: float, *, agent: str = "") -> list[RecalledLearning]:
    """Return what was found, the best first, the latest of equals; what was replaced comes last."""
    return sorted(found, key=lambda one: _rank(one, now, agent), reverse=True)


def best(
    found: Iterable[RecalledLearning],
    count: int,
    now: float,
    *,
    agent: str = "",
    doubted: Callable[[RecalledLearning], RecalledLearning],
) -> list[RecalledLearning]:
    """Return the first `count` of what `ordered` gives once all are `doubted`.

    A doubt only lowers, so that nothing is looked at that would come later even without.
    """
    waiting = ordered(found, now, agent=agent)[::-1]
    looked_at: list[tuple[tuple[bool, float, float, str], RecalledLearning]] = []
    first: list[RecalledLearning] = []
    while len(first) < count and (waiting or looked_at):
        while waiting and (not looked_at or _rank(waiting[-1], now, agent) > looked_at[-1][0]):
            one = doubted(waiting.pop())
            insort(looked_at, (_rank(one, now, agent), one), key=itemgetter(0))
        first.append(looked_at.pop()[1])
    return first


def _rank(one: RecalledLearning, now: float, agent: str) -> tuple[bool, float, float, str]:
    standing = one.standing
    is_current = standing.status != SUPERSEDED
    return is_current, round(weighed(one, now, agent=agent), 9), standing.learning.ts, standing.id


def preference(standing: LearningState, agent: str) -> tuple[str, ...]:
    """Return the reason that a learning comes first for `agent`, if it prefers it."""
    return (f"preferred by {agent}",) if agent in standing.preferred_by else ()


def collapsed(found: Iterable[RecalledLearning]) -> list[RecalledLearning]:
    """Return what was found without exact and normalised repetitions; the latest of each stands for all.

    `x == 1` and `x != 1` have the same words, and neither hides the other.
    """
    kept: dict[tuple[str, str], list[RecalledLearning]] = {}
    for one in sorted(found, key=lambda one: place(one.standing), reverse=True):
        said = kept.setdefault(sense(one.standing.learning), [])
        content = one.standing.learning.statement
        if all(differ(content, other.standing.learning.statement) for other in said):
            said.append(one)
    return [one for said in kept.values() for one in said]


def sense(learning: Learning) -> tuple[str, str]:
    """Return what a learning shares with its exact and normalised repetitions."""
    return learning.canonical_type, normal(learning.content) or learning.statement.strip()


def place(standing: LearningState) -> tuple[bool, bool, bool, float, str]:
    """Return what decides which of several repetitions stands for all: the greatest."""
    learning = standing.learning
    is_clean = learning.statement == learning.content
    return standing.status != SUPERSEDED, standing.status == CANONICAL, is_clean, learning.ts, learning.id
