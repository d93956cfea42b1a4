"""The forms of an English word: its plural and its tenses, and no other word of the same stem.

Porter's stems, by which words are found, are the same for *university* and *universal*. Whoever asks for one
word means that word.
"""

import re
from functools import lru_cache

from roamkb.core.text import fold_text

_VOWELS = frozenset("aeiou")
#: Letters of what an ending leaves, at least.
_SHORTEST_BASE = 3


def forms_of(word: str) -> frozenset[str]:
    """Return a folded word with its forms, and perhaps some that are no words."""
    return frozenset(form for base in (word, *_bases_of(word)) for form in _forms_of_base(base))


def holds_form(text: str, word: str) -> bool:
    """Return whether `text` holds a word or a form of it, as words of their own; `word` is one of ASCII letters."""
    folded_word = fold_text(word)
    return _holds(text, text.lower(), folded_word) or (
        not text.isascii() and _holds(folded := fold_text(text), folded, folded_word)
    )


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
    forms = rf"(?:(?<![^\W\d_])|(?<=[a-z])(?=[A-Z]))(?i:{'|'.join(longest_first)})(?:(?![^\W\d_])|(?=[A-Z]))"
    first, last = min(longest_first), max(longest_first)
    shared = next(
        (place for place, letters in enumerate(zip(first, last, strict=False)) if len(set(letters)) > 1), None
    )
    return first[:shared], re.compile(forms)


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
