"""Signatures and likeness of tasks, to find earlier ones like a new one (document 004, FR-3).

A task's signature is a hash of its title, category, files and dependencies, whatever their
order; likeness tells of tasks that aren't the same, but much alike.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from roamkb.core.json_form import OrNull
from roamkb.core.json_form import round_share
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import sha256
from roamkb.core.timestamps import TimeOrNull
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.text.similarity import jaccard

#: What happened to a task, as its events say.
STARTED: Final = "started"
DONE: Final = "done"
FAILED: Final = "failed"

#: From here on two tasks are alike: the same words for most of it, or the same place and kind of work.
TASK_SIMILARITY: Final = 0.45
#: The shares of title, files, category and dependencies in a likeness; what neither task names is left out.
_PART_SHARES: Final = (0.5, 0.3, 0.15, 0.05)
#: More than floats lose.
_FLOAT_SLACK: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """One task, as recorded in the ledger."""

    JSON = "id title category files depends outcome signature started ended"
    #: Empty, and null in JSON, for work that is none.
    id: OrNull
    title: str = ""
    category: str = ""
    #: Patterns in gitignore syntax.
    files: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    #: started, done or failed.
    outcome: str = STARTED
    #: Seconds since 1970.
    started: TimeOrNull = 0.0
    ended: TimeOrNull = 0.0
    agent: str = ""

    @property
    def signature(self) -> str:
        """The hash of the task's title, category, files and dependencies, whatever their order and spelling."""
        parts = (
            jaccard.normal_words(self.title) or self.title.strip(),
            self.category.casefold().strip(),
            *sorted({f"file {name.strip()}" for name in self.files}),
            *sorted({f"depends {name.strip()}" for name in self.depends}),
        )
        return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


_UNKNOWN: Final = TaskRecord(id="")


def parse_tasks(events: Iterable[LedgerEvent]) -> dict[str, TaskRecord]:
    """Return the tasks that a ledger's events record, by id, in the order of their start."""
    tasks: dict[str, TaskRecord] = {}
    for event in events:
        if event.event != "task" or not event.task:
            continue
        task = tasks.get(event.task, _UNKNOWN)
        outcome = event.text_field("outcome")
        tasks[event.task] = TaskRecord(
            id=event.task,
            title=event.text_field("title") or task.title,
            category=event.text_field("category") or task.category,
            files=event.text_list_field("files") or task.files,
            depends=event.text_list_field("depends") or task.depends,
            outcome=outcome if outcome in (STARTED, DONE, FAILED) else task.outcome,
            started=event.ts if task is _UNKNOWN else task.started,
            ended=event.ts if outcome in (DONE, FAILED) else task.ended,
            agent=event.agent or task.agent,
        )
    return tasks


def task_likeness(task: TaskRecord, other_task: TaskRecord, *, limit: float = 0.0) -> float:
    """Return how alike two tasks are, 0 to 1; 1 for the same signature, and 0 for less than `limit`."""
    has_same_title = jaccard.normal_words(task.title) == jaccard.normal_words(other_task.title)
    if has_same_title and task.signature == other_task.signature:
        return 1.0
    places = (
        _shared_fraction(task.files, other_task.files),
        float(task.category.casefold() == other_task.category.casefold())
        if task.category and other_task.category
        else None,
        _shared_fraction(task.depends, other_task.depends),
    )
    shares_and_values = [
        (share, value) for share, value in zip(_PART_SHARES[1:], places, strict=True) if value is not None
    ]
    has_titles = bool(task.title and other_task.title)
    total = sum(share for share, _ in shares_and_values) + (_PART_SHARES[0] if has_titles else 0.0)
    if not total:
        return 0.0
    points = sum(share * value for share, value in shares_and_values)
    # without a title in common there is little to compare by
    trust = min(1.0, total / 0.5)
    if has_titles:
        # what the titles must have in common; most have less, which is seen at a glance
        least = (limit / trust * total - points) / _PART_SHARES[0] - _FLOAT_SLACK
        mine, theirs = _cached_shape(task.title), _cached_shape(other_task.title)
        if least > 1 or (least > 0 and not jaccard.is_alike(mine, theirs, limit=least)):
            return 0.0
        points += _PART_SHARES[0] * jaccard.text_similarity(mine, theirs)
    degree = points / total * trust
    return degree if degree >= limit else 0.0


# the same titles come again with each question
@lru_cache(maxsize=4096)
def _cached_shape(title: str) -> "jaccard.PreparedText":
    return jaccard.prepare_text(title)


def _shared_fraction(values: Iterable[str], other_values: Iterable[str]) -> float | None:
    mine, theirs = set(values), set(other_values)
    return len(mine & theirs) / len(mine | theirs) if mine and theirs else None


def similar_tasks(task: TaskRecord, tasks: Mapping[str, TaskRecord]) -> list[tuple[TaskRecord, float]]:
    """Return the other tasks that are alike enough, the most similar first, then the latest."""
    compared = [
        (other_task, task_likeness(task, other_task, limit=TASK_SIMILARITY))
        for other_task in tasks.values()
        if other_task.id != task.id
    ]
    alike_tasks = [pair for pair in compared if pair[1] >= TASK_SIMILARITY]
    return sorted(alike_tasks, key=lambda pair: (-pair[1], -pair[0].started, pair[0].id))


def rounded_likenesses(similar: Iterable[tuple[TaskRecord, float]]) -> list[tuple[TaskRecord, float]]:
    """Return tasks with their likeness rounded as in JSON."""
    return [(task, round_share(likeness)) for task, likeness in similar]
