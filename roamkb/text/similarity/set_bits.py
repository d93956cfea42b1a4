"""Sets that share members with another, counted for all sets at once: each set is a bit of a whole number.

Which sets hold a member is one number. To count in how many of such numbers each bit is set, they are added as if
each bit were a number of its own, by the binary places of the counts (bit-slicing: O'Neil and Quass, "Improved Query
Performance with Variant Indexes", SIGMOD 1997). That takes the same few operations on whole numbers whether ten
sets hold a common word or ten thousand.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from math import ceil
from typing import Final
from typing import NamedTuple

#: A member of no more sets is kept as their numbers: most words are rare, and a whole number for each takes room.
_MOST_LISTED: Final = 8
#: What is that little over a whole number is meant to be it.
_HAIR: Final = 1e-9


class SetBits:
    """Sets by number, found by their members."""

    def __init__(self) -> None:
        self._listed: dict[str, list[int]] = {}
        self._bits: dict[str, int] = {}
        self._by_size: dict[int, int] = {}

    def add_set(self, number: int, members: Collection[str]) -> None:
        """Add a set."""
        self._by_size[len(members)] = self._by_size.get(len(members), 0) | 1 << number
        for member in members:
            if member in self._bits:
                self._bits[member] |= 1 << number
                continue
            listed = self._listed.setdefault(member, [])
            listed.append(number)
            if len(listed) > _MOST_LISTED:
                self._bits[member] = self._with_member(member)
                del self._listed[member]

    def with_each(self, groups: Iterable[Iterable[str]]) -> int:
        """Return the sets that have a member of each of the groups."""
        bits = sum(self._by_size.values())
        for group in groups:
            held = 0
            for member in group:
                held |= self._with_member(member)
            bits &= held
        return bits

    def within(self, members: Iterable[str]) -> int:
        """Return the sets that have no others than these members."""
        places = self._shared_counts(members)
        bits = 0
        for size, of_size in self._by_size.items():
            bits |= _at_least(places, size, of_size)
        return bits

    def count_shared(self, members: Collection[str]) -> "SharedCounts":
        """Count the members that each set has."""
        return SharedCounts(self._shared_counts(members), len(members), self._by_size)

    def _with_member(self, member: str) -> int:
        return self._bits.get(member) or sum(map((1).__lshift__, self._listed.get(member, ())))

    def _shared_counts(self, members: Iterable[str]) -> Sequence[int]:
        """Return the binary places of how many of the members each set has, the lowest first."""
        places: list[int] = []
        digits = list(filter(None, map(self._with_member, members)))
        while digits:
            # three digits of a place are one of it and one of the next
            carried: list[int] = []
            while len(digits) > 1:
                first, second, third = digits.pop(), digits.pop(), digits.pop() if digits else 0
                differing = first ^ second
                digits.append(differing ^ third if third else differing)
                if carry := first & second | differing & third if third else first & second:
                    carried.append(carry)
            places += digits
            digits = carried
        return places


class SharedCounts(NamedTuple):
    """How many of some members each set has."""

    #: The binary places of the counts, the lowest first.
    places: Sequence[int]
    size: int
    by_size: Mapping[int, int]

    def with_share(self, share: float) -> int:
        """Return the sets that have at least this share of the members of the larger one, 0 < `share` <= 1."""
        return self._reaching(share, lambda other_size: share * max(self.size, other_size))

    def with_jaccard(self, limit: float) -> int:
        """Return the sets whose Jaccard with the members is at least `limit`, 0 < `limit` <= 1."""
        return self._reaching(limit, lambda other_size: limit / (1 + limit) * (self.size + other_size))

    def _reaching(self, share: float, needed_count: Callable[[int], float]) -> int:
        """Return the sets, at least this share as large or as small, that have what one of their size needs."""
        by_count: dict[int, int] = {}
        for size in _sizes_near(self.size, share):
            if of_size := self.by_size.get(size):
                count = ceil(needed_count(size) - _HAIR)
                by_count[count] = by_count.get(count, 0) | of_size
        bits = 0
        for count, among in by_count.items():
            bits |= _at_least(self.places, count, among)
        return bits


def of_size_near(by_size: Mapping[int, int], size: int, share: float) -> int:
    """Return the sets that are at least this share as large or as small, of those by size."""
    bits = 0
    for near_size in _sizes_near(size, share):
        bits |= by_size.get(near_size, 0)
    return bits


def _sizes_near(size: int, share: float) -> range:
    return range(ceil(share * size - _HAIR), int(size / share + _HAIR) + 1)


def _at_least(places: Sequence[int], least: int, among: int) -> int:
    """Return those of the bits `among` whose count, given by its binary places, is at least `least`."""
    if least >> len(places):
        return 0
    above, equal = 0, among
    for place in reversed(range(len(places))):
        if not equal:
            break
        if least >> place & 1:
            equal &= places[place]
        else:
            larger = equal & places[place]
            above |= larger
            equal ^= larger
    return above | equal


def numbers_of(bits: int) -> Iterator[int]:
    """Yield the numbers of the sets, in ascending order."""
    digits = f"{bits:b}"[::-1]
    number = digits.find("1")
    while number >= 0:
        yield number
        number = digits.find("1", number + 1)
