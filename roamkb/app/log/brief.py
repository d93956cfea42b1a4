"""Texts for a project's sessions: the brief at their start, suggestions for a prompt or a file."""

from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.text import one_line
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
_READING_SECONDS = 0.3
#: Nodes in a brief, and items at a prompt.
_BRIEF_NODES = 8
_PROMPT_ITEMS = 3


def brief(context: "ProjectContext", request: "requests.BriefRequest") -> "SessionBrief":
    """Return the brief of a session; with `task` or `subagent`, what helps with that.

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
    shown_by: str = "brief",
    keeps: bool = True,
) -> "SessionBrief":
    """Return the brief, and keep a receipt that it was shown on the occasion `shown_by`."""
    from roamkb.context import brief as briefing
    from roamkb.context.brief_text import SessionBrief
    from roamkb.context.brief_text import render_brief
    from roamkb.context.brief_text import review_counts
    from roamkb.context.store.injections import BRIEF_AFRESH
    from roamkb.context.store.injections import recent_hook_errors
    from roamkb.fs.git_branch import read_git_branch

    require_name(task or "", "the task")
    project = context.session_project()
    author = context.make_author(agent=agent, session=session)
    log = context.log_or_none()
    state = log.read_contents().replay_state() if log else None
    at_hand = briefing.current_work(state, read_git_branch(context.project_root), task=task or "", now=author.ts)
    is_narrow = subagent or task is not None
    learnings: tuple[LearningState, ...] = ()
    checklist: tuple[LearningState, ...] = ()
    more = to_review = contradicting = 0
    if log and state:
        learnings, more, checklist = briefing.brief_learnings(
            state,
            context.learning_index(log, state),
            at_hand,
            is_for_subagent=is_narrow,
            now=author.ts,
            agent=author.agent,
        )
        to_review, contradicting = (0, 0) if is_narrow else review_counts(state)
    promoted_nodes = frozenset(learning.node for learning in learnings if learning.node)
    nodes, copies, trouble = _nodes_about(context, at_hand.title, besides=promoted_nodes)
    log_notice = "" if log or is_narrow else _unusable_log_notice(context)
    log_troubles = () if is_narrow else (recent_hook_errors(log.local_folder, now=author.ts) if log else ())
    wall = "" if is_narrow else _wall_trouble(context)
    waiting = _waiting_calls_notice(log, context.kb.state_folders.state, now=author.ts) if log and not is_narrow else ""
    _, session_brief = render_brief(
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
            troubles=(*log_troubles, *filter(None, [wall, waiting, trouble, log_notice])),
        ),
        nonce="0" * 8,
    )
    if log and keeps:
        # what forgets all that was shown is kept although it showed nothing
        context.keep_receipt(
            log, author, session_brief.shown_ids, shown_by=shown_by, task=task, is_empty_kept=shown_by == BRIEF_AFRESH
        )
    return session_brief


def suggest_for_prompt(
    context: "ProjectContext", text: str, *, besides: "frozenset[str]"
) -> "tuple[tuple[LearningState, ...], tuple[Hit, ...]]":
    """Return the few learnings and nodes relevant enough to `text` to interrupt; usually none."""
    from roamkb.context.suggestions import suggest_learnings

    learnings: tuple[LearningState, ...] = ()
    promoted: set[str] = set()
    if log := context.log_or_none():
        state = log.read_contents().replay_state()
        finder = context.learning_index(log, state)
        besides |= {learning.id for learning in state.learnings_with("node", *besides)}
        learnings = suggest_learnings(finder, state, text, limit=_PROMPT_ITEMS, besides=besides)
        known_learnings = (*learnings, *(state.standings[id] for id in besides if id in state.standings))
        promoted = {learning.node for learning in known_learnings if learning.node}
    limit = _PROMPT_ITEMS - len(learnings)
    return learnings, suggest_nodes(context, text, limit=limit, besides=besides | promoted)


def suggest_nodes(
    context: "ProjectContext", text: str, *, limit: int = _PROMPT_ITEMS, besides: "Container[str]"
) -> "tuple[Hit, ...]":
    """Return the few nodes relevant enough to `text` to interrupt, where most of them are indexed."""
    try:
        glance = _indexed_glance(context)
        return glance.find_relevant(text, limit=limit, besides=besides) if glance.is_ready else ()
    except RoamkbError:
        # the start of the session said what is wrong with it
        return ()


def learnings_about_file(
    context: "ProjectContext", file: Path, *, besides: "frozenset[str]"
) -> "tuple[LearningState, ...]":
    """Return the gotchas and must-checks that name `file` of the project, the surest first."""
    from roamkb.context.suggestions import is_in_force
    from roamkb.tasks.relevance_score import matched_file

    log = context.log_or_none()
    if log is None or not file.is_relative_to(log.root):
        return ()
    name = file.relative_to(log.root).as_posix()
    matching = [
        learning
        for learning in log.read_contents().replay_state().learnings_with("type", "gotcha", "must-check")
        if learning.id not in besides and is_in_force(learning) and matched_file(learning.learning.files, (name,))
    ]
    return tuple(
        sorted(matching, key=lambda learning: (-learning.confidence, -learning.learning.ts, learning.id))[
            :_PROMPT_ITEMS
        ]
    )


def inject(context: "ProjectContext", request: "requests.InjectRequest") -> bool:
    """Return whether hooks put anything into prompts of this project; `on` or `off` sets it.

    What happens is recorded either way.

    Raises:
        NoLog: the project has none. Refused. UsageError: neither on nor off.
    """
    from roamkb.context.store.injections import is_injection_off
    from roamkb.context.store.injections import set_injection

    if request.action is None:
        return not is_injection_off(context.log_to_read().local_folder)
    if request.action not in ("on", "off"):
        raise UsageError(f"inject {one_line(request.action)}?", hint="roamkb inject on|off")
    log = context.log_to_write("")
    set_injection(log.local_folder, on=request.action == "on")
    return request.action == "on"


def _unusable_log_notice(context: "ProjectContext") -> str:
    """Return a notice for the human about a log that can't be used; empty where there is none."""
    try:
        context.log_to_read()
    except NoLog as error:
        return f"{error.message}: your human may, with `roamkb init`" if error.is_cloned else ""
    except DiskError as error:
        return f"the project's log isn't used: {error.message}"
    return ""


