"""Tasks, what helps with them, and whether it did: the project's experience (document 004)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from roamkb.app import requests
from roamkb.app.log.project_log import ProjectLog
from roamkb.app.log.project_log import hundredths
from roamkb.app.operation_method import takes
from roamkb.core.errors import UsageError
from roamkb.core.text import texts_of
from roamkb.kb.notes.file_names import require_name

if TYPE_CHECKING:
    from roamkb.log.pin import MarkedLearning
    from roamkb.log.undo import UndoneEvent
    from roamkb.tasks.relevant import RelevantFound
    from roamkb.tasks.signature import TaskRecord
    from roamkb.tasks.stats import ReuseFigures
    from roamkb.tasks.task import TaskReport
    from roamkb.tasks.used import UsedLearning


class ProjectTasks(ProjectLog):
    """The project's log, asked on behalf of tasks."""

    @takes(lambda: requests.TaskRequest)
    def task(self, request: "requests.TaskRequest") -> "TaskReport":
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
            state = self._log_to_read().read().state()
            if request.id is None:
                return tasks.TaskReport(
                    action=request.action, tasks=tuple(tasks_of(state.named("task")).values())
                )
            return tasks.find_similar(state, request.id)
        log, hand = (
            self._log(request.title or request.id),
            self._hand(agent=request.agent, session=request.session),
        )
        if request.action == "start":
            return tasks.begin(
                log,
                self._new_task(request.id, request.title, request.category, request.files, request.depends),
                hand,
            )
        return tasks.end(
            log, request.id, hand, failed=request.action == "failed", receipts=receipts(log.local)
        )

    @takes(lambda: requests.RelevantRequest)
    def relevant(self, request: "requests.RelevantRequest") -> "RelevantFound":
        """Return what helps with a task that was started, or that is described here, best first.

        Raises:
            UsageError: nothing says what the task is about. NoLog.
        """
        from dataclasses import replace

        from roamkb.kb.search.query import parse_query
        from roamkb.tasks import relevant as helping
        from roamkb.tasks.signature import tasks_of

        log, hand = self._log_to_read(), self._hand(agent=request.agent, session=request.session)
        at, contents = self._moment("--as-of", request.as_of), log.read()
        state = contents.state(as_of=at)
        told = self._new_task(request.task or "", request.title, request.category, request.files, ())
        tasks = tasks_of(state.named("task"))
        known = tasks.get(request.task or "")
        if (
            known is None
            and request.task is None
            and not (request.title or request.files or request.category or request.actions)
        ):
            raise UsageError("relevant to what?", hint='roamkb relevant --task ID, or --title "…" --file F')
        if known is not None:
            about = {
                name: getattr(told, name) for name in ("title", "category", "files") if getattr(told, name)
            }
            told = replace(known, **about)
        found = helping.relevant(
            state,
            self._finder(log, state if at is None else contents.state()),
            told,
            parse_query(told.title, today=hand.now.date()),
            tasks=tasks,
            agent=hand.agent,
            actions=texts_of(request.actions),
            least_confidence=50
            if request.min_confidence is None
            else hundredths(request.min_confidence) or 0,
            limit=helping.DEFAULT if request.limit is None else request.limit,
            offset=request.offset or 0,
            nodes=self._nodes(told.title, 5) if request.kb else (),
            now=hand.ts,
        )
        ids = [one.standing.id for one in found.learnings]
        self._keep_receipt(log, hand, ids, by="relevant", task=request.task)
        return replace(found, is_known=request.task is None or known is not None)

    @takes(lambda: requests.UsedRequest)
    def used(self, request: "requests.UsedRequest") -> "UsedLearning":
        """Say whether a learning that was shown helped; being shown alone moves nothing.

        Raises:
            UsageError: no such outcome, or it was never shown. NotFound, Ambiguous, NoLog, Refused.
        """
        from roamkb.log.known_learnings import called
        from roamkb.log.store.receipts import receipts
        from roamkb.tasks.used import used

        require_name(request.task or "", "the task")
        log, hand = self._log(request.name), self._hand(agent=request.agent, session=request.session)
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

    @takes(lambda: requests.PreferRequest)
    def prefer(self, request: "requests.PreferRequest") -> "MarkedLearning":
        """Put a learning before its equals for one agent alone; with `off`, no longer.

        Raises:
            NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
        """
        from roamkb.log.prefer import prefer

        return prefer(
            self._log(f"prefer {request.key}"),
            request.key,
            self._hand(agent=request.agent, session=request.session),
            off=request.off,
        )

    @takes(lambda: requests.UndoRequest)
    def undo(self, request: "requests.UndoRequest") -> "UndoneEvent":
        """Take back one event that an agent brought about; taking back an undoing lets it count again.

        Raises:
            NotFound: there is none. UsageError: it has another way back. NoLog, Refused, DiskError.
        """
        from roamkb.log.undo import undo

        return undo(
            self._log(f"undo {request.event}"),
            request.event,
            self._hand(agent=request.agent, session=request.session),
        )

    @takes(lambda: requests.StatsRequest)
    def stats(self, request: "requests.StatsRequest") -> "ReuseFigures":
        """Return how often knowledge was shown, and what came of it, up to a day where one is given.

        With `metrics`, how well what fixed errors did as well.
        """
        from roamkb.log.store.receipts import receipts
        from roamkb.tasks.stats import reuse

        log = self._log_to_read()
        at = self._moment("--as-of", request.as_of)
        shown = [one.shown for one in receipts(log.local) if at is None or one.ts <= at]
        now = self._hand().ts if at is None else at
        return reuse(log.read().state(as_of=at), shown, now=now, strategies=request.metrics)

    def _new_task(
        self,
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
