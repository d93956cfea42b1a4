"""Which of the things that a query found comes first (design section 7).

SQLite finds and weighs them by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance
Framework", 2009); what it can't know is added here: pairs of words, names that say all
that was asked for, and the promises: all words beat some words; of those, what is called
just so comes first, and what a newer node replaced comes late; title and alias beat tags,
tags beat the text; more hits beat fewer; a better match beats a newer note, and the date
only breaks ties.
"""

import math
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
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

#: What a replaced node is worth: its successor, in other words but on the same matter, comes first.
_SUPERSEDED = 0.5
#: The share of meaning in the score of a long query.
_MEANING = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing that can be found, as far as the ranking needs it."""

    key: int
    #: BM25 of the words, and of the pairs of words.
    words: float
    pairs: float = 0.0
    #: How near its text is to the query in meaning, 0 to 1.
    nearness: float = 0.0
    #: Whether it holds every word of the query.
    has_all: bool
    #: Whether its title or an alias is the query, word for word.
    is_called: bool = False
    #: Whether a newer node says that it replaced this one.
    is_superseded: bool = False
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


def blended(found: Sequence[Found], weights: Mapping[str, float]) -> list[float]:
    """Return the scores, each a convex combination of words and meaning.

    So they are fused best (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
    Retrieval", ACM TOIS 2023), each as a share of the best. A word alone means what it says;
    the more words, the more a sentence means beside them.
    """
    scores = [score(one, weights) for one in found]
    best, nearest = max(scores, default=0.0), max((one.nearness for one in found), default=0.0)
    share = _MEANING * (1 - 1 / len(weights) ** 2) if weights and nearest else 0.0
    return [
        (_SUPERSEDED if one.is_superseded else 1.0)
        * ((1 - share) * points / (best or 1.0) + (share * one.nearness / nearest if share else 0.0))
        for one, points in zip(found, scores, strict=True)
    ]


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
    """Return the results with their scores, best first; the best match of the words alone would have 1."""
    found = list(results)
    scored = list(zip(found, blended(found, weights), strict=True))
    scored.sort(key=lambda pair: pair[0].place)
    scored.sort(key=lambda pair: pair[0].date, reverse=True)
    scored.sort(key=lambda pair: (pair[0].has_all, pair[0].is_called, _rounded(pair[1])), reverse=True)
    return scored


def _rounded(value: float) -> float:
    """Return `value` to nine digits: sums in another order are no better match."""
    return float(f"{value:.9g}")
