"""The tokenizer of notes, queries and comparisons alike.

Case and accents are folded; an identifier is found whole and by its parts; Chinese,
Japanese, Korean and Thai, which put no blanks between words, by overlapping pairs of
letters (docs/architecture.md). A vowel sign is a part of its word.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from itertools import pairwise

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.lazy_regex import lazily_foreign
from roamkb.core.text import fold_text
from roamkb.text.porter import stem
from roamkb.text.store.lexicons import vocabulary

#: Scripts without blanks between words: Thai, Lao, Burmese, Khmer, kana, Han and Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
UNSPACED = lazily_foreign(f"[{_UNSPACED}]+")
#: The combining marks of all other scripts, which `\\w` leaves out, with the letters between them.
_MARK_RANGES = (
    "300-36f 483-487 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-65f 670 6d6-6dc 6df-6e8 6ea-6ed 711-7f3 "
    "7fd 816-82d 859-85b 898-8e1 8e3-963 981-9e3 9fe-a75 a81-ae3 afa-b63 b82-bd7 c00-c63 c81-c83 cbc-d4d "
    "d57-d63 d81-df3 f18-f19 f35 f37 f39 f3e-f84 f86-fbc fc6 135d-135f 1712-1734 1752-1773 1885-193b "
    "1a17-1a1b 1a55-1a7f 1ab0-1abd 1abf-1b44 1b6b-1b73 1b80-1bf3 1c24-1c37 1cd0-1cd2 1cd4-1dff 2cef-2cf1 "
    "2d7f-2dff a66f a674-a67d a69e-a6f1 a802-a827 a82c a880-a8c5 a8e0-a8f1 a8ff-a92d a947-a953 a980-a9c0 "
    "aa29-aa4d aab0-aac1 aaeb-aaef aaf5-aaf6 abe3-abea abec-abed fb1e fe20-fe2f 101fd-1037a 10a01-10a3f "
    "10ae5-10ae6 10d24-10eac 10efd-10eff 10f46-10f50 10f82-10f85 11000-11046 11070-110ba 110c2 11100-11134 "
    "11145-11173 11180-111c0 111c9-111cc 111ce-111cf 1122c-11237 1123e 11241 112df-11446 1145e-114c3 "
    "115af-115c0 115dc-11640 116ab-116b7 1171d-1172b 1182c-1183a 11930-11943 119d1-119e0 119e4-11a3e "
    "11a47-11a99 11c2f-11c3f 11c92-11ef6 11f00-11f42 16af0-16af4 16b30-16b36 16f4f-16f92 16fe4-16ff1 1bc9d-1bc9e "
    "1e000-1e136 1e2ae-1e2ef 1e4ec-1e4ef 1e8d0-1e94a"
)
_MARKS = "".join(
    f"{chr(int(first, 16))}-{chr(int(last or first, 16))}"
    for first, _, last in (one.partition("-") for one in _MARK_RANGES.split())
)
#: What may follow a letter: marks, and the joiners that Indian scripts spell with.
_FOLLOWING = f"(?:[{_MARKS}]|(?<=[\u0900-\u0dff])[\u200c\u200d])+"
#: The pattern of a letter of all other scripts.
SPACED_LETTER = f"[^\\W\\d_{_UNSPACED}]"
_LETTERS = f"[^\\W{_UNSPACED}]"
_WORD = lazily(f"[{_UNSPACED}]+|{_LETTERS}+(?:{_FOLLOWING}{_LETTERS}*)*")
_ASCII_WORD = lazily(r"\w+", re.ASCII)
#: Of Latin, Greek and Cyrillic letters without marks, signs and pictures; others may need `_WORD`.
_PLAIN_TEXT = lazily("[\0-\u02ff\u0370-\u0482\u048a-\u052f\u1e00-\u2bff\ufe0f\U0001f000-\U0001faff]*+")
# the letters that are most are found a sixth faster where they are named
_PLAIN_WORD = lazily(r"[A-Za-z0-9_\w]+")
#: Where an identifier falls into parts: fooBar, HTTPServer, snake_case, v2.
_PART = lazily(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FOREIGN_PART = lazily(f"[^\\W\\d_]+(?:{_FOLLOWING}[^\\W\\d_]*)*|\\d+")

#: Where a text falls into sentences.
SENTENCE_END = lazily(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")

#: The words that carry no topic of their own.
STOP_WORDS = vocabulary("en/stop_words")

#: Letters of a word that has a stem, as in SQLite; and parts of an identifier, which no program comes near.
_LONGEST_STEMMED = 64
_MOST_PARTS = 64
#: Letters of a text whose words are remembered: a query, a line, a learning; no whole note.
_LONGEST_REMEMBERED = 1000


def split_words(text: str) -> Sequence[str]:
    """Return the words of `text` as they stand, unfolded; unspaced scripts a run at a time."""
    return _cached_words(text) if len(text) <= _LONGEST_REMEMBERED else _cached_words.__wrapped__(text)


# each step of a search or a learn asks for the words of the same few texts
@lru_cache(maxsize=1024)
def _cached_words(text: str) -> tuple[str, ...]:
    # most texts are plain, whose pattern is three times as fast
    if text.isascii():
        return tuple(_ASCII_WORD.findall(text))
    return tuple((_PLAIN_WORD if _PLAIN_TEXT.fullmatch(text) else _WORD).findall(text))


def words_beside_unspaced(text: str) -> list[str]:
    """Return the words of `text`, unfolded, with a letter of an unspaced script right before or behind them."""
    # what is plain is found so five times as fast
    if _PLAIN_TEXT.fullmatch(text) or not UNSPACED.search(text):
        return []
    touching: dict[int, str] = {}
    for left, right in pairwise(_WORD.finditer(text)):
        if left.end() == right.start():
            touching |= {match.start(): match[0] for match in (left, right) if not UNSPACED.match(match[0])}
    return list(touching.values())


def text_terms(text: str) -> list[str]:
    """Return the terms of `text` in order: folded stems, the parts of identifiers, letter pairs."""
    term_list: list[str] = []
    for word in split_words(text):
        term_list += terms_of(word)
    return term_list


def terms_of(word: str) -> Sequence[str]:
    """Return the terms of one word, the whole word first."""
    return _cached_terms(word) if len(word) <= _LONGEST_STEMMED else _cached_terms.__wrapped__(word)


# the same words come again and again, in one text and in all
@lru_cache(maxsize=16_384)
def _cached_terms(word: str) -> tuple[str, ...]:
    if UNSPACED.match(word):
        return tuple(letter_pairs(word))
    return (stem_word(word), *map(stem_word, identifier_parts(word)))


def stem_word(word: str) -> str:
    """Return the term of the whole `word`; a blob has no stem."""
    folded_word = fold_text(word)
    return stem(folded_word) if len(folded_word) <= _LONGEST_STEMMED else folded_word


def identifier_parts(word: str) -> list[str]:
    """Return the first parts of `word` if it is an identifier of several; else an empty list."""
    if word.islower() and "_" not in word and word.isalpha():
        return []
    matches = (_PART if word.isascii() else _FOREIGN_PART).finditer(word)
    parts = [part.group() for part in islice(matches, _MOST_PARTS)]
    return parts if len(parts) > 1 else []


def letter_pairs(run: str) -> list[str]:
    """Return the overlapping letter pairs of a run of unspaced script; a lone letter is its own."""
    run = fold_text(run)
    return [run[n : n + 2] for n in range(len(run) - 1)] or [run]


def stands_apart(name: str, text: str) -> bool:
    """Say whether `name` stands somewhere in `text` as words of its own; scripts without blanks part no words."""
    start = text.find(name)
    while start >= 0:
        before, after = text[max(start - 1, 0) : start], text[start + len(name) : start + len(name) + 1]
        if _is_parted(before, name[0]) and _is_parted(name[-1], after):
            return True
        start = text.find(name, start + 1)
    return False


def _is_parted(left: str, right: str) -> bool:
    return not (left.isalnum() and right.isalnum()) or bool(UNSPACED.match(left) or UNSPACED.match(right))
