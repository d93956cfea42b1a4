"""Emacs's syntax table of Org mode: words, boundaries and white space.

It differs from Unicode's: `$`, `%` and `'` are word characters, `_` and `@` are not, and
most symbols beyond ASCII are. No pattern of an org text may use Python's white space.
"""

from bisect import bisect_right

_SPACES = frozenset("\t\n\f\r \xa0\u202f\u205f\u3000").union(map(chr, range(0x2000, 0x200C)))
#: White space, between the brackets of a pattern's set: a zero-width space is, NEL, the Ogham mark and the
#: separators of lines and paragraphs are not.
SPACE = "".join(sorted(_SPACES))
#: The manual's own escape character, U+200B: invisible, and what it splits stays readable.
BREAK = "\u200b"

#: What may stand before and behind a marked stretch (`org-emphasis-regexp-components`).
BEFORE_EMPHASIS = rf"[-{SPACE}('\"{{]"
AFTER_EMPHASIS = rf"[-{SPACE}.,:!?;'\")}}\\\[]"


def _parse_edges(ranges: str) -> tuple[int, ...]:
    """Return the first character of each range and the first after it, from hexadecimal `a-b`."""
    edges: list[int] = []
    for part in ranges.split():
        low, _, high = part.partition("-")
        edges += (int(low, 16), int(high or low, 16) + 1)
    return tuple(edges)


#: Characters of word syntax in an Org buffer of Emacs 28.
_WORD = _parse_edges(
    "24-25 27 30-39 41-5a 61-7a 80-9f a5 b2-b3 b5 b7 b9 c0-d6 d8-f6 f8-2c6 2c8 2ca-2cf 2d1-2d7 2dc 2de-383 "
    "386-5bd 5bf 5c1-5c2 5c4-5c5 5c7-e2e e30-e3e e40-e45 e47-e4e e50-e59 e5c-eae eb0-ec5 ec7-eff f0c f19 "
    "f20-f33 f35 f37 f40-f7e f80-f84 f86-fbd fd0-1360 1369-1fff 2027-202e 2060-207c 207f-208c 208f-20ab "
    "20ad-2102 2104-2108 210a-2115 2117-2120 2123-2152 2155-215a 215f-218f 2450-245f 246f-2473 24b6-24ff "
    "254c-2591 2593-259f 25a2 25aa-25b1 25b4-25b5 25b8-25bb 25be-25bf 25c2-25c5 25c9-25ca 25cc-25cd "
    "25d2-25ee 25f0-2604 2607-260d 2610-261b 261d 261f-263f 2641 2643-265f 2662 2666 266b 266e 2670-2767 "
    "276e-276f 2776-27e5 27ec-2982 2999-29fb 29fe-29ff 2c00-2dff 2e80-2fff 3004-3007 301d-30fa 30fc-31ff "
    "321d-321f 322a-325f 327c-327d 3280-337f 3385-3387 33cb-33ce 33d1-33d2 33d4-33d5 33d7 33d9-33da "
    "33de-aada aae0-d7ff e000-fd3d fd40-fe34 fe45-fe58 fe5f-ff00 ff10-ff1a ff21-ff3a ff41-ff5a ff66-ffdf "
    "ffe4  ffe6-1faff 1fc00-10ffff"
)

#: Word characters of the Latin script: no word begins between one of them and a Latin letter.
_LATIN = _parse_edges(
    "24-25 27 30-39 41-5a 61-7a 80-9f a5 b2-b3 b5 b7 b9 c0-d6 d8-f6 f8-24f 2b0-2c6 2c8 2ca-2cf 2d1-2d7 2dc "
    "2de-2ff 1abe 1acf-1aff 1e00-1eff 20dd-20e0 20e2-20e4 20f1-20ff 2c60-2c7f a700-a7ff ab30-ab6f fb00-fb06 "
    "10780-107bf 1df00-1dfff"
)

#: What may follow the `$` that closes a formula: punctuation, white space, brackets, quotes.
_PUNCTUATION = _parse_edges(
    "0-23 27-29 2c 2e 3a-3c 3e-40 5b 5d-5e 60 7b 7d 7f a0-a1 a7 ab bb bf 5be 5c0 5c3 5c6 f00-f0b f0d-f18 "
    "f1a-f1f f34 f36 f38-f3f f7f f85 fbe-fcf 1361-1368 2000-2026 202f-2038 203b-2043 2045-2051 2053-205f "
    "207d-207e 208d-208e 2116 2329-232a 23b4-23b5 2768-276d 2770-2775 27e6-27eb 2983-2998 29fc-29fd "
    "2e00-2e7f 3000-3003 3008-3011 3014-301b 30fb fd3e-fd3f fe35-fe44 fe59-fe5e ff01-ff03 ff05-ff0a "
    "ff0c-ff0f ff1b ff1f-ff20 ff3b ff3d ff5b ff5d ff5f-ff65 1fbcb-1fbff"
)


def _is_in(edges: tuple[int, ...], char: str) -> bool:
    return bisect_right(edges, ord(char)) % 2 == 1


def is_space(char: str) -> bool:
    """Say whether `char` is white space."""
    return char in _SPACES


def is_word(char: str) -> bool:
    """Say whether `char` is part of a word."""
    return _is_in(_WORD, char)


def is_punctuation(char: str) -> bool:
    """Say whether a formula may end before `char`."""
    return _is_in(_PUNCTUATION, char)


def is_alphanumeric(char: str) -> bool:
    """Say whether `char` may be in a heading's tag, `_@#%` aside: letters, digits and marks."""
    if char.isascii():
        return char.isalnum()
    return _unicode_category(char)[0] in "LM" or _unicode_category(char) in ("Nd", "Nl")


def is_word_start(text: str, position: int) -> bool:
    """Say whether a word with a Latin first letter can begin at `position`; after Japanese it can."""
    if position == 0:
        return True
    previous = text[position - 1]
    if _is_in(_LATIN, previous):
        return False
    return previous.isascii() or _unicode_category(previous) != "Mn"


def _unicode_category(char: str) -> str:
    # rarely needed, and 1 MB of tables
    import unicodedata

    return unicodedata.category(char)


def is_name(text: str, extra: str = "-_") -> bool:
    """Say whether all of `text` are word characters or `extra`."""
    return all(char in extra or is_word(char) for char in text)
