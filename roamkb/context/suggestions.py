"""Unasked suggestions: the search's answers that reach the relevance threshold."""

from collections.abc import Collection
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import chain

from roamkb.context import brief_text
from roamkb.context import relevance_threshold
from roamkb.core.model import Hit
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import Final
from roamkb.core.startup.typing import Generic
from roamkb.core.startup.typing import TypeVar
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search import search
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import TermWeights
from roamkb.kb.search.query import parse_words
from roamkb.kb.search.query import query_of
from roamkb.log import known_learnings
from roamkb.log.state.learning_state import MAY_CONTRADICT
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import is_in_force
from roamkb.log.state.learning_state import lapse_reason
from roamkb.log.store import index as log_index
from roamkb.pipeline import consolidation_plan
from roamkb.pipeline.gate import noise
from roamkb.secrets import detector
from roamkb.text import code_identifiers
from roamkb.text import unsafe_text
from roamkb.text.similarity import jaccard
from roamkb.text.tokenize import split_words

#: Answers that are looked at; below the best few nothing clears the floor.
_MOST_ANSWERS = 8
#: Answers to the names in a change that are looked at, and learnings of which one name may tell.
_MOST_NAMING = 50
_MOST_OF_NAME = 3


#: Notes that aren't indexed yet and are read in a moment; while there are more, no session is told of any.
MOST_UNINDEXED: Final = 300
#: Why an answer that was weighed isn't suggested.
TOO_WEAK: Final = "too little evidence"
SHOWN_BEFORE: Final = "shown before"
REPEATS: Final = "says what another one says"
WITHDRAWN: Final = "its learning is no longer in force"
OVER_LIMIT: Final = "others come first"
PRIVATE: Final = "reads as if it told a password or a key"
NOISE: Final = "noise of another tool's log"
UNSAFE: Final = "gives orders, or makes something less safe"

#: How a search says of a node that a newer one replaced it.
_IS_SUPERSEDED: Final = "superseded"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedAnswer:
    """An answer that a hook weighed."""

    id: str
    #: Of evidence that it shares with the prompt, and the least that would do beside the best of its kind.
    bits: float
    least_bits: float
    #: Why it isn't suggested; empty where it is.
    dropped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggested(Generic[_T]):
    """What is suggested of one kind, and all that was weighed."""

    items: tuple[_T, ...] = ()
    #: The best first.
    weighed: tuple[WeighedAnswer, ...] = ()


def suggest_nodes(
    finder: "search.NoteFinder",
    notes: Notes,
    text: str,
    *,
    limit: int,
    besides: Container[str] = (),
    state: LogState | None = None,
    loose: bool = False,
) -> Suggested[Hit]:
    """Return the nodes that are relevant enough to `text` to interrupt with, without `besides`, ids.

    Nor what was promoted from learnings of which none is in force any more in `state`, the project's log.
    Where `loose`, one rare word's worth in the name is enough: nobody is interrupted.
    """
    asked = relevance_threshold.asked_text(text)
    query = parse_words(asked.text)
    if not query.terms:
        return Suggested()
    passages = finder.find_passages(query, limit=max(limit, _MOST_ANSWERS))
    current = [answer for answer in passages.answers if _IS_SUPERSEDED not in answer.why]
    least = relevance_threshold.START_THRESHOLD if loose else relevance_threshold.INTERRUPTION_THRESHOLD
    worths, threshold = _weigh_passages(asked, current, passages.weights, least=least)
    hits: list[Hit] = []
    weighed: list[WeighedAnswer] = []
    for answer, bits in worths:
        dropped = _too_weak(bits, threshold) or _node_drop_reason(answer, state, besides)
        if not dropped and len(hits) == limit:
            dropped = OVER_LIMIT
        if not dropped:
            hits.append(search.hit_of(answer, notes.kb, answer.line, answer.full_title))
        if answer.id:
            weighed.append(WeighedAnswer(id=answer.id, bits=bits, least_bits=threshold, dropped=dropped))
    return Suggested(items=tuple(hits), weighed=tuple(weighed))


