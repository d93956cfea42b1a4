"""The log and the ledger folded into today's state (docs/architecture.md).

Replay sorts events by id, drops repeated ids and ignores what it doesn't know, so that any
order, doubling or union merge of the same lines gives the same state.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Final
from typing import overload

from roamkb.core.startup.dataclasses import replace
from roamkb.log.learning import Learning
from roamkb.log.learning import identity
from roamkb.log.state import confidence
from roamkb.log.state.adoption import counting
from roamkb.log.state.learning_state import ACTIVE
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import PREFERS
from roamkb.log.state.learning_state import SAID_AGAIN
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import TRAITS
from roamkb.log.state.learning_state import UNDONE
from roamkb.log.state.learning_state import UNVERIFIED
from roamkb.log.state.learning_state import VALIDATED
from roamkb.log.state.learning_state import VERIFIED
from roamkb.log.state.learning_state import ConfidenceStep
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import Reach


def replay(
    learnings: Iterable[Learning],
    events: Iterable[LedgerEvent],
    *,
    archived: Iterable[Learning] = (),
    as_of: float | None = None,
) -> LogState:
    """Return the state that the lines give, in whatever order they come.

    `as_of`, in seconds since 1970, leaves out what came later; a learning without a time was
    there always.
    """
    standings = {
        learning.id: begun(learning, is_archived=is_archived)
        for learning, is_archived in _distinct(
            (learning, is_archived)
            for is_archived, group in ((False, learnings), (True, archived))
            for learning in group
            if as_of is None or learning.ts <= as_of
        )
    }
    last, taken_back, counted = _counted(event for event in events if as_of is None or event.ts <= as_of)
    unmet = _fold(counted, standings.get) | taken_back
    return LogState(
        standings=_ordered(standings.values()),
        events=counted,
        reach=(last, frozenset(unmet - standings.keys())),
    )


def advanced(
    state: LogState, learnings: Sequence[Learning], events: Sequence[LedgerEvent]
) -> LogState | None:
    """Return what `replay` gives of a state's lines and these; None where it takes all lines to tell.

    An agents' server asks after each line that is added, and most are later than all there were.
    """
    known = advances(state.reach, state.standings.get, learnings, events)
    if known is None:
        return None
    changed, reach = known
    if state.shelf is not None:
        grown = _GrownStates(state, changed, events)
        return LogState(standings=grown, events=_LaterEvents(state.events, events), reach=reach, shelf=grown)
    standings = {**state.standings, **changed}
    new = [(learning.ts, learning.id) for learning in learnings]
    latest = next(reversed(list(state.standings)), None)
    before = state.standings[latest].learning if latest is not None else None
    if new != sorted(new) or (new and before and new[0] < (before.ts, before.id)):
        standings = _ordered(standings.values())
    return LogState(standings=standings, events=[*state.events, *events], reach=reach)


class _GrownStates(Mapping[str, LearningState]):
    """The standings of a state that lies on a shelf, some of which are others now."""

    def __init__(
        self, before: LogState, changed: Mapping[str, LearningState], events: Sequence[LedgerEvent]
    ) -> None:
        self._before = before
        self._changed = changed
        self._events = events

    def __getitem__(self, id: str) -> LearningState:
        return self._changed[id] if id in self._changed else self._before.standings[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        known = self._before.standings
        return len(known) + sum(id not in known for id in self._changed)

    @cached_property
    def _all(self) -> Mapping[str, LearningState]:
        return _ordered({**self._before.standings, **self._changed}.values())

    def having(self, trait: str, values: Collection[str]) -> list[LearningState]:
        """Return the learnings of which one of `TRAITS` has one of those values, in order."""
        told = TRAITS[trait]
        found = [one for one in self._before.having(trait, *values) if one.id not in self._changed]
        found += [one for one in self._changed.values() if told(one) in values]
        return list(_ordered(found).values())

    def named(self, names: Collection[str]) -> list[LedgerEvent]:
        """Return the events of those names, in order."""
        return [*self._before.named(*names), *(event for event in self._events if event.event in names)]

    def since(self, digest: str) -> None:
        """Return nothing: the state says what came since the one before."""


class _LaterEvents(Sequence[LedgerEvent]):
    """Events, and those that came later."""

    def __init__(self, first: Sequence[LedgerEvent], then: Sequence[LedgerEvent]) -> None:
        self._first = first
        self._then = then

    @overload
    def __getitem__(self, at: int) -> LedgerEvent: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[LedgerEvent]: ...
    def __getitem__(self, at: int | slice) -> LedgerEvent | Sequence[LedgerEvent]:
        return [*self._first, *self._then][at]

    def __iter__(self) -> Iterator[LedgerEvent]:
        return chain(self._first, self._then)

    def __len__(self) -> int:
        return len(self._first) + len(self._then)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]


def advances(
    reach: Reach | None,
    known: Callable[[str], LearningState | None],
    learnings: Sequence[Learning],
    events: Sequence[LedgerEvent],
) -> tuple[dict[str, LearningState], Reach] | None:
    """Return the standings that such lines make or make others, and how far they reach, as `advanced` does.

    `known` gives those that there were, which stay as they are.
    """
    if reach is None:
        return None
    last, unmet = reach
    for event in events:
        # a slower clock can have taken it back before it was read
        if event.id <= last or event.event == UNDONE or event.is_adopted or event.id in unmet:
            return None
        last = event.id
    changed: dict[str, LearningState] = {}
    for learning in learnings:
        if learning.id in changed or learning.id in unmet or known(learning.id) is not None:
            return None
        changed[learning.id] = begun(learning, is_archived=False)

    def touched(id: str) -> LearningState | None:
        """Return a standing that nobody else has."""
        if id not in changed and (standing := known(id)) is not None:
            changed[id] = _copied(standing)
        return changed.get(id)

    told = _fold(events, touched)
    return changed, (last, unmet | {id for id in told if id not in changed})


def _ordered(standings: Iterable[LearningState]) -> dict[str, LearningState]:
    ordered = sorted(standings, key=lambda standing: (standing.learning.ts, standing.learning.id))
    return {standing.learning.id: standing for standing in ordered}


def _fold(events: Iterable[LedgerEvent], standing_of: Callable[[str], LearningState | None]) -> set[str]:
    """Have `events`, in order, happen to what they are about; return what they are about."""
    told: set[str] = set()
    for event in events:
        if fold := _FOLDS.get(event.event):
            told.add(event.of)
            if standing := standing_of(event.of):
                before = standing.confidence
                fold(standing, event)
                standing.history.append(ConfidenceStep(event=event, before=before, after=standing.confidence))
        if event.event == "task":
            # a template's learnings, put into the scope of a task
            for id in event.texts("learnings"):
                told.add(id)
                if given := standing_of(id):
                    given.tasks.add(event.task)
    return told


def _copied(standing: LearningState) -> LearningState:
    return replace(
        standing,
        flags=dict(standing.flags),
        outcomes=dict(standing.outcomes),
        preferred_by=set(standing.preferred_by),
        history=list(standing.history),
        heard=set(standing.heard),
        tasks=set(standing.tasks),
    )


def _distinct(lines: Iterable[tuple[Learning, bool]]) -> Iterable[tuple[Learning, bool]]:
    """Return the learnings, each once, and whether it is in the archive alone; none is lost.

    Of two lines that say the same, the fuller one counts. Where lines of one id say different
    things, somebody edited one: the first in time keeps the id, the others go by what they say.
    """
    lines = list(lines)
    if len({learning.id for learning, _ in lines}) == len(lines):
        return lines
    by_id: dict[str, dict[tuple[str, str], tuple[Learning, bool]]] = {}
    for learning, is_archived in lines:
        _add(by_id.setdefault(learning.id, {}), learning, is_archived)
    distinct: dict[str, dict[tuple[str, str], tuple[Learning, bool]]] = {}
    for id, said in by_id.items():
        first, *others = sorted(said.values(), key=lambda one: (one[0].ts, one[0].type, one[0].content))
        _add(distinct.setdefault(id, {}), *first)
        for other, is_archived in others:
            own = identity(other.type, other.content)
            if own not in by_id:
                _add(distinct.setdefault(own, {}), replace(other, id=own), is_archived)
    return (one for said in distinct.values() for one in said.values())


def _add(said: dict[tuple[str, str], tuple[Learning, bool]], learning: Learning, is_archived: bool) -> None:
    """Add a line to what was `said` under one id."""
    told = learning.type, learning.content
    if told in said:
        other, is_other_archived = said[told]
        said[told] = max(learning, other, key=_fullness), is_archived and is_other_archived
    else:
        said[told] = learning, is_archived


def _fullness(learning: Learning) -> tuple[int, str]:
    told = repr(learning)
    return len(told), told


def _counted(events: Iterable[LedgerEvent]) -> tuple[str, set[str], list[LedgerEvent]]:
    """Return the greatest id, the ids taken back that aren't there, and the events in order that count.

    Each counts once, and none that was taken back.
    """
    by_id: dict[str, LedgerEvent] = {}
    for event in events:
        other = by_id.get(event.id)
        if other is None or repr(event) < repr(other):
            by_id[event.id] = event
    undone: set[str] = set()
    # the latest first: an undoing that was itself undone takes nothing back
    for event in sorted(by_id.values(), key=lambda event: event.id, reverse=True):
        if event.event == UNDONE and event.id not in undone:
            undone.add(event.of)
    counted = list(counting(by_id[id] for id in sorted(by_id) if id not in undone))
    return max(by_id, default=""), undone - by_id.keys(), counted


def start_of(learning: Learning) -> int:
    """Return the confidence, in hundredths, that a learning begins with."""
    said = confidence.started(learning.confidence, learning.provenance)
    return min(said, confidence.ADOPTED) if learning.is_adopted else said


def begun(learning: Learning, *, is_archived: bool) -> LearningState:
    """Return a learning to which nothing has happened yet."""
    trust = start_of(learning)
    extra = learning.extra
    if not extra:
        # as nearly all, and there are many
        return LearningState(
            learning=learning, confidence=trust, last_used=learning.ts, is_archived=is_archived
        )
    status = extra.get("status")
    # other tools keep the outcome of a review on the line itself
    known = status if status in (CANONICAL, SUPERSEDED, NEEDS_REVIEW) else ACTIVE
    if learning.is_adopted and known == CANONICAL:
        known = ACTIVE
    return LearningState(
        learning=learning,
        confidence=trust,
        status=str(known),
        scope=str(extra.get("scope") or "project"),
        superseded_by=_one(extra.get("superseded_by")),
        supersedes=_several(extra.get("supersedes")),
        merged_from=_several(extra.get("merged_from")),
        review_reason=_one(extra.get("review_reason")),
        last_used=learning.ts,
        is_archived=is_archived,
    )


def _one(value: object) -> str:
    return value if isinstance(value, str) else ""


def _several(value: object) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list | tuple) else ()


def _source_of(agent: str, session: str, task: str, otherwise: str = "") -> tuple[str, ...]:
    """Return who said something, so that nobody counts twice: an agent in a session, else in a task.

    A call without either is its own source: `otherwise`.
    """
    return (agent, session or task) if session or task else ("", otherwise)


# What the events do


def _move(standing: LearningState, event: LedgerEvent, by: int, *, once: str) -> None:
    """Move the confidence, but only once for each source."""
    session = event.session or event.task
    if not session and (process := event.text("process")):
        # whoever repeats itself in one process repeats itself
        session = f"{event.machine} {process}"
    source = (once, *_source_of(event.agent, session, "", event.id))
    if source in standing.heard or source == ("learn", *_first_source(standing.learning)):
        return
    standing.heard.add(source)
    if not standing.is_overridden:
        standing.confidence = confidence.moved(standing.confidence, by)


def _repeated(standing: LearningState, event: LedgerEvent) -> None:
    standing.last_used = max(standing.last_used, event.ts)
    _widen(standing, event)
    if event.is_adopted:
        return
    standing.occurrences += 1
    in_consolidation = event.by == "consolidate"
    by = confidence.CONSOLIDATED_AGAIN if in_consolidation else confidence.REPEATED
    _move(standing, event, by, once="learn")


def _widen(standing: LearningState, event: LedgerEvent) -> None:
    """Let a learning be about what its repetition is about as well."""
    if event.task:
        standing.tasks.add(event.task)
    files, tags, actions = map(event.texts, SAID_AGAIN)
    if files or tags or actions:
        known = standing.learning
        standing.learning = replace(
            known,
            files=_united(known.files, files),
            tags=_united(known.tags, tags),
            actions=_united(known.actions, actions),
        )


def _united(known: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *more)))


_OUTCOMES = {"success": confidence.REUSED, "failure": confidence.FAILED, "prevented": confidence.PREVENTED}


def _reused(standing: LearningState, event: LedgerEvent) -> None:
    outcome = event.text("outcome")
    standing.outcomes[outcome] = standing.outcomes.get(outcome, 0) + 1
    standing.last_used = max(standing.last_used, event.ts)
    receipt = ("receipt", event.text("receipt"))
    if (by := _OUTCOMES.get(outcome)) and receipt not in standing.heard:
        _move(standing, event, by, once=outcome)
        # what was shown once helped once, whatever is said of it later
        if receipt[1]:
            standing.heard.add(receipt)


def _first_source(learning: Learning) -> tuple[str, ...]:
    """Return who said it first."""
    return _source_of(learning.agent, learning.session, learning.task)


def _validated(standing: LearningState, event: LedgerEvent) -> None:
    if event.agent and event.agent == standing.learning.agent:
        return
    source = (VALIDATED, event.agent or event.id)
    if source not in standing.heard and not standing.is_overridden:
        standing.confidence = confidence.moved(standing.confidence, confidence.VALIDATED)
    standing.heard.add(source)


def _judged(standing: LearningState, event: LedgerEvent) -> None:
    verdict = event.text("verdict")
    if verdict in (VERIFIED, "invalidated", UNVERIFIED):
        standing.verdict = verdict
    told = event.fields.get("evidence")
    is_evident = isinstance(told, Mapping) and told.get("is_good") is True
    if verdict == VERIFIED and is_evident and not standing.is_overridden:
        # the document's limit for what lasts; a second session adds to it
        standing.confidence = max(standing.confidence, confidence.DURABLE)


def _raised(standing: LearningState, event: LedgerEvent) -> None:
    standing.scope = event.text("to") or standing.scope


def _superseded(standing: LearningState, event: LedgerEvent) -> None:
    if standing.status != SUPERSEDED and not standing.is_overridden:
        standing.confidence = confidence.moved(standing.confidence, confidence.SUPERSEDED)
    standing.status = SUPERSEDED
    standing.superseded_by = event.text("by_which") or standing.superseded_by
    why = event.text("review_reason") or event.text("reason")
    standing.review_reason = why or standing.review_reason


def _flagged(standing: LearningState, event: LedgerEvent) -> None:
    reason = event.text("reason")
    if event.fields.get("cleared"):
        standing.flags.pop(reason, None)
    elif reason:
        standing.flags[reason] = event.text("evidence")


def _curated(standing: LearningState, event: LedgerEvent) -> None:
    status = event.text("status")
    if status in (CANONICAL, NEEDS_REVIEW, ACTIVE):
        standing.status = status
    standing.merged_from = tuple(dict.fromkeys((*standing.merged_from, *event.texts("merged_from"))))
    standing.supersedes = tuple(dict.fromkeys((*standing.supersedes, *event.texts("supersedes"))))
    standing.review_reason = event.text("review_reason") or standing.review_reason


def _pinned(standing: LearningState, event: LedgerEvent) -> None:
    standing.is_pinned = event.fields.get("value") is not False


def _overridden(standing: LearningState, event: LedgerEvent) -> None:
    value = event.fields.get("value")
    if isinstance(value, int) and not isinstance(value, bool):
        standing.confidence = min(max(value, 0), 100)
        standing.is_overridden = True


def _preferred(standing: LearningState, event: LedgerEvent) -> None:
    if event.agent and event.text("preference") == PREFERS:
        standing.preferred_by.add(event.agent)
    else:
        standing.preferred_by.discard(event.agent)


def _promoted(standing: LearningState, event: LedgerEvent) -> None:
    standing.node = event.text("node") or standing.node


def _noted(standing: LearningState, event: LedgerEvent) -> None:
    """Leave it at the history; `instructions.proposal` tells what it means."""


_FOLDS: Final[Mapping[str, Callable[[LearningState, LedgerEvent], None]]] = {
    "repeated": _repeated,
    "reused": _reused,
    VALIDATED: _validated,
    "judged": _judged,
    "raised": _raised,
    "superseded": _superseded,
    "flagged": _flagged,
    "curated": _curated,
    "pinned": _pinned,
    "overridden": _overridden,
    "preferred": _preferred,
    "promoted": _promoted,
    **dict.fromkeys(("proposed", "approved", "rejected", "applied", "rolled_back"), _noted),
}
