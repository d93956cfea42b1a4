"""Tasks by what they are about, to say of a new one: this has been done before (document 004, FR-3).

A task's signature is a hash of its title, category, files and dependencies, whatever their
order; likeness tells of tasks that aren't the same, but much alike.
"""

import hashlib
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from typing import Final

from roamkb.core.ledger import Event
from roamkb.core.similarity import shape
from roamkb.core.similarity import similarity

#: What happened to a task, as its events say.
STARTED: Final = "started"
DONE: Final = "done"
FAILED: Final = "failed"

#: From here on two tasks are alike: the same words for most of it, or the same place and kind of work.
ALIKE: Final = 0.45
#: The shares of title, files, category and dependencies in a likeness; what neither task names is left out.
_SHARES: Final = (0.5, 0.3, 0.15, 0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task, as far as the ledger tells."""

    id: str
    title: str = ""
    category: str = ""
    #: Patterns in gitignore syntax.
    files: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    #: started, done or failed.
    outcome: str = STARTED
    #: Seconds since 1970.
    started: float = 0.0
    ended: float = 0.0
    agent: str = ""

    @property
    def signature(self) -> str:
        """The hash of what the task is about; the same however its parts are ordered and spelt."""
        parts = (
            shape(self.title).normal or self.title.strip(),
            self.category.casefold().strip(),
            *sorted({f"file {name.strip()}" for name in self.files}),
            *sorted({f"depends {name.strip()}" for name in self.depends}),
        )
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def tasks_of(events: Iterable[Event]) -> dict[str, Task]:
    """Return the tasks that a ledger tells of, by id, in the order in which they were begun."""
    found: dict[str, Task] = {}
    for event in events:
        if event.event != "task" or not event.task:
            continue
        task = found.get(event.task) or Task(id=event.task, started=event.ts)
        outcome = event.text("outcome")
        found[event.task] = replace(
            task,
            title=event.text("title") or task.title,
            category=event.text("category") or task.category,
            files=event.texts("files") or task.files,
            depends=event.texts("depends") or task.depends,
            outcome=outcome if outcome in (STARTED, DONE, FAILED) else task.outcome,
            ended=event.ts if outcome in (DONE, FAILED) else task.ended,
            agent=event.agent or task.agent,
        )
    return found


def likeness(one: Task, other: Task) -> float:
    """Return how alike two tasks are, 0 to 1; 1 for the same signature."""
    if one.signature == other.signature:
        return 1.0
    measures = (
        similarity(shape(one.title), shape(other.title)) if one.title and other.title else None,
        _overlap(one.files, other.files),
        float(one.category.casefold() == other.category.casefold())
        if one.category and other.category
        else None,
        _overlap(one.depends, other.depends),
    )
    told = [(share, value) for share, value in zip(_SHARES, measures, strict=True) if value is not None]
    total = sum(share for share, _ in told)
    # without a title in common there is little to compare by
    return sum(share * value for share, value in told) / total * min(1.0, total / 0.5) if told else 0.0


def _same(one: str, other: str) -> float | None:
    return float(one.casefold() == other.casefold()) if one and other else None


def _overlap(one: Iterable[str], other: Iterable[str]) -> float | None:
    mine, theirs = set(one), set(other)
    return len(mine & theirs) / len(mine | theirs) if mine and theirs else None


def similar(task: Task, tasks: Mapping[str, Task], *, limit: float = ALIKE) -> list[tuple[Task, float]]:
    """Return the other tasks that are at least so alike, the likest first, then the latest."""
    found = [(other, likeness(task, other)) for other in tasks.values() if other.id != task.id]
    kept = [pair for pair in found if pair[1] >= limit]
    return sorted(kept, key=lambda pair: (-pair[1], -pair[0].started, pair[0].id))
