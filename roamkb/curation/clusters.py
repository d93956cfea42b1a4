"""Clusters of learnings that one review decision settles, with the events that it would append.

A keeper stands for its exact, normalised and near duplicates and for what it replaced
already; what contradicts, and what names only files that are gone, wants a look. A human
who has decided about a learning isn't asked again (document 003, "Shared curation").
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from itertools import chain
from typing import Annotated
from typing import Final

from roamkb.core.json_form import Keys
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.log.new_learning import MOST_LEARNING_BYTES
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import RIVALS_FIELD
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import is_settled
from roamkb.pipeline.consolidation_plan import contradicting_pairs
from roamkb.pipeline.consolidation_plan import group_duplicates
from roamkb.pipeline.gate.noise import noise_of
from roamkb.text.similarity.duplicates import join_pairs

DUPLICATES: Final = "duplicates"
REPLACED: Final = "replaced"
CONTRADICTION: Final = "contradiction"
STALE: Final = "stale"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEvent:
    """An event that would be appended, without the fields that depend on its author."""

    event: str
    of: str
    fields: Mapping[str, object] = field(default_factory=dict)


_BRIEF_KEYS: Final = Keys("id learning.key learning.type learning.content confidence status")


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationCluster:
    """Learnings that one decision settles."""

    JSON = "number kind because keeper others"
    #: From 1, in the order of the proposal.
    number: int
    #: `DUPLICATES`, `REPLACED`, `CONTRADICTION` or `STALE`.
    kind: str
    #: What would be canonical; None where that is for the reviewer to find out.
    keeper: Annotated[LearningState | None, _BRIEF_KEYS]
    others: Annotated[tuple[LearningState, ...], _BRIEF_KEYS]
    because: str
    changes: tuple[PlannedEvent, ...]


def find_clusters(state: LogState, missing: Mapping[str, Sequence[str]]) -> list[CurationCluster]:
    """Return the clusters that a review could settle in a log in this state.

    `missing` has the files that are gone, by the id of a learning that names no others.
    """
    current_standings = [standing for standing in comparable_standings(state) if standing.status != SUPERSEDED]
    # the history of each is read once somebody looks into it
    reviewed_ids = {event.of for event in state.events_named("curated")}
    reviewed_ids.update(standing.id for standing in state.learnings_with("status", CANONICAL, NEEDS_REVIEW))
    rivals_by_id = _undecided_rivals(
        state, reviewed_ids, ((standing.id, rival.id) for standing, rival in contradicting_pairs(current_standings))
    )
    rivals = _group_rivals(state, rivals_by_id)
    unsettled = rivals_by_id.keys()
    parts = [
        *_find_keepers(state, [standing for standing in current_standings if standing.id not in unsettled]),
        *(_review_parts(CONTRADICTION, group, MAY_CONTRADICT, reviewed_ids, rivals_by_id) for group in rivals),
        *(
            _review_parts(STALE, [standing], f"missing_file_anchor: {', '.join(missing[standing.id])}", reviewed_ids)
            for standing in current_standings
            if standing.id in missing and standing.id not in unsettled and standing.id not in reviewed_ids
        ),
    ]
    merged_ids = {rival.id for cluster in parts if cluster[0] == DUPLICATES for rival in cluster[2]}
    parts = [standing for standing in parts if standing[0] != STALE or standing[2][0].id not in merged_ids]
    return [
        CurationCluster(number=number, kind=kind, keeper=keeper, others=tuple(others), because=because, changes=changes)
        for number, (kind, keeper, others, because, changes) in enumerate(parts, start=1)
    ]


def comparable_standings(state: LogState) -> list[LearningState]:
    """Return the learnings without those that are longer than any that roamkb writes: to compare them takes minutes."""
    return [standing for standing in state.standings.values() if len(standing.learning.content) <= MOST_LEARNING_BYTES]


_NO_RIVALS: Final[Mapping[str, Set[str]]] = {}
_ClusterParts = tuple[str, LearningState | None, list[LearningState], str, tuple[PlannedEvent, ...]]


def _undecided_rivals(
    state: LogState, reviewed_ids: Set[str], pairs: Iterable[tuple[str, str]]
) -> Mapping[str, Set[str]]:
    """Return the learnings that may contradict others and aren't decided yet, each with those others, by id."""
    flagged = ((standing.id, standing.flags.get(MAY_CONTRADICT, "")) for standing in state.standings.values())
    rivals_by_id: dict[str, set[str]] = {}
    for id, rival_id in chain(pairs, flagged):
        standings = [state.standings[one] for one in (id, rival_id) if one in state.standings]
        if len(standings) == 2 and not any(map(is_settled, standings)) and not {id, rival_id} <= reviewed_ids:
            rivals_by_id.setdefault(id, set()).add(rival_id)
            rivals_by_id.setdefault(rival_id, set()).add(id)
    return rivals_by_id


