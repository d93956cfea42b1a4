"""Texts for a project's sessions: the brief at their start, suggestions for a prompt or a file."""

from collections.abc import Container
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from roamkb.app import knowledge_base
from roamkb.app.log.project_context import SHARE_PATIENCE
from roamkb.app.log.project_context import ProjectContext
from roamkb.context import brief as briefing
from roamkb.context import brief_text
from roamkb.context import shown
from roamkb.context import suggestions
from roamkb.context.store import injections
from roamkb.core import model
from roamkb.core.errors import DiskError
from roamkb.core.errors import LostLines
from roamkb.core.errors import NoLog
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.text import one_line
from roamkb.fs import files
from roamkb.fs import git_branch
from roamkb.harnesses import registry
from roamkb.harnesses import wall_settings
from roamkb.instructions import unproven_lines
from roamkb.kb.notes.file_names import require_name
from roamkb.log.state import learning_state
from roamkb.log.store import build_budget
from roamkb.log.store import project_log
from roamkb.spool import call
from roamkb.spool.store import waiting_calls
from roamkb.tasks import relevance_score

#: Seconds in which a session reads some of many notes that aren't indexed yet.
_READING_SECONDS = 0.3
#: Nodes in a brief, and items at a prompt.
_BRIEF_NODES = 3
_PROMPT_ITEMS = 3
#: Promotions, the latest, of which a brief asks whether they still hold, and notes that it looks up of those.
_MOST_PROMOTIONS = 200
_MOST_STALE_NOTES = 5


def brief(context: ProjectContext, request: "briefing.BriefRequest") -> "brief_text.SessionBrief":
    """Return the brief of a session; with `task` or `subagent`, what helps with that.

    Raises:
        DiskError: the log can't be read.
    """
    return make_brief(
        context, task=request.task, subagent=request.subagent, agent=request.agent, session=request.session
    )


def make_brief(
    context: ProjectContext,
    *,
    task: str | None = None,
    subagent: bool = False,
    agent: str | None = None,
    session: str | None = None,
    shown_by: str = "brief",
) -> "brief_text.SessionBrief":
    """Return the brief, and keep a receipt that it was shown on the occasion `shown_by`."""
    require_name(task or "", "the task")
    project = context.session_project()
    author = context.make_author(agent=agent, session=session)
    log = context.log_or_none(patience=SHARE_PATIENCE)
    state, unready = _indexed_state(context, log)
    at_hand = briefing.current_work(
        state, git_branch.read_git_branch(context.project_root), task=task or "", now=author.ts
    )
    is_narrow = subagent or task is not None
    learnings: tuple[learning_state.LearningState, ...] = ()
    checklist: tuple[learning_state.LearningState, ...] = ()
    more = 0
    counts = (0, 0, 0)
    if log and state:
        learnings, more, checklist = briefing.brief_learnings(
            state,
            context.learning_index(log, state),
            at_hand,
            is_for_subagent=is_narrow,
            now=author.ts,
            agent=author.agent,
        )
        counts = counts if is_narrow else brief_text.review_counts(state)
    to_review, contradicting, contested = counts
    promoted_nodes = frozenset(learning.node for learning in learnings if learning.node)
    nodes, reading, trouble = _nodes_about(context, at_hand, state, besides=promoted_nodes)
    troubles = () if is_narrow else _troubles_at_start(context, log, now=author.ts)
    _, session_brief = brief_text.render_brief(
        brief_text.SessionBrief(
            project=project,
            permitted_kbs=() if is_narrow else context.kb.permitted_names(),
            log=log.knowledge if log else None,
            nodes=nodes,
            learnings=learnings,
            more=more,
            checklist=checklist,
            task=task or "",
            is_for_subagent=subagent,
            to_review=to_review,
            contradicting=contradicting,
            contested=contested,
            note_count=reading.notes if reading else None,
            learning_count=len(state.standings) if state else None,
            conflict_copies=0 if is_narrow or not reading else reading.conflict_copies,
            troubles=(*troubles, *filter(None, [trouble, unready])),
        ),
        nonce="0" * 8,
    )
    if log:
        # what forgets all that was shown is kept although it showed nothing
        context.keep_receipt(
            log,
            author,
            session_brief.shown_ids,
            shown_by=shown_by,
            task=task,
            is_empty_kept=shown_by == injections.BRIEF_AFRESH,
        )
    return session_brief