def _wall_trouble(context: "ProjectContext") -> str:
    """Return why no wall keeps this session's commands out of the notes; empty where one does."""
    from roamkb.harnesses.registry import walled_harness

    around = context.environment
    # only a hook or a server of its own has it
    harness = walled_harness(around.variables)
    if harness is None:
        return ""
    from roamkb.fs.files import read_file
    from roamkb.harnesses.wall_settings import wall_trouble

    data = read_file(around.home / harness.hook_files[0])
    (variable,) = harness.prefix_variables
    return wall_trouble(data, around.variables, variable) if isinstance(data, bytes) else ""


def _kb_folder(context: "ProjectContext") -> Path | None:
    from roamkb.boundary.store.folder_evidence import find_rule

    rule = find_rule(context.environment.home, account_home=context.environment.account_home)
    return None if isinstance(rule, BadRule) else rule.kb


def _indexed_glance(context: "ProjectContext") -> "KnowledgeBaseReading":
    """Return a glance at the notes; index some first where many aren't indexed yet."""
    glance = context.kb.glance_at_notes()
    if not glance.is_ready:
        glance.index_more(_READING_SECONDS)
        glance = context.kb.glance_at_notes()
    return glance


def _nodes_about(
    context: "ProjectContext", text: str, *, besides: "frozenset[str]"
) -> "tuple[tuple[Hit, ...], int, str]":
    """Return nodes whose names share a rare word with `text`, the count of conflict copies, and trouble."""
    try:
        glance = _indexed_glance(context)
        copies = glance.conflict_copies
        if not glance.is_ready:
            share = f"{glance.waiting} of {glance.notes} notes aren't indexed yet"
            return (), copies, f"{share}; `roamkb index` reads them"
        return glance.find_relevant(text, limit=_BRIEF_NODES, besides=besides, loose=True), copies, ""
    except RoamkbError as error:
        return (), 0, error.message


def _waiting_calls_notice(log: "Log", state: Path, *, now: float) -> str:
    """Return a line on the project's calls that wait for a hook; empty without any."""
    from roamkb.spool.call import describe_waiting
    from roamkb.spool.store.waiting_calls import waiting_calls

    calls = waiting_calls(log.local_folder, state)
    return describe_waiting(calls, now=now) if calls else ""
