"""The test for English, and the letter groups by which words of other languages are found.

Only then do Porter's stems fit; other languages are found by groups of letters.

Overlapping groups of four letters do in every European language what a stemmer does for
one of them (McNamee and Mayfield, "Character N-Gram Tokenization for European Language
Text Retrieval", Information Retrieval 7, 2004), and take apart compounds as well.
"""

import unicodedata
from collections.abc import Collection
from itertools import pairwise

from roamkb.core.text import fold_text
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
OTHER_SMALL_WORDS = vocabulary("small_words")
#: English small words that others have as well, of whatever meaning.
_SHARED = vocabulary("en/shared_words")
#: By lower-case words: 1 for a sign of English, -1 for one of another language, 0 for one that both have.
_SIGNS = dict.fromkeys(OTHER_SMALL_WORDS, -1) | dict.fromkeys(STOP_WORDS, 1) | dict.fromkeys(_SHARED, 0)


def is_english(words: Collection[str]) -> bool:
    """Say whether a text has at least as many signs of English as of another language."""
    return english_surplus(words) >= 0


def english_surplus(words: Collection[str]) -> int:
    """Return by how many the signs of English outnumber those of other languages.

    For English tell its small words; against it the small words of others, and letters that it hasn't got.
    """
    text = " ".join(words)
    # all at once: a text has hundreds of words, and most say nothing
    surplus = sum(filter(None, map(_SIGNS.get, text.lower().split(" "))))
    if text.isascii():
        return surplus
    strangers = (word for word in words if not word.isascii() and word.lower() not in _SIGNS)
    return surplus - sum(not UNSPACED.match(word) for word in strangers)


def letter_groups(word: str) -> list[str]:
    """Return the marked overlapping letter groups of a word, and one for its accents."""
    plain = fold_text(word)
    edged = f"{_EDGE}{plain}{_EDGE}"
    groups = [edged[n : n + _GROUP] + _MARK for n in range(len(edged) - _GROUP + 1)] or [edged + _MARK]
    return groups if word.isascii() else groups + _accent_group(word, plain)


def _accent_group(word: str, plain: str) -> list[str]:
    """Return the group for the accents of this spelling: in Vietnamese, words differ by them alone."""
    spelled = unicodedata.normalize("NFC", word.casefold())
    if spelled == plain:
        return []
    codes = (f"{ord(letter):x}" for letter in spelled if not letter.isascii())
    return [f"{_EDGE}{plain}{_ACCENTED}{''.join(codes)}{_MARK}"]


def unspaced_groups(run: str) -> list[str]:
    """Return the letters of a run of unspaced script and their overlapping pairs, as numbers.

    Numbers, so that no group is a word, and none has an accent to fold.
    """
    codes = [str(ord(letter)) for letter in fold_text(run)]
    return [f"{first_code}x{second_code}" for first_code, second_code in pairwise(codes)] + [
        f"x{code}" for code in codes
    ]
