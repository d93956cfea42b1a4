"""The similarity join: all pairs of like texts among many, without comparing each with each.

Two sets that share at least *m* of the *n* members of one share at least one of any *n - m + 1* of them: so only
those are looked at that have one of its rarest (prefix filtering: Chaudhuri, Ganti and Kaushik, "A Primitive
Operator for Similarity Joins in Data Cleaning", ICDE 2006).

What is promised: a pair whose all-word or content-word Jaccard reaches the limit is never missed. One
that only its letters call alike is found where three quarters of the words of the longer one are the
other's as well: a slip in one word of four, or in three of twelve. One that says the same of another
number is found however few its words are.
"""

import heapq
from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Iterator
from itertools import groupby
from math import ceil
from typing import Generic
from typing import TypeVar

from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import differ_only_in_number
from roamkb.text.similarity.jaccard import reaches_jaccard

K = TypeVar("K", bound=Hashable)

#: So much of the longer one's words two texts share that only their letters make alike.
_SHARED = 3 / 4
#: What is that little over a whole number is meant to be it.
_HAIR = 1e-9


class _SetIndex:
    """Sets by number, found by the members that they share: at least `share` of the size of the one asked for."""

    def __init__(self, share: float) -> None:
        self._share = share
        #: By member: who has it, in ascending order.
        self._postings: dict[str, list[int]] = {}

    def add_set(self, number: int, members: Iterable[str]) -> None:
        """Add a set; its number is not below those added before."""
        for member in members:
            self._postings.setdefault(member, []).append(number)

    def sharing_lists(self, members: Collection[str]) -> Iterator[list[int]]:
        """Yield ascending lists of numbers that hold all sets which share enough, and others."""
        postings = sorted((self._postings.get(member, []) for member in members), key=len)
        yield from postings[: len(postings) - ceil(self._share * len(postings) - _HAIR) + 1]


class NearTexts(Generic[K]):
    """Texts by key, found by a text that is at least `limit` alike, 0 < `limit` <= 1."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._keys: list[K] = []
        self._shapes: list[PreparedText] = []
        # who has a Jaccard has as much of the larger one's words, too
        self._words, self._content = _SetIndex(min(limit, _SHARED)), _SetIndex(limit)
        #: Who has no words at all, by what they are instead.
        self._wordless: dict[str, list[int]] = {}
        #: Who gives numbers, by what they are numbers of.
        self._counting: dict[frozenset[str], list[int]] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def add_text(self, key: K, shape: PreparedText) -> None:
        """Add a text; one key may have several."""
        number = len(self._keys)
        self._keys.append(key)
        self._shapes.append(shape)
        if not shape.all_words:
            self._wordless.setdefault(shape.text.strip(), []).append(number)
            return
        self._words.add_set(number, shape.all_words)
        self._content.add_set(number, shape.content)
        if shape.counted_roots:
            self._counting.setdefault(shape.counted_roots, []).append(number)

    def find_alike(self, shape: PreparedText) -> Iterator[K]:
        """Yield the keys of the texts that are alike, in the order of adding.

        The text itself is among them, if it was added.
        """
        if not shape.all_words:
            yield from (self._keys[number] for number in self._wordless.get(shape.text.strip(), ()))
            return
        lists = [
            *self._words.sharing_lists(shape.all_words),
            *self._content.sharing_lists(shape.content),
            self._counting.get(shape.counted_roots, []),
        ]
        for number, _ in groupby(heapq.merge(*lists)):
            if self._is_alike(shape, self._shapes[number]):
                yield self._keys[number]

    def _is_alike(self, first_text: PreparedText, second_text: PreparedText) -> bool:
        if first_text.counted_roots and differ_only_in_number(first_text, second_text):
            return True
        limit, mine, theirs = self._limit, first_text.all_words, second_text.all_words
        shared, most = len(mine & theirs), max(len(mine), len(theirs))
        if shared >= limit * (len(mine) + len(theirs) - shared) or reaches_jaccard(
            first_text.content, second_text.content, limit
        ):
            return True
        # to take letters three by three costs most
        return shared >= _SHARED * most and reaches_jaccard(first_text.trigrams, second_text.trigrams, limit)
