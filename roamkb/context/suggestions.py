"""What is worth showing to who didn't ask: the search's ranking, and a floor under it."""

from collections.abc import Collection
from collections.abc import Container
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Protocol

from roamkb.context.brief_text import is_borne_out
from roamkb.context.relevance_threshold import AT_THE_START
from roamkb.context.relevance_threshold import INTERRUPTING
from roamkb.context.relevance_threshold import RelevanceThreshold
from roamkb.context.relevance_threshold import fitting
from roamkb.core.model import Hit
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import TermWeights
from roamkb.kb.search.query import parse_words
from roamkb.kb.search.search import NoteFinder
from roamkb.kb.search.search import hit_of
from roamkb.log import known_learnings as known
from roamkb.log.state.learning_state import CONTESTED
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.pipeline.consolidation_plan import OBSERVED
from roamkb.text.tokenize import terms

#: Answers that are looked at; below the best few nothing clears the floor.
_LOOKED_AT = 8


class _TermWeighing(Protocol):
    def weigh(self, query: Query) -> TermWeights: ...


class NodeFinder(NoteFinder, _TermWeighing, Protocol):
    """What finds nodes, and knows what words tell there."""


class LearningFinder(known.LearningLookup, _TermWeighing, Protocol):
    """What finds learnings, and knows what words tell there."""


def offered_nodes(
    finder: NodeFinder,
    notes: Notes,
    text: str,
    *,
    limit: int,
    besides: Container[str] = (),
    loose: bool = False,
) -> tuple[Hit, ...]:
    """Return the nodes that `text` makes worth an interruption, but none of `besides`, which are ids.

    Where `loose`, one rare word's worth in the name is enough: nobody is interrupted.
    """
    query = parse_words(text)
    if not query.terms:
        return ()
    answers = finder.find(query, limit=max(limit, _LOOKED_AT)).answers
    found = _worth(text, answers, finder.weigh(query), least=AT_THE_START if loose else INTERRUPTING)
    hits = (hit_of(one, notes.kb, one.line, one.title) for one in found if one.id not in besides)
    return tuple(hits)[:limit]


def offered_learnings(
    finder: LearningFinder, state: LogState, text: str, *, limit: int, besides: Collection[str] = ()
) -> tuple[LearningState, ...]:
    """Return the learnings that `text` makes worth an interruption, but none of `besides`, which are ids."""
    query = parse_words(text)
    if not query.terms or not state.standings:
        return ()
    answers = finder.find(query, limit=max(limit, _LOOKED_AT))
    current = [one for one in answers if (held := state.standings.get(one.file)) and counts(held)]
    worthy = _worth(text, current, finder.weigh(query), least=INTERRUPTING)
    found = (state.standings[one.file] for one in worthy if one.file not in besides)
    # the better answer stays before the worse, of those that are borne out and of the others
    lasting = sorted((one for one in found if _may_interrupt(one)), key=lambda one: not is_borne_out(one))
    return tuple(_each_once(lasting, state, besides))[:limit] if lasting else ()


def _each_once(
    found: Sequence[LearningState], state: LogState, besides: Collection[str]
) -> Iterator[LearningState]:
    """Yield what neither one before it says, nor one of `besides`, in whatever words."""
    # for most prompts nothing is found
    from roamkb.pipeline.consolidation_plan import KnownTexts
    from roamkb.text.similarity.jaccard import shape

    said = [held.learning.content for id in besides if (held := state.standings.get(id))]
    for one in found:
        if not KnownTexts(said).say(shape(one.learning.content)):
            yield one
            said.append(one.learning.content)


def counts(standing: LearningState) -> bool:
    """Say whether a learning still holds, as far as anybody knows: nobody replaced it or took it back."""
    is_current = standing.status != SUPERSEDED and standing.verdict != "invalidated"
    return is_current and CONTESTED not in standing.flags and not standing.is_archived


def is_lasting(standing: LearningState) -> bool:
    """Say whether a learning is for an agent that didn't ask: knowledge, not noise of other tools' logs."""
    if is_borne_out(standing):
        return True
    from roamkb.pipeline.gate.noise import noise_of

    return not noise_of(standing.learning.content)


def _may_interrupt(standing: LearningState) -> bool:
    """Say whether a learning may stand at a prompt.

    What was only announced in passing waits until its session bears it out, or another session says it.
    """
    is_passing = standing.learning.origin.startswith(OBSERVED) and standing.occurrences == 1
    return is_lasting(standing) and (is_borne_out(standing) or not is_passing)


def worth_a_line(finder: _TermWeighing, text: str, contents: Mapping[str, str]) -> Collection[str]:
    """Return the keys of what shares enough with the work at hand, `text`, to stand in a brief."""
    query = parse_words(text)
    if not query.terms or not contents:
        return ()
    found = ((key, frozenset(terms(said)), frozenset[str]()) for key, said in contents.items())
    return fitting(text, finder.weigh(query), found, least=AT_THE_START)


def _worth(
    text: str, answers: Sequence[PassageHit], weights: TermWeights, *, least: RelevanceThreshold
) -> Sequence[PassageHit]:
    found = (
        (one, frozenset(terms(one.title)), frozenset(term for _, line in one.lines for term in terms(line)))
        for one in answers
    )
    return fitting(text, weights, found, least=least)
