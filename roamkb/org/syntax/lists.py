"""The items of a plain list: where each begins, ends and has its text."""

import re
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.closing_lines import ClosingLines


class ListItem(NamedTuple):
    """How far an item is indented, and where it ends."""

    indent: int
    end: int


#: Items by where their line begins.
Items = dict[int, ListItem]

_LINE = lazily(
    r"([ \t]*)(?:((?:[-+]|[0-9]+[.)]|(?<=[ \t])\*)(?:[ \t]|$))|(\n|\Z)"
    r"|(#\+BEGIN(?::|_\S+))|(:[^\s:]+:[ \t]*$))?",
    re.IGNORECASE | re.MULTILINE,
)
_TWO_BLANK_LINES = lazily(r"[ \t]*\n[ \t]*\n")
_META = lazily(
    r"[ \t]*(?:[-+*]|(?:[0-9]+|[A-Za-z])([.)]))(?:[ \t]+|$)"
    r"(?:\[@(?:start:)?(?:[0-9]+|[A-Za-z])\][ \t]*)?(?:\[[ X-]\](?:[ \t]+|$))?",
    re.MULTILINE | re.IGNORECASE,
)
_BLANK = lazily(r"[ \t\r\n]*+")


def find_items(text: str, begin: int, end: int, closings: ClosingLines) -> Items:  # noqa: C901 - one loop over lines
    """Return all items of the list that begins at `begin`, those of inner lists too."""
    items: Items = {}
    open_ones: list[tuple[int, int]] = []
    at = behind_text = begin
    while True:
        if at >= end:
            _close(open_ones, items, behind_text)
            return items
        line = _LINE.match(text, at, end)
        blanks, bullet, blank, block, drawer = line.groups() if line else ("", None, None, None, None)
        if blank is not None:
            if _TWO_BLANK_LINES.match(text, at, end):
                _close(open_ones, items, at)
                return items
            at = _behind_line(text, at, end)
            continue
        indent = len(blanks.expandtabs(8)) if "\t" in blanks else len(blanks)
        if bullet is not None:
            while open_ones and indent <= open_ones[-1][1]:
                place, depth = open_ones.pop()
                items[place] = ListItem(depth, at)
            open_ones.append((at, indent))
            at = behind_text = _behind_line(text, at, end)
            continue
        while indent <= open_ones[-1][1]:
            place, depth = open_ones.pop()
            items[place] = ListItem(depth, behind_text)
            if not open_ones:
                return items
        closing = None
        if block is not None:
            closing = closings.first(block[7:].rstrip(":"), at, end)
        elif drawer is not None:
            closing = closings.first("drawer", at, end)
        at = behind_text = _behind_line(text, at if closing is None else closing, end)


def _close(open_ones: list[tuple[int, int]], items: Items, at: int) -> None:
    for place, indent in open_ones:
        items[place] = ListItem(indent, at)


def _behind_line(text: str, at: int, end: int) -> int:
    newline = text.find("\n", at, end)
    return end if newline < 0 else newline + 1


def item_contents(text: str, at: int, end: int) -> tuple[tuple[int, int] | None, int]:
    """Return where the tag of the item at `at` is, if it has one, and where its contents begin."""
    meta = _META.match(text, at, end)
    begin = meta.end() if meta else at
    line_end = text.find("\n", begin, end)
    line_end = end if line_end < 0 else line_end
    tag = None
    if not (meta and meta[1]):
        colons = _tag_end(text, begin, line_end)
        if colons is not None:
            tag = (begin, colons - 1)
            begin = colons + 2
    blank = _BLANK.match(text, begin, end)
    first = blank.end() if blank else begin
    if first >= end:
        return tag, end
    if first > line_end:
        return tag, text.rfind("\n", begin, first) + 1
    return tag, first


def _tag_end(text: str, begin: int, end: int) -> int | None:
    """Return where the last `::` that stands alone is."""
    at = text.rfind("::", begin + 1, end)
    while at > begin:
        if text[at - 1] in " \t" and (at + 2 == end or text[at + 2] in " \t"):
            return at
        at = text.rfind("::", begin + 1, at + 1)
    return None
