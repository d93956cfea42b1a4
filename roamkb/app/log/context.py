"""What a project's sessions are told: the brief at their start, what fits a prompt, a file, or nothing."""

from collections.abc import Container
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.app import requests
from roamkb.app.log.tasks import ProjectTasks
from roamkb.app.operation_method import takes
from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.text import shown
from roamkb.kb.notes.file_names import require_name

if TYPE_CHECKING:
    from roamkb.app.knowledge_base import KnowledgeBaseReading
    from roamkb.context.brief_text import SessionBrief
    from roamkb.core.model import Hit
    from roamkb.log.new_learning import Author
    from roamkb.log.state.learning_state import LearningState
    from roamkb.log.store.project_log import Log

#: Seconds in which a session reads some of many notes that aren't indexed yet.
_READING = 0.3
#: Nodes in a brief, and items at a prompt.
_NODES = 8
_AT_A_PROMPT = 3


class ProjectBrief(ProjectTasks):
    """The project's log, asked on behalf of somebody who doesn't know what it holds."""

    @takes(lambda: requests.BriefRequest)
    def brief(self, request: "requests.BriefRequest") -> "SessionBrief":
        """Return what a session should know at its start; with `task` or `subagent`, what helps with that.

        Raises:
            DiskError: the log can't be read.
        """
        return self.briefed(
            task=request.task, subagent=request.subagent, agent=request.agent, session=request.session
        )

    def briefed(
        self,
        *,
        task: str | None = None,
        subagent: bool = False,
        agent: str | None = None,
        session: str | None = None,
        by: str = "brief",
        keeps: bool = True,
    ) -> "SessionBrief":
        """Return the brief, and keep a receipt that says it was shown `by` what."""
        from roamkb.context import brief as briefing
        from roamkb.context.brief_text import SessionBrief
        from roamkb.context.brief_text import told
        from roamkb.context.brief_text import wants
        from roamkb.context.store.injections import troubles
        from roamkb.fs.git_branch import branch_of

        require_name(task or "", "the task")
        project = self._session()
        hand = self._hand(agent=agent, session=session)
        log = self.log_or_none()
        state = log.read().state() if log else None
        at_hand = briefing.at_hand(state, branch_of(self._root), task=task or "", now=hand.ts)
        is_narrow = subagent or task is not None
        learnings: tuple[LearningState, ...] = ()
        checklist: tuple[LearningState, ...] = ()
        more = to_review = contradicting = 0
        if log and state:
            learnings, more, checklist = briefing.learned(
                state,
                self._finder(log, state),
                at_hand,
                is_for_subagent=is_narrow,
                now=hand.ts,
                agent=hand.agent,
            )
            to_review, contradicting = (0, 0) if is_narrow else wants(state)
        said = frozenset(one.node for one in learnings if one.node)
        nodes, copies, trouble = self._nodes_about(at_hand.title, besides=said)
        unknown = "" if log or is_narrow else self._unadopted()
        wrong = () if is_narrow else (troubles(log.local, now=hand.ts) if log else ())
        wall = "" if is_narrow else self._wall_trouble()
        waiting = _waiting(log, self._kb._state.state, now=hand.ts) if log and not is_narrow else ""
        _, found = told(
            SessionBrief(
                project=project,
                kb=self._kb_folder(),
                log=log.knowledge if log else None,
                nodes=nodes,
                learnings=learnings,
                more=more,
                checklist=checklist,
                task=task or "",
                is_for_subagent=subagent,
                to_review=to_review,
                contradicting=contradicting,
                conflict_copies=0 if is_narrow else copies,
                troubles=(*wrong, *filter(None, [wall, waiting, trouble, unknown])),
            ),
            nonce="0" * 8,
        )
        if log and keeps:
            self.keep_shown(log, hand, found.shown, by=by, task=task or "")
        return found

    def offered(
        self, text: str, *, besides: "frozenset[str]"
    ) -> "tuple[tuple[LearningState, ...], tuple[Hit, ...]]":
        """Return the few learnings and nodes that `text` makes worth an interruption; usually none."""
        from roamkb.context.suggestions import offered_learnings

        learnings: tuple[LearningState, ...] = ()
        promoted: set[str] = set()
        if log := self.log_or_none():
            state = log.read().state()
            finder = self._finder(log, state)
            besides |= {one.id for one in state.having("node", *besides)}
            learnings = offered_learnings(finder, state, text, limit=_AT_A_PROMPT, besides=besides)
            told = (*learnings, *(state.standings[id] for id in besides if id in state.standings))
            promoted = {one.node for one in told if one.node}
        limit = _AT_A_PROMPT - len(learnings)
        return learnings, self.offered_nodes(text, limit=limit, besides=besides | promoted)

    def offered_nodes(
        self, text: str, *, limit: int = _AT_A_PROMPT, besides: "Container[str]"
    ) -> "tuple[Hit, ...]":
        """Return the few nodes that `text` makes worth an interruption, where most of them are indexed."""
        try:
            glance = self._glance()
            return glance.offered(text, limit=limit, besides=besides) if glance.is_ready else ()
        except RoamkbError:
            # the start of the session said what is wrong with it
            return ()

    def about_file(self, file: Path, *, besides: "frozenset[str]") -> "tuple[LearningState, ...]":
        """Return the gotchas and must-checks that name `file` of the project, the surest first."""
        from roamkb.context.suggestions import counts
        from roamkb.tasks.relevance_score import met

        log = self.log_or_none()
        if log is None or not file.is_relative_to(log.root):
            return ()
        name = file.relative_to(log.root).as_posix()
        found = [
            one
            for one in log.read().state().having("type", "gotcha", "must-check")
            if one.id not in besides and counts(one) and met(one.learning.files, (name,))
        ]
        return tuple(
            sorted(found, key=lambda one: (-one.confidence, -one.learning.ts, one.id))[:_AT_A_PROMPT]
        )

    @takes(lambda: requests.InjectRequest)
    def inject(self, request: "requests.InjectRequest") -> bool:
        """Return whether hooks put anything into prompts of this project; `on` or `off` turns it.

        What happens is recorded either way.

        Raises:
            NoLog: the project has none. Refused. UsageError: neither on nor off.
        """
        from roamkb.context.store.injections import is_off
        from roamkb.context.store.injections import turn

        if request.action is None:
            return not is_off(self._log_to_read().local)
        if request.action not in ("on", "off"):
            raise UsageError(f"inject {shown(request.action)}?", hint="roamkb inject on|off")
        log = self._log("")
        turn(log.local, on=request.action == "on")
        return request.action == "on"

    def _unadopted(self) -> str:
        """Return what to tell a human of a log that can't be used; empty where there is none."""
        try:
            self._log_to_read()
        except NoLog as error:
            return f"{error.message}: your human may, with `roamkb init`" if error.is_cloned else ""
        except DiskError as error:
            return f"the project's log isn't used: {error.message}"
        return ""

    def log_or_none(self) -> "Log | None":
        """Return the log that is there to be read; one that holds links isn't, as `doctor` says."""
        try:
            return self._log_to_read()
        except (NoLog, DiskError):
            return None

    def keep_shown(self, log: "Log", hand: "Author", ids: Sequence[str], *, by: str, task: str = "") -> None:
        """Record what was shown to the session; where that may not be, it is shown all the same (D11)."""
        from contextlib import suppress

        from roamkb.boundary.policy import require_as_strict
        from roamkb.context.store.injections import AFRESH
        from roamkb.log.store.receipts import keep_receipt

        if ids or by == AFRESH:
            with suppress(RoamkbError):
                require_as_strict(self._session(), self._place, "")
                keep_receipt(log.local, hand, ids, by=by, task=task)

    def _wall_trouble(self) -> str:
        """Return why nothing keeps this session's commands out of the notes; empty where something does."""
        from roamkb.harnesses.store.probe import CLAUDE_SETTINGS

        around = self._around
        # Claude Code alone sets it, for its hooks and servers
        if not around.environment.get("CLAUDE_PROJECT_DIR"):
            return ""
        from roamkb.fs.files import read_file
        from roamkb.harnesses.wall_settings import wall_trouble

        data = read_file(around.home / CLAUDE_SETTINGS)
        return wall_trouble(data, around.environment) if isinstance(data, bytes) else ""

    def _kb_folder(self) -> Path | None:
        from roamkb.boundary.store.folder_evidence import find_rule

        rule = find_rule(self._around.home, account_home=self._around.account_home)
        return None if isinstance(rule, BadRule) else rule.kb

    def _glance(self) -> "KnowledgeBaseReading":
        """Return what can be told of the notes; of many that aren't indexed yet, some are read first."""
        glance = self._kb.glance()
        if not glance.is_ready:
            glance.read_on(_READING)
            glance = self._kb.glance()
        return glance

    def _nodes_about(self, text: str, *, besides: "frozenset[str]") -> "tuple[tuple[Hit, ...], int, str]":
        """Return the nodes whose names share a rare word with `text`, the conflict copies, and trouble."""
        try:
            glance = self._glance()
            copies = glance.conflict_copies
            if not glance.is_ready:
                share = f"{glance.waiting} of {glance.notes} notes aren't indexed yet"
                return (), copies, f"{share}; `roamkb index` reads them"
            return glance.offered(text, limit=_NODES, besides=besides, loose=True), copies, ""
        except RoamkbError as error:
            return (), 0, error.message


def _waiting(log: "Log", state: Path, *, now: float) -> str:
    """Return which calls of the project wait for a hook; empty where none does."""
    from roamkb.spool.call import told_waiting
    from roamkb.spool.store.waiting_calls import waiting_calls

    calls = waiting_calls(log.local, state)
    return told_waiting(calls, now=now) if calls else ""
