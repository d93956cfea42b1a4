"""`task`: what is being worked on, so that the next one like it is met with what this one taught."""

from collections.abc import Iterable
from collections.abc import Sequence
from typing import Annotated
from typing import Final

from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.request import argument
from roamkb.core.request import option
from roamkb.core.request import options
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import shown
from roamkb.curation.refine import refine
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.log.store.receipts import Receipt
from roamkb.pipeline.consolidate import ConsolidateResult
from roamkb.pipeline.consolidate import consolidate_task
from roamkb.tasks.signature import DONE
from roamkb.tasks.signature import FAILED
from roamkb.tasks.signature import STARTED
from roamkb.tasks.signature import TaskRecord
from roamkb.tasks.signature import likenesses
from roamkb.tasks.signature import similar
from roamkb.tasks.signature import tasks_of

ACTIONS: Final = ("start", "done", "failed", "similar", "list")


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What `task` takes."""

    action: Annotated[
        str, Argument("start, done, failed, similar or list.", metavar="start|done|failed|similar|list")
    ]
    id: str | None = argument("The task.", metavar="ID")
    _: KW_ONLY
    title: str | None = option("--title", "What is to be done.", metavar="TEXT")
    category: str | None = option("--category", "What kind of work it is.", metavar="C")
    files: Sequence[str] = options("--file", "Files that it touches, in gitignore syntax.", metavar="GLOB")
    depends: Sequence[str] = options("--depends", "What it builds on.", metavar="ID")
    agent: AgentOption = None
    session: SessionOption = None


def _keys(standings: Iterable[LearningState]) -> list[str]:
    return [standing.learning.key for standing in standings]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """A task, and what follows from what happened to it."""

    JSON = "action task similar to_refine=rough unanswered tasks"
    action: str
    task: TaskRecord | None = None
    #: Tasks that are alike, with their likeness.
    similar: Annotated[
        tuple[tuple[TaskRecord, float], ...], likenesses, Rows("task likeness"), Keys("*task likeness")
    ] = ()
    #: Learnings that were shown for it, and of which nobody said whether they helped.
    unanswered: Annotated[tuple[LearningState, ...], _keys] = ()
    consolidated: ConsolidateResult | None = None
    #: Learnings of the task that an agent should say again, better.
    rough: int = 0
    tasks: tuple[TaskRecord, ...] = ()


def begin(log: Log, task: TaskRecord, hand: Author) -> TaskReport:
    """Record that `task` was started, and return it with the tasks that are like it."""
    if not task.title.strip():
        raise UsageError("a task needs a title", hint='roamkb task start ID --title "…"')
    with log.locked():
        contents = log.read()
        known = tasks_of(contents.state().named("task"))
        stamps = EventFactory(hand, after=contents.last_event, by="task")
        event = stamps.event(
            "task",
            "",
            task=task.id,
            outcome=STARTED,
            signature=task.signature,
            title=task.title,
            category=task.category,
            files=list(task.files),
            depends=list(task.depends),
        )
        log.append(events=[event])
    return TaskReport(action="start", task=task, similar=tuple(similar(task, known)))


def end(log: Log, id: str, hand: Author, *, failed: bool, receipts: Sequence[Receipt]) -> TaskReport:
    """Record how a task ended, consolidate what it taught, and name what it should answer for."""
    with log.locked():
        contents = log.read()
        state = contents.state()
        stamps = EventFactory(hand, after=contents.last_event, by="task")
        event = stamps.event("task", "", task=id, outcome=FAILED if failed else DONE)
        log.append(events=[event])
    task = tasks_of((*state.named("task"), event))[id]
    return TaskReport(
        action=FAILED if failed else DONE,
        task=task,
        unanswered=tuple(_unanswered(state, id, receipts)),
        consolidated=consolidate_task(log, id, hand),
        rough=len(refine(state, (id,)).learnings),
    )


def _unanswered(state: LogState, task: str, receipts: Sequence[Receipt]) -> list[LearningState]:
    ids = dict.fromkeys(id for receipt in receipts if receipt.task == task for id in receipt.shown)
    return [
        standing
        for id in ids
        if (standing := state.standings.get(id))
        and not any(step.event.event == "reused" and step.event.task == task for step in standing.history)
    ]


def find_similar(state: LogState, id: str) -> TaskReport:
    """Return the tasks that are like the one called `id`; none where nobody knows it."""
    tasks = tasks_of(state.named("task"))
    task = tasks.get(id)
    return TaskReport(
        action="similar", task=task, similar=tuple(similar(task, tasks)) if task else (), tasks=()
    )


def check_action(action: str, id: str | None) -> None:
    """Raise `UsageError` where that isn't what one can do with a task."""
    if action not in ACTIONS:
        raise UsageError(f"no action {shown(action)}", hint="roamkb task start|done|failed|similar ID")
    if id is None and action != "list":
        raise UsageError("which task?", hint=f"roamkb task {action} ID")
