"""How rare a term is in general texts of any language, in bits, from a table of the frequent ones."""

from functools import cache
from typing import Final

from roamkb.core.data_tables import data_lines

#: Bits of a term that the table hasn't got: its rarest have 16.
RAREST: Final = 18.0


def bits(term: str) -> float:
    """Return -log2 of the share of `term` among all terms, in the language that says it most."""
    wanted = f" {term} "
    # each term stands between blanks on its line: a look through bytes costs less than a table of all words
    return next((value for value, said in _by_bits(term.isascii()) if wanted in said), RAREST)


@cache
def _by_bits(is_ascii: bool) -> tuple[tuple[float, str], ...]:
    """Return the lines of terms in ASCII, or of all others, with the bits that they begin with."""
    split = ((line.partition(" ")[0], f"{line} ") for line in data_lines("word_frequencies.txt"))
    return tuple((float(value), line) for value, line in split if line.isascii() is is_ascii)
