"""The best entries for any word of a query, found without scoring all that hold common words.

SQLite finds an entry ten times as fast as it weighs it. What holds a rare word is weighed first;
then, of the rest, only what holds enough to come as high as the last of the best (MaxScore:
Turtle and Flood, "Query Evaluation: Strategies and Optimizations", IP&M 31, 1995). What comes
out is to the digit what weighing all would give.
"""

import math
from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.search.ranking import FTS_B
from roamkb.kb.search.ranking import FTS_K1
from roamkb.kb.search.ranking import B

#: Entries that are weighed first, and so many that hold a query's words are weighed without more ado.
_FIRST = 300
_FEW = 1500
#: Common words whose combinations are looked at; each more may double them.
_MOST_COMBINED = 6
#: What a word that stands in a text without end, or in one without a word, adds at most, times its weight.
_MOST_WORTH = (FTS_K1 + 1) * max(FTS_B / B, (1 + FTS_K1 * (1 - FTS_B)) / (1 + FTS_K1 * (1 - B)))
#: What SQLite gives a word that more than half of all entries hold.
_LEAST_WEIGHT = 1e-6
#: Sums in another order differ in their last digits.
_MARGIN = 1 - 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWord:
    """A word of a query, with its count there and the number of entries that hold it."""

    #: As FTS5 takes it.
    phrase: str
    times: int
    document_count: int

    def most_score(self, entries: int) -> float:
        """Return an upper bound of what it adds to the score of an entry."""
        weight = math.log((max(entries, self.document_count) - self.document_count + 0.5) / (self.document_count + 0.5))
        return self.times * max(weight, _LEAST_WEIGHT) * _MOST_WORTH


def rarest_words_first(phrases: Sequence[str], holding: Mapping[str, int]) -> list[QueryWord]:
    """Return the words of a query, the rarest first; `holding` has the number of entries that hold each."""
    times = {phrase: phrases.count(phrase) for phrase in phrases}
    query_words = [QueryWord(phrase=phrase, times=n, document_count=holding[phrase]) for phrase, n in times.items()]
    return sorted(query_words, key=lambda word: (word.document_count, word.phrase))


def first_expression(words: Sequence[QueryWord]) -> str | None:
    """Return the expression to score first; None where all may be scored at once."""
    counts = [word.document_count for word in words]
    if sum(counts) <= _FEW or len(words) < 2:
        return None
    first_count = 1
    while first_count < len(words) and sum(counts[:first_count]) < _FIRST:
        first_count += 1
    return " OR ".join(word.phrase for word in words[:first_count]) if first_count < len(words) else None


def reaching_expression(words: Sequence[QueryWord], least: float, entries: int) -> str:
    """Return the expression for all entries that may reach the score `least`, and for some that may not."""
    rare, common = words[:-_MOST_COMBINED], words[-_MOST_COMBINED:]
    worths = [(word.phrase, word.most_score(entries)) for word in common]
    alone = [word.phrase for word in rare]
    combined = _combined_expression(sorted(worths, key=lambda pair: -pair[1]), least * _MARGIN)
    return " OR ".join([*alone, combined] if combined else alone)


def _combined_expression(worths: Sequence[tuple[str, float]], need: float) -> str:
    """Return the expression for each set of phrases worth `need` together; empty where there is none."""
    if sum(worth for _, worth in worths) < need or not worths:
        return ""
    (phrase, worth), *others = worths
    without = _combined_expression(others, need)
    if worth >= need:
        return f"{phrase} OR {without}" if without else phrase
    with_it = f"({phrase} AND ({_combined_expression(others, need - worth)}))"
    return f"{with_it} OR {without}" if without else with_it
