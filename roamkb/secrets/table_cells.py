"""Cells of a table that a name for a secret stands before or above."""

import re
from collections.abc import Iterator

from roamkb.secrets.randomness import compile_cached
from roamkb.secrets.secret_names import secret_names

#: A row of org or Markdown, also in a quotation.
_ROW = r"(?m)^[ \t>]{0,40}\|([^\n]{1,2000})$"
#: A cell's text, without what sets it in bold or as code.
_CELL = r"[ \t*`=]*([^|]*?)[ \t*`=]*(?:\||$)"
_BLANK = r"\s"
#: A longer cell speaks of a password, and is none's name.
_NAME_LENGTH = 40

_Span = tuple[int, int]


def values_in_tables(text: str) -> Iterator[tuple[re.Match[str], _Span]]:
    """Yield the word for a secret and the span of each cell that holds one word, next to its cell or below it.

    A name in a table's first row heads its column.
    """
    heads: dict[int, re.Match[str]] = {}
    # of no row: the first one may begin the text
    end_of_row = -2
    for row in compile_cached(_ROW).finditer(text):
        is_first = row.start() != end_of_row + 1
        end_of_row = row.end()
        cells = [cell.span(1) for cell in compile_cached(_CELL).finditer(text, row.start(1), row.end())]
        names = {n: name for n, span in enumerate(cells) if (name := _name_in_cell(text, span))}
        if is_first:
            heads = names
        for n, span in enumerate(cells):
            name = names.get(n - 1) or (None if is_first else heads.get(n))
            if name and n not in names and span[1] > span[0] and not compile_cached(_BLANK).search(text, *span):
                yield name, span


def _name_in_cell(text: str, span: _Span) -> re.Match[str] | None:
    """Return the word for a secret with which the cell ends; a lone `pass` is the result of a test."""
    start, end = span
    if end - start > _NAME_LENGTH:
        return None
    cell = text[start:end].rstrip(":")
    for name, end_of_name in secret_names(cell):
        if end_of_name == len(cell) and cell.lower() != "pass":
            return name
    return None
