"""Replay of the log and the ledger into today's state (docs/architecture.md).

Replay sorts events by id, drops repeated ids and ignores what it doesn't know, so that any
order, doubling or union merge of the same lines gives the same state.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import ItemsView
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import ValuesView
from functools import cached_property

from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import Final
from roamkb.log.learning import Learning
from roamkb.log.learning import content_identity
from roamkb.log.learning import fitting_aliases
from roamkb.log.state import confidence
from roamkb.log.state.adoption import countable_events
from roamkb.log.state.deferred import LazySequence
from roamkb.log.state.initial_state import initial_state
from roamkb.log.state.learning_state import ACTIVE
from roamkb.log.state.learning_state import ARCHIVED
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import CONTESTED
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import INVALIDATED
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import OVERRIDDEN
from roamkb.log.state.learning_state import PREFERS
from roamkb.log.state.learning_state import REDACTED
from roamkb.log.state.learning_state import REPETITION_FIELDS
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import TRAITS
from roamkb.log.state.learning_state import UNDONE
from roamkb.log.state.learning_state import UNPROVEN
from roamkb.log.state.learning_state import UNVERIFIED
from roamkb.log.state.learning_state import VALIDATED
from roamkb.log.state.learning_state import VERIFIED
from roamkb.log.state.learning_state import ConfidenceStep
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import Reach
from roamkb.log.state.learning_state import TraitValues
from roamkb.log.state.learning_state import is_counted
from roamkb.log.state.learning_state import is_settled
from roamkb.log.state.learning_state import review_rivals
from roamkb.log.state.tombstones import Tombstones
from roamkb.log.state.tombstones import event_mark
from roamkb.log.state.tombstones import marks_of
from roamkb.log.state.tombstones import tombstones_of

#: What happened to a task; a template's learnings come with it.
TASK_EVENT: Final = "task"


def replay(
    learnings: Iterable[Learning],
    events: Iterable[LedgerEvent],
    *,
    archived: Iterable[Learning] = (),
    as_of: float | None = None,
) -> LogState:
    """Return the state that the lines give, in whatever order they come.

    `as_of`, in seconds since 1970, leaves out what came later; a learning without a time was
    there always, and what was forgotten since wasn't there at any time.
    """
    events = list(events)
    tombstones = tombstones_of(events)
    standings = {
        learning.id: initial_state(learning, is_archived=is_archived)
        for learning, is_archived in distinct_learnings(
            (learning, is_archived)
            for is_archived, group in ((False, learnings), (True, archived))
            for learning in group
            if (as_of is None or learning.ts <= as_of) and not tombstones.covers(learning)
        )
    }
    last_id, undone_ids, counted = _order_countable(
        (event for event in events if as_of is None or event.ts <= as_of or event.event == FORGOTTEN), tombstones
    )
    unmet = fold_events(counted, standings.get) | undone_ids | tombstones.marks
    return LogState(
        standings=_order_by_time(standings.values()),
        events=counted,
        reach=(last_id, frozenset(unmet - standings.keys())),
    )


def advance_state(state: LogState, learnings: Sequence[Learning], events: Sequence[LedgerEvent]) -> LogState | None:
    """Return the state after these lines; None where that takes a replay of all lines.

    An agents' server asks after each line that is added, and most are later than all there were.
    """
    advanced = advance_standings(state.reach, state.standings.get, learnings, events)
    if advanced is None:
        return None
    changed, reach = advanced
    if state.shelf is not None:
        grown = _GrownStates(state, changed, events)
        return LogState(standings=grown, events=_LaterEvents(state.events, events), reach=reach, shelf=grown)
    standings = {**state.standings, **changed}
    added_keys = [(learning.ts, learning.id) for learning in learnings]
    latest = next(reversed(list(state.standings)), None)
    before = state.standings[latest].learning if latest is not None else None
    if added_keys != sorted(added_keys) or (added_keys and before and added_keys[0] < (before.ts, before.id)):
        standings = _order_by_time(standings.values())
    return LogState(standings=standings, events=[*state.events, *events], reach=reach)


class _GrownStates(Mapping[str, LearningState]):
    """The learning states of a state on a shelf, with those that changed since."""

    def __init__(self, before: LogState, changed: Mapping[str, LearningState], events: Sequence[LedgerEvent]) -> None:
        self._before = before
        self._changed = changed
        self._events = events

    def __getitem__(self, id: str) -> LearningState:
        return self._changed[id] if id in self._changed else self._before.standings[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all_standings)

    def __len__(self) -> int:
        standings_before = self._before.standings
        return len(standings_before) + sum(id not in standings_before for id in self._changed)

    @cached_property
    def _all_standings(self) -> Mapping[str, LearningState]:
        # the items of a shelf are read at once, its learnings one by one
        return _order_by_time({**dict(self._before.standings.items()), **self._changed}.values())

    def values(self) -> ValuesView[LearningState]:
        """Return all learning states, read at once."""
        return self._all_standings.values()

    def items(self) -> ItemsView[str, LearningState]:
        """Return all learning states by id, likewise."""
        return self._all_standings.items()

    def learnings_with(self, trait: str, values: Collection[str]) -> list[LearningState]:
        """Return the learnings of which one of `TRAITS` has one of those values, in order."""
        trait_of = TRAITS[trait]
        matching = [
            standing for standing in self._before.learnings_with(trait, *values) if standing.id not in self._changed
        ]
        matching += [standing for standing in self._changed.values() if trait_of(standing) in values]
        return list(_order_by_time(matching).values())

    def trait_values(self, trait: str, start: str = "") -> Collection[str]:
        """Return the values of one of `LISTED_TRAITS` that begin so, and perhaps some that no learning has any more."""
        values_before = self._before.shelf.trait_values(trait, start) if self._before.shelf else ()
        return {
            *values_before,
            *(value for value in map(TRAITS[trait], self._changed.values()) if value.startswith(start)),
        }

    def count_learnings(self, having: TraitValues, lacking: TraitValues) -> int:
        """Return the number of the learnings that have one of some values of a trait, and none of others."""
        before = (self._before.standings.get(id) for id in self._changed)
        return (
            self._before.count_learnings(having, lacking=lacking)
            - sum(standing is not None and is_counted(standing, having, lacking) for standing in before)
            + sum(is_counted(standing, having, lacking) for standing in self._changed.values())
        )

    def events_named(self, names: Collection[str], latest: int | None = None) -> list[LedgerEvent]:
        """Return the events of those names, in order; if `latest` is given, at most so many."""
        later = [event for event in self._events if event.event in names]
        return [*self._before.events_named(*names, latest=latest), *later][-latest if latest else None :]

    def count_events(self, name: str) -> int:
        """Return the number of the events of that name that count."""
        return self._before.count_events(name) + sum(event.event == name for event in self._events)

    def ids_since(self, digest: str) -> None:
        """Return None: the state itself has the ids added since the one before."""


class _LaterEvents(LazySequence[LedgerEvent]):
    """Earlier events followed by later ones."""

    def __init__(self, earlier: Sequence[LedgerEvent], later: Sequence[LedgerEvent]) -> None:
        self._first = earlier
        self._then = later

    def _loaded(self) -> Sequence[LedgerEvent]:
        return [*self._first, *self._then]

    def __len__(self) -> int:
        return len(self._first) + len(self._then)


def advance_standings(
    reach: Reach | None,
    standing_of: Callable[[str], LearningState | None],
    learnings: Sequence[Learning],
    events: Sequence[LedgerEvent],
) -> tuple[dict[str, LearningState], Reach] | None:
    """Return the learning states that such lines make or change, and the new reach.

    `standing_of` gives those that there were, which stay as they are.
    """
    if reach is None:
        return None
    last_id, unmet = reach
    for event in events:
        # a slower clock can have taken it back before it was read
        if event.id <= last_id or event.event in (UNDONE, FORGOTTEN) or event.is_adopted:
            return None
        if event.id in unmet or event_mark(event) in unmet:
            return None
        last_id = event.id
    changed: dict[str, LearningState] = {}
    for learning in learnings:
        if learning.id in changed or learning.id in unmet or standing_of(learning.id) is not None:
            return None
        if not unmet.isdisjoint(marks_of(learning)):
            return None
        changed[learning.id] = initial_state(learning, is_archived=False)

    def copy_to_change(id: str) -> LearningState | None:
        """Return a learning state that may be changed, a copy of the shared one."""
        if id not in changed and (standing := standing_of(id)) is not None:
            changed[id] = _copy_standing(standing)
        return changed.get(id)

    subject_ids = fold_events(events, copy_to_change)
    return changed, (last_id, unmet | {id for id in subject_ids if id not in changed})


def _order_by_time(standings: Iterable[LearningState]) -> dict[str, LearningState]:
    ordered = sorted(standings, key=lambda standing: (standing.learning.ts, standing.learning.id))
    return {standing.learning.id: standing for standing in ordered}


def fold_events(events: Iterable[LedgerEvent], standing_of: Callable[[str], LearningState | None]) -> set[str]:
    """Apply `events`, in order, to the learnings that they name; return the ids that they name."""
    subject_ids: set[str] = set()
    for event in events:
        if fold := _FOLDS.get(event.event):
            subject_ids.add(event.of)
            if standing := standing_of(event.of):
                before = standing.confidence
                fold(standing, event)
                if event.event in _SETTLING_EVENTS and is_settled(standing):
                    _end_reviews(standing, standing_of)
                standing.history.append(ConfidenceStep(event=event, before=before, after=standing.confidence))
        if event.event == TASK_EVENT:
            # a template's learnings, put into the scope of a task
            for id in event.text_list_field("learnings"):
                subject_ids.add(id)
                if task_standing := standing_of(id):
                    task_standing.tasks.add(event.task)
    return subject_ids


def _end_reviews(settled: LearningState, standing_of: Callable[[str], LearningState | None]) -> None:
    """End the reviews of learnings that a learning contradicted which is settled now, if no other one denies them."""
    for id in review_rivals(settled):
        denied = standing_of(id)
        if denied is None or denied.status != NEEDS_REVIEW:
            continue
        rivals = list(map(standing_of, review_rivals(denied)))
        if rivals and all(rival is None or is_settled(rival) for rival in rivals):
            denied.status, denied.review_reason = ACTIVE, ""


def _copy_standing(standing: LearningState) -> LearningState:
    return replace(
        standing,
        flags=dict(standing.flags),
        outcomes=dict(standing.outcomes),
        preferred_by=set(standing.preferred_by),
        history=list(standing.history),
        counted_sources=set(standing.counted_sources),
        tasks=set(standing.tasks),
    )


def distinct_learnings(lines: Iterable[tuple[Learning, bool]]) -> Iterable[tuple[Learning, bool]]:
    """Return the learnings, each once, and whether each is in the archive alone; none is lost.

    Of two lines that say the same, the fuller one counts. Where lines of one id say different
    things, somebody edited one: the first in time keeps the id, the others go by what they say.
    """
    lines = list(lines)
    if len({learning.id for learning, _ in lines}) == len(lines):
        return lines
    by_id: dict[str, dict[tuple[str, str], tuple[Learning, bool]]] = {}
    for learning, is_archived in lines:
        _add_line(by_id.setdefault(learning.id, {}), learning, is_archived)
    distinct: dict[str, dict[tuple[str, str], tuple[Learning, bool]]] = {}
    for id, variants in by_id.items():
        earliest, *others = sorted(
            variants.values(), key=lambda variant: (variant[0].ts, variant[0].type, variant[0].content)
        )
        _add_line(distinct.setdefault(id, {}), *earliest)
        for later, is_archived in others:
            content_id = content_identity(later.type, later.content)
            if content_id not in by_id:
                _add_line(distinct.setdefault(content_id, {}), replace(later, id=content_id), is_archived)
    return (variant for variants in distinct.values() for variant in variants.values())


def _add_line(variants: dict[tuple[str, str], tuple[Learning, bool]], learning: Learning, is_archived: bool) -> None:
    """Add a line to the variants under one id."""
    variant_key = learning.type, learning.content
    if variant_key in variants:
        known_learning, is_other_archived = variants[variant_key]
        variants[variant_key] = max(learning, known_learning, key=_fullness_key), is_archived and is_other_archived
    else:
        variants[variant_key] = learning, is_archived


def _fullness_key(learning: Learning) -> tuple[int, str]:
    representation = repr(learning)
    return len(representation), representation


def _order_countable(events: Iterable[LedgerEvent], tombstones: Tombstones) -> tuple[str, set[str], list[LedgerEvent]]:
    """Return the greatest id, the undone ids that are missing, and the events that count, in order.

    Each counts once, and none that was taken back or tells of what was forgotten.
    """
    by_id: dict[str, LedgerEvent] = {}
    for event in events:
        known_event = by_id.get(event.id)
        by_id[event.id] = event if known_event is None else preferred_event(known_event, event)
    undone = undone_ids([event for event in by_id.values() if event.event == UNDONE], by_id.get)
    # nothing takes a tombstone back
    lasting = (by_id[id] for id in sorted(by_id) if id not in undone or by_id[id].event == FORGOTTEN)
    counted = [event for event in countable_events(lasting) if not tombstones.covers_event(event)]
    return max(by_id, default=""), undone - by_id.keys(), counted


def undone_ids(undoings: Collection[LedgerEvent], event_of: Callable[[str], LedgerEvent | None]) -> set[str]:
    """Return the ids of the events that some events of that name take back; `event_of` gives those that are there.

    An adopted undoing takes back what was adopted alone: else it would raise what was lowered here (D25).
    """
    undone: set[str] = set()
    # the latest first: an undoing that was itself undone takes nothing back
    for event in sorted(undoings, key=lambda event: event.id, reverse=True):
        if event.id in undone or (event.is_adopted and (target := event_of(event.of)) and not target.is_adopted):
            continue
        undone.add(event.of)
    return undone


def preferred_event(event: LedgerEvent, other: LedgerEvent) -> LedgerEvent:
    """Return the one of two events of one id that counts, whatever their order."""
    return other if _choice_key(other) < _choice_key(event) else event


def _choice_key(event: LedgerEvent) -> tuple[bool, bool, bool, str]:
    """Return the order in which events of one id are preferred: what was redacted before what a merge brought back.

    A tombstone counts in any case, and stands in the place of no other event; nor does what only claims a signature.
    """
    representation = repr(event)
    return event.event == FORGOTTEN, event.event == UNPROVEN, REDACTED not in representation, representation


def _source_of(agent: str, session: str, task: str, otherwise: str = "") -> tuple[str, ...]:
    """Return the source of a statement, so that it counts once: an agent in a session, else in a task.

    A call without either is its own source: `otherwise`.
    """
    return (agent, session or task) if session or task else ("", otherwise)


def _validation_sources(agent: str, session: str, process: str) -> set[tuple[str, ...]]:
    """Return what makes a confirmation somebody's: the name, and the session or process, which may use several."""
    names = {(VALIDATED, agent), (VALIDATED, "in", session or process)}
    return {source for source in names if source[-1]}


