"""Relevance of a learning to a task: by its files, action, words and earlier tasks.

Ranked by relevance, then by how far it is trusted (document 004, FR-3 and FR-7).
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from roamkb.core.gitignore import matches_file
from roamkb.core.json_form import Share
from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.state.learning_state import FILES
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import OTHER_TASKS
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.pipeline import consolidation_plan
from roamkb.tasks.signature import TaskRecord

#: What each reason is worth beside the others: a file names its learning, words may mean anything.
_FILE_WEIGHT: Final = 0.4
_WORDS_WEIGHT: Final = 0.35
_SEEN_WEIGHT: Final = 0.25
_ACTION_WEIGHT: Final = 0.15
_CATEGORY_WEIGHT: Final = 0.1
_PREFERRED_WEIGHT: Final = 0.2
#: Less is no reason to show it: one of file, task seen before, or good words.
LEAST_RELEVANCE: Final = 0.15
#: The share of trust in the order.
_TRUST_SHARE: Final = 0.25

#: What stands in for the stars of a pattern, so that it can be met by another pattern.
_WILDCARD_FILLER = "x"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantLearning:
    """A learning that fits a task, with its relevance and the reasons."""

    JSON = "*standing relevance why"
    standing: LearningState
    #: 0 to 1.
    relevance: Share
    why: tuple[str, ...]


def candidate_learnings(
    state: LogState,
    *,
    words: Iterable[str],
    files: Sequence[str],
    seen_tasks: Collection[str],
    actions: Sequence[str] = (),
) -> Collection[LearningState]:
    """Return all learnings that may have any relevance, of those that answer the `words`."""
    if actions:
        return state.standings.values()
    candidates = [standing for id in words if (standing := state.standings.get(id))]
    if files:
        candidates += state.learnings_having(FILES, lambda patterns: bool(matched_file(patterns, files)))
    if seen_tasks:
        candidates += state.learnings_having(OTHER_TASKS, lambda tasks: any(task in seen_tasks for task in tasks))
    for trait in ("task", "bead"):
        candidates += state.learnings_with(trait, *seen_tasks)
    return {standing.id: standing for standing in candidates}.values()


def _repeated_in(standing: LearningState, seen_tasks: Mapping[str, float]) -> Iterator[tuple[float, str]]:
    """Yield the likeness and id of each similar task in which a learning was repeated."""
    for step in standing.history:
        if step.event.event == "repeated" and (alike := seen_tasks.get(step.event.task)):
            yield alike, step.event.task


def score_relevance(
    standing: LearningState,
    task: TaskRecord,
    *,
    actions: Sequence[str],
    words: float,
    seen_tasks: Mapping[str, float],
    agent: str = "",
) -> RelevantLearning | None:
    """Return the relevance of a learning to a task; None where it is too low.

    `words` is the match of the task's words, 0 to 1; `seen_tasks` the likeness of other tasks by id; what fits
    and `agent` prefers fits it better.
    """
    learning = standing.learning
    reasons: list[tuple[float, str]] = []
    if file := matched_file(learning.files, task.files):
        reasons.append((_FILE_WEIGHT, f"file {file}"))
    if words:
        reasons.append((_WORDS_WEIGHT * words, "words"))
    learned_in = (seen_tasks.get(id, 0.0) for id in (learning.task, learning.bead) if id)
    if alike := max(learned_in, default=0.0):
        reasons.append((_SEEN_WEIGHT * alike, f"learned in {learning.task or learning.bead}"))
    elif repeated := max(_repeated_in(standing, seen_tasks), default=None):
        reasons.append((_SEEN_WEIGHT * repeated[0], f"told again in {repeated[1]}"))
    if shared := {action.casefold() for action in actions} & set(map(str.casefold, learning.actions)):
        reasons.append((_ACTION_WEIGHT, f"action {', '.join(sorted(shared))}"))
    # alone it is no reason, and it may take a look at the whole text
    wanted = task.category.casefold().replace("-", "_")
    if reasons and wanted and consolidation_plan.learning_category(standing) == wanted:
        reasons.append((_CATEGORY_WEIGHT, f"category {task.category}"))
    total = sum(weight for weight, _ in reasons)
    if total < LEAST_RELEVANCE:
        return None
    if agent in standing.preferred_by:
        total += _PREFERRED_WEIGHT
        reasons.append((_PREFERRED_WEIGHT, f"preferred by {agent}"))
    return RelevantLearning(
        standing=standing,
        relevance=min(total, 1.0),
        why=tuple(why for _, why in sorted(reasons, reverse=True)),
    )


def matched_file(patterns: Sequence[str], files: Sequence[str]) -> str:
    """Return the first of the task's `files` that the learning's `patterns` match; empty where none does.

    Both may be patterns: `database/` is met by `database/*.sql`, and `*.ts` by `src/auth.ts`.
    """
    if not patterns or not files:
        return ""
    for file in files:
        if file in patterns or matches_file(patterns, _example_path(file)):
            return file
    for file in files:
        # of a file without a wildcard, the pattern must have its name
        literal_name = "" if "*" in file or "?" in file else file.strip("/")
        for pattern in patterns:
            if literal_name in pattern and "*" not in pattern and matches_file([file], pattern.rstrip("/")):
                return file
    return ""


@lru_cache(maxsize=256)
def _example_path(pattern: str) -> str:
    """Return a file that `pattern` matches."""
    plain = (
        pattern.strip().lstrip("/").replace("**/", "").replace("**", _WILDCARD_FILLER).replace("*", _WILDCARD_FILLER)
    )
    return plain + _WILDCARD_FILLER if plain.endswith("/") else plain.replace("?", _WILDCARD_FILLER)


def rank_relevant(relevant: Sequence[RelevantLearning], now: float) -> list[RelevantLearning]:
    """Return the relevant learnings, the best first; those to review after their equals."""
    current = [
        entry for entry in relevant if entry.standing.status != SUPERSEDED and entry.standing.verdict != "invalidated"
    ]
    return sorted(
        current,
        key=lambda entry: (
            -round(_weighted_relevance(entry, now), 6),
            entry.standing.status == NEEDS_REVIEW,
            -entry.standing.learning.ts,
            entry.standing.id,
        ),
    )


def _weighted_relevance(relevant: RelevantLearning, now: float) -> float:
    trust = relevant.standing.rank_confidence(now) / 100
    return relevant.relevance * (1 - _TRUST_SHARE + _TRUST_SHARE * trust)
