"""Initials by which a name of several words may be called: `SVM` for Support Vector Machines."""

from collections.abc import Iterator

from roamkb.core.text import fold_text
from roamkb.text.store.word_frequencies import term_bits
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import stem_word

#: Words of a name that has initials: of two they are any two letters, of more than five the name is a sentence.
_FEWEST, _MOST = 3, 5
#: Letters of a word that is small in any language: to load the lists of all takes a hook as long as to search.
_LONGEST_SMALL = 2
#: Bits of initials in general texts, at least: `arm` and `node` are words, whatever has these initials.
_LEAST_BITS = 14.0


def initials_of(name: str) -> tuple[str, ...]:
    """Return the initials of a name, folded: of all words, and without the small ones; few names have any."""
    return tuple(letters for letters in dict.fromkeys(_initials(name)) if term_bits(stem_word(letters)) >= _LEAST_BITS)


def _initials(name: str) -> Iterator[str]:
    # of an Arabic stroke between words nothing is left
    words = list(filter(None, map(fold_text, split_words(name))))
    large = [word for word in words if word not in STOP_WORDS and len(word) > _LONGEST_SMALL]
    for some in (words, large):
        if _FEWEST <= len(some) <= _MOST and all(word[0].isalpha() and not UNSPACED.match(word) for word in some):
            yield "".join(word[0] for word in some)