def _indexed_state(
    context: ProjectContext, log: "project_log.Log | None"
) -> "tuple[learning_state.LogState | None, str]":
    """Return the state of the log, if there is one and it is indexed; else what the human may do about that."""
    if log is None:
        return None, ""
    try:
        state = log.read_contents().replay_state()
        context.learning_index(log, state).make_ready()
    except build_budget.StillBuilding as error:
        return None, f"{error.message}; {error.hint}"
    return state, ""


def _troubles_at_start(context: ProjectContext, log: "project_log.Log | None", *, now: float) -> tuple[str, ...]:
    """Return what is wrong with hooks, wall and log, and what waits, a line each."""
    wall = _wall_trouble(context)
    if log is None:
        return tuple(filter(None, (wall, _unusable_log_notice(context))))
    waiting = _waiting_calls_notice(log, context.kb.state_folders.state, now=now)
    about_lines = (*_rule_line_notices(context, log), _stale_note_notice(context, log))
    return (*injections.untold_hook_errors(log.local_folder, now=now), *filter(None, (wall, waiting, *about_lines)))


def _rule_line_notices(context: ProjectContext, log: "project_log.Log") -> tuple[str, ...]:
    """Return what is wrong with lines that rule files tell agents: no human's proof, or a learning that lapsed."""
    try:
        state = log.read_contents().replay_state()
    except build_budget.StillBuilding:
        return ()
    unproven = unproven_lines.find_unproven_lines(log, state, must_sign=context.must_sign)
    lapsed = unproven_lines.find_lapsed_lines(log, state)
    return tuple(filter(None, (unproven_lines.describe_unproven(unproven), unproven_lines.describe_lapsed(lapsed))))


def _stale_note_notice(context: ProjectContext, log: "project_log.Log") -> str:
    """Return a line about a note that still says what doesn't hold any more in the log that it came from."""
    with suppress(RoamkbError):
        # the latest are those that nobody mended yet
        notices = context.lapsed_note_notices(log, latest=_MOST_PROMOTIONS, most=_MOST_STALE_NOTES)
        return next((f"the note {notice} replaces it" for notice in notices), "")
    return ""


def suggest_for_prompt(
    context: ProjectContext, text: str, *, besides: "frozenset[str]"
) -> "tuple[suggestions.Suggested[learning_state.LearningState], suggestions.Suggested[model.Hit]]":
    """Return the few learnings and nodes relevant enough to `text` to interrupt; usually none."""
    learnings: suggestions.Suggested[learning_state.LearningState] = suggestions.Suggested()
    promoted: set[str] = set()
    log = context.log_or_none()
    state, _ = _indexed_state(context, log)
    if log and state:
        finder = context.learning_index(log, state)
        besides |= {learning.id for learning in state.learnings_with("node", *besides)}
        learnings = suggestions.suggest_learnings(finder, state, text, limit=_PROMPT_ITEMS, besides=besides)
        known_learnings = (*learnings.items, *(state.standings[id] for id in besides if id in state.standings))
        promoted = {learning.node for learning in known_learnings if learning.node}
    limit = _PROMPT_ITEMS - len(learnings.items)
    return learnings, suggest_nodes(context, text, limit=limit, besides=besides | promoted, state=state)


def suggest_nodes(
    context: ProjectContext,
    text: str,
    *,
    limit: int = _PROMPT_ITEMS,
    besides: "Container[str]",
    state: "learning_state.LogState | None" = None,
) -> "suggestions.Suggested[model.Hit]":
    """Return the few nodes relevant enough to `text` to interrupt, where most of them are indexed."""
    try:
        glance = _indexed_glance(context)
        if not glance.is_ready:
            return suggestions.Suggested()
        return glance.find_relevant(text, limit=limit, besides=besides, state=state)
    except RoamkbError:
        # the start of the session said what is wrong with it
        return suggestions.Suggested()


def learnings_about_file(
    context: ProjectContext, file: Path, *, names: "Sequence[str]" = (), besides: "frozenset[str]"
) -> "tuple[learning_state.LearningState, ...]":
    """Return the few learnings about `file` of the project, or about one of `names`, the best borne out first."""
    log = context.log_or_none()
    if log is None or not file.is_relative_to(log.root):
        return ()
    name = file.relative_to(log.root).as_posix()
    state, _ = _indexed_state(context, log)
    if state is None:
        return ()
    matching = {
        learning.id: learning
        for learning in state.learnings_having(
            learning_state.FILES, lambda patterns: bool(relevance_score.matched_file(patterns, (name,)))
        )
    }
    if names:
        matching |= suggestions.learnings_naming(context.learning_index(log, state), state, names)
    told = [
        learning
        for learning in matching.values()
        if learning.id not in besides
        and learning_state.is_in_force(learning)
        and not suggestions.withheld_reason(learning)
    ]
    return suggestions.with_present_flags(suggestions.best_borne_out(told)[:_PROMPT_ITEMS], state, among=told)


