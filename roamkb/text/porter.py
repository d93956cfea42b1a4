"""The Porter stemmer for English words.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. A test holds it
against SQLite's own `porter` tokenizer, so that a scan and an index find the same words.
Words of fewer than three letters, and words with other letters than a to z, stay as they are.
"""

from functools import lru_cache

from roamkb.core.startup.lazy_regex import lazily

_C = "[^aeiou]"
_V = "[aeiouy]"
_CC = _C + "[^aeiouy]*"
_VV = _V + "[aeiou]*"
#: [C](VC)^m[V], the paper's measure, asked for m > 0, m = 1 and m > 1.
_M_GT_0 = lazily(f"^(?:{_CC})?{_VV}{_CC}")
_M_EQ_1 = lazily(f"^(?:{_CC})?{_VV}{_CC}(?:{_VV})?$")
_M_GT_1 = lazily(f"^(?:{_CC})?{_VV}{_CC}{_VV}{_CC}")
_HAS_VOWEL = lazily(f"^(?:{_CC})?{_V}")
_CVC = lazily(f"^{_CC}{_V}[^aeiouwxy]$")

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
    "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
    "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "ion", "al", "er", "ic", "ou",
)  # fmt: skip
_SUFFIXES_2, _SUFFIXES_3, _SUFFIXES_4 = (
    tuple(sorted(suffixes, key=len, reverse=True)) for suffixes in (_STEP_2, _STEP_3, _STEP_4)
)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of a lower-case `word`."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    # An initial y is a consonant; written Y it is one to every pattern here.
    first_y = word[0] == "y"
    if first_y:
        word = "Y" + word[1:]
    for step in (_strip_plural, _strip_past, _final_y, _step_2, _step_3, _step_4, _final_e):
        word = step(word)
    return "y" + word[1:] if first_y else word


@lru_cache(maxsize=65536)
def inflection_stem(word: str) -> str:
    """Return a lower-case `word` without its inflection: no plural, no past, no *-ing*.

    Unlike the `stem` it tells *product* from *production*, *custom* from *customer*, *policy* from *police*.
    """
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    for step in (_strip_plural, _strip_past, _final_y, _final_e):
        word = step(word)
    return word


def _strip_plural(word: str) -> str:
    # a word that is nothing but its ending keeps it, as in SQLite
    if word.endswith(("sses", "ies")) and word not in ("sses", "ies"):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _strip_past(word: str) -> str:
    if word.endswith("eed") and word != "eed":
        return word[:-1] if _M_GT_0.match(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending) and _HAS_VOWEL.match(word[: -len(ending)]):
            return _restore_ending(word[: -len(ending)])
    return word


def _restore_ending(word: str) -> str:
    """Return `word`, which has lost its -ed or -ing, with the ending of an English word."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeiouylsz":
        return word[:-1]
    return word + "e" if _CVC.match(word) else word


def _final_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _HAS_VOWEL.match(word[:-1]) else word


def _step_2(word: str) -> str:
    rest, suffix = _split_suffix(word, _SUFFIXES_2)
    return rest + _STEP_2[suffix] if suffix and _M_GT_0.match(rest) else word


def _step_3(word: str) -> str:
    rest, suffix = _split_suffix(word, _SUFFIXES_3)
    return rest + _STEP_3[suffix] if suffix and _M_GT_0.match(rest) else word


def _step_4(word: str) -> str:
    rest, suffix = _split_suffix(word, _SUFFIXES_4)
    if not suffix or not _M_GT_1.match(rest):
        return word
    if suffix == "ion" and rest[-1] not in "st":
        return word
    return rest


def _split_suffix(word: str, suffixes: tuple[str, ...]) -> tuple[str, str]:
    """Return a word before and from the first of `suffixes`, the longest first, that isn't all of it."""
    if word.endswith(suffixes):
        for suffix in suffixes:
            if word.endswith(suffix) and len(word) > len(suffix):
                return word[: -len(suffix)], suffix
    return word, ""


def _final_e(word: str) -> str:
    if word.endswith("e"):
        without_e = word[:-1]
        if _M_GT_1.match(without_e) or (_M_EQ_1.match(without_e) and not _CVC.match(without_e)):
            word = without_e
    if word.endswith("ll") and _M_GT_1.match(word):
        word = word[:-1]
    return word
