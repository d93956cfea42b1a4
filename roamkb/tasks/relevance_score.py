"""How much a learning helps with a task: its files, its action, its words, and what came before.

Ranked by relevance, then by how far it is trusted (document 004, FR-3 and FR-7).
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from roamkb.core.gitignore import concerns
from roamkb.core.json_form import Share
from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import YES
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.tasks.signature import TaskRecord

#: What each reason is worth beside the others: a file names its learning, words may mean anything.
_FILE: Final = 0.4
_WORDS: Final = 0.35
_SEEN: Final = 0.25
_ACTION: Final = 0.15
_CATEGORY: Final = 0.1
_PREFERRED: Final = 0.2
#: Less is no reason to show it: one of file, task seen before, or good words.
LEAST: Final = 0.15
#: The share of trust in the order.
_TRUST: Final = 0.25

#: What stands in for the stars of a pattern, so that it can be met by another pattern.
_ANY = "x"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantLearning:
    """One learning that fits, how well, and why."""

    JSON = "*standing relevance why"
    standing: LearningState
    #: 0 to 1.
    relevance: Share
    why: tuple[str, ...]


def may_fit(
    state: LogState, *, words: Iterable[str], seen: Collection[str], actions: Sequence[str] = ()
) -> Collection[LearningState]:
    """Return all learnings that `relevance` may give something for, of those that answer the `words`."""
    if actions:
        return state.standings.values()
    found = [one for id in words if (one := state.standings.get(id))]
    found += [*state.having("names", YES), *state.having("shared", YES)]
    for of in ("task", "bead"):
        found += state.having(of, *seen)
    return {one.id: one for one in found}.values()


def _told_again_in(standing: LearningState, seen: Mapping[str, float]) -> Iterator[tuple[float, str]]:
    """Yield the likeness and the id of each task that is like one in which a learning was repeated."""
    for step in standing.history:
        if step.event.event == "repeated" and (alike := seen.get(step.event.task)):
            yield alike, step.event.task


def relevance(
    standing: LearningState,
    task: TaskRecord,
    *,
    actions: Sequence[str],
    words: float,
    seen: Mapping[str, float],
    agent: str = "",
) -> RelevantLearning | None:
    """Return how well a learning fits; None where nothing speaks for it.

    `words` is the match of the task's words, 0 to 1; `seen` the likeness of other tasks by id; what fits
    and `agent` prefers fits it better.
    """
    learning = standing.learning
    reasons: list[tuple[float, str]] = []
    if file := met(learning.files, task.files):
        reasons.append((_FILE, f"file {file}"))
    if words:
        reasons.append((_WORDS * words, "words"))
    learned_in = (seen.get(id, 0.0) for id in (learning.task, learning.bead) if id)
    if alike := max(learned_in, default=0.0):
        reasons.append((_SEEN * alike, f"learned in {learning.task or learning.bead}"))
    elif again := max(_told_again_in(standing, seen), default=None):
        reasons.append((_SEEN * again[0], f"told again in {again[1]}"))
    if shared := {action.casefold() for action in actions} & set(map(str.casefold, learning.actions)):
        reasons.append((_ACTION, f"action {', '.join(sorted(shared))}"))
    # alone it is no reason, and it may take a look at the whole text
    if reasons and task.category:
        from roamkb.pipeline.consolidation_plan import category

        if category(standing) == task.category.casefold().replace("-", "_"):
            reasons.append((_CATEGORY, f"category {task.category}"))
    total = sum(weight for weight, _ in reasons)
    if total < LEAST:
        return None
    if agent in standing.preferred_by:
        total += _PREFERRED
        reasons.append((_PREFERRED, f"preferred by {agent}"))
    return RelevantLearning(
        standing=standing,
        relevance=min(total, 1.0),
        why=tuple(why for _, why in sorted(reasons, reverse=True)),
    )


def met(patterns: Sequence[str], files: Sequence[str]) -> str:
    """Return the first of the task's `files` that the learning's `patterns` mean; empty where none is.

    Both may be patterns: `database/` is met by `database/*.sql`, and `*.ts` by `src/auth.ts`.
    """
    if not patterns or not files:
        return ""
    for file in files:
        if file in patterns or concerns(patterns, _example(file)):
            return file
    for file in files:
        # of a file without a wildcard, the pattern must have its name
        named = "" if "*" in file or "?" in file else file.strip("/")
        for pattern in patterns:
            if named in pattern and "*" not in pattern and concerns([file], pattern.rstrip("/")):
                return file
    return ""


@lru_cache(maxsize=256)
def _example(pattern: str) -> str:
    """Return a file that `pattern` means."""
    plain = pattern.strip().lstrip("/").replace("**/", "").replace("**", _ANY).replace("*", _ANY)
    return plain + _ANY if plain.endswith("/") else plain.replace("?", _ANY)


def ordered(found: Sequence[RelevantLearning], now: float) -> list[RelevantLearning]:
    """Return what fits, the best first; what needs a review after its equals, and nothing that is gone."""
    kept = [
        one for one in found if one.standing.status != SUPERSEDED and one.standing.verdict != "invalidated"
    ]
    return sorted(
        kept,
        key=lambda one: (
            -round(_weighed(one, now), 6),
            one.standing.status == NEEDS_REVIEW,
            -one.standing.learning.ts,
            one.standing.id,
        ),
    )


def _weighed(one: RelevantLearning, now: float) -> float:
    trust = one.standing.rank_confidence(now) / 100
    return one.relevance * (1 - _TRUST + _TRUST * trust)
