"""Tasks, the knowledge relevant to them, and whether it helped (document 004)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from roamkb.app.log.recall import matching_nodes
from roamkb.core.errors import UsageError
from roamkb.core.text import as_text_tuple
from roamkb.kb.notes.file_names import require_name
from roamkb.log.state.confidence import parse_hundredths

if TYPE_CHECKING:
    from roamkb.app import requests
    from roamkb.app.log.project_context import ProjectContext
    from roamkb.log.pin import MarkedLearning
    from roamkb.log.undo import UndoneEvent
    from roamkb.tasks.relevant import RelevantFound
    from roamkb.tasks.signature import TaskRecord
    from roamkb.tasks.stats import ReuseFigures
    from roamkb.tasks.task import TaskReport
    from roamkb.tasks.used import UsedLearning


def task(context: "ProjectContext", request: "requests.TaskRequest") -> "TaskReport":
    """Start or end a task, or find similar ones; an unknown id finds none.

    Raises:
        UsageError: no such action, or no title. NoLog, Refused, DiskError.
    """
    from roamkb.log.store.receipts import read_receipts
    from roamkb.tasks import task as tasks
    from roamkb.tasks.signature import parse_tasks

    tasks.check_action(request.action, request.id)
    require_name(request.id or "", "the task")
    if request.action in ("similar", "list") or request.id is None:
        state = context.log_to_read().read_contents().replay_state()
        if request.id is None:
            return tasks.TaskReport(
                action=request.action, tasks=tuple(parse_tasks(state.events_named("task")).values())
            )
        return tasks.report_similar(state, request.id)
    log, author = (
        context.log_to_write(request.title or request.id),
        context.make_author(agent=request.agent, session=request.session),
    )
    if request.action == "start":
        return tasks.start_task(
            log,
            _new_task(request.id, request.title, request.category, request.files, request.depends),
            author,
        )
    return tasks.end_task(
        log, request.id, author, failed=request.action == "failed", receipts=read_receipts(log.local_folder)
    )


def relevant(context: "ProjectContext", request: "requests.RelevantRequest") -> "RelevantFound":
    """Return the learnings and nodes that help with a started or described task, best first.

    Raises:
        UsageError: nothing says what the task is about. NoLog.
    """
    from roamkb.core.startup.dataclasses import replace
    from roamkb.kb.search.query import parse_query
    from roamkb.tasks import relevant as helping
    from roamkb.tasks.signature import parse_tasks

    log, author = context.log_to_read(), context.make_author(agent=request.agent, session=request.session)
    as_of, contents = context.parse_moment("--as-of", request.as_of), log.read_contents()
    state = contents.replay_state(as_of=as_of)
    described_task = _new_task(request.task or "", request.title, request.category, request.files, ())
    tasks = parse_tasks(state.events_named("task"))
    known_task = tasks.get(request.task or "")
    if (
        known_task is None
        and request.task is None
        and not (request.title or request.files or request.category or request.actions)
    ):
        raise UsageError("relevant to what?", hint='roamkb relevant --task ID, or --title "…" --file F')
    if known_task is not None:
        described_fields = {
            name: getattr(described_task, name)
            for name in ("title", "category", "files")
            if getattr(described_task, name)
        }
        described_task = replace(known_task, **described_fields)
    least = 50 if request.min_confidence is None else parse_hundredths(request.min_confidence) or 0
    relevant_found = helping.relevant(
        state,
        context.learning_index(log, state if as_of is None else contents.replay_state()),
        described_task,
        helping.RelevantQuery(
            words=parse_query(described_task.title, today=author.now.date()),
            actions=as_text_tuple(request.actions),
            agent=author.agent,
            least_confidence=least,
            limit=helping.DEFAULT_LIMIT if request.limit is None else request.limit,
            offset=request.offset or 0,
        ),
        tasks=tasks,
        now=author.ts,
    )
    ids = [found_learning.standing.id for found_learning in relevant_found.learnings]
    context.keep_receipt(log, author, ids, shown_by="relevant", task=request.task)
    return replace(
        relevant_found,
        is_known=request.task is None or known_task is not None,
        nodes=tuple(matching_nodes(context, described_task.title, 5)) if request.kb else (),
    )


def used(context: "ProjectContext", request: "requests.UsedRequest") -> "UsedLearning":
    """Record whether a learning that was shown helped; being shown alone changes nothing.

    Raises:
        UsageError: no such outcome, or it was never shown. NotFound, Ambiguous, NoLog, Refused.
    """
    from roamkb.log.known_learnings import get_learning
    from roamkb.log.store.receipts import read_receipts
    from roamkb.tasks.used import used

    require_name(request.task or "", "the task")
    log, author = (
        context.log_to_write(request.name),
        context.make_author(agent=request.agent, session=request.session),
    )
    learning_state = get_learning(log, log.read_contents().replay_state(), request.name)
    return used(
        log,
        learning_state,
        read_receipts(log.local_folder),
        author,
        outcome=request.outcome,
        match=request.match or "",
        task=request.task or "",
    )


def prefer(context: "ProjectContext", request: "requests.PreferRequest") -> "MarkedLearning":
    """Put a learning before its equals for one agent alone; with `off`, no longer.

    Raises:
        NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
    """
    from roamkb.log.prefer import prefer

    return prefer(
        context.log_to_write(f"prefer {request.key}"),
        request.key,
        context.make_author(agent=request.agent, session=request.session),
        off=request.off,
    )


def undo(context: "ProjectContext", request: "requests.UndoRequest") -> "UndoneEvent":
    """Undo one event that an agent caused; undoing an undo lets it count again.

    Raises:
        NotFound: there is none. UsageError: it has another way back. NoLog, Refused, DiskError.
    """
    from roamkb.log.undo import undo

    return undo(
        context.log_to_write(f"undo {request.event}"),
        request.event,
        context.make_author(agent=request.agent, session=request.session),
    )


def stats(context: "ProjectContext", request: "requests.StatsRequest") -> "ReuseFigures":
    """Return how often knowledge was shown, and with what result, up to a day where one is given.

    With `metrics`, how well what fixed errors did as well.
    """
    from roamkb.log.store.receipts import read_receipts
    from roamkb.tasks.stats import reuse_figures

    log = context.log_to_read()
    as_of = context.parse_moment("--as-of", request.as_of)
    shown_ids = [receipt.shown for receipt in read_receipts(log.local_folder) if as_of is None or receipt.ts <= as_of]
    now = context.make_author().ts if as_of is None else as_of
    return reuse_figures(log.read_contents().replay_state(as_of=as_of), shown_ids, now=now, strategies=request.metrics)


def _new_task(
    id: str,
    title: str | None,
    category: str | None,
    files: Sequence[str],
    depends: Sequence[str],
) -> "TaskRecord":
    from roamkb.tasks.signature import TaskRecord

    return TaskRecord(
        id=require_name(id, "the task"),
        title=title or "",
        category=category or "",
        files=tuple(require_name(file, "the pattern") for file in as_text_tuple(files)),
        depends=tuple(require_name(task_id, "the task") for task_id in as_text_tuple(depends)),
    )
