"""What became of each learning: the log and the ledger folded into today's state (design section 8).

Replay sorts events by id, drops repeated ids and ignores what it doesn't know, so that any
order, doubling or union merge of the same lines gives the same state.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Final
from typing import Protocol
from typing import overload

from roamkb.core import confidence
from roamkb.core.learning import Learning
from roamkb.core.learning import identity

ACTIVE: Final = "active"
CANONICAL: Final = "canonical"
SUPERSEDED: Final = "superseded"
NEEDS_REVIEW: Final = "needs_review"
#: How far a learning was raised, the narrowest first.
SCOPES: Final = ("session", "agent", "task", "project")
UNVERIFIED: Final = "unverified"
VERIFIED: Final = "verified"
#: Something was done about an error (`core/remedies`).
ATTEMPTED: Final = "attempted"
#: Takes back the event that it is about.
UNDONE: Final = "undone"
#: What an agent's `preferred` event says.
PREFERS: Final = "prefers"
NO_PREFERENCE: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of the ledger: something that happened."""

    #: A ULID, later than any in the ledger that it was written to.
    id: str
    #: Seconds since 1970, UTC.
    ts: float
    event: str
    #: The learning that it happened to; empty where it is about none.
    of: str = ""
    #: What did it: learn, ingest, consolidate, curate…
    by: str = ""
    agent: str = ""
    session: str = ""
    task: str = ""
    machine: str = ""
    #: What only some events have.
    fields: Mapping[str, object] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return one of the fields as text, empty where it is none."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> tuple[str, ...]:
        """Return one of the fields as texts; one text alone counts."""
        value = self.fields.get(name)
        if isinstance(value, str):
            return (value,)
        return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one event did to a learning's confidence."""

    event: Event
    before: int
    after: int


@dataclass(slots=True, kw_only=True)
class Standing:
    """A learning and what it counts today; only `replay` changes it."""

    learning: Learning
    #: Hundredths, as events gave it; decay enters rank alone.
    confidence: int
    occurrences: int = 1
    status: str = ACTIVE
    verdict: str = UNVERIFIED
    scope: str = "project"
    is_pinned: bool = False
    #: A human said what it is worth; no event moves it any more.
    is_overridden: bool = False
    #: Why it ranks lower or wants a look: stale, noise, may_contradict…
    flags: dict[str, str] = field(default_factory=dict)
    superseded_by: str = ""
    supersedes: tuple[str, ...] = ()
    merged_from: tuple[str, ...] = ()
    review_reason: str = ""
    #: The node that it was promoted to.
    node: str = ""
    #: How often it was reused, by outcome.
    outcomes: dict[str, int] = field(default_factory=dict)
    #: The agents that prefer it; it comes first for them alone.
    preferred_by: set[str] = field(default_factory=set)
    #: Seconds since 1970 when it was said, repeated or used last.
    last_used: float = 0.0
    history: list[Step] = field(default_factory=list)
    #: Sources that moved its confidence already.
    heard: set[tuple[str, ...]] = field(default_factory=set)
    #: Whether its line was moved to the archive.
    is_archived: bool = False
    #: Tasks that it was given to, beside the one that it was learned in.
    tasks: set[str] = field(default_factory=set)

    @property
    def id(self) -> str:
        """The learning's id."""
        return self.learning.id

    def rank_confidence(self, now: float) -> int:
        """Return the confidence that orders it at `now`, in seconds since 1970."""
        if self.is_pinned or self.is_overridden:
            return self.confidence
        return confidence.decayed(self.confidence, idle_days=(now - self.last_used) / 86400)


#: What `contradicts`, `names` and `sure` say of a learning that may contradict another, names files, is sure.
YES: Final = "yes"
#: What learnings are asked for by, beside their ids.
TRAITS: Final[Mapping[str, Callable[[Standing], str]]] = {
    "key": lambda one: one.learning.key,
    "type": lambda one: one.learning.canonical_type,
    "said": lambda one: one.learning.content.strip(),
    "task": lambda one: one.learning.task,
    "bead": lambda one: one.learning.bead,
    "names": lambda one: YES if one.learning.files else "",
    "sure": lambda one: YES if is_sure(one) else "",
    "status": lambda one: one.status,
    "verdict": lambda one: one.verdict,
    "contradicts": lambda one: YES if "may_contradict" in one.flags else "",
    "node": lambda one: one.node,
}


def is_sure(standing: Standing) -> bool:
    """Say whether a learning was said twice, was verified, or is trusted anyway."""
    is_told_twice = standing.occurrences > 1
    return is_told_twice or standing.verdict == VERIFIED or standing.confidence >= confidence.DURABLE


