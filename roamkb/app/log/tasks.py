"""Tasks, the knowledge relevant to them, and whether it helped (document 004)."""

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.app.log.project_context import SHARE_PATIENCE
from roamkb.app.log.project_context import ProjectContext
from roamkb.app.log.recall import matching_nodes
from roamkb.context import shown as context_shown
from roamkb.context.store import suggestion_record
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.startup import dataclasses
from roamkb.core.text import as_text_tuple
from roamkb.kb.notes.file_names import require_name
from roamkb.kb.search import query
from roamkb.kb.search.search import check_limit
from roamkb.log.state.confidence import parse_hundredths
from roamkb.log.store import receipts
from roamkb.tasks import relevant as tasks_relevant
from roamkb.tasks import signature
from roamkb.tasks import stats as tasks_stats
from roamkb.tasks import task as task_verb


def task(context: ProjectContext, request: "task_verb.TaskRequest") -> "task_verb.TaskReport":
    """Start or end a task, or find similar ones; an unknown id finds none.

    Raises:
        UsageError: no such action, or no title. NoLog, Refused, DiskError.
    """
    task_verb.check_action(request.action, request.id)
    require_name(request.id or "", "the task")
    if request.action in ("similar", "list") or request.id is None:
        state = context.log_to_read().read_contents().replay_state()
        if request.id is None:
            return task_verb.TaskReport(
                action=request.action, tasks=tuple(signature.parse_tasks(state.events_named("task")).values())
            )
        return task_verb.report_similar(state, request.id)
    log, author = context.log_to_write(request.title or request.id), context.author_of(request)
    if request.action == "start":
        return task_verb.start_task(
            log,
            _new_task(request.id, request.title, request.category, request.files, request.depends),
            author,
        )
    return task_verb.end_task(
        log, request.id, author, failed=request.action == "failed", receipts=receipts.read_receipts(log.local_folder)
    )


def relevant(context: ProjectContext, request: "tasks_relevant.RelevantRequest") -> "tasks_relevant.RelevantFound":
    """Return the learnings and nodes that help with a started or described task, best first.

    Raises:
        UsageError: nothing says what the task is about. NoLog.
    """
    log = context.log_to_read(patience=SHARE_PATIENCE)
    author = context.author_of(request)
    as_of, contents = context.parse_moment("--as-of", request.as_of), log.read_contents()
    state = contents.replay_state(as_of=as_of)
    described_task = _new_task(request.task or "", request.title, request.category, request.files, ())
    tasks = signature.parse_tasks(state.events_named("task"))
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
        described_task = dataclasses.replace(known_task, **described_fields)
    least = 50 if request.min_confidence is None else parse_hundredths(request.min_confidence) or 0
    relevant_found = tasks_relevant.relevant(
        state,
        context.learning_index(log, state if as_of is None else contents.replay_state()),
        described_task,
        tasks_relevant.RelevantQuery(
            words=query.parse_query(described_task.title, today=author.now.date()),
            actions=as_text_tuple(request.actions),
            agent=author.agent,
            least_confidence=least,
            limit=tasks_relevant.DEFAULT_LIMIT if request.limit is None else request.limit,
            offset=request.offset or 0,
        ),
        tasks=tasks,
        now=author.ts,
    )
    ids = [found_learning.standing.id for found_learning in relevant_found.learnings]
    context.keep_receipt(log, author, ids, shown_by="relevant", task=request.task)
    return dataclasses.replace(
        relevant_found,
        is_known=request.task is None or known_task is not None,
        nodes=tuple(matching_nodes(context, described_task.title, 5)) if request.kb else (),
    )


def stats(context: ProjectContext, request: "tasks_stats.StatsRequest") -> "tasks_stats.ReuseFigures":
    """Return how often knowledge was shown, and with what result, up to a day where one is given.

    With `metrics`, how well what fixed errors did as well.
    """
    log = context.log_to_read()
    as_of = context.parse_moment("--as-of", request.as_of)
    shown_ids = [
        receipt.shown for receipt in receipts.read_receipts(log.local_folder) if as_of is None or receipt.ts <= as_of
    ]
    now = context.make_author().ts if as_of is None else as_of
    return tasks_stats.reuse_figures(
        log.read_contents().replay_state(as_of=as_of), shown_ids, now=now, strategies=request.metrics
    )


def _new_task(
    id: str,
    title: str | None,
    category: str | None,
    files: Sequence[str],
    depends: Sequence[str],
) -> "signature.TaskRecord":
    return signature.TaskRecord(
        id=require_name(id, "the task"),
        title=title or "",
        category=category or "",
        files=tuple(require_name(file, "the pattern") for file in as_text_tuple(files)),
        depends=tuple(require_name(task_id, "the task") for task_id in as_text_tuple(depends)),
    )


def shown(context: ProjectContext, request: "context_shown.ShownRequest") -> "context_shown.ShownList":
    """Return what sessions were shown, the latest first, what nearly was, and what came of it.

    Raises:
        NoLog: the project has none. UsageError: a limit below 1.
    """
    check_limit(request.limit)
    require_name(request.session or "", "the session")
    log = context.log_to_read()
    return context_shown.list_shown(
        receipts.read_receipts(log.local_folder),
        suggestion_record.read_suggestion_records(log.local_folder),
        log.read_contents().replay_state(),
        lambda ids: _titles_if_known(context, ids),
        session=request.session,
        limit=request.limit or context_shown.DEFAULT_LIMIT,
    )


def _titles_if_known(context: ProjectContext, ids: Collection[str]) -> Mapping[str, str]:
    """Return the titles of nodes by their ids; none where the knowledge base isn't at hand."""
    try:
        return context.kb.find_titles(ids)
    except RoamkbError:
        return {}
