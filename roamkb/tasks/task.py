"""`task`: start and end of a task, so that a later one like it finds what was learned."""

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
from roamkb.core.request import optional_argument
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
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
from roamkb.tasks.signature import parse_tasks
from roamkb.tasks.signature import rounded_likenesses
from roamkb.tasks.signature import similar_tasks

TASK_ACTIONS: Final = ("start", "done", "failed", "similar", "list")


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """Parameters of `task`."""

    action: Annotated[
        str,
        Argument(
            "start, done, failed, similar or list.", metavar="start|done|failed|similar|list", values=TASK_ACTIONS
        ),
    ]
    id: str | None = optional_argument("The task.", metavar="ID", values="tasks")
    _: KW_ONLY
    title: str | None = text_option("--title", "What is to be done.", metavar="TEXT")
    category: str | None = text_option("--category", "What kind of work it is.", metavar="C")
    files: Sequence[str] = repeatable_option(
        "--file", "Files that it touches, in gitignore syntax.", metavar="GLOB", values="files"
    )
    depends: Sequence[str] = repeatable_option("--depends", "What it builds on.", metavar="ID", values="tasks")
    agent: AgentOption = None
    session: SessionOption = None


def _standing_keys(standings: Iterable[LearningState]) -> list[str]:
    return [standing.learning.key for standing in standings]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """A task after an action, and the learnings that it should answer for."""

    JSON = "action task similar to_refine=rough unanswered tasks"
    action: str
    task: TaskRecord | None = None
    #: Tasks that are alike, with their likeness.
    similar: Annotated[
        tuple[tuple[TaskRecord, float], ...], rounded_likenesses, Rows("task likeness"), Keys("*task likeness")
    ] = ()
    #: Learnings that were shown for it, and of which nobody said whether they helped.
    unanswered: Annotated[tuple[LearningState, ...], _standing_keys] = ()
    consolidated: ConsolidateResult | None = None
    #: Learnings of the task that an agent should say again, better.
    rough: int = 0
    tasks: tuple[TaskRecord, ...] = ()


def start_task(log: Log, task: TaskRecord, author: Author) -> TaskReport:
    """Record that `task` was started, and return it with the tasks that are like it."""
    if not task.title.strip():
        raise UsageError("a task needs a title", hint='roamkb task start ID --title "…"')
    with log.append_lock():
        contents = log.read_contents()
        past_events = tuple(contents.replay_state().events_named("task"))
        stamps = EventFactory(author, after=contents.last_event, command="task")
        event = stamps.new_event(
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
        log.append_entries(events=[event])
    started_task = parse_tasks((*past_events, event))[task.id]
    return TaskReport(action="start", task=started_task, similar=tuple(similar_tasks(task, parse_tasks(past_events))))


def end_task(log: Log, id: str, author: Author, *, failed: bool, receipts: Sequence[Receipt]) -> TaskReport:
    """Record a task's end, consolidate its learnings, and return those without an outcome."""
    with log.append_lock():
        contents = log.read_contents()
        state = contents.replay_state()
        stamps = EventFactory(author, after=contents.last_event, command="task")
        event = stamps.new_event("task", "", task=id, outcome=FAILED if failed else DONE)
        log.append_entries(events=[event])
    task = parse_tasks((*state.events_named("task"), event))[id]
    return TaskReport(
        action=FAILED if failed else DONE,
        task=task,
        unanswered=tuple(_unanswered_learnings(state, id, receipts)),
        consolidated=consolidate_task(log, id, author),
        rough=len(refine(state, (id,)).learnings),
    )


def _unanswered_learnings(state: LogState, task: str, receipts: Sequence[Receipt]) -> list[LearningState]:
    ids = dict.fromkeys(id for receipt in receipts if receipt.task == task for id in receipt.shown)
    return [
        standing
        for id in ids
        if (standing := state.standings.get(id))
        and not any(step.event.event == "reused" and step.event.task == task for step in standing.history)
    ]


def report_similar(state: LogState, id: str) -> TaskReport:
    """Return the tasks like the one called `id`; none where it is unknown."""
    tasks = parse_tasks(state.events_named("task"))
    task = tasks.get(id)
    return TaskReport(action="similar", task=task, similar=tuple(similar_tasks(task, tasks)) if task else (), tasks=())


def check_action(action: str, id: str | None) -> None:
    """Raise `UsageError` where the action is unknown, or lacks its task."""
    if action not in TASK_ACTIONS:
        raise UsageError(f"no action {one_line(action)}", hint="roamkb task start|done|failed|similar ID")
    if not (id or "").strip() and action != "list":
        raise UsageError("which task?", hint=f"roamkb task {action} ID")
