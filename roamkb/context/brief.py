"""Selection for `brief`: learnings for the start of a session, by the work at hand."""

from collections.abc import Sequence
from itertools import filterfalse
from itertools import islice

from roamkb.context import brief_text as told
from roamkb.context.brief_text import is_borne_out
from roamkb.context.suggestions import scores_of_relevant
from roamkb.context.suggestions import with_present_flags
from roamkb.context.suggestions import withheld_reason
from roamkb.core.request import AgentOption
from roamkb.core.request import SessionOption
from roamkb.core.request import flag_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.git_branch import GitBranch
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import is_in_force
from roamkb.log.store import index as log_index
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
#: Of what fits; the rest is there for who asks.
MOST_FITTING = 5
#: Days that a task is open before it is taken for forgotten.
_OPEN_DAYS = 14
#: The latest of what happened to tasks: a year has tens of thousands.
_MOST_TASK_EVENTS = 1000


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


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkAtHand:
    """The work at hand: its files and task, and texts that say what it is about."""

    #: Its files, the open task, and all its texts as a title.
    task: TaskRecord
    #: Each text by itself, since what two of them share tells of neither; and whether it names the work, as a
    #: branch and an open task do: the title of a commit names what is done.
    clues: tuple[tuple[str, bool], ...] = ()


def current_work(state: LogState | None, branch: GitBranch, *, task: str, now: float) -> WorkAtHand:
    """Return the work at hand, by the branch, the last commits and the open tasks."""
    known_tasks = parse_tasks(state.events_named("task", latest=_MOST_TASK_EVENTS)) if state else {}
    if task and task in known_tasks:
        return WorkAtHand(task=known_tasks[task], clues=((known_tasks[task].title, True),))
    recent = [
        open_task
        for open_task in known_tasks.values()
        if open_task.outcome == STARTED and now - open_task.started < _OPEN_DAYS * 86400
    ][-3:]
    files = dict.fromkeys([*branch.changed, *(file for open_task in recent for file in open_task.files)])
    named = filter(None, (branch.words, *(open_task.title for open_task in recent)))
    clues = (*((text, True) for text in named), *((title, False) for title in branch.titles))
    words = " ".join(text for text, _ in clues)
    return WorkAtHand(
        task=TaskRecord(id=task or (recent[-1].id if recent else ""), title=words, files=tuple(files)), clues=clues
    )


def fitting_learnings(
    state: LogState,
    finder: "log_index.LogIndex",
    work: WorkAtHand,
    *,
    least_confidence: int,
    now: float,
    agent: str = "",
) -> Sequence[RelevantLearning]:
    """Return the learnings that fit the work at hand, the best first; without a clue none.

    What `agent` prefers comes before its equals.
    """
    words: dict[str, float] = {}
    for text, is_named in work.clues:
        if len(words) >= MOST_FITTING and not is_named:
            # what is done adds nothing to a full brief, and each search takes its time
            break
        for id, score in scores_of_relevant(finder, state, text, is_interrupting=not is_named).items():
            words[id] = max(score, words.get(id, 0.0))
    task = work.task
    seen_tasks = {
        other_task.id: degree
        for other_task, degree in similar_tasks(task, parse_tasks(state.events_named("task", latest=_MOST_TASK_EVENTS)))
    } | {task.id: 1.0}
    seen_tasks.pop("", None)
    relevant_learnings = [
        relevant_learning
        for candidate in candidate_learnings(state, words=words, files=task.files, seen_tasks=seen_tasks)
        if (is_in_force(candidate) and candidate.confidence >= least_confidence)
        and (
            relevant_learning := score_relevance(
                candidate,
                task,
                actions=(),
                words=words.get(candidate.id, 0.0),
                seen_tasks=seen_tasks,
                agent=agent,
            )
        )
    ]
    return rank_relevant(relevant_learnings, now)


def brief_learnings(
    state: LogState,
    finder: "log_index.LogIndex",
    work: WorkAtHand,
    *,
    is_for_subagent: bool,
    now: float,
    agent: str = "",
) -> tuple[tuple[LearningState, ...], int, tuple[LearningState, ...]]:
    """Return the learnings to show, the number of further ones, and the approved must-checks."""
    least_confidence = told.SUBAGENT_CONFIDENCE if is_for_subagent else 0
    fitting_states = [
        entry.standing
        for entry in fitting_learnings(state, finder, work, least_confidence=least_confidence, now=now, agent=agent)
    ]
    approved = () if is_for_subagent else told.approved_checklist(state)
    listed = {entry.id for entry in approved}
    unlisted = [entry for entry in fitting_states if entry.id not in listed]
    # of thousands only the first are looked at
    lasting = [*islice(filterfalse(withheld_reason, unlisted), MOST_FITTING)]
    selected = with_present_flags(sorted(lasting, key=lambda entry: not is_borne_out(entry)), state, among=lasting)
    return selected, len(unlisted) - len(selected), approved[:MOST_SHOWN]
