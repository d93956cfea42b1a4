"""Tasks, what helps with them, and whether it did: the project's experience (document 004)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from roamkb.app.log.project_log import ProjectLog
from roamkb.app.log.project_log import hundredths
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

    def task(
        self,
        action: str,
        id: str | None = None,
        *,
        title: str | None = None,
        category: str | None = None,
        files: Sequence[str] = (),
        depends: Sequence[str] = (),
        agent: str | None = None,
        session: str | None = None,
    ) -> "TaskReport":
        """Start or end a task, or find those that are like it; an id that nobody knows finds none.

        Raises:
            UsageError: no such action, or no title. NoLog, Refused, DiskError.
        """
        from roamkb.log.store.receipts import receipts
        from roamkb.tasks import task as tasks
        from roamkb.tasks.signature import tasks_of

        tasks.check_action(action, id)
        require_name(id or "", "the task")
        if action in ("similar", "list") or id is None:
            state = self._log_to_read().read().state()
            if id is None:
                return tasks.TaskReport(action=action, tasks=tuple(tasks_of(state.named("task")).values()))
            return tasks.find_similar(state, id)
        log, hand = self._log(title or id), self._hand(agent=agent, session=session)
        if action == "start":
            return tasks.begin(log, self._new_task(id, title, category, files, depends), hand)
        return tasks.end(log, id, hand, failed=action == "failed", receipts=receipts(log.local))

    def relevant(
        self,
        *,
        task: str | None = None,
        title: str | None = None,
        files: Sequence[str] = (),
        category: str | None = None,
        actions: Sequence[str] = (),
        min_confidence: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        kb: bool = False,
        as_of: str | None = None,
        agent: str | None = None,
        session: str | None = None,
    ) -> "RelevantFound":
        """Return what helps with a task that was started, or that is described here, best first.

        Raises:
            UsageError: nothing says what the task is about. NoLog.
        """
        from dataclasses import replace

        from roamkb.kb.search.query import parse_query
        from roamkb.tasks import relevant as helping
        from roamkb.tasks.signature import tasks_of

        log, hand = self._log_to_read(), self._hand(agent=agent, session=session)
        at, contents = self._moment("--as-of", as_of), log.read()
        state = contents.state(as_of=at)
        told = self._new_task(task or "", title, category, files, ())
        tasks = tasks_of(state.named("task"))
        known = tasks.get(task or "")
        if known is None and task is None and not (title or files or category or actions):
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
            actions=texts_of(actions),
            least_confidence=50 if min_confidence is None else hundredths(min_confidence) or 0,
            limit=helping.DEFAULT if limit is None else limit,
            offset=offset or 0,
            nodes=self._nodes(told.title, 5) if kb else (),
            now=hand.ts,
        )
        ids = [one.standing.id for one in found.learnings]
        self._keep_receipt(log, hand, ids, by="relevant", task=task)
        return replace(found, is_known=task is None or known is not None)

    def used(
        self,
        name: str,
        *,
        outcome: str,
        task: str | None = None,
        match: str | None = None,
        agent: str | None = None,
        session: str | None = None,
    ) -> "UsedLearning":
        """Say whether a learning that was shown helped; being shown alone moves nothing.

        Raises:
            UsageError: no such outcome, or it was never shown. NotFound, Ambiguous, NoLog, Refused.
        """
        from roamkb.log.known_learnings import called
        from roamkb.log.store.receipts import receipts
        from roamkb.tasks.used import used

        require_name(task or "", "the task")
        log, hand = self._log(name), self._hand(agent=agent, session=session)
        standing = called(log, log.read().state(), name)
        return used(
            log, standing, receipts(log.local), hand, outcome=outcome, match=match or "", task=task or ""
        )

    def prefer(
        self, key: str, *, off: bool = False, agent: str | None = None, session: str | None = None
    ) -> "MarkedLearning":
        """Put a learning before its equals for one agent alone; with `off`, no longer.

        Raises:
            NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
        """
        from roamkb.log.prefer import prefer

        return prefer(self._log(f"prefer {key}"), key, self._hand(agent=agent, session=session), off=off)

    def undo(self, event: str, *, agent: str | None = None, session: str | None = None) -> "UndoneEvent":
        """Take back one event that an agent brought about; taking back an undoing lets it count again.

        Raises:
            NotFound: there is none. UsageError: it has another way back. NoLog, Refused, DiskError.
        """
        from roamkb.log.undo import undo

        return undo(self._log(f"undo {event}"), event, self._hand(agent=agent, session=session))

    def stats(self, *, metrics: bool = False, as_of: str | None = None) -> "ReuseFigures":
        """Return how often knowledge was shown, and what came of it, up to a day where one is given.

        With `metrics`, how well what fixed errors did as well.
        """
        from roamkb.log.store.receipts import receipts
        from roamkb.tasks.stats import reuse

        log = self._log_to_read()
        at = self._moment("--as-of", as_of)
        shown = [one.shown for one in receipts(log.local) if at is None or one.ts <= at]
        now = self._hand().ts if at is None else at
        return reuse(log.read().state(as_of=at), shown, now=now, strategies=metrics)

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