# What the events do


def _move_confidence(standing: LearningState, event: LedgerEvent, change: int, *, once: str) -> None:
    """Move the confidence, but only once for each source."""
    session = event.session or event.task
    if not session and (process := event.text_field("process")):
        # whoever repeats itself in one process repeats itself
        session = f"{event.machine} {process}"
    source = (once, *_source_of(event.agent, session, "", event.id))
    if source in standing.counted_sources or source == ("learn", *_first_source(standing.learning)):
        return
    standing.counted_sources.add(source)
    if not standing.is_overridden:
        standing.confidence = confidence.move_confidence(standing.confidence, change)


def _fold_repeated(standing: LearningState, event: LedgerEvent) -> None:
    standing.last_used = max(standing.last_used, event.ts)
    _widen_subject(standing, event)
    if event.is_adopted:
        return
    standing.occurrences += 1
    if standing.verdict == INVALIDATED:
        # what was found wrong doesn't get surer by being said
        return
    in_consolidation = event.by == "consolidate"
    change = confidence.CONSOLIDATED_AGAIN if in_consolidation else confidence.REPEATED
    _move_confidence(standing, event, change, once="learn")


def _widen_subject(standing: LearningState, event: LedgerEvent) -> None:
    """Add the subject of a repetition to the learning: its task, files, tags, actions and aliases."""
    if event.task:
        standing.tasks.add(event.task)
    files, tags, actions, aliases = map(event.text_list_field, REPETITION_FIELDS)
    if files or tags or actions or aliases:
        learning = standing.learning
        standing.learning = replace(
            learning,
            files=_unite_values(learning.files, files),
            tags=_unite_values(learning.tags, tags),
            actions=_unite_values(learning.actions, actions),
            # those that it has come first: only so many are kept
            aliases=fitting_aliases((*learning.aliases, *aliases)),
        )


