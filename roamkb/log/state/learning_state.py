"""States of learnings as values: ledger events, a learning's state, and a log's state."""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.core.json_form import Keys
from roamkb.core.json_form import OrNull
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import Final
from roamkb.core.startup.typing import Protocol
from roamkb.core.timestamps import Time
from roamkb.core.timestamps import TimeOrNull
from roamkb.log.learning import Learning
from roamkb.log.state import confidence
from roamkb.log.state.confidence import Hundredths
from roamkb.log.state.deferred import DeferredList
from roamkb.log.state.deferred import DeferredSet
from roamkb.text.similarity import contradiction

ACTIVE: Final = "active"
CANONICAL: Final = "canonical"
SUPERSEDED: Final = "superseded"
NEEDS_REVIEW: Final = "needs_review"
#: A curator put it away; what rotation moved to the archive is as active as before.
ARCHIVED: Final = "archived"
#: How far a learning was raised, the narrowest first.
SCOPES: Final = ("session", "agent", "task", "project")
UNVERIFIED: Final = "unverified"
VERIFIED: Final = "verified"
INVALIDATED: Final = "invalidated"
#: The flag of a learning that somebody took back: neither offered nor promoted until that is settled.
CONTESTED: Final = "contested"
#: Something was done about an error (`remedies/effectiveness`).
ATTEMPTED: Final = "attempted"
#: A human said how much a learning counts.
OVERRIDDEN: Final = "overridden"
#: Takes back the event that it is about.
UNDONE: Final = "undone"
#: A human had the learning taken out of the log for good (`log/state/tombstones`).
FORGOTTEN: Final = "forgotten"
#: The field that says how a human's yes was given: typed at a terminal, or signed by a security key.
YES_FIELD: Final = "yes"
TYPED: Final = "typed"
SIGNED: Final = "signed"
#: What an event is called whose signature can't be verified: nothing follows from it (`log/proof`).
UNPROVEN: Final = "unproven"
#: What stands where a text was that tells of a forgotten learning.
REDACTED: Final = "[forgotten]"
#: Another agent found it true.
VALIDATED: Final = "validated"
#: The flag of a learning that nearly says the same as another, and may claim otherwise.
MAY_CONTRADICT: Final = "may_contradict"
#: The field of a `curated` event that names those which the learning may contradict: once they don't, it falls.
RIVALS_FIELD: Final = "rivals"
#: What a `repeated` event tells beside its task of what the repetition is about.
REPETITION_FIELDS: Final = ("files", "tags", "actions", "aliases")
#: Repetitions that are looked at first for those after some event.
_LATEST_REPETITIONS: Final = 16
#: What an agent's `preferred` event says.
PREFERS: Final = "prefers"
NO_PREFERENCE: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEvent:
    """One line of the ledger: an event."""

    #: A ULID, later than any in the ledger that it was written to.
    id: str
    #: Seconds since 1970, UTC.
    ts: Time
    event: str
    #: The learning that it happened to; empty where it is about none.
    of: str = ""
    #: What did it: learn, ingest, consolidate, curate…
    by: str = ""
    agent: str = ""
    session: str = ""
    task: str = ""
    machine: str = ""
    #: As of a learning.
    is_adopted: bool = False
    #: What only some events have.
    fields: Mapping[str, object] = field(default_factory=dict)

    def text_field(self, name: str) -> str:
        """Return one of the fields as text, empty where it is no text."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    def text_list_field(self, name: str) -> tuple[str, ...]:
        """Return a field as a tuple of texts; a single text counts."""
        value = self.fields.get(name)
        if isinstance(value, str):
            return (value,)
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def is_signed(event: LedgerEvent) -> bool:
    """Say whether an event claims that a human signed it; what replay kept of them, one did."""
    return event.event != UNPROVEN and event.text_field(YES_FIELD) == SIGNED


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceStep:
    """The effect of one event on a learning's confidence."""

    JSON = (
        "event.id event.ts event.event event.by event.agent event.session event.task event.fields before after effect"
    )
    event: LedgerEvent
    before: Hundredths
    after: Hundredths

    @property
    def effect(self) -> Hundredths:
        """The change of the confidence."""
        return self.after - self.before


_JSON_KEYS: Final = (
    "id learning.key learning.type learning.category learning.content learning.tags confidence occurrences "
    "status verdict scope learning.ts learning.agent task=learning.topic learning.files learning.actions "
    "learning.aliases "
    "superseded_by is_archived"
)
#: The keys of a learning where all that is known of it is told.
EVERY_KEY: Final = Keys(
    f"{_JSON_KEYS} learning.source learning.bead learning.session learning.provenance learning.origin "
    "learning.kind is_pinned preferred_by is_overridden flags supersedes merged_from review_reason node "
    "outcomes last_used learning.extra"
)