def suggest_learnings(
    finder: "log_index.LogIndex", state: LogState, text: str, *, limit: int, besides: Collection[str] = ()
) -> Suggested[LearningState]:
    """Return the learnings that are relevant enough to `text` to interrupt with, without `besides`, ids."""
    asked = relevance_threshold.asked_text(text)
    query = parse_words(asked.text)
    if not query.terms or not state.standings:
        return Suggested()
    current, weights = _answers_in_force(finder, state, query, limit=max(limit, _MOST_ANSWERS))
    worths, threshold = _weigh_passages(asked, current, weights, least=relevance_threshold.INTERRUPTION_THRESHOLD)
    dropped = {
        answer.file: _too_weak(bits, threshold) or _drop_reason(answer, state, besides) for answer, bits in worths
    }
    # the better answer stays before the worse, of those that are borne out and of the others
    lasting = sorted(
        (state.standings[id] for id, reason in dropped.items() if not reason),
        key=lambda one: not brief_text.is_borne_out(one),
    )
    unlike = tuple(_without_repetitions(lasting, state, besides)) if lasting else ()
    dropped |= {one.id: REPEATS for one in lasting if one not in unlike}
    shown = _with_rivals(unlike, state, besides)[:limit]
    dropped |= {one.id: OVER_LIMIT for one in unlike if one not in shown} | {one.id: "" for one in shown}
    weighed = (
        WeighedAnswer(id=answer.file, bits=bits, least_bits=threshold, dropped=dropped[answer.file])
        for answer, bits in worths
    )
    rivals = [state.standings[answer.file] for answer in current]
    return Suggested(items=with_present_flags(shown, state, among=rivals), weighed=tuple(weighed))


def _with_rivals(
    standings: Sequence[LearningState], state: LogState, besides: Container[str]
) -> Sequence[LearningState]:
    """Return learnings, each with the one that it may contradict behind it, where that may be told."""
    pairs = chain.from_iterable((one, state.rival_in_force(one)) for one in standings)
    told = (
        one
        for one in pairs
        if one in standings
        or (
            one
            and is_in_force(one)
            and one.id not in besides
            and not (withheld_reason(one) or brief_text.is_passing(one))
        )
    )
    return tuple({one.id: one for one in told if one}.values())


def _node_drop_reason(answer: PassageHit, state: LogState | None, besides: Container[str]) -> str:
    """Return why a node that is relevant enough isn't suggested; empty where it is."""
    if answer.id in besides:
        return SHOWN_BEFORE
    if state and answer.id and lapse_reason(state.learnings_with("node", answer.id)):
        return WITHDRAWN
    texts = (answer.title, *answer.aliases, *(line for _, line in answer.lines))
    return PRIVATE if _tells_a_secret(texts) else ""


def _tells_a_secret(texts: Iterable[str]) -> bool:
    return any(detector.names_a_secret(text) or detector.find_secret(text) is not None for text in texts)


def _too_weak(bits: float, threshold: float) -> str:
    return "" if bits >= threshold else TOO_WEAK


def _drop_reason(answer: PassageHit, state: LogState, besides: Container[str]) -> str:
    """Return why a learning that is relevant enough isn't suggested; empty where it is."""
    if answer.file in besides:
        return SHOWN_BEFORE
    standing = state.standings[answer.file]
    return withheld_reason(standing) or (brief_text.NOT_BORNE_OUT if brief_text.is_passing(standing) else "")


def with_present_flags(
    standings: Sequence[LearningState], state: LogState, *, among: Iterable[LearningState]
) -> tuple[LearningState, ...]:
    """Return learning states with the flags in force, and those that one of `among` may contradict marked so.

    `learn` compares with what the log has; a merge brings together what nobody compared.
    """
    # at most prompts nothing is told, and to take the texts apart reads all synonyms
    others = [(other, jaccard.prepare_text(other.learning.content)) for other in (among if standings else ())]
    return tuple(replace(one, flags=_present_flags(one, state, others)) for one in standings)


def _present_flags(
    standing: LearningState, state: LogState, others: "Sequence[tuple[LearningState, jaccard.PreparedText]]"
) -> dict[str, str]:
    flags = dict(state.flags_in_force(standing))
    prepared = jaccard.prepare_text(standing.learning.content)
    for other, other_prepared in others:
        if MAY_CONTRADICT in flags:
            break
        is_comparable = other.id != standing.id and other.learning.canonical_type == standing.learning.canonical_type
        if is_comparable and known_learnings.may_contradict(prepared, other_prepared):
            flags[MAY_CONTRADICT] = other.id
    return flags


