"""Denial: whether a text negates what it says, or calls it false."""

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Final
from roamkb.core.text import fold_text
from roamkb.text.similarity.synonyms import NEGATIONS
from roamkb.text.similarity.synonyms import UNSPACED_NEGATION
from roamkb.text.similarity.synonyms import are_contrary
from roamkb.text.similarity.synonyms import spelt_out
from roamkb.text.store.lexicons import lexicon
from roamkb.text.store.lexicons import vocabulary
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stem_word

#: Words that turn what is said into its contrary, as a negation does: "it is a myth that"; as written, and folded.
_FALSITY: Final = frozenset(" ".join(lexicon("falsity")).casefold().split())
_FOLDED_FALSITY: Final = vocabulary("falsity")
_FALSITY_UNSPACED: Final = lazily("|".join(" ".join(lexicon("unspaced_falsity")).split()))


def negation_words(text: str) -> set[str]:
    """Return the words of a text, folded, that negate."""
    return set(NEGATIONS.intersection(split_words(fold_text(spelt_out(text)))))


def negates(text: str) -> bool:
    """Return whether a text has a negation."""
    return bool(negation_words(text)) or UNSPACED_NEGATION.search(text) is not None


def falsity_words(text: str) -> set[str]:
    """Return the words of a text, folded, that call something false."""
    # who types leaves accents out, and puts none in: "lié" is no lie
    written = {word.casefold() for word in split_words(text)}
    words = {fold_text(word) for word in written if word in _FALSITY or (word.isascii() and word in _FOLDED_FALSITY)}
    return words.union(_FALSITY_UNSPACED.findall(text))


def turns(text: str) -> bool:
    """Return whether a text denies something: it negates, or calls it false."""
    return negates(text) or bool(falsity_words(text))


def is_of_truth(term: str) -> bool:
    """Return whether a term says that something is false, or true."""
    return any(term == stem_word(word) or are_contrary(term, word) for word in _FOLDED_FALSITY)
