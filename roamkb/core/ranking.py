"""Which of the things that a query found comes first (design section 7).

SQLite finds and weighs them by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance
Framework", 2009); what it can't know is added here: pairs of words, names that say all
that was asked for, and the promises: all words beat some words; title and alias beat
tags, tags beat the text; more hits beat fewer; a better match beats a newer note, and the
date only breaks ties.
"""

import math
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Set
from dataclasses import dataclass

#: SQLite's own, written into its source.
FTS_K1 = 1.2
FTS_B = 0.75
#: How much a long text has to say for its length; measured on sets of questions.
B = 0.65
#: A hit in the title, the aliases, the tags, the text, and in what only the index sees. Heavier
#: titles find less in sets of questions; so much is enough to come first among equals.
WEIGHTS = (1.06, 1.06, 1.03, 1.0, 1.0)
#: What two words of the query that stand side by side are worth beside themselves.
PAIR = 0.15
#: What a name says that holds all of a query, beside any number of hits in tags and text: their
#: sum stays below this and `_TAG` together with k1 + 1 = 2.2.
_TITLE = 4.8
#: Above any number of hits in the text, 2.2.
_TAG = 2.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing that can be found, as far as the ranking needs it."""

    key: int
    #: BM25 of the words, and of the pairs of words.
    words: float
    pairs: float = 0.0
    #: Whether it holds every word of the query.
    has_all: bool
    #: The query's terms that stand in title or alias, and in the tags.
    named: Set[str] = frozenset()
    tagged: Set[str] = frozenset()
    #: Local ISO date or date and time; newer wins a tie.
    date: str = ""
    #: Decides where nothing else does.
    place: tuple[str, int] = ("", 0)


def weight(holding: int, size: int) -> float:
    """Return what a term weighs that `holding` of `size` texts hold; never negative, as Lucene has it."""
    return math.log(1 + (max(size, holding) - holding + 0.5) / (holding + 0.5))


def score(found: Found, weights: Mapping[str, float]) -> float:
    """Return how well `found` answers a query whose terms weigh `weights`."""
    return (
        found.words
        + PAIR * found.pairs
        + _bonus(_TITLE, found.named, weights)
        + _bonus(_TAG, found.tagged, weights)
    )


def _bonus(most: float, held: Set[str], weights: Mapping[str, float]) -> float:
    """Return what a name adds that holds some of the terms.

    A query of one or two words calls a thing by its name; a sentence describes it. So the
    more words there are, the less is a share of them worth, down to nothing.
    """
    total = sum(weights.values())
    if not total or not held:
        return 0.0
    share = sum(weights[term] for term in held if term in weights) / total
    power: float = share ** (len(weights) ** 2)
    return most * total * power


def ranked(results: Iterable[Found], weights: Mapping[str, float]) -> list[tuple[Found, float]]:
    """Return the results with their scores, best first."""
    scored = [(found, score(found, weights)) for found in results]
    scored.sort(key=lambda pair: pair[0].place)
    scored.sort(key=lambda pair: pair[0].date, reverse=True)
    scored.sort(key=lambda pair: (pair[0].has_all, _rounded(pair[1])), reverse=True)
    return scored


def _rounded(value: float) -> float:
    """Return `value` to nine digits: sums in another order are no better match."""
    return float(f"{value:.9g}")
