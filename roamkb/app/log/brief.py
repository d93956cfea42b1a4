"""What a project's sessions are told: the brief at their start, what fits a prompt, a file, or nothing."""

from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.text import shown
from roamkb.kb.notes.file_names import require_name

if TYPE_CHECKING:
    from roamkb.app import requests
    from roamkb.app.knowledge_base import KnowledgeBaseReading
    from roamkb.app.log.project_context import ProjectContext
    from roamkb.context.brief_text import SessionBrief
    from roamkb.core.model import Hit
    from roamkb.log.state.learning_state import LearningState
    from roamkb.log.store.project_log import Log

#: Seconds in which a session reads some of many notes that aren't indexed yet.
_READING = 0.3
#: Nodes in a brief, and items at a prompt.
_NODES = 8
_AT_A_PROMPT = 3


def brief(context: "ProjectContext", request: "requests.BriefRequest") -> "SessionBrief":
    """Return what a session should know at its start; with `task` or `subagent`, what helps with that.

    Raises:
        DiskError: the log can't be read.
    """
    return make_brief(
        context, task=request.task, subagent=request.subagent, agent=request.agent, session=request.session
    )


def make_brief(
    context: "ProjectContext",
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
    from roamkb.context.store.injections import AFRESH
    from roamkb.context.store.injections import troubles
    from roamkb.fs.git_branch import branch_of

    require_name(task or "", "the task")
    project = context.session_project()
    hand = context.author(agent=agent, session=session)
    log = context.log_or_none()
    state = log.read().state() if log else None
    at_hand = briefing.at_hand(state, branch_of(context.root), task=task or "", now=hand.ts)
    is_narrow = subagent or task is not None
    learnings: tuple[LearningState, ...] = ()
    checklist: tuple[LearningState, ...] = ()
    more = to_review = contradicting = 0
    if log and state:
        learnings, more, checklist = briefing.learned(
            state,
            context.learning_index(log, state),
            at_hand,
            is_for_subagent=is_narrow,
            now=hand.ts,
            agent=hand.agent,
        )
        to_review, contradicting = (0, 0) if is_narrow else wants(state)
    said = frozenset(one.node for one in learnings if one.node)
    nodes, copies, trouble = _nodes_about(context, at_hand.title, besides=said)
    unknown = "" if log or is_narrow else _unadopted(context)
    wrong = () if is_narrow else (troubles(log.local, now=hand.ts) if log else ())
    wall = "" if is_narrow else _wall_trouble(context)
    waiting = _waiting(log, context.kb.state_folders.state, now=hand.ts) if log and not is_narrow else ""
    _, found = told(
        SessionBrief(
            project=project,
            kb=_kb_folder(context),
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
        # what forgets all that was shown is kept although it showed nothing
        context.keep_receipt(log, hand, found.shown, by=by, task=task, is_empty_kept=by == AFRESH)
    return found


def suggest(
    context: "ProjectContext", text: str, *, besides: "frozenset[str]"
) -> "tuple[tuple[LearningState, ...], tuple[Hit, ...]]":
    """Return the few learnings and nodes that `text` makes worth an interruption; usually none."""
    from roamkb.context.suggestions import offered_learnings

    learnings: tuple[LearningState, ...] = ()
    promoted: set[str] = set()
    if log := context.log_or_none():
        state = log.read().state()
        finder = context.learning_index(log, state)
        besides |= {one.id for one in state.having("node", *besides)}
        learnings = offered_learnings(finder, state, text, limit=_AT_A_PROMPT, besides=besides)
        told = (*learnings, *(state.standings[id] for id in besides if id in state.standings))
        promoted = {one.node for one in told if one.node}
    limit = _AT_A_PROMPT - len(learnings)
    return learnings, suggest_nodes(context, text, limit=limit, besides=besides | promoted)


def suggest_nodes(
    context: "ProjectContext", text: str, *, limit: int = _AT_A_PROMPT, besides: "Container[str]"
) -> "tuple[Hit, ...]":
    """Return the few nodes that `text` makes worth an interruption, where most of them are indexed."""
    try:
        glance = _glance(context)
        return glance.offered(text, limit=limit, besides=besides) if glance.is_ready else ()
    except RoamkbError:
        # the start of the session said what is wrong with it
        return ()


def learnings_about_file(
    context: "ProjectContext", file: Path, *, besides: "frozenset[str]"
) -> "tuple[LearningState, ...]":
    """Return the gotchas and must-checks that name `file` of the project, the surest first."""
    from roamkb.context.suggestions import counts
    from roamkb.tasks.relevance_score import met

    log = context.log_or_none()
    if log is None or not file.is_relative_to(log.root):
        return ()
    name = file.relative_to(log.root).as_posix()
    found = [
        one
        for one in log.read().state().having("type", "gotcha", "must-check")
        if one.id not in besides and counts(one) and met(one.learning.files, (name,))
    ]
    return tuple(sorted(found, key=lambda one: (-one.confidence, -one.learning.ts, one.id))[:_AT_A_PROMPT])


def inject(context: "ProjectContext", request: "requests.InjectRequest") -> bool:
    """Return whether hooks put anything into prompts of this project; `on` or `off` turns it.

    What happens is recorded either way.

    Raises:
        NoLog: the project has none. Refused. UsageError: neither on nor off.
    """
    from roamkb.context.store.injections import is_off
    from roamkb.context.store.injections import turn

    if request.action is None:
        return not is_off(context.log_to_read().local)
    if request.action not in ("on", "off"):
        raise UsageError(f"inject {shown(request.action)}?", hint="roamkb inject on|off")
    log = context.log_to_write("")
    turn(log.local, on=request.action == "on")
    return request.action == "on"


def _unadopted(context: "ProjectContext") -> str:
    """Return what to tell a human of a log that can't be used; empty where there is none."""
    try:
        context.log_to_read()
    except NoLog as error:
        return f"{error.message}: your human may, with `roamkb init`" if error.is_cloned else ""
    except DiskError as error:
        return f"the project's log isn't used: {error.message}"
    return ""


def _wall_trouble(context: "ProjectContext") -> str:
    """Return why nothing keeps this session's commands out of the notes; empty where something does."""
    from roamkb.harnesses.store.probe import CLAUDE_SETTINGS

    around = context.environment
    # Claude Code alone sets it, for its hooks and servers
    if not around.variables.get("CLAUDE_PROJECT_DIR"):
        return ""
    from roamkb.fs.files import read_file
    from roamkb.harnesses.wall_settings import wall_trouble

    data = read_file(around.home / CLAUDE_SETTINGS)
    return wall_trouble(data, around.variables) if isinstance(data, bytes) else ""


def _kb_folder(context: "ProjectContext") -> Path | None:
    from roamkb.boundary.store.folder_evidence import find_rule

    rule = find_rule(context.environment.home, account_home=context.environment.account_home)
    return None if isinstance(rule, BadRule) else rule.kb


def _glance(context: "ProjectContext") -> "KnowledgeBaseReading":
    """Return what can be told of the notes; of many that aren't indexed yet, some are read first."""
    glance = context.kb.glance()
    if not glance.is_ready:
        glance.read_on(_READING)
        glance = context.kb.glance()
    return glance


def _nodes_about(
    context: "ProjectContext", text: str, *, besides: "frozenset[str]"
) -> "tuple[tuple[Hit, ...], int, str]":
    """Return the nodes whose names share a rare word with `text`, the conflict copies, and trouble."""
    try:
        glance = _glance(context)
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