class Shelf(Protocol):
    """Where a state is kept, of which few learnings and events are wanted at a time."""

    def having(self, trait: str, values: Collection[str]) -> list[Standing]:
        """Return the learnings of which one of `TRAITS` has one of those values, in order."""

    def named(self, names: Collection[str]) -> list[Event]:
        """Return the events of those names, in order."""

    def since(self, digest: str) -> Sequence[str] | None:
        """Return the ids of the learnings that came after those that `digest` stands for; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A project's log as it stands."""

    #: By id, in the order in which they were said.
    standings: Mapping[str, Standing]
    #: The events that count, in order.
    events: Sequence[Event]
    #: Stands for the lines that it was folded from; empty where nobody says.
    digest: str = field(default="", compare=False)
    #: What that was before the last lines came, and the ids that they added.
    grown: tuple[str, tuple[str, ...]] = field(default=("", ()), compare=False)
    #: Where the rest of it is looked up; None where all of it is here.
    shelf: Shelf | None = field(default=None, compare=False)
    #: The greatest id of an event, counted or not, and what events told of that nobody said; for `advanced`.
    reach: "Reach | None" = field(default=None, compare=False)

    @property
    def learnings(self) -> Mapping[str, Learning]:
        """The learnings, by id."""
        return _Learnings(self.standings)

    def called(self, name: str) -> list[Standing]:
        """Return the learnings with that id or key, the latest first (D4)."""
        if name in self.standings:
            return [self.standings[name]]
        return self.having("key", name)[::-1]

    def having(self, trait: str, *values: str) -> list[Standing]:
        """Return the learnings of which one of `TRAITS` has one of `values`, in order."""
        if self.shelf is not None:
            return self.shelf.having(trait, values)
        told = TRAITS[trait]
        return [standing for standing in self.standings.values() if told(standing) in values]

    def named(self, *names: str) -> Sequence[Event]:
        """Return the events of those names that count, in order."""
        if self.shelf is not None:
            return self.shelf.named(names)
        return [event for event in self.events if event.event in names]

    def since(self, digest: str) -> Sequence[str] | None:
        """Return the ids of the learnings that came after those that `digest` stands for; None if unknown."""
        before, new = self.grown
        if before and digest == before:
            return new
        return None if self.shelf is None else self.shelf.since(digest)

    def unshelved(self) -> "State":
        """Return the same state, all of it in memory."""
        return replace(self, standings=dict(self.standings), events=[*self.events], shelf=None)

    def remembers(self, source: str) -> bool:
        """Say whether the source line `source` was merged into some learning."""
        return any(source in event.texts("source") for event in self.named("repeated"))


class _Learnings(Mapping[str, Learning]):
    """The learnings of standings, looked up as they are wanted."""

    def __init__(self, standings: Mapping[str, Standing]) -> None:
        self._standings = standings

    def __getitem__(self, id: str) -> Learning:
        return self._standings[id].learning

    def __iter__(self) -> Iterator[str]:
        return iter(self._standings)

    def __len__(self) -> int:
        return len(self._standings)


def replay(
    learnings: Iterable[Learning],
    events: Iterable[Event],
    *,
    archived: Iterable[Learning] = (),
    as_of: float | None = None,
) -> State:
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
    last, counted = _counted(event for event in events if as_of is None or event.ts <= as_of)
    unmet = _fold(counted, standings.get)
    return State(
        standings=_ordered(standings.values()),
        events=counted,
        reach=(last, frozenset(unmet - standings.keys())),
    )


def advanced(state: State, learnings: Sequence[Learning], events: Sequence[Event]) -> State | None:
    """Return what `replay` gives of a state's lines and these; None where it takes all lines to tell.

    An agents' server asks after each line that is added, and most are later than all there were.
    """
    known = advances(state.reach, state.standings.get, learnings, events)
    if known is None:
        return None
    changed, reach = known
    if state.shelf is not None:
        grown = _Grown(state, changed, events)
        return State(standings=grown, events=_Later(state.events, events), reach=reach, shelf=grown)
    standings = {**state.standings, **changed}
    new = [(learning.ts, learning.id) for learning in learnings]
    latest = next(reversed(list(state.standings)), None)
    before = state.standings[latest].learning if latest is not None else None
    if new != sorted(new) or (new and before and new[0] < (before.ts, before.id)):
        standings = _ordered(standings.values())
    return State(standings=standings, events=[*state.events, *events], reach=reach)


