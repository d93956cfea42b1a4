"""The lexica of synonyms, opposites, numbers and units for the comparison of texts.

A word that is on no list stands for itself and its own inflections alone.
"""

import re
from collections.abc import Callable
from functools import cache
from functools import lru_cache

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_text
from roamkb.text.language import is_english
from roamkb.text.porter import inflection_stem
from roamkb.text.porter import stem
from roamkb.text.store.lexicons import lexicon
from roamkb.text.store.lexicons import vocabulary
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import split_words

#: Words that say how a claim hangs together, and not what it is about.
FUNCTION_WORDS = STOP_WORDS | vocabulary("function_words")

#: Words that leave something out of what is said.
EXCEPTIONS = vocabulary("exceptions")
#: Each negates what follows it, or leaves something out.
NEGATIONS = vocabulary("negations") | EXCEPTIONS
#: Where words aren't parted by blanks, negations are letters of them.
UNSPACED_NEGATION = lazily("|".join(" ".join(lexicon("unspaced_negations")).split()))

#: Function words that relate what follows to the rest, in groups of which one may stand for another.
_RELATING = tuple(frozenset(group.split()) for group in lexicon("relating"))
RELATING = frozenset().union(*_RELATING)


def relate_otherwise(first_word: str, second_word: str) -> bool:
    """Say whether two words relate differently, so that neither may stand for the other."""
    if first_word not in RELATING or second_word not in RELATING:
        return False
    return not any(first_word in group and second_word in group for group in _RELATING)


#: Function words that are each other's opposites; of other words any exchange is another claim.
OPPOSITES = frozenset(frozenset(pair.split("/")) for pair in vocabulary("opposites"))

_VALUES = {fold_text(word): int(value) for line in lexicon("numbers") for word, value in [line.split()]}
#: Words that mean 1 as often as nothing.
ONES = frozenset(word for word, value in _VALUES.items() if value == 1)
#: Numbers as words.
NUMBERS = {word: value for word, value in _VALUES.items() if value != 1}
#: What a number counts, by each of its names.
UNITS = {name: line.split()[0] for line in lexicon("units") for name in map(fold_text, line.split())}


# most hooks compare no texts
@cache
def _first_of_group(reduced: Callable[[str], str]) -> dict[str, str]:
    first_names: dict[str, str] = {}
    for group in lexicon("synonyms"):
        names = group.split()
        for name in names:
            first_names.setdefault(reduced(name), reduced(names[0]))
    return first_names


_BRITISH = lazily(r"(i|y)s(e|es|ed|ing|ation|ations|er|ers)$")


# most words are met again and again
@lru_cache(maxsize=65536)
def canonical_form(word: str) -> str:
    """Return the common form of a folded `word` and its synonyms: a stem, or a number's digits."""
    if word in NUMBERS:
        return str(NUMBERS[word])
    root = stem(_american_spelling(word))
    return _first_of_group(stem).get(root, root)


@lru_cache(maxsize=65536)
def form_of(word: str) -> str:
    """Return the common form of a folded `word`, its inflections, spellings and synonyms."""
    if word in NUMBERS:
        return str(NUMBERS[word])
    form = inflection_stem(_american_spelling(word))
    return _first_of_group(inflection_stem).get(form, form)


def _american_spelling(word: str) -> str:
    british = _BRITISH.search(word) if len(word) > 6 else None
    return f"{word[: british.start()]}{british[1]}z{british[2]}" if british else word


@cache
def _contrary_stems() -> frozenset[frozenset[str]]:
    """Return pairs of words of which each says the contrary; they tell a contradiction from another wording."""
    return frozenset(frozenset(map(stem, pair.split("/"))) for pair in vocabulary("contraries"))


def are_contrary(first_word: str, second_word: str) -> bool:
    """Say whether two folded words, in whatever form, are contraries."""
    return frozenset((stem(first_word), stem(second_word))) in _contrary_stems()


_CONTRACTIONS = [line.split() for line in lexicon("contractions")]
_CONTRACTED = lazily(
    "|".join(rf"\b({begin}){end}\b" for begin, end, *_ in _CONTRACTIONS).replace("'", "['’]?"), re.IGNORECASE
)
#: How all of them end, which is looked for in a tenth of the time; *agent* ends so as well.
_CONTRACTED_END = lazily(r"[nN](?:['’]?|[nN][oO])[tT]\b")
_SUFFIX = lazily(r"(?<=\w)['’](?:s|re|ve|ll|m|d)\b", re.IGNORECASE)


def spelt_out(text: str) -> str:
    """Return `text` with *do not* for *don't*, and without the *'s* of *it's*."""
    # in French "dont" is "of which"
    if _CONTRACTED_END.search(text) and is_english(split_words(text)):
        text = _CONTRACTED.sub(_without_contraction, text)
    return _SUFFIX.sub("", text) if "'" in text or "’" in text else text


def _without_contraction(match: re.Match[str]) -> str:
    number = match.lastindex or 1
    meaning = _CONTRACTIONS[number - 1][2:] or [match[number]]
    return f"{meaning[0]} not"
