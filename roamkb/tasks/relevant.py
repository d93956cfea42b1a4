"""`relevant`: what the log, the knowledge base and earlier tasks know that helps with this one."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated

from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.model import Hit
from roamkb.core.request import AgentOption
from roamkb.core.request import AsOfOption
from roamkb.core.request import SessionOption
from roamkb.core.request import count
from roamkb.core.request import option
from roamkb.core.request import options
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.search.query import Query
from roamkb.log.known_learnings import LearningLookup
from roamkb.log.known_learnings import scores
from roamkb.log.state.learning_state import LogState
from roamkb.tasks.relevance_score import RelevantLearning
from roamkb.tasks.relevance_score import may_fit
from roamkb.tasks.relevance_score import ordered
from roamkb.tasks.relevance_score import relevance
from roamkb.tasks.signature import TaskRecord
from roamkb.tasks.signature import likenesses
from roamkb.tasks.signature import similar

#: How many are shown where nobody says.
DEFAULT = 20
#: Learnings whose words are looked at; more than anybody reads.
_BY_WORDS = 200


@dataclass(frozen=True, slots=True)
class RelevantRequest:
    """What `relevant` takes."""

    _: KW_ONLY
    task: str | None = option("--task", "A task that was started.", metavar="ID")
    title: str | None = option("--title", "What is to be done.", metavar="TEXT")
    files: Sequence[str] = options("--file", "Files that it touches, in gitignore syntax.", metavar="GLOB")
    category: str | None = option("--category", "What kind of work it is.", metavar="C")
    actions: Sequence[str] = options("--action", "What is done there: CREATE, UPDATE…", metavar="A")
    min_confidence: str | None = option(
        "--min-confidence", "Only learnings at least so sure (0.5).", metavar="C"
    )
    limit: int | None = count("--limit", "At most so many (20).")
    offset: int | None = count("--offset", "Leave out the first so many.")
    kb: bool = switch("--kb", "Nodes of the knowledge base as well.")
    as_of: AsOfOption = None
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantFound:
    """What helps with a task, best first."""

    JSON = "task=task.id entries=learnings count similar nodes"
    task: TaskRecord
    learnings: tuple[RelevantLearning, ...]
    #: How many there are in all.
    count: int
    similar: Annotated[
        tuple[tuple[TaskRecord, float], ...],
        likenesses,
        Rows("task likeness"),
        Keys("task.id task.title likeness"),
    ]
    nodes: Annotated[tuple[Hit, ...], Keys("id title path")] = ()
    #: Whether the task that was named was ever started here; True where none was named.
    is_known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantQuery:
    """What is asked of `relevant`, beside the task itself."""

    #: The task's words.
    words: Query
    actions: Sequence[str] = ()
    #: What it prefers comes before its equals.
    agent: str = ""
    #: In hundredths.
    least_confidence: int
    limit: int
    offset: int = 0


def relevant(
    state: LogState,
    finder: LearningLookup,
    task: TaskRecord,
    query: RelevantQuery,
    *,
    tasks: Mapping[str, TaskRecord],
    now: float,
) -> RelevantFound:
    """Return the learnings that fit `task` among all `tasks`; `now` is in seconds since 1970."""
    alike = similar(task, tasks)
    seen = {other.id: how for other, how in alike} | {task.id: 1.0}
    seen.pop("", None)
    words = scores(finder, query.words, limit=_BY_WORDS) if query.words.text.strip() else {}
    found = [
        fits
        for standing in may_fit(state, words=words, seen=seen, actions=query.actions)
        if standing.confidence >= query.least_confidence
        and not standing.is_archived
        and (
            fits := relevance(
                standing,
                task,
                actions=query.actions,
                words=words.get(standing.id, 0.0),
                seen=seen,
                agent=query.agent,
            )
        )
    ]
    kept = ordered(found, now)
    return RelevantFound(
        task=task,
        learnings=tuple(kept[query.offset : query.offset + query.limit]),
        count=len(kept),
        similar=tuple(alike),
    )