class _Grown(Mapping[str, Standing]):
    """The standings of a state that lies on a shelf, some of which are others now."""

    def __init__(self, before: State, changed: Mapping[str, Standing], events: Sequence[Event]) -> None:
        self._before = before
        self._changed = changed
        self._events = events

    def __getitem__(self, id: str) -> Standing:
        return self._changed[id] if id in self._changed else self._before.standings[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        known = self._before.standings
        return len(known) + sum(id not in known for id in self._changed)

    @cached_property
    def _all(self) -> Mapping[str, Standing]:
        return _ordered({**self._before.standings, **self._changed}.values())

    def having(self, trait: str, values: Collection[str]) -> list[Standing]:
        """Return the learnings of which one of `TRAITS` has one of those values, in order."""
        told = TRAITS[trait]
        found = [one for one in self._before.having(trait, *values) if one.id not in self._changed]
        found += [one for one in self._changed.values() if told(one) in values]
        return list(_ordered(found).values())

    def named(self, names: Collection[str]) -> list[Event]:
        """Return the events of those names, in order."""
        return [*self._before.named(*names), *(event for event in self._events if event.event in names)]

    def since(self, digest: str) -> None:
        """Return nothing: the state says what came since the one before."""


class _Later(Sequence[Event]):
    """Events, and those that came later."""

    def __init__(self, first: Sequence[Event], then: Sequence[Event]) -> None:
        self._first = first
        self._then = then

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Event]: ...
    def __getitem__(self, at: int | slice) -> Event | Sequence[Event]:
        return [*self._first, *self._then][at]

    def __iter__(self) -> Iterator[Event]:
        return chain(self._first, self._then)

    def __len__(self) -> int:
        return len(self._first) + len(self._then)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]


#: The greatest id of an event, and what events told of that nobody said.
Reach = tuple[str, frozenset[str]]


def advances(
    reach: Reach | None,
    known: Callable[[str], Standing | None],
    learnings: Sequence[Learning],
    events: Sequence[Event],
) -> tuple[dict[str, Standing], Reach] | None:
    """Return the standings that such lines make or make others, and how far they reach, as `advanced` does.

    `known` gives those that there were, which stay as they are.
    """
    if reach is None:
        return None
    last, unmet = reach
    for event in events:
        if event.id <= last or event.event == UNDONE:
            return None
        last = event.id
    changed: dict[str, Standing] = {}
    for learning in learnings:
        if learning.id in changed or learning.id in unmet or known(learning.id) is not None:
            return None
        changed[learning.id] = begun(learning, is_archived=False)

    def touched(id: str) -> Standing | None:
        """Return a standing that nobody else has."""
        if id not in changed and (standing := known(id)) is not None:
            changed[id] = _copied(standing)
        return changed.get(id)

    told = _fold(events, touched)
    return changed, (last, unmet | {id for id in told if id not in changed})


def _ordered(standings: Iterable[Standing]) -> dict[str, Standing]:
    ordered = sorted(standings, key=lambda standing: (standing.learning.ts, standing.learning.id))
    return {standing.learning.id: standing for standing in ordered}


def _fold(events: Iterable[Event], standing_of: Callable[[str], Standing | None]) -> set[str]:
    """Have `events`, in order, happen to what they are about; return what they are about."""
    told: set[str] = set()
    for event in events:
        if fold := _FOLDS.get(event.event):
            told.add(event.of)
            if standing := standing_of(event.of):
                before = standing.confidence
                fold(standing, event)
                standing.history.append(Step(event=event, before=before, after=standing.confidence))
        if event.event == "task":
            # a template's learnings, put into the scope of a task
            for id in event.texts("learnings"):
                told.add(id)
                if given := standing_of(id):
                    given.tasks.add(event.task)
    return told


def _copied(standing: Standing) -> Standing:
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


def _counted(events: Iterable[Event]) -> tuple[str, list[Event]]:
    """Return the greatest id, and the events in order, each once, without those that were taken back."""
    by_id: dict[str, Event] = {}
    for event in events:
        other = by_id.get(event.id)
        if other is None or repr(event) < repr(other):
            by_id[event.id] = event
    undone: set[str] = set()
    # the latest first: an undoing that was itself undone takes nothing back
    for event in sorted(by_id.values(), key=lambda event: event.id, reverse=True):
        if event.event == UNDONE and event.id not in undone:
            undone.add(event.of)
    return max(by_id, default=""), [by_id[id] for id in sorted(by_id) if id not in undone]


