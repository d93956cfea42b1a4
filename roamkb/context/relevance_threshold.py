"""The relevance threshold of unasked suggestions.

A floor under what is shown to who didn't ask for it.

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
from roamkb.text import language
from roamkb.text.store.lexicons import alternatives_pattern
from roamkb.text.store.lexicons import lexicon
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import terms_of
from roamkb.text.tokenize import text_terms

_T = TypeVar("_T")

_BESIDE_SHARE: Final = 0.25
_HEAVIEST_WORDS: Final = 12
#: The share of the best answer's worth.
_LEAST_OF_BEST: Final = 0.85
#: What a term weighs that one of ten texts holds; in fewer, no count says how rare a word is.
_HANDFUL_WEIGHT: Final = 2.0
_EVERYDAY_WORTH: Final = 0.5
#: What a speaker mentions and doesn't ask for.
_NEGATED_TOPICS: Final = lazily(
    rf"\b{alternatives_pattern('waved_away')}\b[^,.;:!?\n]*".replace("'", "['’]"), re.IGNORECASE
)
#: What an error quotes: a module, a key, a file.
_QUOTED_NAME: Final = r"['\"`‘“]([^'\"`’”\n]{2,80})['\"`’”]"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceThreshold:
    """The least that an answer has to share with the text that it answers."""

    #: In rarest words' worth; words of the text beside the name count a quarter.
    worth: float
    #: Of the words' whole weight, of the heaviest few in a long prompt.
    share: float


INTERRUPTION_THRESHOLD: Final = RelevanceThreshold(worth=1.3, share=0.25)
#: Where nobody is interrupted. Were it a third, four more of 100 needs would go without what helps.
START_THRESHOLD: Final = RelevanceThreshold(worth=1.0, share=0.25)


def select_relevant(
    text: str,
    weights: TermWeights,
    answers: Iterable[tuple[_T, Set[str], Set[str]]],
    *,
    limits: RelevanceThreshold = INTERRUPTION_THRESHOLD,
) -> list[_T]:
    """Return the answers to `text` that reach the threshold, in their order.

    An answer comes with the terms of its name and those of what is shown beside it.
    """
    word_weights = _word_weights(text, weights)
    total_weight = sum(sorted((max(entry.values()) for entry in word_weights), reverse=True)[:_HEAVIEST_WORDS])
    worths = [
        (entry, _answer_worth(word_weights, name, beside, limits.share * total_weight))
        for entry, name, beside in answers
    ]
    best = max((worth for _, worth in worths), default=0.0)
    threshold = max(limits.worth * weights.rarest - 1e-9, _LEAST_OF_BEST * best)
    return [entry for entry, worth in worths if worth and worth >= threshold]


def _word_weights(text: str, weights: TermWeights) -> list[Mapping[str, float]]:
    """Return the weight of each word of `text`, by its terms: an identifier and its parts are one word."""
    is_handful = weights.rarest < _HANDFUL_WEIGHT
    empty_terms = _empty_terms(language.is_english(split_words(text)))
    weights_by_terms: dict[tuple[str, ...], Mapping[str, float]] = {}
    for word in split_words(_NEGATED_TOPICS.sub(" ", text)):
        # the `s` behind an apostrophe is in every second text
        found_by = (term for term in terms_of(word) if term in weights.terms and len(term) > 1)
        telling_terms = tuple(term for term in found_by if term not in empty_terms)
        # of scripts without blanks, each pair of letters is as good as a word
        for term_group in (
            ((term,) for term in telling_terms) if UNSPACED.match(word) else filter(None, (telling_terms,))
        ):
            weights_by_terms[term_group] = {
                term: (weights.rarest if is_handful else weights.terms[term])
                * (_EVERYDAY_WORTH if term in _everyday_terms() else 1)
                for term in term_group
            }
    return list(weights_by_terms.values())


def _answer_worth(word_weights: Sequence[Mapping[str, float]], name: Set[str], beside: Set[str], least: float) -> float:
    shared = near = 0.0
    for word in word_weights:
        in_name = max((weight for term, weight in word.items() if term in name), default=0.0)
        shared += in_name
        near += 0.0 if in_name else max((weight for term, weight in word.items() if term in beside), default=0.0)
    if not shared or shared + near < least:
        return 0.0
    return shared + _BESIDE_SHARE * near


@cache
def _everyday_terms() -> frozenset[str]:
    return frozenset(text_terms(" ".join(lexicon("everyday"))))


@cache
def _empty_terms(english: bool) -> frozenset[str]:
    return frozenset(text_terms(" ".join(lexicon("en/empty_words" if english else "empty_words"))))


def is_transferable(technique: str, *, past_errors: Iterable[str], error: str) -> bool:
    """Say whether a technique fits an `error`, given the errors that it was for.

    Those are the same but for what they quote: `pip install pyyaml` is for no other module.
    """
    quoted = {name.casefold() for past_error in past_errors for name in re.findall(_QUOTED_NAME, past_error)}
    bound = {name for name in quoted if name in technique.casefold()}
    return not bound or any(name in error.casefold() for name in bound)
