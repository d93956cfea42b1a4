"""Which of many texts may be near duplicates, without comparing each with each.

Two sets of words whose Jaccard is at least *t* share at least *t / (1 + t)* of their sizes' sum. So of
one text's *n* words, of which *m* are to be shared, any *n - m + 1* hold one that the other has, any
*n - m + 2* hold two, and the rarest ones are held by few (prefix filtering: Chaudhuri, Ganti and
Kaushik, "A Primitive Operator for Similarity Joins in Data Cleaning", ICDE 2006).

What is promised: a pair whose all-word or content-word Jaccard reaches the limit is never missed. One
that only its letters call alike is found where three quarters of the words of the longer one are the
other's as well: a slip in one word of four, or in three of twelve.
"""

from bisect import bisect_right
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Set
from math import ceil
from typing import Generic
from typing import TypeVar

from roamkb.core.similarity import Shape
from roamkb.core.similarity import reaches

K = TypeVar("K", bound=Hashable)

#: So much of the longer one's words two texts share that only their letters make alike.
_SHARED = 3 / 4
#: What is that little under a whole number is meant to be it.
_HAIR = 1e-9
#: The sizes that begin a class: each a quarter larger than the one before, and all from the last on one.
_SIZES = (*range(1, 5), *(int(5 * 1.25**n) for n in range(40)), 1 << 60)


class _Postings:
    """Sets of words by number, found by what they share; those of about one size by themselves."""

    def __init__(self) -> None:
        self._classes: dict[int, dict[str, list[int]]] = {}

    def add(self, number: int, words: Set[str]) -> None:
        """Keep a set."""
        held = self._classes.setdefault(bisect_right(_SIZES, len(words)) - 1, {})
        for word in words:
            held.setdefault(word, []).append(number)

    def sharing(self, words: Set[str], needed: Callable[[int, int], int]) -> Iterator[int]:
        """Yield all that share as many `words` as is `needed` for the two sizes, and some that share less."""
        size = len(words)
        for place, held in self._classes.items():
            share = needed(size, _SIZES[place])
            if share > size or share >= _SIZES[place + 1]:
                continue
            lists = sorted([held[word] for word in words if word in held], key=len)
            # who isn't among the rarest, or only once, has no more than the others left to share
            if share == 1:
                yield from set().union(*lists)
            elif len(lists) >= share:
                yield from _held_twice(lists[: len(lists) - share + 2])


def _held_twice(lists: Iterable[list[int]]) -> set[int]:
    once: set[int] = set()
    twice: set[int] = set()
    for numbers in lists:
        twice |= once.intersection(numbers)
        once.update(numbers)
    return twice


class Near(Generic[K]):
    """Texts by key, added one by one, and found by what is like them."""

    def __init__(self) -> None:
        self._keys: list[K] = []
        self._shapes: list[Shape] = []
        self._words = _Postings()
        self._content = _Postings()
        #: Who has no words at all, by what they are instead.
        self._wordless: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: K, shape: Shape) -> None:
        """Keep a text; the same key may be kept for several."""
        number = len(self._keys)
        self._keys.append(key)
        self._shapes.append(shape)
        if shape.all_words:
            self._words.add(number, shape.all_words)
            self._content.add(number, shape.content)
        else:
            self._wordless.setdefault(shape.text.strip(), []).append(number)

    def candidates(self, shape: Shape, limit: float) -> Iterator[K]:
        """Yield the keys of the texts that are at least `limit` alike, 0 < `limit` <= 1, as they were added.

        `likeness` says of each what it is; the text itself is among them, if it was added.
        """
        if not shape.all_words:
            numbers = self._wordless.get(shape.text.strip(), [])
        else:
            numbers = sorted(self._alike(shape, limit))
        for number in numbers:
            yield self._keys[number]

    def _alike(self, shape: Shape, limit: float) -> set[int]:
        words, content, shapes = shape.all_words, shape.content, self._shapes
        letters = len(shape.normal)
        found: set[int] = set()
        for number in self._content.sharing(content, lambda one, other: _shared(one, other, limit)):
            if reaches(content, shapes[number].content, limit):
                found.add(number)
        for number in self._words.sharing(
            words, lambda one, other: min(_shared(one, other, limit), _most(one, other))
        ):
            other = shapes[number]
            if number not in found and (
                reaches(words, other.all_words, limit)
                or (
                    # three letters are a trigram more or less at each end
                    limit * letters - 3 <= len(other.normal) <= letters / limit + 3
                    and len(words & other.all_words) >= _most(len(words), len(other.all_words))
                    and reaches(shape.trigrams, other.trigrams, limit)
                )
            ):
                found.add(number)
        return found


def _shared(one: int, other: int, limit: float) -> int:
    """Return how many words sets of two sizes share at least, if their Jaccard reaches the limit."""
    return max(ceil(limit / (1 + limit) * (one + other) - _HAIR), 1)


def _most(one: int, other: int) -> int:
    """Return how many words texts have to share that only their letters make alike."""
    return max(ceil(_SHARED * max(one, other) - _HAIR), 1)


def pairs(shapes: Iterable[tuple[K, Shape]], limit: float) -> Iterator[tuple[K, K]]:
    """Yield the keys of each two texts that are at least `limit` alike, the one that came first first."""
    near: Near[K] = Near()
    for key, shape in shapes:
        for other in near.candidates(shape, limit):
            yield other, key
        near.add(key, shape)
