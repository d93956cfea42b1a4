"""Which of many texts are alike, without comparing each with each.

Two sets whose Jaccard is at least *t* share at least *t / (1 + t)* of their sizes' sum, *m*. In any order
of their *n* and *n'* members the first that they share stands at most at *n - m* in one and at *n' - m*
in the other, and with the rarest first few have anything there (prefix and positional filtering: Xiao,
Wang, Lin and Yu, "Efficient Similarity Joins for Near Duplicate Detection", WWW 2008). Rare is what was
rare when there were half as many texts.

What is promised: a pair whose all-word or content-word Jaccard reaches the limit is never missed. One
that only its letters call alike is found where three quarters of the words of the longer one are the
other's as well: a slip in one word of four, or in three of twelve. One that says the same of another
number is found however few its words are.
"""

from bisect import bisect_left
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from math import ceil
from typing import Generic
from typing import TypeVar

from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import reaches
from roamkb.text.similarity.jaccard import say_other_numbers
from roamkb.text.similarity.jaccard import trigrams_of

K = TypeVar("K", bound=Hashable)

#: So much of the longer one's words two texts share that only their letters make alike.
_SHARED = 3 / 4
#: What is that little over a whole number is meant to be it.
_HAIR = 1e-9
#: The sizes that begin a class: single ones, then each a twentieth larger, and all from the last on one.
_SIZES = (*range(1, 21), *(int(21 * 1.05**n) for n in range(220)), 1 << 60)
#: Places in a set are counted up to here.
_PLACES = 1 << 20
#: The order is made anew when there are twice as many sets, from so many on.
_FIRST_ORDER = 128
#: Of many candidates so many are looked at first, and then each time eight times as many.
_FIRST_LOOK = 64


