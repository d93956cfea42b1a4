"""The ranking of the entries that match a query (docs/architecture.md).

SQLite finds and weighs them by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance
Framework", 2009); what it can't know is added here: pairs of words, names that say all
that was asked for, and the promises: what the question calls by its name comes first; all of a few
words beat some words; what a newer node replaced comes late; title and alias beat tags, tags beat
the text; more hits beat fewer; a better match beats a newer note, and the date
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
_SPELLED = 0.2
#: The same in another language than English, whose words have no stems here and no meaning in the table.
_SPELLED_FOREIGN = 1.0
MOST_SPELLED = 40
#: What a note has of the score of a good hit that links to it and to nothing else, in a long query.
_LINKED = 0.2
#: So many of the best hits are good ones.
_GOOD = 20
#: The least share of the best score for a hit that holds only some of the words. Of 0.05, 0.10 and so on the largest
#: that takes from none of the sets which the ranking was chosen on (`tests/benchmarks/tail.py`) more than one in a
#: hundred of the right answers among eight.
_LEAST_SHARE = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedEntry:
    """An entry, as far as the ranking needs it."""

    key: int
    #: BM25 of the words, and of the pairs of words.
    words: float
    pairs: float = 0.0
    #: How near its text is to the query in meaning by the table of words, and by a sentence model, 0 to 1.
    nearness: float = 0.0
    by_sentence: float = 0.0
    #: Whether it holds every word of a short query.
    has_all: bool
    #: Whether the query is its title or an alias, or names it by one in full.
    is_called: bool = False
    #: Whether a newer node says that it replaced this one.
    is_superseded: bool = False
    #: The query's terms that stand in title or alias, and in the tags.
    name_terms: Set[str] = frozenset()
    tag_terms: Set[str] = frozenset()
    #: Local ISO date or date and time; newer wins a tie.
    date: str = ""
    #: Decides where nothing else does.
    place: tuple[str, int] = ("", 0)


def term_weight(holding: int, size: int) -> float:
    """Return the weight of a term that `holding` of `size` texts hold; never negative, as Lucene has it."""
    return math.log(1 + (max(size, holding) - holding + 0.5) / (holding + 0.5))


def entry_score(entry: RankedEntry, weights: Mapping[str, float]) -> float:
    """Return the score of `entry` for a query whose terms weigh `weights`."""
    return (
        entry.words
        + PAIR * entry.pairs
        + _name_bonus(_TITLE, entry.name_terms, weights)
        + _name_bonus(_TAG, entry.tag_terms, weights)
    )


def blend_scores(entries: Sequence[RankedEntry], weights: Mapping[str, float]) -> list[float]:
    """Return the scores, each a convex combination of words and meaning.

    So they are fused best (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
    Retrieval", ACM TOIS 2023), each as a share of the best. A word alone means what it says;
    the more words, the more a sentence means beside them.
    """
    words = _shares_of_best([entry_score(entry, weights) for entry in entries])
    table, sentence = (
        _shares_of_best([entry.nearness for entry in entries]),
        _shares_of_best([entry.by_sentence for entry in entries]),
    )
    meaning, table_part = (_SENTENCE_MEANING, _TABLE_BESIDE) if any(sentence) else (_MEANING, 1.0)
    if not any(table):
        # of a language that it hasn't got, the table says nothing
        table_part = 0.0
    share = meaning * _query_breadth(weights) if any(table) or any(sentence) else 0.0
    return [
        (_SUPERSEDED if entry.is_superseded else 1.0)
        * ((1 - share) * word_share + share * (table_part * table_share + (1 - table_part) * sentence_share))
        for entry, word_share, table_share, sentence_share in zip(entries, words, table, sentence, strict=True)
    ]


def _shares_of_best(values: Sequence[float]) -> list[float]:
    """Return each value as a share of the largest."""
    most = max(values, default=0.0) or 1.0
    return [value / most for value in values]


def _query_breadth(weights: Mapping[str, float]) -> float:
    """Return how much a query resembles a sentence, from 0 for a word alone up to 1."""
    return 1 - 1 / len(weights) ** 2 if weights else 0.0


def _name_bonus(most: float, held_terms: Set[str], weights: Mapping[str, float]) -> float:
    """Return the bonus for a name that holds some of the terms.

    A query of one or two words calls a thing by its name; a sentence describes it. So the
    more words there are, the less is a share of them worth, down to nothing.
    """
    total = sum(weights.values())
    if not total or not held_terms:
        return 0.0
    share = sum(weights[term] for term in held_terms if term in weights) / total
    power: float = share ** (len(weights) ** 2)
    return most * total * power


def rank_entries(results: Iterable[RankedEntry], weights: Mapping[str, float]) -> list[tuple[RankedEntry, float]]:
    """Return the results with their scores, best first; the best match of the words alone would have 1."""
    entries = list(results)
    return _sort_entries(zip(entries, blend_scores(entries, weights), strict=True))


def _sort_entries(scored: Iterable[tuple[RankedEntry, float]]) -> list[tuple[RankedEntry, float]]:
    order = sorted(scored, key=lambda pair: pair[0].place)
    order.sort(key=lambda pair: pair[0].date, reverse=True)
    order.sort(key=lambda pair: (pair[0].is_called, pair[0].has_all, _round_score(pair[1])), reverse=True)
    return order


def drop_tail(order: Sequence[tuple[RankedEntry, float]]) -> list[tuple[RankedEntry, float]]:
    """Return the hits without those that hold only some of the words and are far below the best score.

    The best score needn't be the first hit's: a name and all words come before any score, and so stay whatever
    theirs is.
    """
    least = _LEAST_SHARE * max((value for _, value in order), default=0.0)
    return [(entry, value) for entry, value in order if value >= least or entry.has_all or entry.is_called]


def rank_by_spelling(
    order: Sequence[tuple[RankedEntry, float]],
    spelled: Mapping[int, Sequence[float]],
    weights: Mapping[str, float],
    *,
    is_foreign: bool = False,
) -> list[tuple[RankedEntry, float]]:
    """Return the hits reordered by how much of each query word the best of them spell.

    `spelled` has the shares of the words for the best `MOST_SPELLED`. How often a word is said, and in how long
    a text, is no matter here: the scores weigh that already, and too much where texts are short.
    """
    covered = dict(zip(spelled, _coverage_shares(list(spelled.values())), strict=True))
    most = (_SPELLED_FOREIGN if is_foreign else _SPELLED) * _query_breadth(weights)
    return _sort_entries(
        (entry, value + most * covered.get(entry.key, 0.0) * (_SUPERSEDED if entry.is_superseded else 1.0))
        for entry, value in order
    )


def _coverage_shares(spelled: Sequence[Sequence[float]]) -> list[float]:
    """Return the share of the query that each text covers, relative to the best; rare words weigh more."""
    wholes = [sum(share == 1 for share in word) for word in zip(*spelled, strict=True)]
    weights = [max(0.0, math.log((len(spelled) + 1) / (whole_count + 0.5))) for whole_count in wholes]
    points = [sum(w * share * share for w, share in zip(weights, text_shares, strict=True)) for text_shares in spelled]
    most = max(points, default=0.0) or 1.0
    return [value / most for value in points]


def good_hit_keys(order: Sequence[tuple[RankedEntry, float]]) -> list[int]:
    """Return the keys of the hits whose links count as evidence."""
    return [entry.key for entry, _ in order[:_GOOD] if not entry.is_superseded]


def link_gains(
    order: Sequence[tuple[RankedEntry, float]], links: Mapping[int, Set[int]]
) -> dict[int, tuple[float, int]]:
    """Return each entry's largest gain by a link from a good hit, with the key of that hit.

    `links` are the keys that each of the hits by `good_hit_keys` leads to; the more, the less each is worth.
    Notes of one matter answer one question, whatever their words (Frei and Stieger, "The Use of
    Semantic Links in Hypertext Information Retrieval", IP&M 31, 1995).
    """
    best_gains: dict[int, tuple[float, int]] = {}
    for hit, value in order:
        targets = links.get(hit.key, frozenset()) - {hit.key}
        for key in sorted(targets):
            gain = _LINKED * value / len(targets) ** 0.5
            if gain > best_gains.get(key, (0.0, 0))[0]:
                best_gains[key] = gain, hit.key
    return {key: (gain, source) for key, (gain, source) in best_gains.items() if gain > 0}


def lift_linked(
    order: Sequence[tuple[RankedEntry, float]],
    gained: Mapping[int, tuple[float, int]],
    weights: Mapping[str, float],
) -> list[tuple[RankedEntry, float]]:
    """Return the hits reordered by their link gains; the promises of the ranking still hold."""
    share = _query_breadth(weights)
    return _sort_entries(
        (entry, value if entry.is_superseded else value + share * gained.get(entry.key, (0.0, 0))[0])
        for entry, value in order
    )


def _round_score(value: float) -> float:
    """Return `value` rounded to nine digits, so that the order of a sum decides nothing."""
    return float(f"{value:.9g}")
