"""The one tokeniser: what counts as a word, in a note, a query and a comparison alike.

Case and accents are folded; an identifier is found whole and by its parts; Chinese,
Japanese, Korean and Thai, which put no blanks between words, by overlapping pairs of
letters (design section 7).
"""

import re
from collections.abc import Iterator
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from roamkb.core.stem import stem
from roamkb.core.text import folded

#: Scripts without blanks between words: Thai, Lao, Khmer, kana, Han and Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
UNSPACED = re.compile(f"[{_UNSPACED}]+")
_WORD = re.compile(f"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])\\w)+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
#: Where an identifier falls into parts: fooBar, HTTPServer, snake_case, v2.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FOREIGN_PART = re.compile(r"[^\W\d_]+|\d+")

#: The words that carry no topic of their own (van Rijsbergen's shortest, plus the words of questions).
STOP_WORDS = frozenset(
    "a about all also am an and any are as at be been being but by can could did do does doing done "
    "for from had has have having he her here him his how i if in into is it its itself just me my of "
    "on or our out shall she should so some such t than that the their them then there these they this "
    "those to too us was we were what when where which while who whom whose why will with would you "
    "your".split()
)

#: Letters of a word that has a stem, as in SQLite; and parts of an identifier, which no program comes near.
_LONGEST_STEMMED = 64
_MOST_PARTS = 64


def words(text: str) -> Iterator[str]:
    """Yield each word of `text` as it stands, unfolded; unspaced scripts a run at a time."""
    # most texts, and three times as fast
    yield from (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def terms(text: str) -> list[str]:
    """Return the terms of `text` in order: folded stems, the parts of identifiers, letter pairs."""
    found: list[str] = []
    for word in words(text):
        found += terms_of(word)
    return found


def terms_of(word: str) -> Sequence[str]:
    """Return the terms that one word stands for, the whole word first."""
    return _terms_of(word) if len(word) <= _LONGEST_STEMMED else _terms_of.__wrapped__(word)


# the same words come again and again, in one text and in all
@lru_cache(maxsize=16_384)
def _terms_of(word: str) -> tuple[str, ...]:
    if UNSPACED.match(word):
        return tuple(pairs(word))
    return (stemmed(word), *map(stemmed, identifier_parts(word)))


def stemmed(word: str) -> str:
    """Return the one term that the whole of `word` stands for; a blob in a text has no stem."""
    plain = folded(word)
    return stem(plain) if len(plain) <= _LONGEST_STEMMED else plain


def identifier_parts(word: str) -> list[str]:
    """Return the first parts of `word` if it is an identifier of several, else nothing."""
    if word.islower() and "_" not in word and word.isalpha():
        return []
    found = (_PART if word.isascii() else _FOREIGN_PART).finditer(word)
    parts = [part.group() for part in islice(found, _MOST_PARTS)]
    return parts if len(parts) > 1 else []


def pairs(run: str) -> list[str]:
    """Return the overlapping letter pairs of a run of unspaced script; a lone letter is its own."""
    run = folded(run)
    return [run[n : n + 2] for n in range(len(run) - 1)] or [run]
