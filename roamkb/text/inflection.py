"""The forms of a word: of an English one its plural and its tenses, and no other word of the same stem.

Porter's stems, by which words are found, are the same for *university* and *universal*. Whoever asks for one
word means that word. Other languages have more endings than a list holds; there two words are forms of one if they
differ by a short ending alone.
"""

import re
from functools import lru_cache

from roamkb.core.text import fold_text
from roamkb.text import language
from roamkb.text.tokenize import SPACED_LETTER
from roamkb.text.tokenize import split_words

_VOWELS = frozenset("aeiou")
#: Letters of what an ending leaves, at least.
_SHORTEST_BASE = 3
#: Letters that forms of another language begin with, at least, of the longest ending, and the share that forms with
#: such endings have in common: of *université* and *univers* it is less.
SHORTEST_COMMON = 4
_LONGEST_ENDING = 3
_LEAST_COMMON = 0.72
#: More bytes a letter than this has a text in other letters than Latin ones, which take two.
_BYTES_A_LETTER = 1.3
#: What may stand on either side of a letter that is a word: quotes, org's markup, a slash, and what parts names.
_AROUND = "\"'*=~/\x1f"
#: Letters of a text that tell its language.
_TELLING_LETTERS = 4000


def forms_of(word: str) -> frozenset[str]:
    """Return a folded word with its forms, and perhaps some that are no words."""
    return frozenset(form for base in (word, *_bases_of(word)) for form in _forms_of_base(base))


def holds_form(text: str, word: str) -> bool:
    """Return whether `text` holds a word or a form of it, as words of their own; `word` is one of letters alone.

    A single letter has no forms, and is a part of more than other words are: `Objective-C`, `C++`, an initial.
    """
    folded_word = fold_text(word)
    if len(folded_word) == 1:
        return _letter_pattern(folded_word).search(fold_text(text)) is not None
    if word.isascii() and _holds(text, text.lower(), folded_word):
        return True
    folded = fold_text(text)
    if word.isascii() and not text.isascii() and _holds(folded, folded, folded_word):
        return True
    # an English text has other words with a beginning and a short ending: `form`, `former`
    return _holds_ending(folded, folded_word) and not (word.isascii() and is_in_english(text))


def is_form(word: str, other: str) -> bool:
    """Return whether two folded words of a language that isn't English may be forms of one.

    The longer their endings, the more they have to have in common: `porta` is no form of `portal`'s.
    """
    letters = enumerate(zip(word, other, strict=False))
    common = next((place for place, (one, another) in letters if one != another), min(len(word), len(other)))
    shorter, longer = sorted((len(word) - common, len(other) - common))
    return (
        not longer
        or (common >= SHORTEST_COMMON and longer == 1)
        or (common > SHORTEST_COMMON and shorter <= 1 and longer == 2)
        or (common > SHORTEST_COMMON + 1 and longer <= _LONGEST_ENDING and common >= _LEAST_COMMON * (common + longer))
    )


def form_beginning(word: str) -> str:
    """Return what all forms of a folded word by `is_form` begin with."""
    return word[: max(SHORTEST_COMMON, len(word) - _LONGEST_ENDING)]


def is_in_english(text: str) -> bool:
    """Return whether the words of plain letters in a text are English, by its beginning: in Russian they are, too."""
    beginning = text[:_TELLING_LETTERS]
    is_other_script = len(beginning.encode("utf-8", "replace")) > _BYTES_A_LETTER * len(beginning)
    return is_other_script or language.is_english(split_words(beginning))


def _holds_ending(folded_text: str, word: str) -> bool:
    start = form_beginning(word)
    if start not in folded_text:
        return False
    others = re.finditer(rf"(?<!{SPACED_LETTER})(?<!\d){re.escape(start)}{SPACED_LETTER}*(?!\d)", folded_text)
    return any(is_form(match.group(), word) for match in others)


def _holds(text: str, lower_text: str, word: str) -> bool:
    """Return whether a text of ASCII letters and others, beside which it stands in small ones, holds a form."""
    if len(lower_text) != len(text):
        text = lower_text
    start, pattern = _pattern_of(word)
    # to look for what all forms begin with takes a tenth of the time
    place = lower_text.find(start)
    while place >= 0:
        if pattern.match(text, place):
            return True
        place = lower_text.find(start, place + 1)
    return False


@lru_cache(maxsize=64)
def _pattern_of(word: str) -> tuple[str, re.Pattern[str]]:
    """Return what all forms of a word begin with, and a pattern of them."""
    longest_first = sorted(map(re.escape, forms_of(word)), key=len, reverse=True)
    # an identifier holds its parts: parseReply, parse_reply
    any_form = "|".join(longest_first)
    forms = rf"(?:(?<!{SPACED_LETTER})|(?<=[a-z])(?=[A-Z]))(?i:{any_form})(?:(?!{SPACED_LETTER})|(?=[A-Z]))"
    first, last = min(longest_first), max(longest_first)
    shared = next(
        (place for place, letters in enumerate(zip(first, last, strict=False)) if len(set(letters)) > 1), None
    )
    return first[:shared], re.compile(forms)


@lru_cache(maxsize=64)
def _letter_pattern(letter: str) -> re.Pattern[str]:
    """Return a pattern of a letter between blanks and what a sentence or org puts around a word."""
    return re.compile(rf"(?<![^\s{_AROUND}(\[{{“„«]){re.escape(letter)}(?=\.?(?:\s*\Z|\n)|[\s{_AROUND})\]}}”»,;:!?…])")


def _bases_of(word: str) -> list[str]:
    """Return the words of which `word` may be a form."""
    bases = []
    if word.endswith(("ies", "ied")):
        bases.append(f"{word[:-3]}y")
    for ending in ("s", "es", "d", "ed", "ing"):
        if word.endswith(ending) and not word.endswith("ss"):
            base = word[: -len(ending)]
            bases += [base, f"{base}e"] if ending == "ing" else [base]
            if ending in ("ed", "ing") and _is_doubled(base):
                bases.append(base[:-1])
    return [base for base in bases if len(base) >= _SHORTEST_BASE]


def _forms_of_base(base: str) -> list[str]:
    forms = [base, f"{base}s", f"{base}es", f"{base}ed", f"{base}ing"]
    if base.endswith("e"):
        forms += [f"{base}d", f"{base[:-1]}ing"]
    if base.endswith("y"):
        forms += [f"{base[:-1]}ies", f"{base[:-1]}ied"]
    if base and base[-1].isalpha() and base[-1] not in _VOWELS:
        forms += [f"{base}{base[-1]}ed", f"{base}{base[-1]}ing"]
    return forms


def _is_doubled(base: str) -> bool:
    return len(base) > _SHORTEST_BASE and base[-1] == base[-2]
