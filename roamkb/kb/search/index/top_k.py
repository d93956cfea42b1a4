"""The best of all that holds any word of a query, without weighing what holds only its common ones.

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
    """One word of a query, as often as it is asked for, and how many entries hold it."""

    #: As FTS5 takes it.
    phrase: str
    times: int
    #: None where it isn't known, as of a word that SQLite takes apart.
    holding: int | None

    def worth(self, entries: int) -> float:
        """Return more than it can add to the score of any entry."""
        if self.holding is None:
            return math.inf
        weight = math.log((max(entries, self.holding) - self.holding + 0.5) / (self.holding + 0.5))
        return self.times * max(weight, _LEAST_WEIGHT) * _MOST_WORTH


def asked(phrases: Sequence[str], holding: Mapping[str, int]) -> list[QueryWord]:
    """Return what a query asks for, the rarest first; what `holding` hasn't got stands before."""
    times = {phrase: phrases.count(phrase) for phrase in phrases}
    found = [QueryWord(phrase=phrase, times=n, holding=holding.get(phrase)) for phrase, n in times.items()]
    return sorted(found, key=lambda one: (one.holding or 0, one.phrase))


def first(words: Sequence[QueryWord]) -> str | None:
    """Return the expression for what is weighed first; None where all may be weighed at once."""
    counts = [word.holding or 0 for word in words]
    if sum(counts) <= _FEW or len(words) < 2:
        return None
    kept = 1
    while kept < len(words) and (sum(counts[:kept]) < _FIRST or words[kept].holding is None):
        kept += 1
    return " OR ".join(word.phrase for word in words[:kept]) if kept < len(words) else None


def reaching(words: Sequence[QueryWord], least: float, entries: int) -> str:
    """Return the expression for all that may have the score `least`, and for some that may not."""
    rare, common = words[:-_MOST_COMBINED], words[-_MOST_COMBINED:]
    worths = [(word.phrase, word.worth(entries)) for word in common]
    alone = [word.phrase for word in rare]
    combined = _combined(sorted(worths, key=lambda pair: -pair[1]), least * _MARGIN)
    return " OR ".join([*alone, combined] if combined else alone)


def _combined(worths: Sequence[tuple[str, float]], need: float) -> str:
    """Return the expression for each set of phrases that is worth `need` together; empty where none is."""
    if sum(worth for _, worth in worths) < need or not worths:
        return ""
    (phrase, worth), *rest = worths
    without = _combined(rest, need)
    if worth >= need:
        return f"{phrase} OR {without}" if without else phrase
    with_it = f"({phrase} AND ({_combined(rest, need - worth)}))"
    return f"{with_it} OR {without}" if without else with_it
