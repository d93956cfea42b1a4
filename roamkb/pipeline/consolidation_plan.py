"""Plans that turn a session's observations into learnings, and merge duplicate learnings.

Pure: what the log knows goes in, what should be added to it comes out. A session's own
repetitions, what it was shown, and what the boot files say already give nothing: nobody
confirms himself.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Set
from functools import lru_cache
from itertools import chain
from itertools import islice
from typing import Final

from roamkb.core.ids import derived_id
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.lazy_regex import lazily
from roamkb.log.learning import NEVER_MERGED
from roamkb.log.learning import OBSERVATION_PREFIX
from roamkb.log.learning import content_identity
from roamkb.log.new_learning import contradiction_pairs
from roamkb.log.state import confidence
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.pipeline.extract import edited_files
from roamkb.pipeline.extract.attention import DURABLE_CATEGORIES
from roamkb.pipeline.extract.attention import Observation
from roamkb.pipeline.extract.attention import attention_to
from roamkb.pipeline.extract.attention import category_of
from roamkb.pipeline.extract.attention import neglect_reason
from roamkb.pipeline.extract.attention import secret_reason
from roamkb.pipeline.gate import transcript_evidence
from roamkb.text.similarity import attribute_values
from roamkb.text.similarity import containment
from roamkb.text.similarity.duplicates import DuplicateTexts
from roamkb.text.similarity.duplicates import duplicate_groups
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import TextLikeness
from roamkb.text.similarity.jaccard import is_contradiction
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.jaccard import text_likeness
from roamkb.text.similarity.similarity_join import NearTexts
from roamkb.text.store.lexicons import alternatives_pattern
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import letter_pairs

#: Two observations, or learnings, that are one (document 002; inclusive, D5).
DUPLICATE_SIMILARITY: Final = 0.85
#: So many of those that may contradict a learning are told, of so many that are alike.
MOST_RIVALS: Final = 8
MOST_ALIKE: Final = 64
_WORD: Final = lazily(r"\w+")
#: Letters of words that tell something, and of their beginnings that their forms share.
_LONG_WORD: Final = 4
_BEGINNING_LENGTH: Final = 5
#: The part of the shorter text's telling words that another shares if it may be like it; of few, all words count.
_SHARED_PART: Final = 3
_FEW_WORDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticedObservation:
    """An observation that passed the filter."""

    observation: Observation
    type: str
    category: str
    prepared_text: PreparedText
    #: Why it says little, where somebody wants it kept all the same.
    thin_reason: str = ""
    #: Files of the project that it is about.
    files: tuple[str, ...] = ()

    @property
    def origin_key(self) -> str:
        """Key under which the ledger remembers it: type, session and statement, whatever line holds it."""
        statement = self.prepared_text.normal or self.observation.text.strip()
        return OBSERVATION_PREFIX + content_identity(self.type, f"{self.observation.session}\0{statement}")[:32]

    @property
    def id(self) -> str:
        """Id of the learning that it becomes."""
        return derived_id(self.origin_key)


@dataclass(slots=True, kw_only=True)
class SessionPlan:
    """Plan for a session's observations; counts add up."""

    processed: int = 0
    created: list[NoticedObservation] = field(default_factory=list)
    #: With the id of the learning that each repeats.
    repeated: list[tuple[NoticedObservation, str]] = field(default_factory=list)
    #: Reasons, and how often each.
    dropped: dict[str, int] = field(default_factory=dict)
    #: Ids of learnings to be flagged, each with that of the one which it may contradict.
    disputed: list[tuple[str, str]] = field(default_factory=list)

    def count_dropped(self, reason: str) -> None:
        """Count an observation that isn't kept, by the reason."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1


def plan_session(
    observations: Iterable[Observation],
    state: LogState,
    *,
    known_learnings: "KnownLearnings",
    shown_learnings: Iterable[str] = (),
    root: str = "",
) -> SessionPlan:
    """Return the plan for a session's `observations`.

    Many sessions share `known_learnings`: those of `state`, and what plans have added to them since.
    `shown_learnings` holds the ids of learnings, or texts, that the session was shown. `root` is the project's,
    for the files that the session changed.
    """
    plan = SessionPlan()
    shown_texts = KnownTexts(_shown_texts(shown_learnings, state))
    session_duplicates: dict[str, DuplicateTexts[str]] = {}
    edited = edited_files.EditedFiles(root)
    for observation in observations:
        plan.processed += 1
        edited.note_tool(observation.files)
        attention = attention_to(observation.type)
        if not attention.filter:
            plan.count_dropped("not an insight, a decision or a discovery")
            continue
        reason = neglect_reason(observation.text)
        if reason and (not observation.announced or secret_reason(observation.text)):
            plan.count_dropped(reason)
            continue
        noticed = NoticedObservation(
            observation=observation,
            type=attention.type,
            category=category_of(observation.text, observation.type),
            prepared_text=prepare_text(observation.text),
            thin_reason=reason,
            files=edited.files_of_statement(observation.text, is_human=observation.provenance == "user-stated"),
        )
        if known_learnings.boot.has_covering_text(noticed.prepared_text):
            plan.count_dropped("a boot file says so")
        elif shown_texts.has_covering_text(noticed.prepared_text):
            plan.count_dropped("this session was shown it")
        elif any(
            True
            for _ in session_duplicates.setdefault(noticed.type, DuplicateTexts(DUPLICATE_SIMILARITY)).find_duplicates(
                noticed.prepared_text
            )
        ):
            plan.count_dropped("this session said so before")
        else:
            session_duplicates[noticed.type].add_text(noticed.id, noticed.prepared_text)
            _place_observation(noticed, known_learnings, plan)
    return plan


def _place_observation(noticed: NoticedObservation, known: "KnownLearnings", plan: SessionPlan) -> None:
    """Plan a new learning for an observation, or a repetition of the learning that says the same."""
    source, id, session = noticed.origin_key, noticed.id, noticed.observation.session
    if known.is_superseded(id) or (source in known.sources and id not in known.shapes):
        plan.count_dropped("consolidated before")
        return
    duplicate_id, rivals = known.duplicate_or_rivals(noticed)
    if id in known.shapes:
        # whoever was killed between a learning and what follows from it says the rest now
        plan.count_dropped("consolidated before")
        rivals = [] if id in known.flagged else rivals
    elif not duplicate_id:
        plan.created.append(noticed)
        known.sources.add(source)
        known.add_learning(id, session, noticed.type, noticed.prepared_text)
    elif session and session == known.sessions[duplicate_id]:
        plan.count_dropped("this session said so before")
    else:
        plan.repeated.append((noticed, duplicate_id))
        known.sources.add(source)
    for disputed_id, rival_id in contradiction_pairs(id, rivals, known.disputed):
        plan.disputed.append((disputed_id, rival_id))
        known.disputed.add(disputed_id)
        known.flagged.add(disputed_id)


class KnownLearnings:
    """Learnings in force by type, for finding similar ones, and the lines of the boot files."""

    def __init__(self, boot: Iterable[str] = ()) -> None:
        self.boot = KnownTexts(boot)
        self._near: dict[str, NearTexts[str]] = {}
        self._twins: dict[str, DuplicateTexts[str]] = {}
        self._covering: dict[str, containment.CoveringTexts[str]] = {}
        self._valued: dict[str, attribute_values.ValuedTexts[str]] = {}
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

    def note_state(self, state: LogState) -> None:
        """Note what the log's present state says of its learnings; the log only ever grows."""
        self._gone = {
            learning_state.id for learning_state in state.standings.values() if learning_state.status == SUPERSEDED
        }
        self.sources = {standing.learning.origin for standing in state.standings.values()}
        self.disputed = {
            learning_state.id for learning_state in state.standings.values() if state.is_disputed(learning_state)
        }
        for event in state.events:
            if event.event == "repeated":
                self.sources.update(event.text_list_field("source"))
            elif event.event == "flagged":
                self.flagged.add(event.of)

    def add_like(self, standings: Mapping[str, LearningState], observations: Iterable[Observation]) -> None:
        """Add the learnings that may be like an observation: to prepare one takes as long as to read twenty."""
        wanted = [seen.text for seen in observations if attention_to(seen.type).filter]
        for standing in standings.values():
            learning = standing.learning
            if standing.id not in self.shapes and _may_be_like(learning.content, wanted):
                self.add_learning(
                    standing.id, learning.session, learning.canonical_type, prepare_text(learning.content)
                )

    def add_learning(self, id: str, session: str, type: str, prepared: PreparedText) -> None:
        """Add a learning, so that later observations are compared with it."""
        self.shapes[id] = prepared
        self.sessions[id] = session
        self._near.setdefault(type, NearTexts(DUPLICATE_SIMILARITY)).add_text(id, prepared)
        self._twins.setdefault(type, DuplicateTexts(DUPLICATE_SIMILARITY)).add_text(id, prepared)
        self._covering.setdefault(type, containment.CoveringTexts()).add_text(id, prepared)
        self._valued.setdefault(type, attribute_values.ValuedTexts()).add_text(id, prepared.text)

    def is_superseded(self, id: str) -> bool:
        """Say whether another learning superseded it: nothing follows from it any more."""
        return id in self._gone

    def duplicate_or_rivals(self, noticed: NoticedObservation) -> tuple[str, list[str]]:
        """Return the id of the learning that says the same, if any, or else ids that may contradict it."""
        if noticed.type not in self._near:
            return "", []
        prepared, is_decision = noticed.prepared_text, noticed.type in NEVER_MERGED
        for id in self._countable_ids(self._twins[noticed.type].find_duplicates(prepared), noticed):
            if (
                not is_decision
                or text_likeness(prepared, self.shapes[id], limit=DUPLICATE_SIMILARITY) is TextLikeness.SAME
            ):
                return id, []
        if rivals := self._nearby_rivals(noticed):
            return "", rivals
        # whoever says a part of what is known repeats it
        covered = self._countable_ids(self._covering[noticed.type].find_covering(prepared), noticed)
        return "" if is_decision else next(covered, ""), []

    def _nearby_rivals(self, noticed: NoticedObservation) -> list[str]:
        """Return the first few similar ids that may contradict it: a template may have thousands."""
        prepared = noticed.prepared_text
        nearby_ids = self._countable_ids(self._near[noticed.type].find_alike(prepared), noticed)
        contradicting_ids = (
            id
            for id in islice(nearby_ids, MOST_ALIKE)
            if is_contradiction(prepared, self.shapes[id], limit=DUPLICATE_SIMILARITY)
        )
        valued_ids = self._valued[noticed.type].find_otherwise_valued(prepared.text, most=MOST_ALIKE)
        otherwise_valued_ids = self._countable_ids(valued_ids, noticed)
        return list(islice(dict.fromkeys(chain(contradicting_ids, otherwise_valued_ids)), MOST_RIVALS))

    def _countable_ids(self, ids: Iterable[str], noticed: NoticedObservation) -> Iterator[str]:
        return (id for id in ids if id != noticed.id and id not in self._gone)


