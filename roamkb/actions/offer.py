"""What is worth showing to who didn't ask: the search's ranking, and a floor under it (`core/floor`)."""

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Protocol

from roamkb.actions import known
from roamkb.actions.search import Finder as NoteFinder
from roamkb.actions.search import hit_of
from roamkb.core.answers import Answer
from roamkb.core.floor import Weights
from roamkb.core.floor import is_about
from roamkb.core.floor import is_worth
from roamkb.core.ledger import SUPERSEDED
from roamkb.core.ledger import Standing
from roamkb.core.ledger import State
from roamkb.core.model import Hit
from roamkb.core.query import Query
from roamkb.core.query import parse_words
from roamkb.core.tokens import terms
from roamkb.storage.nodes import Notes

#: Answers that are looked at; below the best few nothing clears the floor.
_LOOKED_AT = 8


class _Weighing(Protocol):
    def weigh(self, query: Query) -> Weights: ...


class NodeFinder(NoteFinder, _Weighing, Protocol):
    """What finds nodes, and knows what words tell there."""


class LearningFinder(known.Finder, _Weighing, Protocol):
    """What finds learnings, and knows what words tell there."""


def offered_nodes(
    finder: NodeFinder,
    notes: Notes,
    text: str,
    *,
    limit: int,
    besides: Collection[str] = (),
    loose: bool = False,
) -> tuple[Hit, ...]:
    """Return the nodes that `text` makes worth an interruption, but none of `besides`, which are ids.

    Where `loose`, one rare word in the name is enough: nobody is interrupted.
    """
    query = parse_words(text)
    if not query.terms:
        return ()
    answers = finder.find(query, limit=max(limit, _LOOKED_AT)).answers
    fitting = _worth(answers, finder.weigh(query), loose=loose)
    hits = (hit_of(one, notes.kb, one.line, one.title) for one in fitting if one.id not in besides)
    return tuple(hits)[:limit]


def offered_learnings(
    finder: LearningFinder, state: State, text: str, *, limit: int, besides: Collection[str] = ()
) -> tuple[Standing, ...]:
    """Return the learnings that `text` makes worth an interruption, but none of `besides`, which are ids."""
    query = parse_words(text)
    if not query.terms or not state.standings:
        return ()
    answers = finder.find(query, limit=max(limit, _LOOKED_AT))
    fitting = _worth(answers, finder.weigh(query), loose=False)
    found = (state.standings[one.file] for one in fitting if one.file in state.standings)
    return tuple(one for one in found if one.id not in besides and counts(one))[:limit]


def counts(standing: Standing) -> bool:
    """Say whether a learning still holds, as far as anybody knows."""
    return standing.status != SUPERSEDED and standing.verdict != "invalidated" and not standing.is_archived


def _worth(answers: Sequence[Answer], weights: Weights, *, loose: bool) -> Iterator[Answer]:
    for answer in answers:
        name = frozenset(terms(answer.title))
        text = frozenset(term for _, line in answer.lines for term in terms(line))
        if is_about(weights, name=name) if loose else is_worth(weights, name=name, text=text):
            yield answer
