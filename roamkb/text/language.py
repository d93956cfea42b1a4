"""Is a text English? Only then do Porter's stems fit; other languages are found by groups of letters.

Overlapping groups of four letters do in every European language what a stemmer does for
one of them (McNamee and Mayfield, "Character N-Gram Tokenization for European Language
Text Retrieval", Information Retrieval 7, 2004), and take apart compounds as well.
"""

import unicodedata
from collections.abc import Iterable
from itertools import pairwise

from roamkb.core.text import folded
from roamkb.text.store.lexicons import vocabulary
from roamkb.text.tokenize import STOP_WORDS
from roamkb.text.tokenize import UNSPACED

#: Letters in a group; a word's beginning and end count as one each.
_GROUP = 4
#: What stands for the beginning and the end of a word: a digit, since indexes take it for a part of the word.
_EDGE = "0"
#: What a group ends in, so that none is a word, and no stemmer finds an ending to cut.
_MARK = "9"
#: What parts a word from the numbers of its accented letters.
_ACCENTED = "8"
#: The small words of other languages in Latin letters that English hasn't got.
_OTHERS = vocabulary("small_words")
#: English small words that others have as well, of whatever meaning.
_SHARED = vocabulary("en/shared_words")


def is_english(words: Iterable[str]) -> bool:
    """Say whether no more words tell of another language than of English: a text that tells nothing is."""
    return balance(words) >= 0


def balance(words: Iterable[str]) -> int:
    """Return how many more words tell of English than of another language.

    For English tell its small words; against it the small words of others, and letters that it hasn't got.
    """
    told = 0
    for word in words:
        plain = word.lower()
        if plain in _SHARED:
            continue
        if plain in STOP_WORDS:
            told += 1
        elif plain in _OTHERS or not (word.isascii() or UNSPACED.match(word)):
            told -= 1
    return told


def letter_groups(word: str) -> list[str]:
    """Return the overlapping groups of letters in a word, marked as such; and what its accents are."""
    plain = folded(word)
    edged = f"{_EDGE}{plain}{_EDGE}"
    groups = [edged[n : n + _GROUP] + _MARK for n in range(len(edged) - _GROUP + 1)] or [edged + _MARK]
    return groups if word.isascii() else groups + _accented(word, plain)


def _accented(word: str, plain: str) -> list[str]:
    """Return what only this spelling has: in Vietnamese, words differ by their accents alone."""
    spelled = unicodedata.normalize("NFC", word.casefold())
    if spelled == plain:
        return []
    codes = (f"{ord(letter):x}" for letter in spelled if not letter.isascii())
    return [f"{_EDGE}{plain}{_ACCENTED}{''.join(codes)}{_MARK}"]


def unspaced_groups(run: str) -> list[str]:
    """Return the letters of a run of unspaced script and their overlapping pairs, as numbers.

    Numbers, so that no group is a word, and none has an accent to fold.
    """
    codes = [str(ord(letter)) for letter in folded(run)]
    return [f"{one}x{other}" for one, other in pairwise(codes)] + [f"x{code}" for code in codes]
