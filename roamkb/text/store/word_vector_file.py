"""The table of word vectors that ships with roamkb; without it search goes by the words alone."""

import mmap
from functools import lru_cache
from pathlib import Path

from roamkb.text.word_vectors import WordVectors
from roamkb.text.word_vectors import table_of

_FOLDER = Path(__file__).parents[2] / "data"


@lru_cache(maxsize=1)
def word_table() -> WordVectors | None:
    """Return the table, or None where it is missing or broken."""
    try:
        with (_FOLDER / "vectors.bin").open("rb") as vectors:
            # of seven megabytes a query needs some rows
            data = mmap.mmap(vectors.fileno(), 0, access=mmap.ACCESS_READ)
        return table_of((_FOLDER / "words.txt").read_bytes(), data)
    except (OSError, ValueError):
        # an empty file can't be mapped, and text may be none
        return None


def table_sizes() -> tuple[int, ...]:
    """Return the sizes of the table's files in bytes, by which one table is told from another; none without one."""
    try:
        return tuple((_FOLDER / name).stat().st_size for name in ("vectors.bin", "words.txt"))
    except OSError:
        return ()


def model_numbers() -> dict[str, int]:
    """Return the number of each word piece in the sentence model.

    Raises:
        OSError: the list is missing.
    """
    fields = (_FOLDER / "words.txt").read_text(encoding="utf-8").split()
    return dict(zip(fields[::3], map(int, fields[2::3]), strict=True))
