"""Spellings of nodes' names: the form in which they compare, and those that a mistyped name may mean."""

from collections.abc import Iterable
from collections.abc import Iterator

from roamkb.core.text import fold_to_line
from roamkb.org.syntax.links import displayed_text
from roamkb.org.syntax.syntax_table import BREAK

#: Spellings that are offered in place of one that no node has.
_MOST_OFFERED = 3
#: Comparing letters takes time that grows with the square of the length.
_LONGEST_NAME = 100
#: A title beyond this is no help to somebody who looks for a name.
LONGEST_OFFERED = 200


def spelling_key(name: str) -> str:
    """Return the form in which spellings of one name compare equal, without breaks, case and accents."""
    return fold_to_line(displayed_text(name).replace(BREAK, ""))


def find_likely_spellings(key: str, spellings: Iterable[str]) -> list[str]:
    """Return the few `spellings` that were likely meant by `key`, the likeliest first.

    They are those with nearly its letters; where there are none, the shortest that hold all of its words.
    """
    if not key or len(key) > _LONGEST_NAME:
        return []
    from difflib import get_close_matches  # compiles for milliseconds, and most names are known

    known = {spelling for spelling in spellings if len(spelling) <= LONGEST_OFFERED}
    close = get_close_matches(key, _with_shared_letters(key, known), n=_MOST_OFFERED, cutoff=0.8)
    if close:
        return close
    words = set(key.split())
    holding = (spelling for spelling in known if words.issubset(spelling.split()))
    return sorted(holding, key=lambda spelling: (len(spelling), spelling))[:_MOST_OFFERED]


def _with_shared_letters(key: str, spellings: Iterable[str]) -> Iterator[str]:
    """Yield the spellings that have enough letters of `key` for a ratio of 0.8: few, and soon told."""
    no_letters = dict.fromkeys(map(ord, key))
    for spelling in spellings:
        shared = len(spelling) - len(spelling.translate(no_letters))
        if 5 * min(shared, len(key)) >= 2 * (len(key) + len(spelling)):
            yield spelling
