"""The similarity join: all pairs of like texts among many, without comparing each with each.

Texts that are alike share most of the words of the longer one. How many of a text's words each of the others has
is counted for all of them at once (`set_bits`), so that only those are compared that have enough.

What is promised: a pair whose all-word or content-word Jaccard reaches the limit is never missed. One
that only its letters call alike is found where three quarters of the words of the longer one are the
other's as well: a slip in one word of four, or in three of twelve. One that says the same of another
number is found however few its words are.
"""

from collections.abc import Hashable
from collections.abc import Iterator
from typing import Generic
from typing import TypeVar

from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import differ_in_little
from roamkb.text.similarity.jaccard import is_spelt_alike
from roamkb.text.similarity.set_bits import SetBits
from roamkb.text.similarity.set_bits import numbers_of

K = TypeVar("K", bound=Hashable)

#: So much of the longer one's words two texts share that only their letters make alike.
_SHARED = 3 / 4


class NearTexts(Generic[K]):
    """Texts by key, found by a text that is at least `limit` alike, 0 < `limit` <= 1."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._keys: list[K] = []
        self._shapes: list[PreparedText] = []
        self._words, self._content = SetBits(), SetBits()
        #: Who has no words at all, by what they are instead.
        self._wordless: dict[str, list[int]] = {}
        #: Who gives numbers, by what they are numbers of, and who says what, by what a denial has, too: a bit for each.
        self._counting: dict[frozenset[str], int] = {}
        self._affirming: dict[frozenset[str], int] = {}

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
            self._counting[shape.counted_roots] = self._counting.get(shape.counted_roots, 0) | 1 << number
        self._affirming[shape.affirmed] = self._affirming.get(shape.affirmed, 0) | 1 << number

    def find_alike(self, shape: PreparedText) -> Iterator[K]:
        """Yield the keys of the texts that are alike, in the order of adding.

        The text itself is among them, if it was added.
        """
        if not shape.all_words:
            yield from (self._keys[number] for number in self._wordless.get(shape.text.strip(), ()))
            return
        words = self._words.count_shared(shape.all_words)
        by_words = words.with_jaccard(self._limit) | self._content.count_shared(shape.content).with_jaccard(self._limit)
        by_letters = words.with_share(_SHARED) & ~by_words
        by_claim = self._counting.get(shape.counted_roots, 0) | self._affirming.get(shape.affirmed, 0)
        for number in numbers_of(by_words | by_letters | by_claim):
            known = self._shapes[number]
            if (
                by_words >> number & 1
                or (by_letters >> number & 1 and is_spelt_alike(shape, known, self._limit))
                or (by_claim >> number & 1 and differ_in_little(shape, known))
            ):
                yield self._keys[number]
