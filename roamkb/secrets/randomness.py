"""The weight of a value as a secret: from a word or placeholder up to a random value."""

import math
import re
from collections import Counter
from functools import lru_cache
from operator import add

from roamkb.core.startup.typing import Final
from roamkb.text.store.lexicons import alternatives_pattern
from roamkb.text.store.lexicons import vocabulary

#: Nothing, a placeholder, a reference or a word; a word with digits; a good password; a random one.
NOTHING: Final = 0
WORDY: Final = 1
PASSWORD: Final = 2
RANDOM: Final = 3

#: The pairs of letters that make up nearly nine of ten in English and in programs, and one of four elsewhere.
_COMMON = vocabulary("en/letter_pairs")
#: Longer ones are judged by their beginning.
_MOST = 128
_HEX = r"[0-9a-f]+|[0-9A-F]+"
_UUID = r"(?i)\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?"
#: Where the value is to be found: a variable, a template, a path, a command, a call, dotted names.
_REFERENCE = (
    r"[{<\[(|]|\$[A-Za-z_({]|%[A-Za-z_]+%|[@&*!][A-Za-z_.]+$|\.{0,2}/|~|[A-Za-z][A-Za-z0-9+.-]*://|\\\\|-"
    r"|ENC[\[(]"
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*[(\[]|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|[a-z_]+(?:\.[a-z_]+)+$"
)
#: Of as few parts as base64 has by chance.
_SLASHED = r"(?:/[A-Za-z0-9+]*){1,3}={0,2}"
#: In the middle of it a shell, a template or a document puts the value.
_FILLED_IN = r"\$\{|\$\(|\{\{|\}\}|<[A-Za-z][^<>]*>|%\(|#\{|\$[A-Z_]{3,}|\.\.\.|…"
#: What documents say where a value would stand; a word of it, whatever stands beside.
_SAID = rf"(?i)(?<![a-z]){alternatives_pattern('placeholders')}(?![a-z])|{alternatives_pattern('placeholder_parts')}"
#: `xxxxx`, `*****`, `.....`
_FILLING = r"([xX*.0#_•-])\1{4,}"
_EXAMPLE = r"(?i)example(?:key)?$|your|placeholder|redacted|\.\.\.|<|\$\{|dummy|changeme"
_BLANK = r"\s"
_DIGIT = r"[0-9]"
_SYMBOL = r"[^A-Za-z0-9\s_./:-]"


@lru_cache(maxsize=128)
def compile_cached(expression: str) -> re.Pattern[str]:
    """Return `expression` compiled at its first use: a hook needs few of them."""
    return re.compile(expression)


def secret_weight(value: str) -> int:
    """Return how much `value`, which is labelled as a secret, looks like one."""
    value = value[:_MOST].strip().rstrip(".,:;!?\\")
    if len(value) < 4 or compile_cached(_BLANK).search(value) or stands_for_another(value):
        return NOTHING
    if value.isdigit():
        return NOTHING if len(value) < 4 else WORDY
    if compile_cached(_UUID).fullmatch(value):
        return WORDY
    classes = _count_classes(value)
    if compile_cached(_HEX).fullmatch(value):
        is_mixed = classes > 1
        return RANDOM if len(value) >= 32 else PASSWORD if is_mixed and len(value) > 11 else WORDY * is_mixed
    if is_random(value):
        return RANDOM
    has_symbol = compile_cached(_SYMBOL).search(value) is not None
    if not _has_digit(value):
        return WORDY if has_symbol and classes > 2 and len(value) > 7 else NOTHING
    if len(value) > 7 and (
        (has_symbol and _count_classes(value) > 1) or (classes > 2 and common_pair_share(value) < 0.4)
    ):
        return PASSWORD
    return PASSWORD if len(value) > 9 and common_pair_share(value) < 0.25 else WORDY


def stands_for_another(value: str) -> bool:
    """Say whether `value` is a placeholder, a reference or a well-known default."""
    if len(value) > 30 and compile_cached(_SLASHED).fullmatch(value) and is_random(value[1:]):
        # one base64 text of 64 begins as a path does
        return False
    if (
        compile_cached(_REFERENCE).match(value)
        or compile_cached(_FILLED_IN).search(value)
        or compile_cached(_FILLING).search(value)
    ):
        return True
    if len(value) < 24:
        return compile_cached(_SAID).search(value) is not None or len(set(value)) < 3
    # in a long one a word of three letters is chance
    return len(set(value)) < 6 or (
        common_pair_share(value) > 0.3 and any(len(match[0]) > 3 for match in compile_cached(_SAID).finditer(value))
    )


def is_filled_in(body: str) -> bool:
    """Say whether `body` is a document's example instead of an issued credential's letters."""
    return len(body) > 9 and (
        compile_cached(_FILLING).search(body) is not None
        or len(set(body)) < 3
        or compile_cached(_EXAMPLE).search(body) is not None
        or common_pair_share(body) > 0.75
    )


def is_random(value: str) -> bool:
    """Say whether the letters of `value`, sixteen or more, look generated."""
    if len(value) < 16 or compile_cached(_UUID).fullmatch(value):
        return False
    if compile_cached(_HEX).fullmatch(value):
        return len(value) >= 32
    letters = re.sub(r"[^A-Za-z0-9]", "", value)
    has_both = _has_digit(letters) or (
        letters.lower() != letters != letters.upper() and common_pair_share(value) < 0.27
    )
    return has_both and len(letters) * 4 > len(value) * 3 and common_pair_share(value) < 0.36 and entropy(letters) > 3.3


def common_pair_share(value: str) -> float:
    """Return the share of the pairs of adjacent letters that are common in words."""
    value = value.lower()
    return sum(map(_COMMON.__contains__, map(add, value, value[1:]))) / max(len(value) - 1, 1)


def entropy(word: str) -> float:
    """Return Shannon's entropy of `word` in bits a character."""
    counts = Counter(word).values()
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts)


def _count_classes(value: str) -> int:
    """Return the number of character classes: small letters, capital letters, digits, symbols."""
    has_symbol = compile_cached(_SYMBOL).search(value) is not None
    return (value != value.upper()) + (value != value.lower()) + _has_digit(value) + has_symbol


def _has_digit(value: str) -> bool:
    return compile_cached(_DIGIT).search(value) is not None
