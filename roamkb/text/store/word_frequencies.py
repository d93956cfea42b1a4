"""Rarity of terms in general texts of any language, in bits, from a table of the frequent ones."""

from functools import cache

from roamkb.core.data_tables import data_lines
from roamkb.core.startup.typing import Final

#: Bits of a term that the table hasn't got: its rarest have 16.
RAREST_BITS: Final = 18.0


def term_bits(term: str) -> float:
    """Return -log2 of the share of `term` among all terms, in the language that uses it most."""
    last_term, delimited_term = f" {term}", f" {term} "
    # each term stands behind a blank on its line: a look through the lines costs less than a table of all words
    return next(
        (
            value
            for value, terms_line in _lines_by_bits(term.isascii())
            if delimited_term in terms_line or terms_line.endswith(last_term)
        ),
        RAREST_BITS,
    )


@cache
def _lines_by_bits(is_ascii: bool) -> tuple[tuple[float, str], ...]:
    """Return the lines of ASCII terms, or of all others, with the bits at their beginning."""
    lines = (line for line in data_lines("word_frequencies.txt") if line.isascii() is is_ascii)
    return tuple((float(line[: line.index(" ")]), line) for line in lines)
