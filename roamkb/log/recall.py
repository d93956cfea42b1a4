"""`recall`: what the project's log knows about some words, a file or a task, best first (design 7 and 8)."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.core.errors import UsageError
from roamkb.core.json_form import Counts
from roamkb.core.model import Hit
from roamkb.core.request import AgentOption
from roamkb.core.request import AsOfOption
from roamkb.core.request import SessionOption
from roamkb.core.request import count
from roamkb.core.request import option
from roamkb.core.request import options
from roamkb.core.request import rest
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.timestamps import seconds
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import narrowed
from roamkb.log.known_learnings import LearningLookup
from roamkb.log.known_learnings import LearningMatches
from roamkb.log.known_learnings import called
from roamkb.log.learning import Learning
from roamkb.log.recall_ranking import RecalledLearning
from roamkb.log.recall_ranking import RecallFilter
from roamkb.log.recall_ranking import best
from roamkb.log.recall_ranking import collapsed
from roamkb.log.recall_ranking import ordered
from roamkb.log.recall_ranking import preference
from roamkb.log.state.confidence import started
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.org.agent_node import AGENT_TAG

#: How many are shown where nobody says.
DEFAULT = 20
#: So many are looked at for each that is shown: some are repetitions, or not wanted.
_LOOKED_AT = 2
#: Never fewer, so that pages are cut from the same answers.
_POOL = 100


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What `recall` takes."""

    words: Sequence[str] | str = rest("Words, as for search.", metavar="WORDS...")
    _: KW_ONLY
    type: str | None = option("--type", "Only learnings of this type.", metavar="T")
    kb: bool = switch("--kb", "The knowledge base as well.")
    all: bool = switch("--all", "The archive as well.")
    recent: int | None = count("--recent", "The latest N instead of the best.")
    stats: bool = switch("--stats", "How much there is, by type and tag.")
    topic: str | None = option("--topic", "Only learnings of this task or bead.", metavar="ID")
    file: str | None = option("--file", "Only learnings that concern this file.", metavar="PATH")
    action: str | None = option("--action", "Only learnings for this action.", metavar="A")
    tags: Sequence[str] = options("--tag", "Only learnings with this tag (again for more).", metavar="T")
    scope: str | None = option(
        "--scope", "Only learnings of this scope: session, agent, task, project.", metavar="S"
    )
    min_confidence: str | None = option(
        "--min-confidence", "Only learnings at least so sure, 0.00 to 1.00.", metavar="C"
    )
    limit: int | None = count("--limit", "At most so many (20).")
    offset: int | None = count("--offset", "Leave out the first so many.")
    id: str | None = option("--id", "The whole of one learning, by key or id.", metavar="KEY")
    as_of: AsOfOption = None
    raw: bool = switch("--raw", "The log's own lines.")
    framed: bool = switch("--framed", "In the frame that marks it as data for a prompt.")
    agent: AgentOption = None
    session: SessionOption = None
    task: str | None = option("--task", "The task that it is for.", metavar="ID")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """What answers, best first."""

    JSON = "query learnings more from=sources"
    query: str
    learnings: tuple[RecalledLearning, ...]
    #: How many there are beyond those.
    more: int
    #: Where they come from: "log", "kb".
    sources: tuple[str, ...]
    #: How many were asked for.
    limit: int = DEFAULT
    #: Whether the whole text was asked for, not only its beginning.
    in_full: bool = False
    #: "plain", "raw" (the log's own lines) or "framed" (for a prompt).
    form: str = "plain"
    #: The type that was asked for and that no learning has.
    unknown_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPage:
    """Which of the answers to show."""

    limit: int = DEFAULT
    offset: int = 0
    #: The latest instead of the best.
    by_time: bool = False


def recall(
    state: LogState,
    finder: LearningLookup,
    query: Query,
    wanted: RecallFilter,
    page: RecallPage,
    *,
    agent: str = "",
    doubts_of: Callable[[LearningState], Mapping[str, str]],
    now: float,
) -> RecallResult:
    """Return the learnings that answer `query` and are `wanted`; what `agent` prefers before its equals."""
    if page.limit < 1 or page.offset < 0:
        raise UsageError("--limit and --recent take a number from 1, --offset from 0")

    # a repetition may have brought the tag, which the index doesn't hear of
    wanted = replace(wanted, tags=wanted.tags + query.tags, without_tags=query.without_tags)
    query = replace(query, tags=(), without_tags=())

    def doubted(one: RecalledLearning) -> RecalledLearning:
        return replace(one, doubts=doubts_of(one.standing))

    end = page.offset + page.limit
    if not query.text.strip():
        everything = (one for one in state.standings.values() if wanted.lets_through(one))
        kept = collapsed(RecalledLearning(standing=one, doubts=one.flags) for one in everything)
        shown = [doubted(one) for one in _latest(kept)[page.offset : end]]
    elif (narrow := _narrowed(state, query, wanted)) is None:
        kept, shown = [], []
    else:
        with finder.asking(narrow) as asked:
            kept = _found(state, asked, wanted, page)
            if query.is_empty or page.by_time:
                first = [doubted(one) for one in _latest(kept)[page.offset : end]]
            else:
                first = best(kept, end, now, agent=agent, doubted=doubted)[page.offset :]
            shown = [
                replace(one, why=(*asked.why(one.standing.id), *preference(one.standing, agent)))
                for one in first
            ]
    return RecallResult(
        query=query.text,
        learnings=tuple(shown),
        more=max(len(kept) - page.offset - len(shown), 0),
        sources=("log",),
        limit=page.limit,
    )