def inject(context: ProjectContext, request: "shown.InjectRequest") -> bool:
    """Return whether hooks put anything into prompts of this project; `on` or `off` sets it.

    What happens is recorded either way.

    Raises:
        NoLog: this is no project. Refused. UsageError: neither on nor off.
    """
    # notes are offered without a log, too, and what was turned off stays so when the project gets one
    unlogged = context.unlogged_folder
    if request.action is None:
        return may_inject(context)
    if request.action not in ("on", "off"):
        raise UsageError(f"inject {one_line(request.action)}?", hint="roamkb inject on|off")
    is_on = request.action == "on"
    try:
        injections.set_injection(context.log_to_write("").local_folder, on=is_on)
    except NoLog:
        injections.set_injection(unlogged, on=is_on)
    if is_on and injections.is_injection_off(unlogged):
        injections.set_injection(unlogged, on=True)
    return is_on


def may_inject(context: ProjectContext) -> bool:
    """Return whether hooks may put anything into this project's prompts."""
    with suppress(NoLog):
        if injections.is_injection_off(context.unlogged_folder):
            return False
    log = context.log_or_none()
    return log is None or not injections.is_injection_off(log.local_folder)


def _unusable_log_notice(context: ProjectContext) -> str:
    """Return a notice for the human about a log that can't be used; empty where there is none."""
    try:
        context.log_to_read()
    except LostLines as error:
        return f"the project's log isn't used: {error.message}; {error.hint}"
    except NoLog as error:
        return f"{error.message}: your human may, with `roamkb init`" if error.is_cloned else ""
    except DiskError as error:
        return "; ".join(filter(None, (f"the project's log isn't used: {error.message}", error.hint)))
    return ""


def _wall_trouble(context: ProjectContext) -> str:
    """Return why no wall keeps this session's commands out of the notes; empty where one does."""
    around = context.environment
    # only a hook or a server of its own has it
    harness = registry.walled_harness(around.variables)
    if harness is None:
        return ""
    data = files.read_file(around.home / harness.hook_files[0])
    (variable,) = harness.prefix_variables
    return wall_settings.wall_trouble(data, around.variables, variable) if isinstance(data, bytes) else ""


def _indexed_glance(context: ProjectContext) -> "knowledge_base.KnowledgeBaseReading":
    """Return a glance at the notes; index some first where many aren't indexed yet."""
    glance = context.kb.glance_at_notes()
    if not glance.is_ready:
        glance.index_more(_READING_SECONDS)
        glance = context.kb.glance_at_notes()
    return glance


def _nodes_about(
    context: ProjectContext,
    work: "briefing.WorkAtHand",
    state: "learning_state.LogState | None",
    *,
    besides: "frozenset[str]",
) -> "tuple[tuple[model.Hit, ...], knowledge_base.KnowledgeBaseReading | None, str]":
    """Return nodes that are relevant to the work at hand, the state of the notes, and trouble."""
    try:
        glance = _indexed_glance(context)
        if not glance.is_ready:
            share = f"{glance.waiting} of {glance.notes} notes aren't indexed yet"
            return (), glance, f"{share}; `roamkb index` reads them"
        hits: dict[str, model.Hit] = {}
        for text, is_named in work.clues:
            if len(hits) == _BRIEF_NODES:
                break
            known = besides.union(hits)
            room = _BRIEF_NODES - len(hits)
            found = glance.find_relevant(text, limit=room, besides=known, state=state, loose=is_named)
            hits |= {hit.id or str(hit.path): hit for hit in found.items}
        return tuple(hits.values()), glance, ""
    except RoamkbError as error:
        return (), None, error.message


def _waiting_calls_notice(log: "project_log.Log", state: Path, *, now: float) -> str:
    """Return a line on the project's calls that wait for a hook; empty without any."""
    calls = waiting_calls.waiting_calls(log.local_folder, state)
    return call.describe_waiting(calls, now=now) if calls else ""