def begun(learning: Learning, *, is_archived: bool) -> Standing:
    """Return a learning to which nothing has happened yet."""
    trust = confidence.started(learning.confidence, learning.provenance)
    extra = learning.extra
    if not extra:
        # as nearly all, and there are many
        return Standing(learning=learning, confidence=trust, last_used=learning.ts, is_archived=is_archived)
    status = extra.get("status")
    # other tools keep the outcome of a review on the line itself
    known = status if status in (CANONICAL, SUPERSEDED, NEEDS_REVIEW) else ACTIVE
    return Standing(
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


def source_of(agent: str, session: str, task: str, otherwise: str = "") -> tuple[str, ...]:
    """Return who said something, so that nobody counts twice: an agent in a session, else in a task.

    A call without either is its own source: `otherwise`.
    """
    return (agent, session or task) if session or task else ("", otherwise)


# What the events do


def _move(standing: Standing, event: Event, by: int, *, once: str) -> None:
    """Move the confidence, but only once for each source."""
    session = event.session or event.task
    if not session and (process := event.text("process")):
        # whoever repeats itself in one process repeats itself
        session = f"{event.machine} {process}"
    source = (once, *source_of(event.agent, session, "", event.id))
    if source in standing.heard or source == ("learn", *_first_source(standing.learning)):
        return
    standing.heard.add(source)
    if not standing.is_overridden:
        standing.confidence = confidence.moved(standing.confidence, by)


def _repeated(standing: Standing, event: Event) -> None:
    standing.occurrences += 1
    standing.last_used = max(standing.last_used, event.ts)
    in_consolidation = event.by == "consolidate"
    by = confidence.CONSOLIDATED_AGAIN if in_consolidation else confidence.REPEATED
    _move(standing, event, by, once="learn")


_OUTCOMES = {"success": confidence.REUSED, "failure": confidence.FAILED, "prevented": confidence.PREVENTED}


def _reused(standing: Standing, event: Event) -> None:
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
    return source_of(learning.agent, learning.session, learning.task)


def _validated(standing: Standing, event: Event) -> None:
    if event.agent and event.agent == standing.learning.agent:
        return
    source = ("validated", event.agent or event.id)
    if source not in standing.heard and not standing.is_overridden:
        standing.confidence = confidence.moved(standing.confidence, confidence.VALIDATED)
    standing.heard.add(source)


def _judged(standing: Standing, event: Event) -> None:
    verdict = event.text("verdict")
    if verdict in (VERIFIED, "invalidated", UNVERIFIED):
        standing.verdict = verdict


def _raised(standing: Standing, event: Event) -> None:
    standing.scope = event.text("to") or standing.scope


def _superseded(standing: Standing, event: Event) -> None:
    if standing.status != SUPERSEDED and not standing.is_overridden:
        standing.confidence = confidence.moved(standing.confidence, confidence.SUPERSEDED)
    standing.status = SUPERSEDED
    standing.superseded_by = event.text("by_which") or standing.superseded_by
    why = event.text("review_reason") or event.text("reason")
    standing.review_reason = why or standing.review_reason


def _flagged(standing: Standing, event: Event) -> None:
    reason = event.text("reason")
    if event.fields.get("cleared"):
        standing.flags.pop(reason, None)
    elif reason:
        standing.flags[reason] = event.text("evidence")


def _curated(standing: Standing, event: Event) -> None:
    status = event.text("status")
    if status in (CANONICAL, NEEDS_REVIEW, ACTIVE):
        standing.status = status
    standing.merged_from = tuple(dict.fromkeys((*standing.merged_from, *event.texts("merged_from"))))
    standing.supersedes = tuple(dict.fromkeys((*standing.supersedes, *event.texts("supersedes"))))
    standing.review_reason = event.text("review_reason") or standing.review_reason


def _pinned(standing: Standing, event: Event) -> None:
    standing.is_pinned = event.fields.get("value") is not False


def _overridden(standing: Standing, event: Event) -> None:
    value = event.fields.get("value")
    if isinstance(value, int) and not isinstance(value, bool):
        standing.confidence = min(max(value, 0), 100)
        standing.is_overridden = True


def _preferred(standing: Standing, event: Event) -> None:
    if event.agent and event.text("preference") == PREFERS:
        standing.preferred_by.add(event.agent)
    else:
        standing.preferred_by.discard(event.agent)


def _promoted(standing: Standing, event: Event) -> None:
    standing.node = event.text("node") or standing.node


def _noted(standing: Standing, event: Event) -> None:
    """Leave it at the history; `core.rule_proposals` tells what it means."""


_FOLDS: Final[Mapping[str, Callable[[Standing, Event], None]]] = {
    "repeated": _repeated,
    "reused": _reused,
    "validated": _validated,
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