def _latest(kept: Sequence[RecalledLearning]) -> list[RecalledLearning]:
    return sorted(kept, key=lambda one: (one.standing.learning.ts, one.standing.id), reverse=True)


def joined(found: RecallResult, nodes: Sequence[Hit], *, agent: str = "", now: float) -> RecallResult:
    """Return what was found with the knowledge base's `nodes` in their places among the learnings."""
    everything = ordered((*found.learnings, *map(_from_node, nodes)), now, agent=agent)
    kept = everything[: found.limit]
    return replace(
        found,
        learnings=tuple(kept),
        more=found.more + len(everything) - len(kept),
        sources=(*found.sources, "kb"),
    )


def _from_node(hit: Hit) -> RecalledLearning:
    """Return a node as what a recall shows: its title is what it says."""
    is_agents = AGENT_TAG in hit.tags
    learning = Learning(
        id=hit.id or str(hit.path),
        key=hit.title,
        type="node",
        content="\n".join(dict.fromkeys((hit.title, *(text for _, text in hit.lines)))),
        tags=hit.tags,
        ts=seconds(hit.date),
        provenance="observed" if is_agents else "user-stated",
    )
    standing = LearningState(
        learning=learning,
        confidence=started(None, learning.provenance),
        scope="kb",
        is_pinned=not is_agents,
        last_used=learning.ts,
    )
    return RecalledLearning(standing=standing, score=hit.score, why=hit.why, doubts={}, path=hit.path)


def _narrowed(state: LogState, query: Query, wanted: RecallFilter) -> Query | None:
    """Return `query` for an index that knows what is wanted, so that this comes before its limit.

    None where nothing is.
    """
    if wanted.type:
        # the type is a tag of the index
        query = narrowed(query, tags=(wanted.type,))
    if not wanted.is_choosy or query.ids:
        return query
    chosen = tuple(id for id, one in state.standings.items() if wanted.lets_through(one))
    if 2 * len(chosen) > len(state.standings) and not wanted.is_by_tags:
        return query
    return narrowed(query, ids=chosen) if chosen else None


def _found(
    state: LogState, asked: LearningMatches, wanted: RecallFilter, page: RecallPage
) -> list[RecalledLearning]:
    """Return what answers and is wanted, each thing once; of a large log only what may be shown."""
    enough = max(_POOL, (page.offset + page.limit) * _LOOKED_AT)
    kept: list[RecalledLearning] = []
    # the latest of all that answers may be far from the best
    for limit in (None,) if page.by_time else (enough, 10 * enough, None):
        places = asked.places(limit)
        kept = collapsed(
            RecalledLearning(standing=standing, score=points, doubts=standing.flags)
            for id, points in places
            if (standing := state.standings.get(id)) and wanted.lets_through(standing)
        )
        if limit is None or len(places) < limit or len(kept) >= page.offset + page.limit:
            break
    return kept


def recall_one(log: Log, state: LogState, name: str) -> RecallResult:
    """Return the one learning with that id or key, in full."""
    standing = called(log, state, name)
    found = RecalledLearning(standing=standing, doubts=standing.flags)
    return RecallResult(query=name, learnings=(found,), more=0, sources=("log",), in_full=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFigures:
    """The four figures of a log (document 003)."""

    active: int
    archived: int
    by_type: Counts
    #: The most frequent first, types left out.
    top_tags: Counts


_TOP_TAGS = 15


def figures(state: LogState) -> LogFigures:
    """Return how much the log holds, and of what."""
    from collections import Counter

    standings = state.standings.values()
    types = Counter(one.learning.canonical_type for one in standings)
    tags = Counter(
        tag for one in standings for tag in one.learning.tags if tag != one.learning.canonical_type
    )
    archived = sum(one.is_archived for one in standings)
    return LogFigures(
        active=len(standings) - archived,
        archived=archived,
        by_type=tuple(types.most_common()),
        top_tags=tuple(tags.most_common(_TOP_TAGS)),
    )
