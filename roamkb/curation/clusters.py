"""Which learnings a review could settle, and the events that would: clusters of what belongs together.

A keeper stands for its exact, normalised and near duplicates and for what it replaced
already; what contradicts, and what names only files that are gone, wants a look. A human
who has decided about a learning isn't asked again (document 003, "Shared curation").
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated
from typing import Final

from roamkb.core.json_form import Keys
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.pipeline.consolidation_plan import alike
from roamkb.pipeline.consolidation_plan import opposed
from roamkb.pipeline.gate.noise import noise_of
from roamkb.text.similarity.duplicates import united

DUPLICATES: Final = "duplicates"
REPLACED: Final = "replaced"
CONTRADICTION: Final = "contradiction"
STALE: Final = "stale"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEvent:
    """One event that would be appended, as far as it doesn't depend on who appends it."""

    event: str
    of: str
    fields: Mapping[str, object] = field(default_factory=dict)


_BRIEFLY: Final = Keys("id learning.key learning.type learning.content confidence status")


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationCluster:
    """Learnings that one decision is about."""

    JSON = "number kind because keeper others"
    #: From 1, in the order of the proposal.
    number: int
    #: `DUPLICATES`, `REPLACED`, `CONTRADICTION` or `STALE`.
    kind: str
    #: What would be canonical; None where that is for the reviewer to find out.
    keeper: Annotated[LearningState | None, _BRIEFLY]
    others: Annotated[tuple[LearningState, ...], _BRIEFLY]
    because: str
    changes: tuple[PlannedEvent, ...]


def clusters(state: LogState, missing: Mapping[str, Sequence[str]]) -> list[CurationCluster]:
    """Return what a review could settle in a log that stands at `state`.

    `missing` has the files that are gone, by the id of a learning that names no others.
    """
    standing_now = [one for one in state.standings.values() if one.status != SUPERSEDED]
    rivals = _opposed(state, ((one.id, other.id) for one, other in opposed(standing_now)))
    unsettled = {one.id for group in rivals for one in group}
    found = [
        *_kept(state, [one for one in standing_now if one.id not in unsettled]),
        *(_needing_review(CONTRADICTION, group, "may_contradict") for group in rivals),
        *(
            _needing_review(STALE, [one], f"missing_file_anchor: {', '.join(missing[one.id])}")
            for one in standing_now
            if one.id in missing and one.id not in unsettled and not _is_reviewed(one)
        ),
    ]
    gone = {other.id for cluster in found if cluster[0] == DUPLICATES for other in cluster[2]}
    found = [one for one in found if one[0] != STALE or one[2][0].id not in gone]
    return [
        CurationCluster(
            number=number, kind=kind, keeper=keeper, others=tuple(others), because=because, changes=changes
        )
        for number, (kind, keeper, others, because, changes) in enumerate(found, start=1)
    ]


_Found = tuple[str, LearningState | None, list[LearningState], str, tuple[PlannedEvent, ...]]


def _opposed(state: LogState, rivals: Iterable[tuple[str, str]]) -> list[list[LearningState]]:
    """Return the groups of learnings that may contradict one another, as far as nobody has decided yet."""
    flagged = ((one.id, one.flags.get("may_contradict", "")) for one in state.standings.values())
    groups = united(pair for pair in (*rivals, *flagged) if _is_open(state, *pair))
    return [sorted((state.standings[id] for id in group), key=_age) for group in sorted(map(sorted, groups))]


def _is_open(state: LogState, one: str, other: str) -> bool:
    both = [state.standings[id] for id in (one, other) if id in state.standings]
    return len(both) == 2 and not any(map(_is_settled, both)) and not all(map(_is_reviewed, both))


def _kept(state: LogState, standings: Sequence[LearningState]) -> Iterator[_Found]:
    """Yield each learning that should stand for others: the surest, and the newest of those."""
    replaced: dict[str, list[LearningState]] = {}
    for old in state.standings.values():
        successor = _successor(state, old) if old.status == SUPERSEDED else None
        if successor and not {old.id, old.learning.key} & {*successor.merged_from, *successor.supersedes}:
            replaced.setdefault(successor.id, []).append(old)
    same = {one.id: together for together in alike(standings) for one in together}
    taken: set[str] = set()
    for keeper in sorted(standings, key=_worth, reverse=True):
        if keeper.id in taken:
            continue
        others = sorted((one for one in same.get(keeper.id, ()) if one is not keeper), key=_age)
        before = replaced.get(keeper.id, [])
        taken |= {keeper.id, *(one.id for one in others)}
        if others or before:
            kind = DUPLICATES if others else REPLACED
            because = "says the same" if others else "replaced already"
            yield kind, keeper, [*others, *before], because, tuple(_keeping(keeper, others, before))


def _keeping(
    keeper: LearningState, others: Sequence[LearningState], old: Sequence[LearningState]
) -> Iterator[PlannedEvent]:
    merged = [one.id for one in (*others, *old)]
    keys = list(dict.fromkeys(one.learning.key for one in (*others, *old)))
    yield PlannedEvent(
        event="curated",
        of=keeper.id,
        fields={"status": CANONICAL, "merged_from": merged, "supersedes": keys},
    )
    for one in others:
        fields = {"by_which": keeper.id, "superseded_by": keeper.learning.key}
        yield PlannedEvent(event="superseded", of=one.id, fields=fields)


def _needing_review(kind: str, group: Sequence[LearningState], because: str) -> _Found:
    changes = tuple(
        PlannedEvent(event="curated", of=one.id, fields={"status": NEEDS_REVIEW, "because": because})
        for one in group
        if not _is_reviewed(one)
    )
    return kind, None, list(group), because, changes


def _successor(state: LogState, old: LearningState) -> LearningState | None:
    """Return what stands in the place of `old` today, if that can be told."""
    seen = {old.id}
    while old.status == SUPERSEDED:
        named = state.called(old.superseded_by) if old.superseded_by else []
        if len(named) != 1 or named[0].id in seen:
            return None
        old = named[0]
        seen.add(old.id)
    return old


def _is_settled(standing: LearningState) -> bool:
    return standing.status == SUPERSEDED


def _is_reviewed(standing: LearningState) -> bool:
    """Say whether a review has spoken of it."""
    return standing.status in (CANONICAL, NEEDS_REVIEW) or any(
        step.event.event == "curated" for step in standing.history
    )


def _worth(standing: LearningState) -> tuple[bool, bool, int, float, str]:
    learning = standing.learning
    return (
        standing.status == CANONICAL,
        not noise_of(learning.content),
        standing.confidence,
        learning.ts,
        standing.id,
    )


def _age(standing: LearningState) -> tuple[float, str]:
    return standing.learning.ts, standing.id
