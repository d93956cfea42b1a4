"""`recall`: what the project's log knows about some words, a file or a task, best first (design 7 and 8)."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from roamkb.actions.known import Finder
from roamkb.actions.known import called
from roamkb.core.confidence import started
from roamkb.core.errors import UsageError
from roamkb.core.learning import Learning
from roamkb.core.ledger import Standing
from roamkb.core.ledger import State
from roamkb.core.model import Hit
from roamkb.core.passages import AGENT_TAG
from roamkb.core.query import Query
from roamkb.core.query import narrowed
from roamkb.core.recollection import Recollected
from roamkb.core.recollection import Wanted
from roamkb.core.recollection import collapsed
from roamkb.core.recollection import ordered
from roamkb.formats.events import seconds
from roamkb.storage.log import Log

#: How many are shown where nobody says.
DEFAULT = 20
#: So many are looked at for each that is shown: some are repetitions, or not wanted.
_LOOKED_AT = 2
#: Never fewer, so that pages are cut from the same answers.
_POOL = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What answers, best first."""

    query: str
    learnings: tuple[Recollected, ...]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which of the answers to show."""

    limit: int = DEFAULT
    offset: int = 0
    #: The latest instead of the best.
    by_time: bool = False


def recall(
    state: State,
    finder: Finder,
    query: Query,
    wanted: Wanted,
    page: Page,
    *,
    doubts_of: Callable[[Standing], Mapping[str, str]],
    now: float,
) -> Recall:
    """Return the learnings that answer `query` and are `wanted`."""
    if page.limit < 1 or page.offset < 0:
        raise UsageError("--limit and --recent take a number from 1, --offset from 0")
    found = list(_found(state, finder, query, wanted, page))
    kept = collapsed(found)
    if query.is_empty or page.by_time:
        kept.sort(key=lambda one: (one.standing.learning.ts, one.standing.id), reverse=True)
    else:
        looked_at = [_doubted(one, doubts_of) for one in kept]
        kept = ordered(looked_at, now)
    shown = kept[page.offset : page.offset + page.limit]
    if query.is_empty or page.by_time:
        shown = [_doubted(one, doubts_of) for one in shown]
    return Recall(
        query=query.text,
        learnings=tuple(shown),
        more=max(len(kept) - page.offset - len(shown), 0),
        sources=("log",),
        limit=page.limit,
    )


def joined(found: Recall, nodes: Sequence[Hit], *, now: float) -> Recall:
    """Return what was found with the knowledge base's `nodes` in their places among the learnings."""
    everything = ordered((*found.learnings, *map(_from_node, nodes)), now)
    kept = everything[: found.limit]
    return replace(
        found,
        learnings=tuple(kept),
        more=found.more + len(everything) - len(kept),
        sources=(*found.sources, "kb"),
    )


def _from_node(hit: Hit) -> Recollected:
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
    standing = Standing(
        learning=learning,
        confidence=started(None, learning.provenance),
        scope="kb",
        is_pinned=not is_agents,
        last_used=learning.ts,
    )
    return Recollected(standing=standing, score=hit.score, why=hit.why, doubts={}, path=hit.path)


def _doubted(found: Recollected, doubts_of: Callable[[Standing], Mapping[str, str]]) -> Recollected:
    return Recollected(
        standing=found.standing, score=found.score, why=found.why, doubts=doubts_of(found.standing)
    )


def _found(state: State, finder: Finder, query: Query, wanted: Wanted, page: Page) -> Sequence[Recollected]:
    """Return what answers and is wanted; of a large log only what may be shown."""
    if not query.text.strip():
        everything = (one for one in state.standings.values() if wanted.lets_through(one))
        return [Recollected(standing=one, doubts=one.flags) for one in everything]
    if wanted.type:
        # the type is a tag of the index, so that the filter comes before the limit
        query = narrowed(query, tags=(wanted.type,))
    enough = max(_POOL, (page.offset + page.limit) * _LOOKED_AT)
    # the latest of all that answers may be far from the best
    for limit in (None,) if page.by_time else (enough, 10 * enough, None):
        answers = finder.find(query, limit=limit)
        found = []
        for answer in answers:
            standing = state.standings.get(answer.file)
            if standing and wanted.lets_through(standing):
                found.append(
                    Recollected(standing=standing, score=answer.score, why=answer.why, doubts=standing.flags)
                )
        if limit is None or len(answers) < limit or len(collapsed(found)) >= page.offset + page.limit:
            break
    return found


def recall_one(log: Log, state: State, name: str) -> Recall:
    """Return the one learning with that id or key, in full."""
    standing = called(log, state, name)
    found = Recollected(standing=standing, doubts=standing.flags)
    return Recall(query=name, learnings=(found,), more=0, sources=("log",), in_full=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFigures:
    """The four figures of a log (document 003)."""

    active: int
    archived: int
    by_type: tuple[tuple[str, int], ...]
    #: The most frequent first, types left out.
    top_tags: tuple[tuple[str, int], ...]


_TOP_TAGS = 15


def figures(state: State) -> LogFigures:
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
