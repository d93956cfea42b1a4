"""Word vectors: the subject of a text as the mean of its words' vectors, from a table.

A text's vector is a frequency-weighted mean (Arora, Liang and Ma, "A Simple but Tough-to-Beat
Baseline for Sentence Embeddings", ICLR 2017; the table's rows are weighted already). The
vectors are added as one large integer with a lane for each dimension, which Python does in C.
"""

from array import array
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from mmap import mmap
from operator import mul

from roamkb.core.startup.dataclasses import dataclass
from roamkb.text.tokenize import identifier_parts

#: Bytes of a lane of some words, whose sums take half as long, and of a text: the sum of 16 million words fits.
_LANE, _WIDE_LANE = 2, 4
#: Pieces whose sum fits into a lane of some words, and words that seldom have more.
_MOST_PIECES, _RUN = 257, 128
#: What is added to a signed byte so that no lane borrows from the next.
_BIAS = 128
#: What becomes of each signed byte by it: its first bit is flipped.
_BIASED = bytes(byte ^ _BIAS for byte in range(256))
#: A unit vector's numbers are around 0.1; times this they fill a signed byte.
_SCALE = 300
#: Letters of the longest word that is looked up; longer ones are no words.
_LONGEST = 40
#: Letters of the longest piece in the table, its mark included.
_LONGEST_PIECE = 24
#: Pieces that are looked for in the text of the list, some dozen microseconds each.
_FEW_PIECES = 250
#: Words whose lanes are remembered, of half a kilobyte each: a large folder has half a million.
_MOST_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class WordVectors:
    """The vectors of texts, as the sums of their words'."""

    dimensions: int
    #: The lanes of the words that were asked for.
    lanes_by_word: "_WordLanes"

    def text_vector(self, words: Sequence[str]) -> bytes | None:
        """Return the unit vector of a text as signed bytes; None where none of its words is known."""
        if len(self.lanes_by_word) > _MOST_REMEMBERED:
            self.lanes_by_word.clear()
        total = sum(self._sum_lanes(words[start : start + _RUN]) for start in range(0, len(words), _RUN))
        *sums, pieces = memoryview(total.to_bytes(_WIDE_LANE * (self.dimensions + 1), "little")).cast("I")
        if not pieces:
            return None
        bias = _BIAS * pieces
        values = [value - bias for value in sums]
        length = sum(map(mul, values, values)) ** 0.5 or 1.0
        numbers = list(map(round, [_SCALE * value / length for value in values]))
        if max(numbers) > 127 or min(numbers) < -127:
            numbers = [max(-127, min(127, number)) for number in numbers]
        return array("b", numbers).tobytes()

    def _sum_lanes(self, words: Sequence[str]) -> int:
        """Return the sum of the lanes of some words, as wide lanes."""
        total = sum(map(self.lanes_by_word.__getitem__, words))
        if total >> 8 * _LANE * self.dimensions > _MOST_PIECES:
            # lanes may have run over into the next ones
            half = len(words) // 2
            return self._sum_lanes(words[:half]) + self._sum_lanes(words[half:])
        lanes = total.to_bytes(_LANE * (self.dimensions + 1), "little")
        wide = bytearray(_WIDE_LANE * (self.dimensions + 1))
        wide[::_WIDE_LANE], wide[1::_WIDE_LANE] = lanes[::_LANE], lanes[1::_LANE]
        return int.from_bytes(wide, "little")


class _WordLanes(dict[str, int]):
    """Each word as the sum of its pieces' lanes, once it is asked for; above them the number of its pieces."""

    def __init__(self, rows: Mapping[str, int], data: bytes | memoryview | mmap, dimensions: int) -> None:
        """Take word pieces and their vectors, signed bytes one row after the other; `##` begins no word's first."""
        super().__init__()
        self._rows = rows
        self._data = data
        self._dimensions = dimensions

    def __missing__(self, word: str) -> int:
        row = self._rows.get(word.lower()) if word.isalpha() and word[1:].islower() else None
        if row is not None and len(word) <= _LONGEST:
            rows = [row]
        else:
            # nobody ever wrote much about parseHTTPReply
            parts = identifier_parts(word) or [word]
            rows = [row for part in parts for row in word_pieces(part.lower(), self._rows)]
        rows = rows[:_MOST_PIECES]
        lanes = sum(map(self._row_lanes, rows)) + (len(rows) << 8 * _LANE * self._dimensions)
        self[word] = lanes
        return lanes

    def _row_lanes(self, row: int) -> int:
        wide = bytearray(_LANE * self._dimensions)
        start = row * self._dimensions
        wide[::_LANE] = bytes(self._data[start : start + self._dimensions]).translate(_BIASED)
        return int.from_bytes(wide, "little")


class PieceRows(Mapping[str, int]):
    """The row of each word piece, from lines of a piece, its row and its number in the model, sorted by their bytes.

    The few pieces of a query are found by bisection; a dictionary of all takes half as long as a search.
    """

    def __init__(self, lines: bytes) -> None:
        """Take the lines."""
        self._lines = lines
        self._asked = 0

    @cached_property
    def _rows(self) -> dict[str, int]:
        fields = self._lines.decode().split()
        return dict(zip(fields[::3], map(int, fields[1::3]), strict=True))

    def __getitem__(self, piece: str) -> int:
        if self._asked > _FEW_PIECES:
            # most spellings are no pieces, and `get` of a mapping costs an exception for each
            vars(self)["get"] = self._rows.get
            return self._rows[piece]
        self._asked += 1
        line = self._first_line_from(wanted := piece.encode() + b" ")
        if not line.startswith(wanted):
            raise KeyError(piece)
        return int(line.split()[1])

    def _first_line_from(self, wanted: bytes) -> bytes:
        """Return the first line that isn't below `wanted`; empty behind the last one."""
        lines, low, high = self._lines, 0, len(self._lines)
        # both are beginnings of lines, or the end
        while low < high:
            middle = lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
            end = lines.find(b"\n", middle) + 1 or high
            if lines[middle:end] < wanted:
                low = end
            else:
                high = middle
        return lines[low : lines.find(b"\n", low)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return self._lines.count(b"\n")


def table_of(lines: bytes, data: bytes | memoryview | mmap) -> WordVectors | None:
    """Return the table from its two files' contents; None where they don't fit together."""
    rows = PieceRows(lines)
    count = len(rows)
    if not count or len(data) % count:
        return None
    dimensions = len(data) // count
    return WordVectors(dimensions, _WordLanes(rows, data, dimensions))


def vector_cosine(first_vector: bytes, second_vector: bytes) -> float:
    """Return the cosine of two vectors, never negative: opposites are no worse than strangers."""
    if len(first_vector) != len(second_vector):
        return 0.0
    product: int = sum(map(mul, memoryview(first_vector).cast("b"), memoryview(second_vector).cast("b")))
    return max(0.0, product / (_SCALE * _SCALE))


def word_pieces(word: str, known_pieces: Mapping[str, int]) -> list[int]:
    """Return the numbers of the longest known pieces that make up a word; none if one is missing."""
    numbers: list[int] = []
    start, length = 0, len(word)
    if length > _LONGEST:
        return []
    while start < length:
        rest = "##" + word[start:] if start else word
        # no piece of the table is longer
        room = rest[:_LONGEST_PIECE]
        least = 2 if start else 0
        while (number := known_pieces.get(room)) is None and len(room) > least:
            room = room[:-1]
        if number is None:
            return []
        numbers.append(number)
        start += len(room) - least
    return numbers
