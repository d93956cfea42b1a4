"""`relevant`: learnings, nodes and earlier tasks that help with a task."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated

from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.model import Hit
from roamkb.core.request import AgentOption
from roamkb.core.request import AsOfOption
from roamkb.core.request import SessionOption
from roamkb.core.request import count_option
from roamkb.core.request import flag_option
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.search.query import Query
from roamkb.log.known_learnings import scores_by_id
from roamkb.log.state.learning_state import ARCHIVED
from roamkb.log.state.learning_state import LogState
from roamkb.log.store import index as log_index
from roamkb.tasks.relevance_score import RelevantLearning
from roamkb.tasks.relevance_score import candidate_learnings
from roamkb.tasks.relevance_score import rank_relevant
from roamkb.tasks.relevance_score import score_relevance
from roamkb.tasks.signature import TaskRecord
from roamkb.tasks.signature import rounded_likenesses
from roamkb.tasks.signature import similar_tasks

#: How many are shown where nobody says.
DEFAULT_LIMIT = 20
#: Learnings whose words are looked at; more than anybody reads.
_MOST_BY_WORDS = 200


@dataclass(frozen=True, slots=True)
class RelevantRequest:
    """Parameters of `relevant`."""

    _: KW_ONLY
    task: str | None = text_option("--task", "A task that was started.", metavar="ID", values="tasks")
    title: str | None = text_option("--title", "What is to be done.", metavar="TEXT")
    files: Sequence[str] = repeatable_option(
        "--file", "Files that it touches, in gitignore syntax.", metavar="GLOB", values="files"
    )
    category: str | None = text_option("--category", "What kind of work it is.", metavar="C")
    actions: Sequence[str] = repeatable_option("--action", "What is done there: CREATE, UPDATE…", metavar="A")
    min_confidence: str | None = text_option("--min-confidence", "Only learnings at least so sure (0.5).", metavar="C")
    limit: int | None = count_option("--limit", "At most so many (20).")
    offset: int | None = count_option("--offset", "Leave out the first so many.")
    kb: bool = flag_option("--kb", "Nodes of the knowledge base as well.")
    as_of: AsOfOption = None
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantFound:
    """The learnings, nodes and tasks that help with a task, best first."""

    JSON = "task=task.id entries=learnings count similar nodes"
    task: TaskRecord
    learnings: tuple[RelevantLearning, ...]
    #: How many there are in all.
    count: int
    similar: Annotated[
        tuple[tuple[TaskRecord, float], ...],
        rounded_likenesses,
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
    finder: "log_index.LogIndex",
    task: TaskRecord,
    query: RelevantQuery,
    *,
    tasks: Mapping[str, TaskRecord],
    now: float,
) -> RelevantFound:
    """Return the learnings that fit `task` and answer `query`, and the tasks like it among `tasks`."""
    alike_tasks = similar_tasks(task, tasks)
    seen_tasks = {other_task.id: degree for other_task, degree in alike_tasks} | {task.id: 1.0}
    seen_tasks.pop("", None)
    words = scores_by_id(finder, query.words, limit=_MOST_BY_WORDS) if query.words.text.strip() else {}
    fitting = [
        fits
        for standing in candidate_learnings(
            state, words=words, files=task.files, seen_tasks=seen_tasks, actions=query.actions
        )
        if standing.confidence >= query.least_confidence
        and standing.status != ARCHIVED
        and (
            fits := score_relevance(
                standing,
                task,
                actions=query.actions,
                words=words.get(standing.id, 0.0),
                seen_tasks=seen_tasks,
                agent=query.agent,
            )
        )
    ]
    ranked = rank_relevant(fitting, now)
    return RelevantFound(
        task=task,
        learnings=tuple(ranked[query.offset : query.offset + query.limit]),
        count=len(ranked),
        similar=tuple(alike_tasks),
    )
