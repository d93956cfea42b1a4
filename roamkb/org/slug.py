"""The slug of a title, for file names, as org-roam makes it."""

import unicodedata

#: The accents that org-roam takes off a letter.
_ACCENTS = frozenset(
    map(
        chr,
        (
            *range(0x300, 0x305),
            *range(0x306, 0x30D),
            *(0x31B, 0x323, 0x324, 0x325, 0x327, 0x32D, 0x32E, 0x330, 0x331),
        ),
    )
)


def slug(title: str) -> str:
    """Return `title` in letters, digits and single `_`; it may be empty, and of any length."""
    decomposed = unicodedata.normalize("NFD", title)
    plain = unicodedata.normalize("NFC", "".join(char for char in decomposed if char not in _ACCENTS))
    spaced = "".join(char if _is_kept(char) else " " for char in plain)
    return "_".join(spaced.split()).lower()


def _is_kept(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LM" or category in ("Nd", "Nl")
