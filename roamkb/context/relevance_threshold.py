"""Is it worth an interruption? A floor under what is shown to who didn't ask for it.

A search's scores say which answer is the best, not whether it is any good. Here the measure is absolute:
how much of what the words tell is in the answer, in words so rare that one text of the whole base has each.
A small base calls every word rare, so that words which developers say about any work count half; and what
shares much less than the best does is no second answer.
"""

import re
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set
from functools import cache
from typing import Final
from typing import TypeVar

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.kb.search.query import TermWeights
from roamkb.text.language import is_english
from roamkb.text.store.lexicons import alternatives
from roamkb.text.store.lexicons import lexicon
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import terms
from roamkb.text.tokenize import terms_of
from roamkb.text.tokenize import words

_T = TypeVar("_T")

_BESIDE: Final = 0.25
_HEAVIEST: Final = 12
#: The share of the best answer's worth.
_NEAR_THE_BEST: Final = 0.85
#: What a term weighs that one of ten texts holds; in fewer, no count says how rare a word is.
_HANDFUL: Final = 2.0
_EVERYDAY_WORTH: Final = 0.5
#: What a speaker mentions and doesn't ask for.
_WAVED_AWAY: Final = lazily(
    rf"\b{alternatives('waved_away')}\b[^,.;:!?\n]*".replace("'", "['’]"), re.IGNORECASE
)
#: What an error quotes: a module, a key, a file.
_QUOTED: Final = r"['\"`‘“]([^'\"`’”\n]{2,80})['\"`’”]"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceThreshold:
    """What an answer has to share with what is asked."""

    #: In rarest words' worth; words of the text beside the name count a quarter.
    worth: float
    #: Of the words' whole weight, of the heaviest few in a long prompt.
    share: float


INTERRUPTING: Final = RelevanceThreshold(worth=1.3, share=0.25)
#: Where nobody is interrupted. Were it a third, four more of 100 needs would go without what helps.
AT_THE_START: Final = RelevanceThreshold(worth=1.0, share=0.25)


def fitting(
    text: str,
    weights: TermWeights,
    answers: Iterable[tuple[_T, Set[str], Set[str]]],
    *,
    least: RelevanceThreshold = INTERRUPTING,
) -> list[_T]:
    """Return which answers to `text` clear the floor, in their order.

    An answer comes with the terms of its name and those of what is shown beside it.
    """
    told = _told(text, weights)
    whole = sum(sorted((max(one.values()) for one in told), reverse=True)[:_HEAVIEST])
    worths = [(one, _worth(told, name, beside, least.share * whole)) for one, name, beside in answers]
    best = max((worth for _, worth in worths), default=0.0)
    floor = max(least.worth * weights.rarest - 1e-9, _NEAR_THE_BEST * best)
    return [one for one, worth in worths if worth and worth >= floor]


def _told(text: str, weights: TermWeights) -> list[Mapping[str, float]]:
    """Return what each word of `text` weighs, by its terms: an identifier and its parts are one word."""
    is_handful = weights.rarest < _HANDFUL
    empty = _empty(is_english(words(text)))
    found: dict[tuple[str, ...], Mapping[str, float]] = {}
    for word in words(_WAVED_AWAY.sub(" ", text)):
        # the `s` behind an apostrophe is in every second text
        found_by = (term for term in terms_of(word) if term in weights.terms and len(term) > 1)
        known = tuple(term for term in found_by if term not in empty)
        # of scripts without blanks, each pair of letters is as good as a word
        for each in ((term,) for term in known) if UNSPACED.match(word) else filter(None, (known,)):
            found[each] = {
                term: (weights.rarest if is_handful else weights.terms[term])
                * (_EVERYDAY_WORTH if term in _everyday() else 1)
                for term in each
            }
    return list(found.values())


def _worth(told: Sequence[Mapping[str, float]], name: Set[str], beside: Set[str], least: float) -> float:
    shared = near = 0.0
    for word in told:
        in_name = max((weight for term, weight in word.items() if term in name), default=0.0)
        shared += in_name
        near += (
            0.0 if in_name else max((weight for term, weight in word.items() if term in beside), default=0.0)
        )
    if not shared or shared + near < least:
        return 0.0
    return shared + _BESIDE * near


@cache
def _everyday() -> frozenset[str]:
    return frozenset(terms(" ".join(lexicon("everyday"))))


@cache
def _empty(english: bool) -> frozenset[str]:
    return frozenset(terms(" ".join(lexicon("en/empty_words" if english else "empty_words"))))


def carries_over(technique: str, *, was: Iterable[str], now: str) -> bool:
    """Say whether a technique is for an error `now`, given the errors that it was for.

    Those are the same but for what they quote: `pip install pyyaml` is for no other module.
    """
    quoted = {name.casefold() for one in was for name in re.findall(_QUOTED, one)}
    bound = {name for name in quoted if name in technique.casefold()}
    return not bound or any(name in now.casefold() for name in bound)