@dataclass(slots=True, kw_only=True)
class LearningState:
    """A learning with its present status and confidence; only `replay` changes it."""

    JSON = _JSON_KEYS
    #: As it was first said, with the files, tags, actions and aliases of its repetitions.
    learning: Learning
    #: Hundredths, as events gave it; decay enters rank alone.
    confidence: Hundredths
    occurrences: int = 1
    status: str = ACTIVE
    verdict: str = UNVERIFIED
    scope: str = "project"
    is_pinned: bool = False
    #: A human said what it is worth; no event moves it any more.
    is_overridden: bool = False
    #: Why it ranks lower or wants a look: stale, noise, contested, may_contradict…
    flags: dict[str, str] = field(default_factory=dict)
    superseded_by: OrNull = ""
    supersedes: tuple[str, ...] = ()
    merged_from: tuple[str, ...] = ()
    review_reason: str = ""
    #: The node that it was promoted to.
    node: OrNull = ""
    #: How often it was reused, by outcome.
    outcomes: dict[str, int] = field(default_factory=dict)
    #: The agents that prefer it; it comes first for them alone.
    preferred_by: set[str] = field(default_factory=set)
    #: Seconds since 1970 when it was said, repeated or used last.
    last_used: TimeOrNull = 0.0
    history: list[ConfidenceStep] | DeferredList[ConfidenceStep] = field(default_factory=list)
    #: Sources that moved its confidence already.
    counted_sources: set[tuple[str, ...]] | DeferredSet[tuple[str, ...]] = field(default_factory=set)
    #: Whether rotation moved its line to the archive, which says nothing about its worth.
    is_archived: bool = False
    #: Tasks that it was given to or repeated in, beside the one that it was learned in.
    tasks: set[str] = field(default_factory=set)

    @property
    def id(self) -> str:
        """The learning's id."""
        return self.learning.id

    def rank_confidence(self, now: float) -> int:
        """Return the confidence for ranking at `now`, in seconds since 1970."""
        if self.is_pinned or self.is_overridden:
            return self.confidence
        return confidence.decayed_confidence(self.confidence, idle_days=(now - self.last_used) / 86400)


def surest_first(standings: Iterable[LearningState]) -> list[LearningState]:
    """Return learnings by their confidence, then by how often and how lately they were said."""
    return sorted(
        standings,
        key=lambda standing: (-standing.confidence, -standing.occurrences, -standing.learning.ts, standing.id),
    )


def is_in_force(standing: LearningState) -> bool:
    """Return whether a learning is in force: not superseded, archived, invalidated or contested, and no summary."""
    if standing.learning.is_summary:
        return False
    is_current = standing.status not in (SUPERSEDED, ARCHIVED) and standing.verdict != INVALIDATED
    return is_current and CONTESTED not in standing.flags


def is_settled(standing: LearningState) -> bool:
    """Return whether a learning denies no other any more: replaced, archived, found wrong, or doubted by its human."""
    is_doubted = standing.is_overridden and standing.confidence < confidence.LEAST_TRUSTED
    return standing.status in (SUPERSEDED, ARCHIVED) or standing.verdict == INVALIDATED or is_doubted


def review_rivals(standing: LearningState) -> set[str]:
    """Return the ids of those that may contradict a learning and for which it wants a review; empty if for others."""
    rival_ids: set[str] = set()
    for step in reversed(standing.history):
        if step.event.event == "curated":
            about = step.event.text_list_field(RIVALS_FIELD)
            if step.event.text_field("status") != NEEDS_REVIEW or not about:
                break
            rival_ids.update(about)
    return rival_ids


def lapse_reason(standings: Collection[LearningState]) -> str:
    """Return what became of learnings of which none holds any more, a clause; empty if one does, or there are none."""
    reason = ""
    for standing in standings:
        reason = _reason_not_to_hold(standing)
        if not reason:
            break
    return reason


def _reason_not_to_hold(standing: LearningState) -> str:
    if standing.status == SUPERSEDED:
        return "another learning replaced its own"
    if standing.verdict == INVALIDATED:
        return "its learning was found to be wrong"
    if standing.status == ARCHIVED:
        return "its learning was archived"
    if CONTESTED in standing.flags:
        return "its learning is contested"
    return "its human doubts its learning" if is_settled(standing) else ""


