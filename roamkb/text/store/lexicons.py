"""Words by language, as data: a folder of `roamkb/data/lexicon` for each, a file for each list."""

import os
from functools import cache

from roamkb.core.data_tables import lines
from roamkb.core.text import folded

_FOLDER = f"{__file__.rpartition('text')[0]}data/lexicon"


@cache
def lexicon(name: str) -> tuple[str, ...]:
    """Return the lines of the list called `name`, of every language that has one.

    `en/NAME` is the list of one language.
    """
    if "/" in name:
        return lines(f"lexicon/{name}.txt")
    having = (language for language, names in _names().items() if f"{name}.txt" in names)
    return tuple(line for language in having for line in lines(f"lexicon/{language}/{name}.txt"))


@cache
def vocabulary(name: str) -> frozenset[str]:
    """Return the words of a list, folded."""
    return frozenset(folded(" ".join(lexicon(name))).split())


def alternatives(name: str) -> str:
    """Return a regular expression of any of the lines of a list, which are such expressions."""
    return f"(?:{'|'.join(lexicon(name))})"


@cache
def _names() -> dict[str, frozenset[str]]:
    """Return the names of each language's files."""
    folders = sorted(os.scandir(_FOLDER), key=lambda folder: folder.name)
    return {folder.name: frozenset(file.name for file in os.scandir(folder.path)) for folder in folders}
