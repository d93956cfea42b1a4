"""How much of a word's spelling stands in a text: other forms, compounds and slips have most of it.

A stem is found or it isn't; of a word's groups of three letters a text may hold some. So what
speaks of each word of a query, in whatever form, is told from what says a single one often.
"""

from collections.abc import Iterable
from collections.abc import Sequence

from roamkb.text.tokenize import UNSPACED

#: Letters in a group; a word's beginning and end count as one each.
_GROUP = 3
#: So many words of a query are looked at, and so many letters of a text.
_MOST_WORDS = 24
_MOST_LETTERS = 20_000
#: In longer texts any groups stand somewhere.
_MOST_IN_GROUPS = 1000
#: What is no part of an ASCII word becomes a blank; the bytes of other letters stay.
_PLAIN = bytes(code if code > 127 or chr(code).isalnum() else ord(" ") for code in range(256))

#: A word between blanks, and its groups of letters.
Spelling = tuple[str, tuple[str, ...]]


def spellings(words: Iterable[str]) -> list[Spelling]:
    """Return how each word is spelled, none twice; none where a script without blanks says the most."""
    found = list(words)
    if any(map(UNSPACED.match, found)):
        return []
    return [(word, _groups(word)) for word in list(dict.fromkeys(map(_plain, found)))[:_MOST_WORDS]]


def spelled(text: str, wanted: Sequence[Spelling]) -> tuple[float, ...]:
    """Return the share of each word's groups that stand in `text`."""
    plain = _plain(text[:_MOST_LETTERS])
    holds = plain[:_MOST_IN_GROUPS].__contains__
    return tuple(1.0 if word in plain else sum(map(holds, groups)) / len(groups) for word, groups in wanted)


def edits(one: str, other: str) -> int:
    """Return how many slips make one word the other: letters too many, left out, mistaken, or swapped."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        here = [row]
        for column, its in enumerate(other, 1):
            least = min(above[column] + 1, here[-1] + 1, above[column - 1] + (letter != its))
            if row > 1 < column and letter == other[column - 2] and one[row - 2] == its:
                least = min(least, before[column - 2] + 1)
            here.append(least)
        before, above = above, here
    return above[-1]


def _plain(text: str) -> str:
    # bytes are translated at once, but looked through five times as slowly
    return f" {text.lower().encode('utf-8', 'replace').translate(_PLAIN).decode()} "


def _groups(plain: str) -> tuple[str, ...]:
    return tuple({plain[start : start + _GROUP] for start in range(len(plain) - _GROUP + 1)})
