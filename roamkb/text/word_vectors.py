"""Word vectors: the subject of a text as the mean of its words' vectors, from a table.

A text's vector is a frequency-weighted mean (Arora, Liang and Ma, "A Simple but Tough-to-Beat
Baseline for Sentence Embeddings", ICLR 2017; the table's rows are weighted already). The
vectors are added as one large integer with a lane for each dimension, which Python does in C.
"""

from array import array
from collections.abc import Iterable
from collections.abc import Mapping
from itertools import count
from mmap import mmap
from operator import mul

from roamkb.core.startup.dataclasses import dataclass
from roamkb.text.tokenize import identifier_parts

#: Bytes a lane: the sum of 16 million words fits.
_LANE = 4
#: What is added to a signed byte so that no lane borrows from the next.
_BIAS = 128
#: What becomes of each signed byte by it: its first bit is flipped.
_BIASED = bytes(byte ^ _BIAS for byte in range(256))
#: A unit vector's numbers are around 0.1; times this they fill a signed byte.
_SCALE = 300
#: Letters of the longest word that is looked up; longer ones are no words.
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Word pieces with their vectors; `##` begins a piece that is not a word's first."""

    rows: Mapping[str, int]
    #: Signed bytes, one row after the other.
    data: bytes | memoryview | mmap
    dimensions: int
    #: Words that were asked for, as lanes and the number of pieces.
    lanes_by_word: dict[str, tuple[int, int]]

    def text_vector(self, words: Iterable[str]) -> bytes | None:
        """Return the unit vector of a text as signed bytes; None where none of its words is known."""
        total = pieces = 0
        for word in words:
            lanes, count = self.lanes_by_word.get(word) or self._learn_word(word)
            total += lanes
            pieces += count
        if not pieces:
            return None
        sums = memoryview(total.to_bytes(_LANE * self.dimensions, "little")).cast("I")
        values = [value - _BIAS * pieces for value in sums]
        length = sum(map(mul, values, values)) ** 0.5 or 1.0
        numbers = list(map(round, [_SCALE * value / length for value in values]))
        if max(numbers) > 127 or min(numbers) < -127:
            numbers = [max(-127, min(127, number)) for number in numbers]
        return array("b", numbers).tobytes()

    def _learn_word(self, word: str) -> tuple[int, int]:
        # nobody ever wrote much about parseHTTPReply
        parts = identifier_parts(word) or [word]
        rows = [row for part in parts for row in word_pieces(part.lower(), self.rows)]
        lanes = sum(map(self._row_lanes, rows))
        self.lanes_by_word[word] = lanes, len(rows)
        return lanes, len(rows)

    def _row_lanes(self, row: int) -> int:
        wide = bytearray(_LANE * self.dimensions)
        start = row * self.dimensions
        wide[::_LANE] = bytes(self.data[start : start + self.dimensions]).translate(_BIASED)
        return int.from_bytes(wide, "little")


def table_of(words: str, data: bytes | memoryview | mmap) -> WordVectors | None:
    """Return the table from its two files' contents; None where they don't fit together."""
    rows = dict(zip(words.split(), count(), strict=False))
    if not rows or len(data) % len(rows):
        return None
    return WordVectors(rows, data, len(data) // len(rows), {})


def vector_cosine(first_vector: bytes, second_vector: bytes) -> float:
    """Return the cosine of two vectors, never negative: opposites are no worse than strangers."""
    if len(first_vector) != len(second_vector):
        return 0.0
    product: int = sum(map(mul, memoryview(first_vector).cast("b"), memoryview(second_vector).cast("b")))
    return max(0.0, product / (_SCALE * _SCALE))


def word_pieces(word: str, known_pieces: Mapping[str, int]) -> list[int]:
    """Return the numbers of the longest known pieces that make up a word; none if one is missing."""
    numbers: list[int] = []
    start = 0
    while start < len(word) <= _LONGEST:
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in known_pieces), None)
        if end is None:
            return []
        numbers.append(known_pieces[prefix + word[start:end]])
        start = end
    return numbers