class _SetIndex:
    """Sets by number, found by what they share."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._share = limit / (1 + limit)
        self._counts: Counter[str] = Counter()
        #: The rarest first; what came since the order was made is rarer than all that was there.
        self._order: dict[str, int] = {}
        self._new = 0
        #: By size class: where a member stands, and who has it there, in ascending order.
        self._postings: dict[int, dict[int, list[int]]] = {}

    def add(self, number: int, members: Collection[str]) -> None:
        """Keep a set, none of an earlier number than those that are kept."""
        self._counts.update(members)
        order = self._order
        for member in members:
            if member not in order:
                self._new -= 1
                order[member] = self._new
        size = len(members)
        held = self._postings.setdefault(bisect_right(_SIZES, size) - 1, {})
        # the smallest that can be as much alike shares at least so many
        first = sorted(map(order.__getitem__, members))[: size - ceil(self._limit * size - _HAIR) + 1]
        for place, rank in enumerate(first):
            held.setdefault(rank * _PLACES + place, []).append(number)

    def reorder(self, sets: Iterable[tuple[int, Collection[str]]]) -> None:
        """Put what is rare by now first; `sets` are all that were added."""
        ranked = sorted(self._counts, key=lambda member: (self._counts[member], member))
        self._order = {member: rank for rank, member in enumerate(ranked)}
        self._new = 0
        self._postings = {}
        self._counts = Counter()
        for number, members in sets:
            self.add(number, members)

    def sharing(self, members: Collection[str]) -> Iterator[list[int]]:
        """Yield lists of numbers, ascending, that hold all sets which reach the limit, and others."""
        size = len(members)
        known = sorted(self._order[member] for member in members if member in self._order)
        unknown = size - len(known)
        for place, held in self._postings.items():
            least, most = _SIZES[place], _SIZES[place + 1] - 1
            if most < self._limit * size - _HAIR or least * self._limit > size + _HAIR:
                continue
            mine = size - self._needed(size, max(least, ceil(self._limit * size - _HAIR))) + 1 - unknown
            # of a larger one more can be in front of what is shared
            theirs = min(most, int(size / self._limit + _HAIR))
            theirs += 1 - self._needed(size, theirs)
            for rank in known[: max(mine, 0)]:
                start = rank * _PLACES
                for key in range(start, start + theirs):
                    if key in held:
                        yield held[key]

    def _needed(self, one: int, other: int) -> int:
        """Return how much sets of two sizes share at least, if their Jaccard reaches the limit."""
        return max(ceil(self._share * (one + other) - _HAIR), 1)


class NearTexts(Generic[K]):
    """Texts by key, added one by one, and found by what is at least `limit` alike, 0 < `limit` <= 1."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._keys: list[K] = []
        self._shapes: list[PreparedText] = []
        self._words = _SetIndex(limit)
        self._content = _SetIndex(limit)
        self._letters = _SetIndex(limit)
        self._ordered = _FIRST_ORDER
        #: Who has no words at all, by what they are instead.
        self._wordless: dict[str, list[int]] = {}
        #: Who gives numbers, by what they are numbers of.
        self._counting: dict[frozenset[str], list[int]] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: K, shape: PreparedText) -> None:
        """Keep a text; the same key may be kept for several."""
        number = len(self._keys)
        self._keys.append(key)
        self._shapes.append(shape)
        if not shape.all_words:
            self._wordless.setdefault(shape.text.strip(), []).append(number)
            return
        self._words.add(number, shape.all_words)
        self._content.add(number, shape.content)
        self._letters.add(number, trigrams_of(shape.normal))
        if shape.counted:
            self._counting.setdefault(shape.counted, []).append(number)
        if number >= self._ordered:
            self._ordered *= 2
            worded = [(number, one) for number, one in enumerate(self._shapes) if one.all_words]
            self._words.reorder((number, one.all_words) for number, one in worded)
            self._content.reorder((number, one.content) for number, one in worded)
            self._letters.reorder((number, trigrams_of(one.normal)) for number, one in worded)

    def candidates(self, shape: PreparedText) -> Iterator[K]:
        """Yield the keys of the texts that are alike, as they were added; what isn't asked for isn't sought.

        `likeness` says of each what it is; the text itself is among them, if it was added.
        """
        if not shape.all_words:
            yield from (self._keys[number] for number in self._wordless.get(shape.text.strip(), ()))
            return
        lists = [
            *self._words.sharing(shape.all_words),
            *self._content.sharing(shape.content),
            *self._letters.sharing(trigrams_of(shape.normal)),
            self._counting.get(shape.counted, []),
        ]
        for number in _ascending(lists, len(self._keys)):
            if self._is_alike(shape, self._shapes[number]):
                yield self._keys[number]

    def _is_alike(self, one: PreparedText, other: PreparedText) -> bool:
        if say_other_numbers(one, other):
            return True
        limit, mine, theirs = self._limit, one.all_words, other.all_words
        shared, most = len(mine & theirs), max(len(mine), len(theirs))
        if shared >= limit * (len(mine) + len(theirs) - shared) or reaches(one.content, other.content, limit):
            return True
        # to take letters three by three costs most
        return shared >= _SHARED * most and reaches(one.trigrams, other.trigrams, limit)


def _ascending(lists: Sequence[list[int]], end: int) -> Iterator[int]:
    """Yield the numbers in ascending lists, each once, in their order."""
    if sum(map(len, lists)) <= _FIRST_LOOK:
        yield from sorted(set().union(*lists))
        return
    start, most = 0, _FIRST_LOOK
    while start < end:
        within = (held[bisect_left(held, start) : bisect_left(held, most)] for held in lists)
        yield from sorted(set().union(*within))
        start, most = most, most * 8


def pairs(shapes: Iterable[tuple[K, PreparedText]], limit: float) -> Iterator[tuple[K, K]]:
    """Yield the keys of each two texts that are at least `limit` alike, the one that came first first."""
    near: NearTexts[K] = NearTexts(limit)
    for key, shape in shapes:
        for other in near.candidates(shape):
            yield other, key
        near.add(key, shape)
