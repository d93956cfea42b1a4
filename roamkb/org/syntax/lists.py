"""The items of a plain list: their spans, tags and contents."""

import re
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.closing_lines import ClosingLines
from roamkb.org.syntax.syntax_table import SPACE


class ListItem(NamedTuple):
    """The indentation of an item, and its end."""

    indent: int
    end: int


#: Items by where their line begins.
Items = dict[int, ListItem]

_LINE = lazily(
    r"([ \t]*)(?:((?:[-+]|[0-9]+[.)]|(?<=[ \t])\*)(?:[ \t]|$))|(\n|\Z)"
    rf"|(#\+BEGIN(?::|_[^{SPACE}]+))|(:[^{SPACE}:]+:[ \t]*$))?",
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
    open_items: list[tuple[int, int]] = []
    position = behind_text = begin
    while True:
        if position >= end:
            _close_items(open_items, items, behind_text)
            return items
        line = _LINE.match(text, position, end)
        blanks, bullet, blank, block, drawer = line.groups() if line else ("", None, None, None, None)
        if blank is not None:
            if _TWO_BLANK_LINES.match(text, position, end):
                _close_items(open_items, items, position)
                return items
            position = _behind_line(text, position, end)
            continue
        indent = len(blanks.expandtabs(8)) if "\t" in blanks else len(blanks)
        if bullet is not None:
            while open_items and indent <= open_items[-1][1]:
                place, depth = open_items.pop()
                items[place] = ListItem(depth, position)
            open_items.append((position, indent))
            position = behind_text = _behind_line(text, position, end)
            continue
        while indent <= open_items[-1][1]:
            place, depth = open_items.pop()
            items[place] = ListItem(depth, behind_text)
            if not open_items:
                return items
        closing = None
        if block is not None:
            closing = closings.first_closing(block[7:].rstrip(":"), position, end)
        elif drawer is not None:
            closing = closings.first_closing("drawer", position, end)
        position = behind_text = _behind_line(text, position if closing is None else closing, end)


def _close_items(open_items: list[tuple[int, int]], items: Items, position: int) -> None:
    for place, indent in open_items:
        items[place] = ListItem(indent, position)


def _behind_line(text: str, position: int, end: int) -> int:
    newline = text.find("\n", position, end)
    return end if newline < 0 else newline + 1


def item_contents(text: str, position: int, end: int) -> tuple[tuple[int, int] | None, int]:
    """Return the span of the tag of an item, if it has one, and the start of its contents."""
    meta = _META.match(text, position, end)
    begin = meta.end() if meta else position
    line_end = text.find("\n", begin, end)
    line_end = end if line_end < 0 else line_end
    tag = None
    if not (meta and meta[1]):
        colons = _tag_end(text, begin, line_end)
        if colons is not None:
            tag = (begin, colons - 1)
            begin = colons + 2
    blank = _BLANK.match(text, begin, end)
    content_begin = blank.end() if blank else begin
    if content_begin >= end:
        return tag, end
    if content_begin > line_end:
        return tag, text.rfind("\n", begin, content_begin) + 1
    return tag, content_begin


def _tag_end(text: str, begin: int, end: int) -> int | None:
    """Return the position of the last `::` that stands alone."""
    position = text.rfind("::", begin + 1, end)
    while position > begin:
        if text[position - 1] in " \t" and (position + 2 == end or text[position + 2] in " \t"):
            return position
        position = text.rfind("::", begin + 1, position + 1)
    return None
