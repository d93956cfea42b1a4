"""From what a session said to learnings, and from learnings to fewer (document 002, stages 1 to 3).

Pure: what the log knows goes in, what should be added to it comes out. A session's own
repetitions, what it was shown, and what the boot files say already give nothing: nobody
confirms himself.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import Final

from roamkb.core import confidence
from roamkb.core.attention import DURABLE_CATEGORIES
from roamkb.core.attention import Observation
from roamkb.core.attention import attention_to
from roamkb.core.attention import category_of
from roamkb.core.attention import neglected
from roamkb.core.covering import Covering
from roamkb.core.ids import derived_id
from roamkb.core.joins import Near
from roamkb.core.joins import pairs
from roamkb.core.learning import NEVER_MERGED
from roamkb.core.learning import identity
from roamkb.core.ledger import SUPERSEDED
from roamkb.core.ledger import Standing
from roamkb.core.ledger import State
from roamkb.core.similarity import Likeness
from roamkb.core.similarity import Shape
from roamkb.core.similarity import likeness
from roamkb.core.similarity import shape

#: Two observations, or learnings, that are one (document 002; inclusive, D5).
ALIKE: Final = 0.85


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """An observation that passed the filter."""

    observation: Observation
    type: str
    category: str
    shape: Shape

    @property
    def source(self) -> str:
        """What the ledger remembers it by: the session and what it says, whatever line says it."""
        said = self.shape.normal or self.observation.text.strip()
        return "observation:" + identity(self.type, f"{self.observation.session}\0{said}")[:32]

    @property
    def id(self) -> str:
        """The id of the learning that it becomes."""
        return derived_id(self.source)


@dataclass(slots=True, kw_only=True)
class SessionPlan:
    """What a session's observations amount to; counts add up."""

    processed: int = 0
    created: list[Noticed] = field(default_factory=list)
    #: With the id of the learning that each repeats.
    repeated: list[tuple[Noticed, str]] = field(default_factory=list)
    #: Reasons, and how often each.
    dropped: dict[str, int] = field(default_factory=dict)
    #: Ids of two learnings that nearly say the same and may claim otherwise, the new one first.
    rivals: list[tuple[str, str]] = field(default_factory=list)

    def drop(self, reason: str) -> None:
        """Count one that isn't kept."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1


def plan_session(
    observations: Iterable[Observation],
    state: State,
    *,
    shown: Iterable[str] = (),
    boot: Iterable[str] = (),
    known: "Known | None" = None,
) -> SessionPlan:
    """Return what to do about a session's `observations`.

    `shown` holds the ids of learnings, or texts, that the session was shown; `boot` the lines of
    the files that every session starts with. Many sessions share what is `known`, `boot` with it:
    what it was refreshed with, and what plans have added to it since.
    """
    plan = SessionPlan()
    if known is None:
        known = Known(boot)
        known.refresh(state)
    told = Told(_shown_texts(shown, state))
    seen: dict[str, Near[int]] = {}
    said: list[Noticed] = []
    for observation in observations:
        plan.processed += 1
        attention = attention_to(observation.type)
        if not attention.filter:
            plan.drop("not an insight, a decision or a discovery")
            continue
        if reason := neglected(observation.text):
            plan.drop(reason)
            continue
        noticed = Noticed(
            observation=observation,
            type=attention.type,
            category=category_of(observation.text, observation.type),
            shape=shape(observation.text),
        )
        if known.boot.say(noticed.shape):
            plan.drop("a boot file says so")
        elif told.say(noticed.shape):
            plan.drop("this session was shown it")
        elif _is_said(noticed, seen.setdefault(noticed.type, Near()), said):
            plan.drop("this session said so before")
        else:
            seen[noticed.type].add(len(said), noticed.shape)
            said.append(noticed)
            _place(noticed, known, plan)
    return plan


def _place(noticed: Noticed, known: "Known", plan: SessionPlan) -> None:
    """Put what was noticed where it belongs: beside a learning that says so, or on its own."""
    source, id, session = noticed.source, noticed.id, noticed.observation.session
    if known.is_settled(id) or (source in known.sources and id not in known.shapes):
        plan.drop("consolidated before")
        return
    twin, rivals = known.near(noticed)
    if id in known.shapes:
        # whoever was killed between a learning and what follows from it says the rest now
        plan.drop("consolidated before")
        rivals = [rival for rival in rivals if not known.is_flagged(id, rival)]
    elif not twin:
        plan.created.append(noticed)
        known.sources.add(source)
        known.add(id, session, noticed.type, noticed.shape)
    elif session and session == known.sessions[twin]:
        plan.drop("this session said so before")
    else:
        plan.repeated.append((noticed, twin))
        known.sources.add(source)
    for rival in rivals:
        plan.rivals.append((id, rival))
        known.flag(id, rival)


class Known:
    """The learnings that count, by type, to find what is like another; and what every session starts with."""

    def __init__(self, boot: Iterable[str] = ()) -> None:
        self.boot = Told(boot)
        self._by_type: dict[str, Near[str]] = {}
        self._covering: dict[str, Covering[str]] = {}
        self.shapes: dict[str, Shape] = {}
        #: Where each was said first.
        self.sessions: dict[str, str] = {}
        #: What was consolidated before.
        self.sources: set[str] = set()
        self._flagged: set[tuple[str, str]] = set()
        self._gone: set[str] = set()

    def refresh(self, state: State) -> None:
        """Take in what the log says now; it only ever says more."""
        self._gone = {one.id for one in state.standings.values() if one.status == SUPERSEDED}
        self.sources = {standing.learning.origin for standing in state.standings.values()}
        self._flagged = set()
        for standing in state.standings.values():
            if standing.id not in self.shapes:
                said = standing.learning
                self.add(standing.id, said.session, said.canonical_type, shape(said.content))
        for event in state.events:
            if event.event == "repeated":
                self.sources.update(event.texts("source"))
            elif event.event == "flagged":
                self._flagged.add((event.of, event.text("evidence")))

    def add(self, id: str, session: str, type: str, one: Shape) -> None:
        """Let a learning count for those that follow."""
        self.shapes[id] = one
        self.sessions[id] = session
        self._by_type.setdefault(type, Near()).add(id, one)
        self._covering.setdefault(type, Covering()).add(id, one)

    def is_settled(self, id: str) -> bool:
        """Say whether another took the place of a learning: nothing follows from it any more."""
        return id in self._gone

    def flag(self, one: str, other: str) -> None:
        """Remember that two learnings may contradict each other."""
        self._flagged.add((one, other))

    def is_flagged(self, one: str, other: str) -> bool:
        """Say whether the ledger ever said of two learnings that they may contradict each other."""
        return (one, other) in self._flagged or (other, one) in self._flagged

    def near(self, noticed: Noticed) -> tuple[str, list[str]]:
        """Return the learning that says the same, if any, and those that nearly do and may deny it."""
        near, covering = self._by_type.get(noticed.type), self._covering.get(noticed.type)
        if near is None or covering is None:
            return "", []
        rivals = []
        is_decision = noticed.type in NEVER_MERGED
        for id in near.candidates(noticed.shape, ALIKE):
            if id == noticed.id or id in self._gone:
                continue
            how = likeness(noticed.shape, self.shapes[id], limit=ALIKE)
            if how is Likeness.MAY_CONTRADICT:
                rivals.append(id)
            elif how is Likeness.SAME or (how is Likeness.SIMILAR and not is_decision):
                return id, []
        # whoever says a part of what is known repeats it
        covered = (id for id in covering.of(noticed.shape) if id != noticed.id and id not in self._gone)
        twin = "" if is_decision or rivals else next(covered, "")
        return twin, rivals


def _shown_texts(shown: Iterable[str], state: State) -> Iterator[str]:
    for one in shown:
        standing = state.standings.get(one)
        yield standing.learning.content if standing else one


#: How somebody begins who repeats what he read.
_REMINDED = re.compile(
    r"\s*(?:(?:as|like) (?:\w+ ){0,3}(?:before|above|earlier|already|previously|known|noted|shown)"
    r"|again|reminder|per the \w+(?: \w+)?|according to [^,:]{1,40})[,:]\s*",
    re.IGNORECASE,
)


class Told:
    """Texts that are known beforehand, and whether one of them says what another says."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._shapes = [one for text in texts if (one := shape(text)).normal]
        self._near: Near[int] = Near()
        self._covering: Covering[int] = Covering(enumerate(self._shapes))
        for number, one in enumerate(self._shapes):
            self._near.add(number, one)

    def say(self, one: Shape) -> bool:
        """Say whether one of the texts says the same, or all of it and more."""
        if reminded := _REMINDED.match(one.text):
            one = shape(one.text[reminded.end() :])
        return any(True for _ in self._covering.of(one)) or any(
            likeness(one, self._shapes[number], limit=ALIKE) in (Likeness.SAME, Likeness.SIMILAR)
            for number in self._near.candidates(one, ALIKE)
        )