def _unite_values(values: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*values, *more)))


_OUTCOMES = {"success": confidence.REUSED, "failure": confidence.FAILED, "prevented": confidence.PREVENTED}


def _fold_reused(standing: LearningState, event: LedgerEvent) -> None:
    outcome = event.text_field("outcome")
    standing.outcomes[outcome] = standing.outcomes.get(outcome, 0) + 1
    standing.last_used = max(standing.last_used, event.ts)
    receipt = ("receipt", event.text_field("receipt"))
    if (change := _OUTCOMES.get(outcome)) and receipt not in standing.counted_sources:
        _move_confidence(standing, event, change, once=outcome)
        # what was shown once helped once, whatever is said of it later
        if receipt[1]:
            standing.counted_sources.add(receipt)


def _first_source(learning: Learning) -> tuple[str, ...]:
    """Return the source of the first statement."""
    return _source_of(learning.agent, learning.session, learning.task)


def _fold_validated(standing: LearningState, event: LedgerEvent) -> None:
    sources = _validation_sources(event.agent or event.id, event.session, event.text_field("process"))
    learning = standing.learning
    own = _validation_sources(learning.agent, learning.session, str(learning.extra.get("process", "")))
    if not sources.isdisjoint(own) or not sources.isdisjoint(standing.counted_sources):
        return
    for source in sources:
        standing.counted_sources.add(source)
    if not standing.is_overridden:
        standing.confidence = confidence.move_confidence(standing.confidence, confidence.VALIDATED)


