"""Which of the things that a query found comes first (docs/architecture.md).

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

from roamkb.core.startup.dataclasses import dataclass

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
_MEANING = 0.45
#: The same where a sentence model says what is near, and the table's part of it.
_SENTENCE_MEANING = 0.6
_TABLE_BESIDE = 1 / 3
#: What the best of a long query have beside it for saying each of its words in some form, and how many.
_SAID = 0.2
#: The same in another language than English, whose words have no stems here and no meaning in the table.
_SAID_ELSEWHERE = 1.0
MOST_SAID = 40
#: What a note has of the score of a good hit that links to it and to nothing else, in a long query.
_LINKED = 0.2
#: So many of the best hits are good ones.
_GOOD = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedEntry:
    """One thing that can be found, as far as the ranking needs it."""

    key: int
    #: BM25 of the words, and of the pairs of words.
    words: float
    pairs: float = 0.0
    #: How near its text is to the query in meaning by the table of words, and by a sentence model, 0 to 1.
    nearness: float = 0.0
    by_sentence: float = 0.0
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


def score(found: RankedEntry, weights: Mapping[str, float]) -> float:
    """Return how well `found` answers a query whose terms weigh `weights`."""
    return (
        found.words
        + PAIR * found.pairs
        + _bonus(_TITLE, found.named, weights)
        + _bonus(_TAG, found.tagged, weights)
    )


def blended(found: Sequence[RankedEntry], weights: Mapping[str, float]) -> list[float]:
    """Return the scores, each a convex combination of words and meaning.

    So they are fused best (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
    Retrieval", ACM TOIS 2023), each as a share of the best. A word alone means what it says;
    the more words, the more a sentence means beside them.
    """
    words = _shares([score(one, weights) for one in found])
    table, sentence = _shares([one.nearness for one in found]), _shares([one.by_sentence for one in found])
    meaning, beside = (_SENTENCE_MEANING, _TABLE_BESIDE) if any(sentence) else (_MEANING, 1.0)
    if not any(table):
        # of a language that it hasn't got, the table says nothing
        beside = 0.0
    share = meaning * _breadth(weights) if any(table) or any(sentence) else 0.0
    return [
        (_SUPERSEDED if one.is_superseded else 1.0)
        * ((1 - share) * said + share * (beside * near + (1 - beside) * meant))
        for one, said, near, meant in zip(found, words, table, sentence, strict=True)
    ]


def _shares(values: Sequence[float]) -> list[float]:
    """Return each value as a share of the largest."""
    most = max(values, default=0.0) or 1.0
    return [value / most for value in values]


def _breadth(weights: Mapping[str, float]) -> float:
    """Return how much of a sentence a query is, from 0 for a word alone up to 1."""
    return 1 - 1 / len(weights) ** 2 if weights else 0.0


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


def ranked(results: Iterable[RankedEntry], weights: Mapping[str, float]) -> list[tuple[RankedEntry, float]]:
    """Return the results with their scores, best first; the best match of the words alone would have 1."""
    found = list(results)
    return _sorted(zip(found, blended(found, weights), strict=True))


def _sorted(scored: Iterable[tuple[RankedEntry, float]]) -> list[tuple[RankedEntry, float]]:
    order = sorted(scored, key=lambda pair: pair[0].place)
    order.sort(key=lambda pair: pair[0].date, reverse=True)
    order.sort(key=lambda pair: (pair[0].has_all, pair[0].is_called, _rounded(pair[1])), reverse=True)
    return order


def said(
    order: Sequence[tuple[RankedEntry, float]],
    spelled: Mapping[int, Sequence[float]],
    weights: Mapping[str, float],
    *,
    is_foreign: bool = False,
) -> list[tuple[RankedEntry, float]]:
    """Return the hits in the order that they have once the best say how much of each word they spell.

    `spelled` has the shares of the words for the best `MOST_SAID`. How often a word is said, and in how long
    a text, is no matter here: the scores weigh that already, and too much where texts are short.
    """
    covered = dict(zip(spelled, _covered(list(spelled.values())), strict=True))
    most = (_SAID_ELSEWHERE if is_foreign else _SAID) * _breadth(weights)
    return _sorted(
        (found, value + most * covered.get(found.key, 0.0) * (_SUPERSEDED if found.is_superseded else 1.0))
        for found, value in order
    )


def _covered(spelled: Sequence[Sequence[float]]) -> list[float]:
    """Return how much of the query each text covers, as a share of the most; a word weighs that few hold."""
    wholes = [sum(share == 1 for share in word) for word in zip(*spelled, strict=True)]
    weights = [max(0.0, math.log((len(spelled) + 1) / (whole + 0.5))) for whole in wholes]
    points = [sum(w * share * share for w, share in zip(weights, one, strict=True)) for one in spelled]
    most = max(points, default=0.0) or 1.0
    return [value / most for value in points]


def good(order: Sequence[tuple[RankedEntry, float]]) -> list[int]:
    """Return the keys of the hits whose links say something about where they lead."""
    return [found.key for found, _ in order[:_GOOD] if not found.is_superseded]


def gains(
    order: Sequence[tuple[RankedEntry, float]], links: Mapping[int, Set[int]]
) -> dict[int, tuple[float, int]]:
    """Return what each thing has of the score of the hit that says most for it by a link, and that hit.

    `links` are the keys that each of the `good` hits leads to; the more, the less each is worth.
    Notes of one matter answer one question, whatever their words (Frei and Stieger, "The Use of
    Semantic Links in Hypertext Information Retrieval", IP&M 31, 1995).
    """
    found: dict[int, tuple[float, int]] = {}
    for hit, value in order:
        there = links.get(hit.key, frozenset()) - {hit.key}
        for key in sorted(there):
            gain = _LINKED * value / len(there) ** 0.5
            if gain > found.get(key, (0.0, 0))[0]:
                found[key] = gain, hit.key
    return {key: (gain, source) for key, (gain, source) in found.items() if gain > 0}


def lifted(
    order: Sequence[tuple[RankedEntry, float]],
    gained: Mapping[int, tuple[float, int]],
    weights: Mapping[str, float],
) -> list[tuple[RankedEntry, float]]:
    """Return the hits in the order that what they have `gained` gives them; no promise is broken by it."""
    share = _breadth(weights)
    return _sorted(
        (found, value if found.is_superseded else value + share * gained.get(found.key, (0.0, 0))[0])
        for found, value in order
    )


def _rounded(value: float) -> float:
    """Return `value` to nine digits: sums in another order are no better match."""
    return float(f"{value:.9g}")