def _is_said(noticed: Noticed, near: Near[int], said: Sequence[Noticed]) -> bool:
    return any(
        likeness(noticed.shape, said[number].shape, limit=ALIKE) in (Likeness.SAME, Likeness.SIMILAR)
        for number in near.candidates(noticed.shape, ALIKE)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Learnings that say the same, and the one that stays."""

    keeper: Standing
    others: tuple[Standing, ...]


def clusters(standings: Iterable[Standing]) -> list[Cluster]:
    """Return the groups of like learnings of one type, by union and find over unguarded pairs.

    The keeper has the highest confidence, then is the newest (document 002, stage 2).
    """
    by_type: dict[str, list[Standing]] = {}
    for standing in standings:
        if standing.status != SUPERSEDED:
            by_type.setdefault(standing.learning.canonical_type, []).append(standing)
    found = []
    for type, group in by_type.items():
        if type not in NEVER_MERGED:
            found += list(_clusters(group))
    return sorted(found, key=lambda cluster: cluster.keeper.id)


def _clusters(group: Sequence[Standing]) -> Iterator[Cluster]:
    by_id = {standing.id: standing for standing in group}
    shapes = {id: shape(standing.learning.content) for id, standing in by_id.items()}
    root = {id: id for id in by_id}

    def find(id: str) -> str:
        while root[id] != id:
            root[id] = root[root[id]]
            id = root[id]
        return id

    for one, other in pairs(shapes.items(), ALIKE):
        how = likeness(shapes[one], shapes[other], limit=ALIKE)
        if how in (Likeness.SAME, Likeness.SIMILAR):
            root[find(one)] = find(other)
    members: dict[str, list[Standing]] = {}
    for id in sorted(by_id):
        members.setdefault(find(id), []).append(by_id[id])
    for together in members.values():
        if len(together) > 1:
            keeper = max(together, key=lambda one: (one.confidence, one.learning.ts, one.id))
            yield Cluster(keeper=keeper, others=tuple(one for one in together if one is not keeper))


def category(standing: Standing) -> str:
    """Return what a learning is about: its own word for it, else what its text says."""
    said = standing.learning.category.replace("-", "_").casefold()
    return said or category_of(standing.learning.content, standing.learning.type)


def is_durable(standing: Standing) -> bool:
    """Say whether a learning is worth keeping for good: sure enough, of a lasting category; or pinned."""
    if standing.is_pinned:
        return True
    return standing.confidence >= confidence.DURABLE and category(standing) in DURABLE_CATEGORIES