def _fold_judged(standing: LearningState, event: LedgerEvent) -> None:
    verdict = event.text_field("verdict")
    if verdict in (VERIFIED, INVALIDATED, UNVERIFIED):
        standing.verdict = verdict
    evidence = event.fields.get("evidence")
    is_evident = isinstance(evidence, Mapping) and evidence.get("is_good") is True
    if verdict == VERIFIED and is_evident and not standing.is_overridden:
        # the document's limit for what lasts; a second session adds to it
        standing.confidence = max(standing.confidence, confidence.DURABLE)


def _fold_raised(standing: LearningState, event: LedgerEvent) -> None:
    standing.scope = event.text_field("to") or standing.scope


def _fold_superseded(standing: LearningState, event: LedgerEvent) -> None:
    if standing.status != SUPERSEDED and not standing.is_overridden:
        standing.confidence = confidence.move_confidence(standing.confidence, confidence.SUPERSEDED)
    standing.status = SUPERSEDED
    standing.superseded_by = event.text_field("by_which") or standing.superseded_by
    why = event.text_field("review_reason") or event.text_field("reason")
    standing.review_reason = why or standing.review_reason


def _fold_flagged(standing: LearningState, event: LedgerEvent) -> None:
    reason = event.text_field("reason")
    if event.fields.get("cleared"):
        standing.flags.pop(reason, None)
    elif reason:
        standing.flags[reason] = event.text_field("evidence")


