"""From what a session said to learnings, and from learnings to fewer (document 002, stages 1 to 3).

Pure: what the log knows goes in, what should be added to it comes out. A session's own
repetitions, what it was shown, and what the boot files say already give nothing: nobody
confirms himself.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from itertools import chain
from itertools import islice
from typing import Final

from roamkb.core.ids import derived_id
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.lazy_regex import lazily
from roamkb.log.learning import NEVER_MERGED
from roamkb.log.learning import identity
from roamkb.log.new_learning import contradictions
from roamkb.log.state import confidence
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.pipeline.extract.attention import DURABLE_CATEGORIES
from roamkb.pipeline.extract.attention import Observation
from roamkb.pipeline.extract.attention import attention_to
from roamkb.pipeline.extract.attention import category_of
from roamkb.pipeline.extract.attention import neglected
from roamkb.pipeline.extract.attention import refused
from roamkb.pipeline.gate.transcript_evidence import attestation_of
from roamkb.text.similarity.containment import CoveringTexts
from roamkb.text.similarity.duplicates import DuplicateTexts
from roamkb.text.similarity.duplicates import families
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import TextLikeness
from roamkb.text.similarity.jaccard import denies
from roamkb.text.similarity.jaccard import likeness
from roamkb.text.similarity.jaccard import shape
from roamkb.text.similarity.similarity_join import NearTexts
from roamkb.text.store.lexicons import alternatives

#: Two observations, or learnings, that are one (document 002; inclusive, D5).
ALIKE: Final = 0.85
#: How the origin begins of a learning that was announced in passing.
OBSERVED: Final = "observation:"
#: So many of those that may contradict a learning are told, of so many that are alike.
MOST_RIVALS: Final = 8
MOST_ALIKE: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticedObservation:
    """An observation that passed the filter."""

    observation: Observation
    type: str
    category: str
    shape: PreparedText
    #: Why it says little, where somebody wants it kept all the same.
    thin: str = ""

    @property
    def source(self) -> str:
        """What the ledger remembers it by: the session and what it says, whatever line says it."""
        said = self.shape.normal or self.observation.text.strip()
        return OBSERVED + identity(self.type, f"{self.observation.session}\0{said}")[:32]

    @property
    def id(self) -> str:
        """The id of the learning that it becomes."""
        return derived_id(self.source)


@dataclass(slots=True, kw_only=True)
class SessionPlan:
    """What a session's observations amount to; counts add up."""

    processed: int = 0
    created: list[NoticedObservation] = field(default_factory=list)
    #: With the id of the learning that each repeats.
    repeated: list[tuple[NoticedObservation, str]] = field(default_factory=list)
    #: Reasons, and how often each.
    dropped: dict[str, int] = field(default_factory=dict)
    #: Ids of learnings to be flagged, each with that of the one which it may contradict.
    disputed: list[tuple[str, str]] = field(default_factory=list)

    def drop(self, reason: str) -> None:
        """Count one that isn't kept."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1


def plan_session(
    observations: Iterable[Observation],
    state: LogState,
    *,
    shown: Iterable[str] = (),
    boot: Iterable[str] = (),
    known: "KnownLearnings | None" = None,
) -> SessionPlan:
    """Return what to do about a session's `observations`.

    `shown` holds the ids of learnings, or texts, that the session was shown; `boot` the lines of
    the files that every session starts with. Many sessions share what is `known`, `boot` with it:
    what it was refreshed with, and what plans have added to it since.
    """
    plan = SessionPlan()
    if known is None:
        known = KnownLearnings(boot)
        known.refresh(state)
    told = KnownTexts(_shown_texts(shown, state))
    said: dict[str, DuplicateTexts[str]] = {}
    for observation in observations:
        plan.processed += 1
        attention = attention_to(observation.type)
        if not attention.filter:
            plan.drop("not an insight, a decision or a discovery")
            continue
        reason = neglected(observation.text)
        if reason and (not observation.announced or refused(observation.text)):
            plan.drop(reason)
            continue
        noticed = NoticedObservation(
            observation=observation,
            type=attention.type,
            category=category_of(observation.text, observation.type),
            shape=shape(observation.text),
            thin=reason,
        )
        if known.boot.say(noticed.shape):
            plan.drop("a boot file says so")
        elif told.say(noticed.shape):
            plan.drop("this session was shown it")
        elif any(True for _ in said.setdefault(noticed.type, DuplicateTexts(ALIKE)).of(noticed.shape)):
            plan.drop("this session said so before")
        else:
            said[noticed.type].add(noticed.id, noticed.shape)
            _place(noticed, known, plan)
    return plan


def _place(noticed: NoticedObservation, known: "KnownLearnings", plan: SessionPlan) -> None:
    """Put what was noticed where it belongs: beside a learning that says so, or on its own."""
    source, id, session = noticed.source, noticed.id, noticed.observation.session
    if known.is_settled(id) or (source in known.sources and id not in known.shapes):
        plan.drop("consolidated before")
        return
    twin, rivals = known.near(noticed)
    if id in known.shapes:
        # whoever was killed between a learning and what follows from it says the rest now
        plan.drop("consolidated before")
        rivals = [] if id in known.flagged else rivals
    elif not twin:
        plan.created.append(noticed)
        known.sources.add(source)
        known.add(id, session, noticed.type, noticed.shape)
    elif session and session == known.sessions[twin]:
        plan.drop("this session said so before")
    else:
        plan.repeated.append((noticed, twin))
        known.sources.add(source)
    for one, other in contradictions(id, rivals, known.disputed):
        plan.disputed.append((one, other))
        known.disputed.add(one)
        known.flagged.add(one)


class KnownLearnings:
    """The learnings that count, by type, to find what is like another; and what every session starts with."""

    def __init__(self, boot: Iterable[str] = ()) -> None:
        self.boot = KnownTexts(boot)
        self._near: dict[str, NearTexts[str]] = {}
        self._twins: dict[str, DuplicateTexts[str]] = {}
        self._covering: dict[str, CoveringTexts[str]] = {}
        self.shapes: dict[str, PreparedText] = {}
        #: Where each was said first.
        self.sessions: dict[str, str] = {}
        #: What was consolidated before.
        self.sources: set[str] = set()
        #: What may contradict another, as the ledger says or is going to say.
        self.disputed: set[str] = set()
        #: What the ledger ever said so of, also where it was settled since.
        self.flagged: set[str] = set()
        self._gone: set[str] = set()

    def refresh(self, state: LogState) -> None:
        """Take in what the log says now; it only ever says more."""
        self._gone = {one.id for one in state.standings.values() if one.status == SUPERSEDED}
        self.sources = {standing.learning.origin for standing in state.standings.values()}
        self.disputed = {one.id for one in state.standings.values() if state.is_disputed(one)}
        for standing in state.standings.values():
            if standing.id not in self.shapes:
                said = standing.learning
                self.add(standing.id, said.session, said.canonical_type, shape(said.content))
        for event in state.events:
            if event.event == "repeated":
                self.sources.update(event.texts("source"))
            elif event.event == "flagged":
                self.flagged.add(event.of)

    def add(self, id: str, session: str, type: str, one: PreparedText) -> None:
        """Let a learning count for those that follow."""
        self.shapes[id] = one
        self.sessions[id] = session
        self._near.setdefault(type, NearTexts(ALIKE)).add(id, one)
        self._twins.setdefault(type, DuplicateTexts(ALIKE)).add(id, one)
        self._covering.setdefault(type, CoveringTexts()).add(id, one)

    def is_settled(self, id: str) -> bool:
        """Say whether another took the place of a learning: nothing follows from it any more."""
        return id in self._gone

    def near(self, noticed: NoticedObservation) -> tuple[str, list[str]]:
        """Return the learning that says the same, if any, or else some that nearly do and may deny it."""
        if noticed.type not in self._near:
            return "", []
        own, is_decision = noticed.shape, noticed.type in NEVER_MERGED
        for id in self._that_count(self._twins[noticed.type].of(own), noticed):
            if not is_decision or likeness(own, self.shapes[id], limit=ALIKE) is TextLikeness.SAME:
                return id, []
        if rivals := self._rivals(noticed):
            return "", rivals
        # whoever says a part of what is known repeats it
        covered = self._that_count(self._covering[noticed.type].of(own), noticed)
        return "" if is_decision else next(covered, ""), []

    def _rivals(self, noticed: NoticedObservation) -> list[str]:
        """Return the first few that are alike and may deny it: of a template there may be thousands."""
        near = self._that_count(self._near[noticed.type].candidates(noticed.shape), noticed)
        denied = (
            id for id in islice(near, MOST_ALIKE) if denies(noticed.shape, self.shapes[id], limit=ALIKE)
        )
        return list(islice(denied, MOST_RIVALS))

    def _that_count(self, ids: Iterable[str], noticed: NoticedObservation) -> Iterator[str]:
        return (id for id in ids if id != noticed.id and id not in self._gone)


def _shown_texts(shown: Iterable[str], state: LogState) -> Iterator[str]:
    for one in shown:
        standing = state.standings.get(one)
        yield standing.learning.content if standing else one


#: How a text begins that repeats what its author has read.
_REMINDED = lazily(rf"\s*{alternatives('reminders')}[,:]\s*", re.IGNORECASE)


class KnownTexts:
    """Texts that are known beforehand, and whether one of them says what another says."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        shapes = [one for text in texts if (one := shape(text)).normal]
        self._texts = [one.text for one in shapes]
        self._twins: DuplicateTexts[int] = DuplicateTexts(ALIKE)
        for number, one in enumerate(shapes):
            self._twins.add(number, one)
        self._covering: CoveringTexts[int] = CoveringTexts(enumerate(shapes))

    def say(self, one: PreparedText) -> bool:
        """Say whether one of the texts says the same, or all of it and more."""
        return self.find(one) is not None

    def find(self, one: PreparedText) -> str | None:
        """Return a text that says the same, or all of it and more."""
        if reminded := _REMINDED.match(one.text):
            one = shape(one.text[reminded.end() :])
        said = chain(self._covering.of(one), self._twins.of(one))
        return next((self._texts[number] for number in said), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCluster:
    """Learnings that say the same, and the one that stays."""

    keeper: LearningState
    others: tuple[LearningState, ...]


def clusters(standings: Iterable[LearningState]) -> list[LearningCluster]:
    """Return the groups of like learnings of one type, by union and find over unguarded pairs.

    The keeper has the highest confidence, then is the newest (document 002, stage 2).
    """
    found = []
    mergeable = (one for one in standings if one.learning.canonical_type not in NEVER_MERGED)
    for together in alike(one for one in mergeable if one.status != SUPERSEDED):
        keeper = max(together, key=lambda one: (one.confidence, one.learning.ts, one.id))
        found.append(
            LearningCluster(keeper=keeper, others=tuple(one for one in together if one is not keeper))
        )
    return sorted(found, key=lambda cluster: cluster.keeper.id)


def alike(standings: Iterable[LearningState]) -> list[list[LearningState]]:
    """Return the groups of learnings of one type that say the same, decisions only word for word."""
    found = []
    for type, group in by_type(standings).items():
        by_id = {one.id: one for one in sorted(group, key=lambda one: one.id)}
        if type in NEVER_MERGED:
            words: dict[str, list[str]] = {}
            for id, one in by_id.items():
                words.setdefault(one.learning.statement.strip(), []).append(id)
            groups = [ids for ids in words.values() if len(ids) > 1]
        else:
            groups = families(((id, shape(one.learning.content)) for id, one in by_id.items()), ALIKE)
        found += [[by_id[id] for id in sorted(ids)] for ids in groups]
    return found


def opposed(standings: Iterable[LearningState]) -> Iterator[tuple[LearningState, LearningState]]:
    """Yield learnings of one type that may contradict each other: each, and the first few that it may."""
    for group in by_type(standings).values():
        near: NearTexts[int] = NearTexts(ALIKE)
        shapes = [shape(one.learning.content) for one in group]
        for number, one in enumerate(shapes):
            alike = islice(near.candidates(one), MOST_ALIKE)
            denied = (n for n in alike if denies(shapes[n], one, limit=ALIKE))
            for other in islice(denied, MOST_RIVALS):
                yield group[other], group[number]
            near.add(number, one)


def by_type(standings: Iterable[LearningState]) -> dict[str, list[LearningState]]:
    """Return learnings by what they are: only those of one type are compared."""
    found: dict[str, list[LearningState]] = {}
    for standing in standings:
        found.setdefault(standing.learning.canonical_type, []).append(standing)
    return found


def category(standing: LearningState) -> str:
    """Return what a learning is about: its own word for it, else what its text says."""
    said = standing.learning.category.replace("-", "_").casefold()
    return said or category_of(standing.learning.content, standing.learning.type)


def is_durable(standing: LearningState) -> bool:
    """Say whether a learning is worth keeping for good: pinned, or sure enough and of a lasting category.

    What a session's transcript bears out lasts whatever it is about.
    """
    if standing.is_pinned:
        return True
    attestation = attestation_of(standing)
    lasts = (attestation is not None and attestation.is_good) or category(standing) in DURABLE_CATEGORIES
    return standing.confidence >= confidence.DURABLE and lasts