def _without_repetitions(
    standings: Sequence[LearningState], state: LogState, besides: Collection[str]
) -> Iterator[LearningState]:
    """Yield the learnings that repeat neither an earlier one nor one of `besides`, however worded."""
    known_contents = [excluded.learning.content for id in besides if (excluded := state.standings.get(id))]
    for standing in standings:
        if not consolidation_plan.KnownTexts(known_contents).has_covering_text(
            jaccard.prepare_text(standing.learning.content)
        ):
            yield standing
            known_contents.append(standing.learning.content)


def learnings_naming(finder: "log_index.LogIndex", state: LogState, names: Sequence[str]) -> dict[str, LearningState]:
    """Return the learnings that name one of `names` of code, by id; a name that many have tells of none."""
    naming: dict[str, list[LearningState]] = {}
    query = query_of(list(dict.fromkeys(term for name in names for term in split_words(name))))
    for answer in finder.find_passages(query, limit=_MOST_NAMING):
        standing = state.standings.get(answer.file)
        if standing is not None and is_in_force(standing):
            for name in set(code_identifiers.names_of(standing.learning.content)).intersection(names):
                naming.setdefault(name, []).append(standing)
    return {one.id: one for standings in naming.values() if len(standings) <= _MOST_OF_NAME for one in standings}


def best_borne_out(standings: Iterable[LearningState]) -> tuple[LearningState, ...]:
    """Return learnings in the order of their evidence: borne out, said often, trusted, late."""
    return tuple(
        sorted(
            standings,
            key=lambda one: (
                not brief_text.is_borne_out(one),
                -one.occurrences,
                -one.confidence,
                -one.learning.ts,
                one.id,
            ),
        )
    )


def withheld_reason(standing: LearningState) -> str:
    """Return why nobody is told a learning in force unasked, however it came into the log; empty where it may be."""
    texts = (standing.learning.content, *standing.learning.aliases)
    if _tells_a_secret(texts):
        return PRIVATE
    if not brief_text.is_borne_out(standing) and noise.noise_of(standing.learning.content):
        return NOISE
    return UNSAFE if unsafe_text.unsafe_reason(texts) and not brief_text.is_approved(standing) else ""


def scores_of_relevant(
    finder: "log_index.LogIndex", state: LogState, text: str, *, is_interrupting: bool
) -> Mapping[str, float]:
    """Return the learnings in force that are relevant enough to `text`, by id, with scores from 1 down to 0."""
    asked = relevance_threshold.asked_text(text)
    query = parse_words(asked.text)
    if not query.terms:
        return {}
    current, weights = _answers_in_force(finder, state, query, limit=_MOST_ANSWERS)
    least = relevance_threshold.INTERRUPTION_THRESHOLD if is_interrupting else relevance_threshold.START_THRESHOLD
    worths, threshold = _weigh_passages(asked, current, weights, least=least)
    relevant = (answer.file for answer, bits in worths if bits >= threshold)
    return {id: 1 - rank / _MOST_ANSWERS for rank, id in enumerate(relevant)}


def _answers_in_force(
    finder: "log_index.LogIndex", state: LogState, query: Query, *, limit: int
) -> tuple[Sequence[PassageHit], TermWeights]:
    """Return the answers that are in force, and the weight of each term of `query` among all learnings."""
    answers, weights = finder.find_weighed(query, limit=limit)
    current = [entry for entry in answers if (standing := state.standings.get(entry.file)) and is_in_force(standing)]
    return current, weights


def _weigh_passages(
    asked: "relevance_threshold.AskedText",
    answers: Sequence[PassageHit],
    weights: TermWeights,
    *,
    least: "relevance_threshold.RelevanceThreshold",
) -> tuple[Sequence[tuple[PassageHit, float]], float]:
    """Return the answers, each with its odds in bits, and the threshold."""
    bits, threshold = relevance_threshold.weigh_answers(
        asked, weights, [answer_of(passage) for passage in answers], limits=least
    )
    return list(zip(answers, bits, strict=True)), threshold


def answer_of(passage: PassageHit) -> "relevance_threshold.Answer":
    """Return a passage as it is weighed."""
    lines = "\n".join(line for _, line in passage.lines)
    return relevance_threshold.Answer(passage.own_names, lines, passage.signals)