#: What `contradicts` says of a learning that may contradict another.
YES: Final = "yes"
#: What learnings are called by, whose values are listed to be found by their beginnings.
KEY: Final = "key"
#: Traits of several parts, a line each, whose values are listed to be looked through: many learnings share one.
FILES: Final = "files"
OTHER_TASKS: Final = "other_tasks"
LISTED_TRAITS: Final = (KEY, FILES, OTHER_TASKS)
#: What learnings are asked for by, beside their ids.
TRAITS: Final[Mapping[str, Callable[[LearningState], str]]] = {
    KEY: lambda one: one.learning.key,
    "type": lambda one: one.learning.canonical_type,
    "said": lambda one: one.learning.content.strip(),
    "task": lambda one: one.learning.task,
    "bead": lambda one: one.learning.bead,
    "session": lambda one: one.learning.session,
    FILES: lambda one: "\n".join(one.learning.files),
    OTHER_TASKS: lambda one: "\n".join(sorted(one.tasks)),
    "status": lambda one: one.status,
    "verdict": lambda one: one.verdict,
    "contradicts": lambda one: YES if MAY_CONTRADICT in one.flags else "",
    "contested": lambda one: YES if CONTESTED in one.flags else "",
    "node": lambda one: one.node,
}


#: A trait, and some of its values.
TraitValues = tuple[str, Collection[str]]


class StateShelf(Protocol):
    """A store of a state from which a few learnings and events are read at a time."""

    def learnings_with(self, trait: str, values: Collection[str]) -> list[LearningState]:
        """Return the learnings of which one of `TRAITS` has one of those values, in order."""

    def trait_values(self, trait: str, start: str = "") -> Collection[str]:
        """Return the values of one of `LISTED_TRAITS` that begin so, and perhaps some that no learning has any more."""

    def count_learnings(self, having: "TraitValues", lacking: "TraitValues") -> int:
        """Return the number of the learnings that have one of some values of a trait, and none of others."""

    def events_named(self, names: Collection[str], latest: int | None = None) -> list[LedgerEvent]:
        """Return the events of those names, in order; if `latest` is given, at most so many."""

    def count_events(self, name: str) -> int:
        """Return the number of the events of that name that count."""

    def ids_since(self, digest: str) -> Sequence[str] | None:
        """Return the ids of the learnings added after the state with that digest; None if unknown."""