def _may_be_like(text: str, wanted: Iterable[str]) -> bool:
    """Say whether a text shares enough words with one of several that it may say the same or the contrary."""
    beginnings = _word_beginnings(text)
    return any(_shares_words(text, beginnings, other) for other in wanted)


def _shares_words(text: str, beginnings: Set[str], other: str) -> bool:
    others = _wanted_beginnings(other)
    if min(len(beginnings), len(others)) < _FEW_WORDS:
        beginnings, others = _word_beginnings(text, least=1), _wanted_beginnings(other, least=1)
    return _SHARED_PART * len(beginnings & others) >= min(len(beginnings), len(others))


def _word_beginnings(text: str, *, least: int = _LONG_WORD) -> Set[str]:
    """Return the beginnings of words of so many letters, which their forms share.

    Of scripts without blanks the letter pairs.
    """
    pairs: set[str] = set()
    if not text.isascii():
        pairs.update(pair for run in UNSPACED.findall(text) for pair in letter_pairs(run))
        text = UNSPACED.sub(" ", text)
    words = set(_WORD.findall(text.casefold())) - STOP_WORDS
    return pairs.union(word[:_BEGINNING_LENGTH] for word in words if len(word) >= least or word.isdigit())


#: Of what is wanted: a long log's learnings are compared with it one by one.
_wanted_beginnings = lru_cache(maxsize=1024)(_word_beginnings)


