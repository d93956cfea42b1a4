"""Four words for a digest, which a human compares where it is shown twice: at a terminal and on the page."""

from typing import Final

from roamkb.core.data_tables import data_lines

_LIST: Final = "digest_words.txt"
_WORDS: Final = 4
_WORD_BITS: Final = 11
_DIGEST_BITS: Final = 256


def four_words(digest: str) -> str:
    """Return four words for a SHA-256 in hexadecimal: its first 44 bits."""
    words, number = data_lines(_LIST), int(digest, 16)
    places = (_DIGEST_BITS - _WORD_BITS * place for place in range(1, _WORDS + 1))
    return " ".join(words[number >> place & (1 << _WORD_BITS) - 1] for place in places)
