"""Selection for `brief`: learnings for the start of a session, by the work at hand."""

from collections.abc import Iterable
from collections.abc import Sequence
from itertools import islice

from roamkb.context import brief_text as told
from roamkb.context.brief_text import is_borne_out
from roamkb.context.suggestions import LearningFinder
from roamkb.context.suggestions import is_in_force
from roamkb.context.suggestions import is_lasting
from roamkb.context.suggestions import keys_worth_listing
from roamkb.core.request import AgentOption
from roamkb.core.request import SessionOption
from roamkb.core.request import flag_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.git_branch import GitBranch
from roamkb.kb.search.query import parse_words
from roamkb.log.known_learnings import scores_by_id
from roamkb.log.state.learning_state import YES
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.tasks.relevance_score import RelevantLearning
from roamkb.tasks.relevance_score import candidate_learnings
from roamkb.tasks.relevance_score import rank_relevant
from roamkb.tasks.relevance_score import score_relevance
from roamkb.tasks.signature import STARTED
from roamkb.tasks.signature import TaskRecord
from roamkb.tasks.signature import parse_tasks
from roamkb.tasks.signature import similar_tasks

#: What a session is shown of each; more is read by nobody.
MOST_SHOWN = 12
#: Of what nobody said twice.
_MOST_UNCONFIRMED = 5
#: Answers to the words of the work at hand.
_MOST_BY_WORDS = 100
#: Days that a task is open before it is taken for forgotten.
_OPEN_DAYS = 14


@dataclass(frozen=True, slots=True)
class BriefRequest:
    """Parameters of `brief`."""

    _: KW_ONLY
    task: str | None = text_option(
        "--task", "What helps with this task, from a confidence of 0.70.", metavar="ID", values="tasks"
    )
    subagent: bool = flag_option("--subagent", "What helps a subagent: patterns alone.")
    agent: AgentOption = None
    session: SessionOption = None


def current_work(state: LogState | None, branch: GitBranch, *, task: str, now: float) -> TaskRecord:
    """Return the task at hand, by the branch and the open tasks."""
    known_tasks = parse_tasks(state.events_named("task")) if state else {}
    if task and task in known_tasks:
        return known_tasks[task]
    recent = [
        open_task
        for open_task in known_tasks.values()
        if open_task.outcome == STARTED and now - open_task.started < _OPEN_DAYS * 86400
    ]
    titles = [open_task.title for open_task in recent[-3:]]
    files = dict.fromkeys([*branch.changed, *(file for open_task in recent[-3:] for file in open_task.files)])
    words = " ".join(filter(None, (branch.words, *titles, *branch.titles)))
    return TaskRecord(id=task or (recent[-1].id if recent else ""), title=words, files=tuple(files))


def fitting_learnings(
    state: LogState,
    finder: LearningFinder,
    task: TaskRecord,
    *,
    least_confidence: int,
    now: float,
    agent: str = "",
) -> Sequence[RelevantLearning]:
    """Return the learnings that fit the work at hand, the best first; without a clue, the surest.

    What `agent` prefers comes before its equals.
    """
    query = parse_words(task.title)
    words = scores_by_id(finder, query, limit=_MOST_BY_WORDS) if query.terms else {}
    contents = {
        id: known_standing.learning.content
        for id in words
        if (known_standing := state.standings.get(id)) and is_in_force(known_standing)
    }
    relevant_ids = keys_worth_listing(finder, task.title, contents)
    seen_tasks = {
        other_task.id: degree for other_task, degree in similar_tasks(task, parse_tasks(state.events_named("task")))
    } | {task.id: 1.0}
    seen_tasks.pop("", None)
    relevant_learnings = [
        relevant_learning
        for candidate in candidate_learnings(state, words=relevant_ids, seen_tasks=seen_tasks)
        if (is_in_force(candidate) and candidate.confidence >= least_confidence)
        and (
            relevant_learning := score_relevance(
                candidate,
                task,
                actions=(),
                words=words[candidate.id] if candidate.id in relevant_ids else 0.0,
                seen_tasks=seen_tasks,
                agent=agent,
            )
        )
    ]
    if relevant_learnings or task.title:
        return rank_relevant(relevant_learnings, now)
    return _surest_learnings(state, least_confidence=least_confidence, now=now, agent=agent)


def _surest_learnings(state: LogState, *, least_confidence: int, now: float, agent: str) -> list[RelevantLearning]:
    """Return the repeated, verified or trusted learnings; where there are none, the best few."""

    def select_current(standings: Iterable[LearningState]) -> list[LearningState]:
        return [standing for standing in standings if is_in_force(standing) and standing.confidence >= least_confidence]

    sure = select_current(
        standing for standing in state.learnings_with("sure", YES) if "may_contradict" not in standing.flags
    )
    if sure:
        return [_as_surest(standing) for standing in _best_first(sure, now, agent)]
    ranked = _best_first(select_current(state.standings.values()), now, agent)
    return [_as_surest(standing) for standing in islice(filter(is_lasting, ranked), _MOST_UNCONFIRMED)]


def _best_first(current: Iterable[LearningState], now: float, agent: str) -> list[LearningState]:
    return sorted(
        current,
        key=lambda standing: (
            agent in standing.preferred_by,
            standing.rank_confidence(now),
            standing.occurrences,
            standing.learning.ts,
            standing.id,
        ),
        reverse=True,
    )


def _as_surest(standing: LearningState) -> RelevantLearning:
    return RelevantLearning(standing=standing, relevance=0.0, why=("surest",))


def brief_learnings(
    state: LogState,
    finder: LearningFinder,
    task: TaskRecord,
    *,
    is_for_subagent: bool,
    now: float,
    agent: str = "",
) -> tuple[tuple[LearningState, ...], int, tuple[LearningState, ...]]:
    """Return the learnings to show, the number of further ones, and the approved must-checks."""
    least_confidence = told.SUBAGENT_CONFIDENCE if is_for_subagent else 0
    fitting_states = [
        entry.standing
        for entry in fitting_learnings(state, finder, task, least_confidence=least_confidence, now=now, agent=agent)
    ]
    approved = () if is_for_subagent else told.approved_checklist(state)
    listed = {entry.id for entry in approved}
    unlisted = [entry for entry in fitting_states if entry.id not in listed]
    # of thousands only the first are looked at
    selected = tuple(islice(filter(is_lasting, unlisted), MOST_SHOWN))
    selected = tuple(sorted(selected, key=lambda entry: not is_borne_out(entry)))
    return selected, len(unlisted) - len(selected), approved[:MOST_SHOWN]
