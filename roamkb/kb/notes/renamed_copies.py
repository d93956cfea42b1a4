"""Conflict copies whose names don't say so: each syncer has a way of its own to name them.

What all have in common is that a copy lies beside its original, has its id, and a name that begins with its
original's: `port (1).org`, `port-DESKTOP-AB12.org`. With another id it is a note, and so it is where the original is
gone: then it is all that is left.
"""

from collections.abc import Container
from collections.abc import Iterator
from collections.abc import Mapping
from itertools import pairwise

_ENDING = ".org"


def find_renamed_copies(first_ids: Mapping[str, str]) -> dict[str, str]:
    """Return the originals of the copies among files with the ids of their first nodes, by the copies' names."""
    originals: dict[str, str] = {}
    for file, id in first_ids.items():
        for original in likely_originals(file, first_ids):
            if id and first_ids[original] == id:
                originals[file] = original
                break
    return originals


def likely_originals(file: str, files: Container[str]) -> Iterator[str]:
    """Yield those of `files` of which `file` is a copy by its name, the shortest name first."""
    start = file.rfind("/") + 1
    stem = file.removesuffix(_ENDING)
    for end, (letter, next_letter) in enumerate(pairwise(stem), start=1):
        if end > start and _may_follow(letter, next_letter) and (original := stem[:end] + _ENDING) in files:
            yield original


def _may_follow(letter: str, next_letter: str) -> bool:
    """Return whether a syncer's addition may begin there: neither within a word nor within a number."""
    return not (next_letter.isalpha() or (letter.isdigit() and next_letter.isdigit()))
