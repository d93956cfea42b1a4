"""Which of the things that a query found comes first (design section 7).

BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) over three
fields, and promises that its weights keep on texts of equal length: all terms beat some
terms; title and alias beat tags, tags beat the text; more hits beat fewer; a better match
beats a newer note, and the date only breaks ties.
"""

import math
from collections import Counter
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass

from roamkb.core.query import Query

_K1 = 1.2
_B = 0.75
#: A term in the tags outweighs any number of hits in the text, whose sum stays under k1 + 1 = 2.2.
_TAG = 3.0
#: A term in the title outweighs tags and text together, 3.0 + 2.2.
_TITLE = 6.0
#: A phrase in quotes that stands in the title.
_PHRASE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where the terms of a query stand in one thing that can be found."""

    #: Distinct terms of title and aliases, and of tags.
    in_title: frozenset[str]
    in_alias: frozenset[str]
    in_tags: frozenset[str]
    #: Hits in the text, by term.
    in_text: Counter[str]
    #: Length of the text in words, roughly.
    length: float
    #: Quoted phrases in title or alias.
    phrases_in_title: int = 0
    has_phrases: bool = False
    #: Local ISO date or date and time; newer wins a tie.
    date: str = ""

    @property
    def matched(self) -> frozenset[str]:
        """The query's terms that were found at all."""
        return self.in_title | self.in_alias | self.in_tags | self.in_text.keys()

    @property
    def why(self) -> tuple[str, ...]:
        """The fields that the hit owes its place to, strongest first."""
        reasons = {
            "phrase": self.has_phrases,
            "title": bool(self.in_title),
            "alias": bool(self.in_alias),
            "tag": bool(self.in_tags),
            "text": bool(self.in_text),
        }
        return tuple(name for name, holds in reasons.items() if holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """What the weights of terms depend on: how many texts there are and how many hold each term."""

    size: int
    holding: Counter[str]
    mean_length: float

    def weight(self, term: str) -> float:
        """Return the term's inverse document frequency, never negative."""
        holding = self.holding[term]
        return math.log(1 + (max(self.size, holding) - holding + 0.5) / (holding + 0.5))


def score(found: Found, query: Query, collection: Collection) -> float:
    """Return how well `found` answers `query`; 0 for a filter without words."""
    total = 0.0
    for term, repeats in Counter(query.terms).items():
        field = _TITLE * (term in found.in_title or term in found.in_alias) + _TAG * (term in found.in_tags)
        total += (
            repeats * collection.weight(term) * (field + _saturated(found.in_text[term], found, collection))
        )
    return total + _PHRASE * found.phrases_in_title


def _saturated(hits: int, found: Found, collection: Collection) -> float:
    if not hits:
        return 0.0
    length = found.length / collection.mean_length if collection.mean_length else 1.0
    return hits * (_K1 + 1) / (hits + _K1 * (1 - _B + _B * length))


def ranked(results: Iterable[Found], query: Query, collection: Collection) -> list[tuple[Found, float]]:
    """Return the results with their scores, best first; equals stay in their order."""
    asked = frozenset(query.terms)
    scored = [(found, score(found, query, collection)) for found in results]
    scored.sort(key=lambda pair: pair[0].date, reverse=True)
    scored.sort(key=lambda pair: (asked <= pair[0].matched, round(pair[1], 9)), reverse=True)
    return scored


def mean(lengths: Sequence[float]) -> float:
    """Return the mean of `lengths`, 0 of none."""
    return sum(lengths) / len(lengths) if lengths else 0.0