def _group_rivals(state: LogState, rivals_by_id: Mapping[str, Set[str]]) -> list[list[LearningState]]:
    """Return groups of learnings of which each may contradict one of its group."""
    groups = join_pairs((id, rival_id) for id, rival_ids in rivals_by_id.items() for rival_id in sorted(rival_ids))
    return [sorted((state.standings[id] for id in group), key=_age_rank) for group in sorted(map(sorted, groups))]


def _find_keepers(state: LogState, standings: Sequence[LearningState]) -> Iterator[_ClusterParts]:
    """Yield each learning that should stand for others: the surest, and the newest of those."""
    replaced: dict[str, list[LearningState]] = {}
    for superseded in state.standings.values():
        successor = _find_successor(state, superseded) if superseded.status == SUPERSEDED else None
        if successor and not {superseded.id, superseded.learning.key} & {*successor.merged_from, *successor.supersedes}:
            replaced.setdefault(successor.id, []).append(superseded)
    group_of_id = {group_member.id: group for group in group_duplicates(standings) for group_member in group}
    taken_ids: set[str] = set()
    candidates = (standing for standing in standings if standing.id in group_of_id or standing.id in replaced)
    for keeper in sorted(candidates, key=_keeping_rank, reverse=True):
        if keeper.id in taken_ids:
            continue
        others = sorted(
            (group_member for group_member in group_of_id.get(keeper.id, ()) if group_member is not keeper),
            key=_age_rank,
        )
        replaced_before = replaced.get(keeper.id, [])
        taken_ids |= {keeper.id, *(group_member.id for group_member in others)}
        yield (
            DUPLICATES if others else REPLACED,
            keeper,
            [*others, *replaced_before],
            "says the same" if others else "replaced already",
            tuple(_keeping_events(keeper, others, replaced_before)),
        )


def _keeping_events(
    keeper: LearningState, others: Sequence[LearningState], superseded: Sequence[LearningState]
) -> Iterator[PlannedEvent]:
    merged = [merged_standing.id for merged_standing in (*others, *superseded)]
    keys = list(dict.fromkeys(merged_standing.learning.key for merged_standing in (*others, *superseded)))
    yield PlannedEvent(
        event="curated",
        of=keeper.id,
        fields={"status": CANONICAL, "merged_from": merged, "supersedes": keys},
    )
    for merged_standing in others:
        fields = {"by_which": keeper.id, "superseded_by": keeper.learning.key}
        yield PlannedEvent(event="superseded", of=merged_standing.id, fields=fields)


def _review_parts(
    kind: str,
    group: Sequence[LearningState],
    because: str,
    reviewed_ids: Set[str],
    rivals_by_id: Mapping[str, Set[str]] = _NO_RIVALS,
) -> _ClusterParts:
    changes = tuple(
        PlannedEvent(
            event="curated",
            of=standing.id,
            fields={
                "status": NEEDS_REVIEW,
                "because": because,
                **({RIVALS_FIELD: sorted(rivals_by_id[standing.id])} if standing.id in rivals_by_id else {}),
            },
        )
        for standing in group
        if standing.id not in reviewed_ids
    )
    return kind, None, list(group), because, changes


def _find_successor(state: LogState, replaced: LearningState) -> LearningState | None:
    """Return the present successor of a replaced learning; None where it is ambiguous."""
    seen_ids = {replaced.id}
    while replaced.status == SUPERSEDED:
        successors = state.learnings_called(replaced.superseded_by) if replaced.superseded_by else []
        if len(successors) != 1 or successors[0].id in seen_ids:
            return None
        replaced = successors[0]
        seen_ids.add(replaced.id)
    return replaced


def _keeping_rank(standing: LearningState) -> tuple[bool, bool, int, float, str]:
    learning = standing.learning
    return (
        standing.status == CANONICAL,
        not noise_of(learning.content),
        standing.confidence,
        learning.ts,
        standing.id,
    )


def _age_rank(standing: LearningState) -> tuple[float, str]:
    return standing.learning.ts, standing.id
