"""Tasks, what helps with them, and whether it did: the project's experience (document 004)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from roamkb.app.log.recall import matching_nodes
from roamkb.core.errors import UsageError
from roamkb.core.text import texts_of
from roamkb.kb.notes.file_names import require_name
from roamkb.log.state.confidence import hundredths

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
    """Start or end a task, or find those that are like it; an id that nobody knows finds none.

    Raises:
        UsageError: no such action, or no title. NoLog, Refused, DiskError.
    """
    from roamkb.log.store.receipts import receipts
    from roamkb.tasks import task as tasks
    from roamkb.tasks.signature import tasks_of

    tasks.check_action(request.action, request.id)
    require_name(request.id or "", "the task")
    if request.action in ("similar", "list") or request.id is None:
        state = context.log_to_read().read().state()
        if request.id is None:
            return tasks.TaskReport(
                action=request.action, tasks=tuple(tasks_of(state.named("task")).values())
            )
        return tasks.find_similar(state, request.id)
    log, hand = (
        context.log_to_write(request.title or request.id),
        context.author(agent=request.agent, session=request.session),
    )
    if request.action == "start":
        return tasks.begin(
            log,
            _new_task(request.id, request.title, request.category, request.files, request.depends),
            hand,
        )
    return tasks.end(log, request.id, hand, failed=request.action == "failed", receipts=receipts(log.local))


def relevant(context: "ProjectContext", request: "requests.RelevantRequest") -> "RelevantFound":
    """Return what helps with a task that was started, or that is described here, best first.

    Raises:
        UsageError: nothing says what the task is about. NoLog.
    """
    from roamkb.core.startup.dataclasses import replace
    from roamkb.kb.search.query import parse_query
    from roamkb.tasks import relevant as helping
    from roamkb.tasks.signature import tasks_of

    log, hand = context.log_to_read(), context.author(agent=request.agent, session=request.session)
    at, contents = context.moment("--as-of", request.as_of), log.read()
    state = contents.state(as_of=at)
    told = _new_task(request.task or "", request.title, request.category, request.files, ())
    tasks = tasks_of(state.named("task"))
    known = tasks.get(request.task or "")
    if (
        known is None
        and request.task is None
        and not (request.title or request.files or request.category or request.actions)
    ):
        raise UsageError("relevant to what?", hint='roamkb relevant --task ID, or --title "…" --file F')
    if known is not None:
        about = {name: getattr(told, name) for name in ("title", "category", "files") if getattr(told, name)}
        told = replace(known, **about)
    least = 50 if request.min_confidence is None else hundredths(request.min_confidence) or 0
    found = helping.relevant(
        state,
        context.learning_index(log, state if at is None else contents.state()),
        told,
        helping.RelevantQuery(
            words=parse_query(told.title, today=hand.now.date()),
            actions=texts_of(request.actions),
            agent=hand.agent,
            least_confidence=least,
            limit=helping.DEFAULT if request.limit is None else request.limit,
            offset=request.offset or 0,
        ),
        tasks=tasks,
        now=hand.ts,
    )
    ids = [one.standing.id for one in found.learnings]
    context.keep_receipt(log, hand, ids, by="relevant", task=request.task)
    return replace(
        found,
        is_known=request.task is None or known is not None,
        nodes=tuple(matching_nodes(context, told.title, 5)) if request.kb else (),
    )


def used(context: "ProjectContext", request: "requests.UsedRequest") -> "UsedLearning":
    """Say whether a learning that was shown helped; being shown alone moves nothing.

    Raises:
        UsageError: no such outcome, or it was never shown. NotFound, Ambiguous, NoLog, Refused.
    """
    from roamkb.log.known_learnings import called
    from roamkb.log.store.receipts import receipts
    from roamkb.tasks.used import used

    require_name(request.task or "", "the task")
    log, hand = (
        context.log_to_write(request.name),
        context.author(agent=request.agent, session=request.session),
    )
    standing = called(log, log.read().state(), request.name)
    return used(
        log,
        standing,
        receipts(log.local),
        hand,
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
        context.author(agent=request.agent, session=request.session),
        off=request.off,
    )


def undo(context: "ProjectContext", request: "requests.UndoRequest") -> "UndoneEvent":
    """Take back one event that an agent brought about; taking back an undoing lets it count again.

    Raises:
        NotFound: there is none. UsageError: it has another way back. NoLog, Refused, DiskError.
    """
    from roamkb.log.undo import undo

    return undo(
        context.log_to_write(f"undo {request.event}"),
        request.event,
        context.author(agent=request.agent, session=request.session),
    )


def stats(context: "ProjectContext", request: "requests.StatsRequest") -> "ReuseFigures":
    """Return how often knowledge was shown, and what came of it, up to a day where one is given.

    With `metrics`, how well what fixed errors did as well.
    """
    from roamkb.log.store.receipts import receipts
    from roamkb.tasks.stats import reuse

    log = context.log_to_read()
    at = context.moment("--as-of", request.as_of)
    shown = [one.shown for one in receipts(log.local) if at is None or one.ts <= at]
    now = context.author().ts if at is None else at
    return reuse(log.read().state(as_of=at), shown, now=now, strategies=request.metrics)


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
        files=tuple(require_name(file, "the pattern") for file in texts_of(files)),
        depends=tuple(require_name(one, "the task") for one in texts_of(depends)),
    )
