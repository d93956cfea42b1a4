"""`brief`: what a session should know at its start, by what it is about to work on."""

from collections.abc import Iterable
from collections.abc import Sequence
from itertools import islice

from roamkb.context import brief_text as told
from roamkb.context.brief_text import is_borne_out
from roamkb.context.suggestions import LearningFinder
from roamkb.context.suggestions import counts
from roamkb.context.suggestions import is_lasting
from roamkb.context.suggestions import worth_a_line
from roamkb.core.request import AgentOption
from roamkb.core.request import SessionOption
from roamkb.core.request import option
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.git_branch import GitBranch
from roamkb.kb.search.query import parse_words
from roamkb.log.known_learnings import scores
from roamkb.log.state.learning_state import YES
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.tasks.relevance_score import RelevantLearning
from roamkb.tasks.relevance_score import may_fit
from roamkb.tasks.relevance_score import ordered
from roamkb.tasks.relevance_score import relevance
from roamkb.tasks.signature import STARTED
from roamkb.tasks.signature import TaskRecord
from roamkb.tasks.signature import similar
from roamkb.tasks.signature import tasks_of

#: What a session is shown of each; more is read by nobody.
MOST = 12
#: Of what nobody said twice.
_FEW = 5
#: Answers to the words of the work at hand.
_BY_WORDS = 100
#: Days that a task is open before it is taken for forgotten.
_OPEN = 14


@dataclass(frozen=True, slots=True)
class BriefRequest:
    """What `brief` takes."""

    _: KW_ONLY
    task: str | None = option("--task", "What helps with this task, from a confidence of 0.70.", metavar="ID")
    subagent: bool = switch("--subagent", "What helps a subagent: patterns alone.")
    agent: AgentOption = None
    session: SessionOption = None


def at_hand(state: LogState | None, branch: GitBranch, *, task: str, now: float) -> TaskRecord:
    """Return what is worked on, as far as the branch and the open tasks tell."""
    known = tasks_of(state.named("task")) if state else {}
    if task and task in known:
        return known[task]
    recent = [one for one in known.values() if one.outcome == STARTED and now - one.started < _OPEN * 86400]
    titles = [one.title for one in recent[-3:]]
    files = dict.fromkeys([*branch.changed, *(file for one in recent[-3:] for file in one.files)])
    words = " ".join(filter(None, (branch.words, *titles, *branch.titles)))
    return TaskRecord(id=task or (recent[-1].id if recent else ""), title=words, files=tuple(files))


def fitting(
    state: LogState,
    finder: LearningFinder,
    task: TaskRecord,
    *,
    least_confidence: int,
    now: float,
    agent: str = "",
) -> Sequence[RelevantLearning]:
    """Return the learnings that fit the work at hand, the best first; where nothing tells, the surest.

    What `agent` prefers comes before its equals.
    """
    query = parse_words(task.title)
    words = scores(finder, query, limit=_BY_WORDS) if query.terms else {}
    said = {id: held.learning.content for id in words if (held := state.standings.get(id)) and counts(held)}
    named = worth_a_line(finder, task.title, said)
    seen = {other.id: how for other, how in similar(task, tasks_of(state.named("task")))} | {task.id: 1.0}
    seen.pop("", None)
    found = [
        fits
        for one in may_fit(state, words=named, seen=seen)
        if (counts(one) and one.confidence >= least_confidence)
        and (
            fits := relevance(
                one,
                task,
                actions=(),
                words=words[one.id] if one.id in named else 0.0,
                seen=seen,
                agent=agent,
            )
        )
    ]
    if found or task.title:
        return ordered(found, now)
    return _surest(state, least_confidence=least_confidence, now=now, agent=agent)


def _surest(state: LogState, *, least_confidence: int, now: float, agent: str) -> list[RelevantLearning]:
    """Return what was said twice, verified, or is trusted anyway; where nothing was, the best few."""

    def current(standings: Iterable[LearningState]) -> list[LearningState]:
        return [one for one in standings if counts(one) and one.confidence >= least_confidence]

    sure = current(one for one in state.having("sure", YES) if "may_contradict" not in one.flags)
    if sure:
        return [_unasked(one) for one in _best_first(sure, now, agent)]
    best = _best_first(current(state.standings.values()), now, agent)
    return [_unasked(one) for one in islice(filter(is_lasting, best), _FEW)]


def _best_first(current: Iterable[LearningState], now: float, agent: str) -> list[LearningState]:
    return sorted(
        current,
        key=lambda one: (
            agent in one.preferred_by,
            one.rank_confidence(now),
            one.occurrences,
            one.learning.ts,
            one.id,
        ),
        reverse=True,
    )


def _unasked(standing: LearningState) -> RelevantLearning:
    return RelevantLearning(standing=standing, relevance=0.0, why=("surest",))


def learned(
    state: LogState,
    finder: LearningFinder,
    task: TaskRecord,
    *,
    is_for_subagent: bool,
    now: float,
    agent: str = "",
) -> tuple[tuple[LearningState, ...], int, tuple[LearningState, ...]]:
    """Return the learnings to show, how many more fit, and the approved must-checks."""
    least = told.WORTHY if is_for_subagent else 0
    found = [
        one.standing for one in fitting(state, finder, task, least_confidence=least, now=now, agent=agent)
    ]
    approved = () if is_for_subagent else told.checklist(state)
    listed = {one.id for one in approved}
    rest = [one for one in found if one.id not in listed]
    # of thousands only the first are looked at
    shown = tuple(islice(filter(is_lasting, rest), MOST))
    shown = tuple(sorted(shown, key=lambda one: not is_borne_out(one)))
    return shown, len(rest) - len(shown), approved[:MOST]