def _fold_curated(standing: LearningState, event: LedgerEvent) -> None:
    status = event.text_field("status")
    if status in (CANONICAL, NEEDS_REVIEW, ACTIVE, ARCHIVED):
        standing.status = status
    standing.merged_from = tuple(dict.fromkeys((*standing.merged_from, *event.text_list_field("merged_from"))))
    standing.supersedes = tuple(dict.fromkeys((*standing.supersedes, *event.text_list_field("supersedes"))))
    standing.review_reason = event.text_field("review_reason") or standing.review_reason


def _fold_pinned(standing: LearningState, event: LedgerEvent) -> None:
    standing.is_pinned = event.fields.get("value") is not False


def _fold_overridden(standing: LearningState, event: LedgerEvent) -> None:
    value, said = event.fields.get("value"), event.fields.get("said")
    # a human vouched for words, and not for what somebody wrote in their place
    if said is not None and said != content_identity(standing.learning.type, standing.learning.content):
        return
    if isinstance(value, int) and not isinstance(value, bool):
        standing.confidence = min(max(value, 0), 100)
        standing.is_overridden = True
        if value >= confidence.LEAST_TRUSTED:
            # what an agent took back, or a judge found wrong, his word settles
            standing.flags.pop(CONTESTED, None)
            standing.verdict = UNVERIFIED if standing.verdict == INVALIDATED else standing.verdict


def _fold_preferred(standing: LearningState, event: LedgerEvent) -> None:
    if event.agent and event.text_field("preference") == PREFERS:
        standing.preferred_by.add(event.agent)
    else:
        standing.preferred_by.discard(event.agent)


def _fold_promoted(standing: LearningState, event: LedgerEvent) -> None:
    standing.node = event.text_field("node") or standing.node


def _fold_history_only(standing: LearningState, event: LedgerEvent) -> None:
    """Keep the event in the history only; `instructions.proposal` reads it there."""


_FOLDS: Final[Mapping[str, Callable[[LearningState, LedgerEvent], None]]] = {
    "repeated": _fold_repeated,
    "reused": _fold_reused,
    VALIDATED: _fold_validated,
    "judged": _fold_judged,
    "raised": _fold_raised,
    "superseded": _fold_superseded,
    "flagged": _fold_flagged,
    "curated": _fold_curated,
    "pinned": _fold_pinned,
    OVERRIDDEN: _fold_overridden,
    "preferred": _fold_preferred,
    "promoted": _fold_promoted,
    **dict.fromkeys(("proposed", "approved", "rejected", "applied", "rolled_back"), _fold_history_only),
}
#: Those after which a learning may contradict others no more.
_SETTLING_EVENTS: Final = ("superseded", "judged", "curated", OVERRIDDEN)
#: The events that change the learning that they name.
FOLDED_EVENTS: Final = tuple(_FOLDS)
