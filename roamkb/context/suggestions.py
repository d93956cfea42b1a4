"""Unasked suggestions: the search's answers that reach the relevance threshold."""

from collections.abc import Collection
from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Protocol

from roamkb.context.brief_text import is_borne_out
from roamkb.context.relevance_threshold import INTERRUPTION_THRESHOLD
from roamkb.context.relevance_threshold import START_THRESHOLD
from roamkb.context.relevance_threshold import RelevanceThreshold
from roamkb.context.relevance_threshold import select_relevant
from roamkb.core.model import Hit
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import TermWeights
from roamkb.kb.search.query import parse_words
from roamkb.kb.search.query import query_of
from roamkb.kb.search.search import NoteFinder
from roamkb.kb.search.search import hit_of
from roamkb.log import known_learnings as known
from roamkb.log.state.learning_state import CONTESTED
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.pipeline import consolidation_plan
from roamkb.pipeline.gate import noise
from roamkb.text.code_identifiers import names_of
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.tokenize import split_words

#: Answers that are looked at; below the best few nothing clears the floor.
_MOST_ANSWERS = 8
#: Answers to the names in a change that are looked at, and learnings of which one name may tell.
_MOST_NAMING = 50
_MOST_OF_NAME = 3


class _TermWeighing(Protocol):
    def weigh(self, query: Query) -> TermWeights: ...


class NodeFinder(NoteFinder, _TermWeighing, Protocol):
    """A finder of nodes that knows the weights of words among them."""


class LearningFinder(known.LearningLookup, _TermWeighing, Protocol):
    """A finder of learnings that knows the weights of words among them."""


def suggest_nodes(
    finder: NodeFinder,
    notes: Notes,
    text: str,
    *,
    limit: int,
    besides: Container[str] = (),
    loose: bool = False,
) -> tuple[Hit, ...]:
    """Return the nodes that are relevant enough to `text` to interrupt with, without `besides`, ids.

    Where `loose`, one rare word's worth in the name is enough: nobody is interrupted.
    """
    query = parse_words(text)
    if not query.terms:
        return ()
    answers = finder.find_passages(query, limit=max(limit, _MOST_ANSWERS)).answers
    relevant = _relevant_answers(
        text, answers, finder.weigh(query), least=START_THRESHOLD if loose else INTERRUPTION_THRESHOLD
    )
    hits = (hit_of(answer, notes.kb, answer.line, answer.title) for answer in relevant if answer.id not in besides)
    return tuple(hits)[:limit]


def suggest_learnings(
    finder: LearningFinder, state: LogState, text: str, *, limit: int, besides: Collection[str] = ()
) -> tuple[LearningState, ...]:
    """Return the learnings that are relevant enough to `text` to interrupt with, without `besides`, ids."""
    query = parse_words(text)
    if not query.terms or not state.standings:
        return ()
    current = _answers_in_force(finder, state, query, limit=max(limit, _MOST_ANSWERS))
    worthy = _relevant_answers(text, current, finder.weigh(query), least=INTERRUPTION_THRESHOLD)
    candidates = (state.standings[entry.file] for entry in worthy if entry.file not in besides)
    # the better answer stays before the worse, of those that are borne out and of the others
    lasting = sorted(
        (entry for entry in candidates if _is_suggestable(entry)), key=lambda entry: not is_borne_out(entry)
    )
    return tuple(_without_repetitions(lasting, state, besides))[:limit] if lasting else ()


def _without_repetitions(
    standings: Sequence[LearningState], state: LogState, besides: Collection[str]
) -> Iterator[LearningState]:
    """Yield the learnings that repeat neither an earlier one nor one of `besides`, however worded."""
    known_contents = [excluded.learning.content for id in besides if (excluded := state.standings.get(id))]
    for standing in standings:
        if not consolidation_plan.KnownTexts(known_contents).has_covering_text(prepare_text(standing.learning.content)):
            yield standing
            known_contents.append(standing.learning.content)


def learnings_naming(finder: LearningFinder, state: LogState, names: Sequence[str]) -> dict[str, LearningState]:
    """Return the learnings that name one of `names` of code, by id; a name that many have tells of none."""
    naming: dict[str, list[LearningState]] = {}
    query = query_of(list(dict.fromkeys(term for name in names for term in split_words(name))))
    for answer in finder.find_passages(query, limit=_MOST_NAMING):
        standing = state.standings.get(answer.file)
        if standing is not None and is_in_force(standing):
            for name in set(names_of(standing.learning.content)).intersection(names):
                naming.setdefault(name, []).append(standing)
    return {one.id: one for standings in naming.values() if len(standings) <= _MOST_OF_NAME for one in standings}


def best_borne_out(standings: Iterable[LearningState]) -> tuple[LearningState, ...]:
    """Return learnings in the order of their evidence: borne out, said often, trusted, late."""
    return tuple(
        sorted(
            standings,
            key=lambda one: (not is_borne_out(one), -one.occurrences, -one.confidence, -one.learning.ts, one.id),
        )
    )


def is_in_force(standing: LearningState) -> bool:
    """Return whether a learning is in force: not superseded, invalidated, contested or archived."""
    is_current = standing.status != SUPERSEDED and standing.verdict != "invalidated"
    return is_current and CONTESTED not in standing.flags and not standing.is_archived


def is_lasting(standing: LearningState) -> bool:
    """Return whether a learning may be shown unasked: knowledge, not noise of other tools' logs."""
    if is_borne_out(standing):
        return True

    return not noise.noise_of(standing.learning.content)


def _is_suggestable(standing: LearningState) -> bool:
    """Return whether a learning may be suggested at a prompt.

    What was only announced in passing waits until its session bears it out, or another session says it.
    """
    is_passing = (
        standing.learning.origin.startswith(consolidation_plan.OBSERVATION_PREFIX) and standing.occurrences == 1
    )
    return is_lasting(standing) and (is_borne_out(standing) or not is_passing)


def scores_of_relevant(
    finder: LearningFinder, state: LogState, text: str, *, is_interrupting: bool
) -> Mapping[str, float]:
    """Return the learnings in force that are relevant enough to `text`, by id, with scores from 1 down to 0."""
    query = parse_words(text)
    if not query.terms:
        return {}
    current = _answers_in_force(finder, state, query, limit=_MOST_ANSWERS)
    least = INTERRUPTION_THRESHOLD if is_interrupting else START_THRESHOLD
    relevant = _relevant_answers(text, current, finder.weigh(query), least=least)
    return {answer.file: 1 - rank / _MOST_ANSWERS for rank, answer in enumerate(relevant)}


def _answers_in_force(finder: LearningFinder, state: LogState, query: Query, *, limit: int) -> Sequence[PassageHit]:
    answers = finder.find_passages(query, limit=limit)
    return [entry for entry in answers if (standing := state.standings.get(entry.file)) and is_in_force(standing)]


def _relevant_answers(
    text: str, answers: Sequence[PassageHit], weights: TermWeights, *, least: RelevanceThreshold
) -> Sequence[PassageHit]:
    titled = ((answer, answer.title, "\n".join(line for _, line in answer.lines)) for answer in answers)
    return select_relevant(text, weights, titled, limits=least)
