"""Word lists by language: a folder of `roamkb/data/lexicon` for each, a file for each list."""

import os
from functools import cache

from roamkb.core.data_tables import data_lines
from roamkb.core.text import fold_text

_FOLDER = f"{__file__.rpartition('text')[0]}data/lexicon"


@cache
def lexicon(name: str) -> tuple[str, ...]:
    """Return the lines of the list called `name`, from every language that has one.

    `en/NAME` is the list of one language.
    """
    if "/" in name:
        return data_lines(f"lexicon/{name}.txt")
    having = (language for language, names in _list_names().items() if f"{name}.txt" in names)
    return tuple(line for language in having for line in data_lines(f"lexicon/{language}/{name}.txt"))


@cache
def vocabulary(name: str) -> frozenset[str]:
    """Return the words of a list, folded."""
    return frozenset(fold_text(" ".join(lexicon(name))).split())


def alternatives_pattern(name: str) -> str:
    """Return a regular expression of any of the lines of a list, which are such expressions."""
    return f"(?:{'|'.join(lexicon(name))})"


@cache
def _list_names() -> dict[str, frozenset[str]]:
    """Return the names of each language's files."""
    folders = sorted(os.scandir(_FOLDER), key=lambda folder: folder.name)
    return {folder.name: frozenset(file.name for file in os.scandir(folder.path)) for folder in folders}