#: The greatest id of an event, and what events told of that nobody said.
Reach = tuple[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogState:
    """The state of a project's log."""

    #: By id, in the order in which they were said.
    standings: Mapping[str, LearningState]
    #: The events that count, in order.
    events: Sequence[LedgerEvent]
    #: Stands for the lines that it was folded from; empty where nobody says.
    digest: str = field(default="", compare=False)
    #: What that was before the last lines came, and the ids that they added.
    grown: tuple[str, tuple[str, ...]] = field(default=("", ()), compare=False)
    #: Where the rest of it is looked up; None where all of it is here.
    shelf: StateShelf | None = field(default=None, compare=False)
    #: The greatest id of an event, counted or not, and what events told of that nobody said; for `advanced`.
    reach: Reach | None = field(default=None, compare=False)

    @property
    def learnings(self) -> Mapping[str, Learning]:
        """The learnings, by id."""
        return _StateLearnings(self.standings)

    def learnings_called(self, name: str) -> list[LearningState]:
        """Return the learnings with that id or key, the latest first (D4)."""
        if name in self.standings:
            return [self.standings[name]]
        return self.learnings_with(KEY, name)[::-1]

    def learnings_beginning(self, trait: str, start: str) -> list[LearningState]:
        """Return the learnings of which one of `LISTED_TRAITS` begins so, in order."""
        if self.shelf is not None:
            return self.learnings_with(trait, *self.shelf.trait_values(trait, start))
        trait_of = TRAITS[trait]
        return [standing for standing in self.standings.values() if trait_of(standing).startswith(start)]

    def learnings_with(self, trait: str, *values: str) -> list[LearningState]:
        """Return the learnings of which one of `TRAITS` has one of `values`, in order."""
        if self.shelf is not None:
            return self.shelf.learnings_with(trait, values)
        trait_of = TRAITS[trait]
        return [standing for standing in self.standings.values() if trait_of(standing) in values]

    def learnings_having(self, trait: str, is_wanted: Callable[[Sequence[str]], bool]) -> list[LearningState]:
        """Return the learnings of whose parts of one of `LISTED_TRAITS` that holds, in order; not those without any."""
        if self.shelf is not None:
            values: Collection[str] = self.shelf.trait_values(trait)
        else:
            trait_of = TRAITS[trait]
            values = {trait_of(standing) for standing in self.standings.values()}
        return self.learnings_with(trait, *(value for value in values if value and is_wanted(value.split("\n"))))

    def count_learnings(self, having: TraitValues, *, lacking: TraitValues) -> int:
        """Return the number of the learnings that have one of some values of a trait, and none of others."""
        if self.shelf is not None:
            return self.shelf.count_learnings(having, lacking)
        return sum(is_counted(standing, having, lacking) for standing in self.standings.values())

    def events_named(self, *names: str, latest: int | None = None) -> Sequence[LedgerEvent]:
        """Return the events of those names that count, in order; if `latest` is given, at most so many."""
        if self.shelf is not None:
            return self.shelf.events_named(names, latest)
        return [event for event in self.events if event.event in names][-latest if latest else None :]

    def count_events(self, name: str) -> int:
        """Return the number of the events of that name that count."""
        if self.shelf is not None:
            return self.shelf.count_events(name)
        return sum(event.event == name for event in self.events)

    @property
    def index_digest(self) -> str:
        """`digest`, how many repetitions add words to learnings, and the id of the last; empty where nobody says."""
        if not self.digest:
            return ""
        last_id = next((event.id for event in self.events_named("repeated", latest=1)), "")
        return f"{self.digest} {self.count_events('repeated')} {last_id}"

    def ids_since(self, index_digest: str) -> Sequence[str] | None:
        """Return the ids of the learnings added or repeated after the state with that digest; None if unknown.

        It isn't known where a repetition was taken back, or an earlier one came later.
        """
        digest, count, last_id = (*index_digest.rsplit(" ", 2), "", "")[:3]
        repeated_ids = list(self._ids_repeated_after(last_id))
        if count != str(self.count_events("repeated") - len(repeated_ids)):
            return None
        before, added_ids = self.grown
        if digest == self.digest:
            added: Sequence[str] | None = ()
        elif before and digest == before:
            added = added_ids
        else:
            added = None if self.shelf is None else self.shelf.ids_since(digest)
        return (
            None
            if added is None
            else tuple(dict.fromkeys((*added, *filter(self.standings.__contains__, repeated_ids))))
        )

    def _ids_repeated_after(self, last_id: str) -> Iterator[str]:
        """Yield the id of what was said again for each repetition after the event with that id."""
        count = _LATEST_REPETITIONS
        while (
            len(later := [event for event in self.events_named("repeated", latest=count) if event.id > last_id])
            == count
        ):
            count *= _LATEST_REPETITIONS
        return (event.of for event in later)

    def load_all(self) -> "LogState":
        """Return the same state, all of it in memory."""
        return replace(self, standings=dict(self.standings.items()), events=[*self.events], shelf=None)

    def rival_in_force(self, standing: LearningState) -> LearningState | None:
        """Return the learning in force that `standing`, if it is in force, may contradict by the ledger; else None.

        Each is told of one rival. Where that one was settled, those that had the same may contradict each other.
        """
        rival_id = standing.flags.get(MAY_CONTRADICT, "")
        rival = self.standings.get(rival_id)
        if rival is None or is_settled(standing):
            return None
        if not is_settled(rival):
            return rival
        said = standing.learning.content
        others = (
            other
            for other in self.learnings_with("contradicts", YES)
            if other.id != standing.id
            and not is_settled(other)
            and (other.flags[MAY_CONTRADICT] == rival_id or other.id == rival.flags.get(MAY_CONTRADICT))
            and contradiction.differ_in_claim(said, other.learning.content)
        )
        return next(others, None)

    def is_disputed(self, standing: LearningState) -> bool:
        """Say whether `standing` may contradict another learning in force."""
        return self.rival_in_force(standing) is not None

    def flags_in_force(self, standing: LearningState) -> Mapping[str, str]:
        """Return the flags without a contradiction that was settled since."""
        if MAY_CONTRADICT not in standing.flags or self.is_disputed(standing):
            return standing.flags
        return {name: evidence for name, evidence in standing.flags.items() if name != MAY_CONTRADICT}

    def disputed_pairs(self) -> "Iterator[tuple[LearningState, LearningState]]":
        """Yield the learnings in force that may contradict another one in force, each pair once."""
        seen: set[frozenset[str]] = set()
        for standing in self.learnings_with("contradicts", YES):
            rival = self.rival_in_force(standing)
            if rival is None:
                continue
            pair = frozenset((standing.id, rival.id))
            if pair not in seen:
                seen.add(pair)
                yield standing, rival


def is_counted(standing: LearningState, having: TraitValues, lacking: TraitValues) -> bool:
    """Say whether a learning has one of some values of a trait, and none of others."""
    return TRAITS[having[0]](standing) in having[1] and TRAITS[lacking[0]](standing) not in lacking[1]


class _StateLearnings(Mapping[str, Learning]):
    """The learnings of standings, looked up as they are wanted."""

    def __init__(self, standings: Mapping[str, LearningState]) -> None:
        self._standings = standings

    def __getitem__(self, id: str) -> Learning:
        return self._standings[id].learning

    def __iter__(self) -> Iterator[str]:
        return iter(self._standings)

    def __len__(self) -> int:
        return len(self._standings)