def _shown_texts(shown_learnings: Iterable[str], state: LogState) -> Iterator[str]:
    for id_or_text in shown_learnings:
        standing = state.standings.get(id_or_text)
        yield standing.learning.content if standing else id_or_text


#: How a text begins that repeats what its author has read.
_REMINDER_PREFIX = lazily(rf"\s*{alternatives_pattern('reminders')}[,:]\s*", re.IGNORECASE)


class KnownTexts:
    """Texts known beforehand, searched for one that covers a given text."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        shapes = [prepared for text in texts if (prepared := prepare_text(text)).normal]
        self._texts = [prepared.text for prepared in shapes]
        self._twins: DuplicateTexts[int] = DuplicateTexts(DUPLICATE_SIMILARITY)
        for number, prepared in enumerate(shapes):
            self._twins.add_text(number, prepared)
        self._covering: containment.CoveringTexts[int] = containment.CoveringTexts(enumerate(shapes))

    def has_covering_text(self, prepared: PreparedText) -> bool:
        """Say whether a known text says the same, or all of it and more."""
        return self.find_covering_text(prepared) is not None

    def find_covering_text(self, prepared: PreparedText) -> str | None:
        """Return a known text that says the same, or all of it and more; None where none does."""
        if reminder := _REMINDER_PREFIX.match(prepared.text):
            prepared = prepare_text(prepared.text[reminder.end() :])
        covering_numbers = chain(self._covering.find_covering(prepared), self._twins.find_duplicates(prepared))
        return next((self._texts[number] for number in covering_numbers), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningCluster:
    """Learnings that say the same, and the keeper among them."""

    keeper: LearningState
    others: tuple[LearningState, ...]


def cluster_duplicates(standings: Iterable[LearningState]) -> list[LearningCluster]:
    """Return the groups of duplicate learnings of one type, by union and find over unguarded pairs.

    The keeper has the highest confidence, then is the newest (document 002, stage 2).
    """
    clusters = []
    mergeable = (standing for standing in standings if standing.learning.canonical_type not in NEVER_MERGED)
    for group in group_duplicates(standing for standing in mergeable if standing.status != SUPERSEDED):
        keeper = max(group, key=lambda standing: (standing.confidence, standing.learning.ts, standing.id))
        clusters.append(
            LearningCluster(keeper=keeper, others=tuple(standing for standing in group if standing is not keeper))
        )
    return sorted(clusters, key=lambda cluster: cluster.keeper.id)


def group_duplicates(standings: Iterable[LearningState]) -> list[list[LearningState]]:
    """Return the groups of learnings of one type that say the same, decisions only word for word."""
    merged_groups = []
    for type, group in group_by_type(standings).items():
        by_id = {standing.id: standing for standing in sorted(group, key=lambda standing: standing.id)}
        if type in NEVER_MERGED:
            ids_by_statement: dict[str, list[str]] = {}
            for id, standing in by_id.items():
                ids_by_statement.setdefault(standing.learning.statement.strip(), []).append(id)
            groups = [ids for ids in ids_by_statement.values() if len(ids) > 1]
        else:
            groups = duplicate_groups(
                ((id, prepare_text(standing.learning.content)) for id, standing in by_id.items()), DUPLICATE_SIMILARITY
            )
        merged_groups += [[by_id[id] for id in sorted(ids)] for ids in groups]
    return merged_groups


def contradicting_pairs(standings: Iterable[LearningState]) -> Iterator[tuple[LearningState, LearningState]]:
    """Yield pairs of learnings of one type that may contradict each other, a few for each."""
    for group in group_by_type(standings).values():
        near: NearTexts[int] = NearTexts(DUPLICATE_SIMILARITY)
        valued: attribute_values.ValuedTexts[int] = attribute_values.ValuedTexts()
        shapes = [prepare_text(prepared.learning.content) for prepared in group]
        for number, prepared in enumerate(shapes):
            candidates = islice(near.find_alike(prepared), MOST_ALIKE)
            contradicting = (
                candidate
                for candidate in candidates
                if is_contradiction(shapes[candidate], prepared, limit=DUPLICATE_SIMILARITY)
            )
            otherwise_valued = valued.find_otherwise_valued(prepared.text, most=MOST_ALIKE)
            for rival in islice(dict.fromkeys(chain(contradicting, otherwise_valued)), MOST_RIVALS):
                yield group[rival], group[number]
            near.add_text(number, prepared)
            valued.add_text(number, prepared.text)


def group_by_type(standings: Iterable[LearningState]) -> dict[str, list[LearningState]]:
    """Return learnings by canonical type: only those of one type are compared."""
    grouped: dict[str, list[LearningState]] = {}
    for standing in standings:
        grouped.setdefault(standing.learning.canonical_type, []).append(standing)
    return grouped


def learning_category(standing: LearningState) -> str:
    """Return a learning's category: its own, else the one that its text suggests."""
    own_category = standing.learning.category.replace("-", "_").casefold()
    return own_category or category_of(standing.learning.content, standing.learning.type)


def is_durable(standing: LearningState) -> bool:
    """Say whether a learning is worth keeping for good: pinned, or sure enough and of a lasting category.

    What a session's transcript bears out lasts whatever it is about.
    """
    if standing.is_pinned or standing.learning.is_summary:
        return standing.is_pinned
    attestation = transcript_evidence.recorded_attestation(standing)
    lasts = (attestation is not None and attestation.is_good) or learning_category(standing) in DURABLE_CATEGORIES
    return standing.confidence >= confidence.DURABLE and lasts
