"""`recall`: the project's learnings about some words, a file or a task, best first (design 7 and 8)."""

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.core.errors import UsageError
from roamkb.core.json_form import Counts
from roamkb.core.json_form import OrNull
from roamkb.core.json_form import Share
from roamkb.core.model import Hit
from roamkb.core.request import AgentOption
from roamkb.core.request import AsOfOption
from roamkb.core.request import SessionOption
from roamkb.core.request import count_option
from roamkb.core.request import flag_option
from roamkb.core.request import remaining_arguments
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.timestamps import parse_timestamp
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import narrow_query
from roamkb.log import known_learnings
from roamkb.log.learning import Learning
from roamkb.log.recall_ranking import RecalledLearning
from roamkb.log.recall_ranking import RecallFilter
from roamkb.log.recall_ranking import best_recalled
from roamkb.log.recall_ranking import collapse_repetitions
from roamkb.log.recall_ranking import preference_reason
from roamkb.log.recall_ranking import rank_recalled
from roamkb.log.recall_ranking import weighted_score
from roamkb.log.state.confidence import start_confidence
from roamkb.log.state.learning_state import SCOPES
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store import index as log_index
from roamkb.log.store.project_log import Log
from roamkb.org import agent_node

#: How many are shown where nobody says.
DEFAULT_LIMIT = 20
#: So many are looked at for each that is shown: some are repetitions, or not wanted.
_CANDIDATES_EACH = 2
#: Candidates that a trace lists, and why some of them aren't shown.
_MOST_TRACED = 50
_OVER_LIMIT = "over the limit"
_REPEATED = "says what another one says"
_FILTERED = "left out by a filter"
#: Never fewer, so that pages are cut from the same answers.
_LEAST_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """Parameters of `recall`."""

    words: Sequence[str] | str = remaining_arguments("Words, as for search.", metavar="WORDS...")
    _: KW_ONLY
    type: str | None = text_option("--type", "Only learnings of this type.", metavar="T", values="types")
    kb: bool = flag_option("--kb", "The knowledge base as well.")
    all: bool = flag_option("--all", "What a curator archived as well.")
    recent: int | None = count_option("--recent", "The latest N instead of the best.")
    stats: bool = flag_option("--stats", "How much there is, by type and tag.")
    topic: str | None = text_option("--topic", "Only learnings of this task or bead.", metavar="ID", values="tasks")
    file: str | None = text_option("--file", "Only learnings that concern this file.", metavar="PATH", values="files")
    action: str | None = text_option("--action", "Only learnings for this action.", metavar="A")
    tags: Sequence[str] = repeatable_option(
        "--tag", "Only learnings with this tag (again for more).", metavar="T", values="tags"
    )
    scope: str | None = text_option(
        "--scope", "Only learnings of this scope: session, agent, task, project.", metavar="S", values=SCOPES
    )
    min_confidence: str | None = text_option(
        "--min-confidence", "Only learnings at least so sure, 0.00 to 1.00.", metavar="C"
    )
    limit: int | None = count_option("--limit", "At most so many (20).")
    offset: int | None = count_option("--offset", "Leave out the first so many.")
    id: str | None = text_option("--id", "The whole of one learning, by key or id.", metavar="KEY", values="keys")
    as_of: AsOfOption = None
    raw: bool = flag_option("--raw", "The log's own lines.")
    framed: bool = flag_option("--framed", "In the frame that marks it as data for a prompt.")
    trace: bool = flag_option(
        "--trace", "The best 50 candidates instead, each with its signals and why it isn't shown."
    )
    agent: AgentOption = None
    session: SessionOption = None
    task: str | None = text_option("--task", "The task that it is for.", metavar="ID", values="tasks")


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedLearning:
    """A candidate of a recall with all that decided about it."""

    JSON = "standing.id standing.learning.key score match confidence standing.status preferred doubts dropped"
    standing: LearningState
    #: The match of the words, as a share of the best; and what becomes of it by the learning's state.
    match: Share
    score: Share
    #: As it enters the rank, after the time without use; 0 to 1.
    confidence: float
    #: Whether the agent prefers it.
    preferred: bool
    doubts: tuple[str, ...]
    #: Why it isn't shown; null where it is.
    dropped: OrNull


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """The learnings that answer a query, best first."""

    JSON = "query learnings more from=sources trace?"
    query: str
    learnings: tuple[RecalledLearning, ...]
    #: How many there are beyond those.
    more: int
    #: Where they come from: "log", "kb".
    sources: tuple[str, ...]
    #: How many were asked for.
    limit: int = DEFAULT_LIMIT
    #: Whether the whole text was asked for, not only its beginning.
    in_full: bool = False
    #: "plain", "raw" (the log's own lines) or "framed" (for a prompt).
    form: str = "plain"
    #: The type that was asked for and that no learning has.
    unknown_type: str = ""
    #: The candidates, the best match first; None where nobody asked for them.
    trace: tuple[TracedLearning, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPage:
    """The part of the answers to show."""

    limit: int = DEFAULT_LIMIT
    offset: int = 0
    #: The latest instead of the best.
    by_time: bool = False
    #: Whether the candidates are to be listed.
    is_traced: bool = False


def recall(
    state: LogState,
    finder: "log_index.LogIndex",
    query: Query,
    recall_filter: RecallFilter,
    page: RecallPage,
    *,
    agent: str = "",
    doubts_of: Callable[[LearningState], Mapping[str, str]],
    now: float,
) -> RecallResult:
    """Return the learnings that answer `query` and pass the filter, an agent's preferred ones first."""
    if page.limit < 1 or page.offset < 0:
        raise UsageError("--limit and --recent take a number from 1, --offset from 0")

    # a repetition may have brought the tag, which the index doesn't hear of
    recall_filter = replace(recall_filter, tags=recall_filter.tags + query.tags, without_tags=query.without_tags)
    query = replace(query, tags=(), without_tags=())

    def with_doubts(recalled: RecalledLearning) -> RecalledLearning:
        return replace(recalled, doubts=doubts_of(recalled.standing))

    end = page.offset + page.limit
    trace: tuple[TracedLearning, ...] | None = () if page.is_traced else None
    if not query.text.strip():
        everything = (entry for entry in state.standings.values() if recall_filter.is_match(entry))
        matches = collapse_repetitions(
            RecalledLearning(standing=entry, doubts=state.flags_in_force(entry)) for entry in everything
        )
        page_learnings = [with_doubts(entry) for entry in _latest_first(matches)[page.offset : end]]
    elif (narrow := _narrow_query(state, query, recall_filter)) is None:
        matches, page_learnings = [], []
    else:
        with finder.open_query(narrow) as index_query:
            matches = _matching_learnings(state, index_query, recall_filter, page)
            if query.is_empty or page.by_time:
                top_learnings = [with_doubts(entry) for entry in _latest_first(matches)[page.offset : end]]
            else:
                top_learnings = best_recalled(matches, end, now, agent=agent, with_doubts=with_doubts)[page.offset :]
            page_learnings = [
                replace(
                    entry,
                    why=(*index_query.match_reasons(entry.standing.id), *preference_reason(entry.standing, agent)),
                )
                for entry in top_learnings
            ]
            if page.is_traced:
                trace = tuple(_trace_candidates(state, index_query, recall_filter, matches, page_learnings, agent, now))
    return RecallResult(
        query=query.text,
        learnings=tuple(page_learnings),
        more=max(len(matches) - page.offset - len(page_learnings), 0),
        sources=("log",),
        limit=page.limit,
        trace=trace,
    )


def _trace_candidates(
    state: LogState,
    index_query: "log_index.LogIndexQuery",
    recall_filter: RecallFilter,
    matches: Sequence[RecalledLearning],
    shown: Sequence[RecalledLearning],
    agent: str,
    now: float,
) -> Iterator[TracedLearning]:
    """Yield the learnings that match best, also those that weren't shown."""
    shown_by_id = {entry.standing.id: entry for entry in shown}
    matched_ids = {entry.standing.id for entry in matches}
    for id, points in index_query.scored_ids(_MOST_TRACED):
        standing = state.standings.get(id)
        if standing is None:
            continue
        recalled = shown_by_id.get(id) or RecalledLearning(
            standing=standing, score=points, doubts=state.flags_in_force(standing)
        )
        is_wanted = recall_filter.is_match(standing)
        dropped = _OVER_LIMIT if id in matched_ids else _REPEATED if is_wanted else _FILTERED
        yield TracedLearning(
            standing=standing,
            match=points,
            score=weighted_score(recalled, now, agent=agent),
            confidence=standing.rank_confidence(now) / 100,
            preferred=agent in standing.preferred_by,
            doubts=tuple(recalled.doubts),
            dropped="" if id in shown_by_id else dropped,
        )


def _latest_first(matches: Sequence[RecalledLearning]) -> list[RecalledLearning]:
    return sorted(matches, key=lambda match: (match.standing.learning.ts, match.standing.id), reverse=True)


def join_nodes(log_result: RecallResult, nodes: Sequence[Hit], *, agent: str = "", now: float) -> RecallResult:
    """Return a result with the knowledge base's `nodes` in their places among the learnings."""
    everything = rank_recalled((*log_result.learnings, *map(_learning_of_node, nodes)), now, agent=agent)
    limited = everything[: log_result.limit]
    return replace(
        log_result,
        learnings=tuple(limited),
        more=log_result.more + len(everything) - len(limited),
        sources=(*log_result.sources, "kb"),
    )


def _learning_of_node(hit: Hit) -> RecalledLearning:
    """Return a node as a recalled learning, with its title as the statement."""
    is_agents = agent_node.AGENT_TAG in hit.tags
    learning = Learning(
        id=hit.id or str(hit.path),
        key=hit.title,
        type="node",
        content="\n".join(dict.fromkeys((hit.full_title, *(text for _, text in hit.lines)))),
        tags=hit.tags,
        ts=parse_timestamp(hit.date),
        provenance="observed" if is_agents else "user-stated",
    )
    standing = LearningState(
        learning=learning,
        confidence=start_confidence(None, learning.provenance),
        scope="kb",
        is_pinned=not is_agents,
        last_used=learning.ts,
    )
    return RecalledLearning(standing=standing, score=hit.score, why=hit.why, doubts={}, path=hit.path)


def _narrow_query(state: LogState, query: Query, recall_filter: RecallFilter) -> Query | None:
    """Return `query` limited to the learnings that pass the filter, so that this precedes its limit.

    None where nothing is.
    """
    if recall_filter.type:
        # the type is a tag of the index
        query = narrow_query(query, tags=(recall_filter.type,))
    if not recall_filter.is_selective or query.ids:
        return query
    chosen = tuple(id for id, standing in state.standings.items() if recall_filter.is_match(standing))
    if 2 * len(chosen) > len(state.standings) and not recall_filter.is_by_tags:
        return query
    return narrow_query(query, ids=chosen) if chosen else None


def _matching_learnings(
    state: LogState, index_query: "log_index.LogIndexQuery", recall_filter: RecallFilter, page: RecallPage
) -> list[RecalledLearning]:
    """Return the matches that pass the filter, without repetitions; of a large log only the best."""
    enough = max(_LEAST_CANDIDATES, (page.offset + page.limit) * _CANDIDATES_EACH)
    matches: list[RecalledLearning] = []
    # the latest of all that answers may be far from the best
    for limit in (None,) if page.by_time else (enough, 10 * enough, None):
        places = index_query.scored_ids(limit)
        matches = collapse_repetitions(
            RecalledLearning(standing=standing, score=points, doubts=state.flags_in_force(standing))
            for id, points in places
            if (standing := state.standings.get(id)) and recall_filter.is_match(standing)
        )
        if limit is None or len(places) < limit or len(matches) >= page.offset + page.limit:
            break
    return matches


def recall_by_name(log: Log, state: LogState, name: str) -> RecallResult:
    """Return the one learning with that id or key, in full."""
    standing = known_learnings.get_learning(log, state, name)
    recalled = RecalledLearning(standing=standing, doubts=state.flags_in_force(standing))
    return RecallResult(query=name, learnings=(recalled,), more=0, sources=("log",), in_full=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFigures:
    """The four figures of a log (document 003)."""

    active: int
    archived: int
    by_type: Counts
    #: The most frequent first, types left out.
    top_tags: Counts


_TOP_TAGS = 15


def log_figures(state: LogState) -> LogFigures:
    """Return the number of learnings in the log, by type and tag."""
    standings = state.standings.values()
    types = Counter(standing.learning.canonical_type for standing in standings)
    tags = Counter(
        tag for standing in standings for tag in standing.learning.tags if tag != standing.learning.canonical_type
    )
    archived = sum(standing.is_archived for standing in standings)
    return LogFigures(
        active=len(standings) - archived,
        archived=archived,
        by_type=tuple(types.most_common()),
        top_tags=tuple(tags.most_common(_TOP_TAGS)),
    )
