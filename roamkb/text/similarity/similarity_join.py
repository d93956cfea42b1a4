"""The similarity join: all pairs of like texts among many, without comparing each with each.

Two sets whose Jaccard is at least *t* share at least *t / (1 + t)* of their sizes' sum, *m*, and at least *t* of
the larger one. In any order of their *n* and *n'* members the first that they share stands at most at
*n - m* in one and at *n' - m* in the other, and with the rarest first few have anything there (prefix and
positional filtering: Xiao, Wang, Lin and Yu, "Efficient Similarity Joins for Near Duplicate Detection", WWW
2008). Rare is what was rare when there were half as many texts.

What is promised: a pair whose all-word or content-word Jaccard reaches the limit is never missed. One
that only its letters call alike is found where three quarters of the words of the longer one are the
other's as well: a slip in one word of four, or in three of twelve. One that says the same of another
number is found however few its words are.
"""

from bisect import bisect_left
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
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
#: The sizes that begin a class: single ones, then each a twentieth larger, and all from the last on one.
_SIZES = (*range(1, 21), *(int(21 * 1.05**n) for n in range(220)), 1 << 60)
#: Places in a set are counted up to here.
_PLACES = 1 << 20
#: The order is made anew when there are twice as many sets, from so many on.
_FIRST_ORDER = 128
#: Of many candidates so many are looked at first, and then each time eight times as many.
_FIRST_LOOK = 64


class _SetIndex:
    """Sets by number, found by the members that they share.

    Of any two sizes, `least_shared` is how many members sets have in common that belong together: at least
    `limit` of the larger size.
    """

    def __init__(self, limit: float, least_shared: Callable[[int, int], float]) -> None:
        self._limit = limit
        self._share = least_shared
        self._counts: Counter[str] = Counter()
        #: The rarest first; what came since the order was made is rarer than all that was there.
        self._order: dict[str, int] = {}
        self._new = 0
        #: By size class: where a member stands, and who has it there, in ascending order.
        self._postings: dict[int, dict[int, list[int]]] = {}
        #: By size class and rank: behind its last place.
        self._ends: dict[int, dict[int, int]] = {}

    def add_set(self, number: int, members: Collection[str]) -> None:
        """Add a set; its number is not below those added before."""
        self._counts.update(members)
        order = self._order
        for member in members:
            if member not in order:
                self._new -= 1
                order[member] = self._new
        size = len(members)
        size_class = bisect_right(_SIZES, size) - 1
        postings, ends = self._postings.setdefault(size_class, {}), self._ends.setdefault(size_class, {})
        # the smallest that can be as much alike shares at least so many
        prefix = sorted(map(order.__getitem__, members))[: size - ceil(self._limit * size - _HAIR) + 1]
        for place, rank in enumerate(prefix):
            postings.setdefault(rank * _PLACES + place, []).append(number)
            if place >= ends.get(rank, 0):
                ends[rank] = place + 1

    def reorder_members(self, sets: Iterable[tuple[int, Collection[str]]]) -> None:
        """Order the members by their present rarity; `sets` are all that were added."""
        ranked = sorted(self._counts, key=lambda member: (self._counts[member], member))
        self._order = {member: rank for rank, member in enumerate(ranked)}
        self._new = 0
        self._postings, self._ends = {}, {}
        self._counts = Counter()
        for number, members in sets:
            self.add_set(number, members)

    def sharing_lists(self, members: Collection[str]) -> Iterator[list[int]]:
        """Yield ascending lists of numbers that hold all sets which share enough, and others."""
        size = len(members)
        known_ranks = sorted(self._order[member] for member in members if member in self._order)
        unknown = size - len(known_ranks)
        for place, postings in self._postings.items():
            least, most = _SIZES[place], _SIZES[place + 1] - 1
            if most < self._limit * size - _HAIR or least * self._limit > size + _HAIR:
                continue
            mine = size - self._least_shared(size, max(least, ceil(self._limit * size - _HAIR))) + 1 - unknown
            # of a larger one more can be in front of what is shared
            theirs = min(most, int(size / self._limit + _HAIR))
            theirs += 1 - self._least_shared(size, theirs)
            ends = self._ends[place]
            for rank in known_ranks[: max(mine, 0)]:
                start = rank * _PLACES
                for key in range(start, start + min(theirs, ends.get(rank, 0))):
                    if key in postings:
                        yield postings[key]

    def _least_shared(self, first_size: int, second_size: int) -> int:
        """Return the least number of shared members of sets of two sizes that belong together."""
        return max(ceil(self._share(first_size, second_size) - _HAIR), 1)


class NearTexts(Generic[K]):
    """Texts by key, found by a text that is at least `limit` alike, 0 < `limit` <= 1."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._keys: list[K] = []
        self._shapes: list[PreparedText] = []
        # who has a Jaccard has as much of the larger one's words, too
        share, jaccard_share = min(limit, _SHARED), limit / (1 + limit)
        self._share = share
        self._words = _SetIndex(share, lambda first_size, second_size: share * max(first_size, second_size))
        self._content = _SetIndex(limit, lambda first_size, second_size: jaccard_share * (first_size + second_size))
        self._ordered = _FIRST_ORDER
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
        if number >= self._ordered:
            self._ordered *= 2
            worded = [(number, prepared) for number, prepared in enumerate(self._shapes) if prepared.all_words]
            self._words.reorder_members((number, prepared.all_words) for number, prepared in worded)
            self._content.reorder_members((number, prepared.content) for number, prepared in worded)

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
        for number in self._not_unlike(shape, _merge_ascending(lists, len(self._keys))):
            if self._is_alike(shape, self._shapes[number]):
                yield self._keys[number]

    def _not_unlike(self, shape: PreparedText, numbers: Iterable[int]) -> Iterator[int]:
        """Yield the numbers of the texts whose sketches leave it open whether they are alike; most don't."""
        (size, bits), (content_size, content_bits), roots = shape.word_sketch, shape.content_sketch, shape.counted_roots
        # the larger set may have so much for itself
        spare, content_spare = 1 - self._share + _HAIR, 1 - self._limit + _HAIR
        for number in numbers:
            known = self._shapes[number]
            known_size, known_bits = known.word_sketch
            alone = (bits & ~known_bits if size > known_size else known_bits & ~bits).bit_count()
            if alone > spare * max(size, known_size):
                known_size, known_bits = known.content_sketch
                alone = (
                    content_bits & ~known_bits if content_size > known_size else known_bits & ~content_bits
                ).bit_count()
                is_unlike = alone > content_spare * max(content_size, known_size)
                if is_unlike and not (roots and roots == known.counted_roots):
                    continue
            yield number

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


def _merge_ascending(lists: Sequence[list[int]], end: int) -> Iterator[int]:
    """Yield the numbers in ascending lists, each once, in their order."""
    if sum(map(len, lists)) <= _FIRST_LOOK:
        yield from sorted(set().union(*lists))
        return
    start, most = 0, _FIRST_LOOK
    while start < end:
        within = (numbers[bisect_left(numbers, start) : bisect_left(numbers, most)] for numbers in lists)
        yield from sorted(set().union(*within))
        start, most = most, most * 8
