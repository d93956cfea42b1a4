"""Tasks by what they are about, to say of a new one: this has been done before (document 004, FR-3).

A task's signature is a hash of its title, category, files and dependencies, whatever their
order; likeness tells of tasks that aren't the same, but much alike.
"""

import hashlib
from collections.abc import Iterable
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from roamkb.core.json_form import OrNull
from roamkb.core.json_form import rounded
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.timestamps import TimeOrNull
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.text.similarity.jaccard import is_alike
from roamkb.text.similarity.jaccard import normal
from roamkb.text.similarity.jaccard import shape
from roamkb.text.similarity.jaccard import similarity

#: What happened to a task, as its events say.
STARTED: Final = "started"
DONE: Final = "done"
FAILED: Final = "failed"

#: From here on two tasks are alike: the same words for most of it, or the same place and kind of work.
ALIKE: Final = 0.45
#: The shares of title, files, category and dependencies in a likeness; what neither task names is left out.
_SHARES: Final = (0.5, 0.3, 0.15, 0.05)
#: More than floats lose.
_SLACK: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """One task, as far as the ledger tells."""

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
        """The hash of what the task is about; the same however its parts are ordered and spelt."""
        parts = (
            normal(self.title) or self.title.strip(),
            self.category.casefold().strip(),
            *sorted({f"file {name.strip()}" for name in self.files}),
            *sorted({f"depends {name.strip()}" for name in self.depends}),
        )
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


_UNKNOWN: Final = TaskRecord(id="")


def tasks_of(events: Iterable[LedgerEvent]) -> dict[str, TaskRecord]:
    """Return the tasks that a ledger tells of, by id, in the order in which they were begun."""
    found: dict[str, TaskRecord] = {}
    for event in events:
        if event.event != "task" or not event.task:
            continue
        task = found.get(event.task, _UNKNOWN)
        outcome = event.text("outcome")
        found[event.task] = TaskRecord(
            id=event.task,
            title=event.text("title") or task.title,
            category=event.text("category") or task.category,
            files=event.texts("files") or task.files,
            depends=event.texts("depends") or task.depends,
            outcome=outcome if outcome in (STARTED, DONE, FAILED) else task.outcome,
            started=event.ts if task is _UNKNOWN else task.started,
            ended=event.ts if outcome in (DONE, FAILED) else task.ended,
            agent=event.agent or task.agent,
        )
    return found


def likeness(one: TaskRecord, other: TaskRecord, *, limit: float = 0.0) -> float:
    """Return how alike two tasks are, 0 to 1; 1 for the same signature, and 0 for less than `limit`."""
    if normal(one.title) == normal(other.title) and one.signature == other.signature:
        return 1.0
    places = (
        _overlap(one.files, other.files),
        float(one.category.casefold() == other.category.casefold())
        if one.category and other.category
        else None,
        _overlap(one.depends, other.depends),
    )
    told = [(share, value) for share, value in zip(_SHARES[1:], places, strict=True) if value is not None]
    has_titles = bool(one.title and other.title)
    total = sum(share for share, _ in told) + (_SHARES[0] if has_titles else 0.0)
    if not total:
        return 0.0
    points = sum(share * value for share, value in told)
    # without a title in common there is little to compare by
    trust = min(1.0, total / 0.5)
    if has_titles:
        # what the titles must have in common; most have less, which is seen at a glance
        least = (limit / trust * total - points) / _SHARES[0] - _SLACK
        mine, theirs = _shape(one.title), _shape(other.title)
        if least > 1 or (least > 0 and not is_alike(mine, theirs, limit=least)):
            return 0.0
        points += _SHARES[0] * similarity(mine, theirs)
    found = points / total * trust
    return found if found >= limit else 0.0


#: The same titles come again with each question.
_shape = lru_cache(maxsize=4096)(shape)


def _overlap(one: Iterable[str], other: Iterable[str]) -> float | None:
    mine, theirs = set(one), set(other)
    return len(mine & theirs) / len(mine | theirs) if mine and theirs else None


def similar(
    task: TaskRecord, tasks: Mapping[str, TaskRecord], *, limit: float = ALIKE
) -> list[tuple[TaskRecord, float]]:
    """Return the other tasks that are at least so alike, the likest first, then the latest."""
    found = [(other, likeness(task, other, limit=limit)) for other in tasks.values() if other.id != task.id]
    kept = [pair for pair in found if pair[1] >= limit]
    return sorted(kept, key=lambda pair: (-pair[1], -pair[0].started, pair[0].id))


def likenesses(similar: Iterable[tuple[TaskRecord, float]]) -> list[tuple[TaskRecord, float]]:
    """Return tasks with their likeness as JSON has it."""
    return [(task, rounded(likeness)) for task, likeness in similar]
