"""Where in a section text stands that Org reads: paragraphs, cells, captions, keywords.

This is org-element's division of a section into elements, in one pass and without
recursion. Blocks of code, comments, fixed-width lines and LaTeX environments are passed
over; what opens a block that is never closed is plain text, as in Org.
"""

import re
from collections.abc import Iterator
from enum import Enum
from enum import auto
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.brackets import BracketPairs
from roamkb.org.syntax.closing_lines import ClosingLines
from roamkb.org.syntax.forward_search import ForwardSearch
from roamkb.org.syntax.lists import Items
from roamkb.org.syntax.lists import find_items
from roamkb.org.syntax.lists import item_contents
from roamkb.org.syntax.syntax_table import is_name


class RegionKind(Enum):
    """What a region is, which decides what it may hold."""

    TEXT = auto()
    ROW = auto()
    CAPTION = auto()
    #: A whole `#+key: value` line.
    KEYWORD = auto()
    #: A whole line of a property drawer.
    PROPERTY = auto()
    #: A line of clocked or planned times: its links don't count, but its times must be right.
    TIMES = auto()


class Region(NamedTuple):
    """A stretch of text whose links, citations or value count."""

    place: RegionKind
    begin: int
    end: int


class ElementMode(Enum):
    """What may come next that can't come elsewhere."""

    NONE = auto()
    TOP = auto()
    PLANNING = auto()
    DRAWER = auto()
    ITEM = auto()


class _ElementFrame(NamedTuple):
    """Elements still to be read: from `at` to `end`."""

    at: int
    end: int
    mode: ElementMode
    items: Items | None


#: One bad line, and it is no property drawer.
PROPERTY_DRAWER = lazily(
    r"[ \t]*:PROPERTIES:[ \t]*\n"
    r"((?:(?![ \t]*:END:[ \t]*$)[ \t]*:\S{2,}+(?<=:)(?: .*+|[ \t]*+)\n)*)"
    r"[ \t]*:END:[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
PLANNING = lazily(r"[ \t]*(?:CLOSED|DEADLINE|SCHEDULED):", re.IGNORECASE)

_BLANK_OR_KEYWORD = lazily(
    r"(?:[ \t\r]*+\n)+|(#\+(?!BEGIN|CALL:|CAPTION|RESULT|DATA:|HEADER|LABEL:|NAME:|PLOT:|RESNAME:|SOURCE:"
    r"|SRCNAME:|TBLNAME:|ATTR_)[A-Z_]++:.*+)\n?",
    re.IGNORECASE,
)
_COMMENTS = lazily(r"(?:[ \t]*+#(?: .*+)?(?:\n|\Z))+")
_CLOCK = lazily(r"[ \t]*CLOCK:", re.IGNORECASE)
_AFFILIATED = lazily(
    r"[ \t]*#\+(?:(CAPTION|RESULTS)(?:\[(.*)\])?"
    r"|DATA|HEADERS?|LABEL|NAME|PLOT|RESNAME|RESULT|SOURCE|SRCNAME|TBLNAME|ATTR_[-_A-Za-z0-9]+):[ \t]*",
    re.IGNORECASE,
)
_DRAWER = lazily(r"[ \t]*:([^\s:]+):[ \t]*$", re.MULTILINE)
_FIXED_WIDTH = lazily(r"(?:[ \t]*+:(?: .*+)?(?:\n|\Z))+")
_BLOCK = lazily(r"[ \t]*#\+BEGIN_(\S+)", re.IGNORECASE)
_CALL = lazily(r"[ \t]*#\+CALL:", re.IGNORECASE)
_BRACKET = lazily(r"[\[\]()]")
_DYNAMIC_BLOCK = lazily(r"[ \t]*#\+BEGIN:? ", re.IGNORECASE)
_KEYWORD = lazily(r"[ \t]*#\+\S+:")
_HASH_PLUS = lazily(r"[ \t]*#\+(\S*)")
_LATEX = lazily(r"[ \t]*\\begin\{([A-Za-z0-9*]+)\}", re.IGNORECASE)
_FOOTNOTE = lazily(r"\[fn:([^\]\[\s:]+)\]", re.IGNORECASE)
_RULE = lazily(r"[ \t]*-{5,}[ \t]*$", re.MULTILINE)
_TABLE_END = lazily(r"\n[ \t]*(?:$|[^| \t\n])", re.MULTILINE)
_TABLE_EL_RULE = lazily(r"[ \t]*\+(?:-+\+)+[ \t]*$", re.MULTILINE)
_TABLE_EL_END = lazily(r"\n[ \t]*(?:$|[^+| \t\n])", re.MULTILINE)
_FORMULAS = lazily(r"(?:[ \t]*#\+TBLFM: +.*+(?:\n|\Z))+", re.IGNORECASE)
_ITEM = lazily(r"(?:[ \t]*(?:[-+]|[0-9]+[.)])|[ \t]+\*)(?:[ \t]|$)", re.MULTILINE)
_FOOTNOTE_END = lazily(r"\n(?:\[fn:[^\]\[\s:]+\]|[ \t]*\n[ \t]*(?:\n|\Z))", re.IGNORECASE)
_SEPARATOR = lazily(
    r"\n(?:\[fn:[^\]\[\s:]+\]|%%\(|[ \t]*+(?:$|\||\+(?:-+\+)+[ \t]*$"
    r"|#(?: |$|\+\S)"
    r"|:(?: |$|[^\s:]+:[ \t]*$)|-{5,}[ \t]*$"
    r"|\\begin\{[A-Za-z0-9*]+\}|CLOCK:|(?:[-+*]|[0-9]+[.)])(?:[ \t]|$)))",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = frozenset(("comment", "example", "export", "src"))


class SectionReader:
    """The regions of a text's sections."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closings = ClosingLines(text)
        self._table_el_ends = ForwardSearch(self._find_table_el_end, len(text))
        self._pairs = BracketPairs(text)
        self._frames: list[_ElementFrame] = []

    def _find_table_el_end(self, at: int) -> int:
        found = _TABLE_EL_END.search(self._text, at)
        return found.start() if found else -1

    def regions(self, begin: int, end: int, mode: ElementMode) -> Iterator[Region]:
        """Yield what counts between `begin` and `end`, in the order of the text."""
        text = self._text
        self._frames = [_ElementFrame(begin, end, mode, None)]
        while self._frames:
            at, end, mode, items = self._frames.pop()
            if at == 0 or text[at - 1] == "\n":
                # most keywords stand in a row, and need no frame
                while line := _BLANK_OR_KEYWORD.match(text, at, end):
                    at = line.end()
                    if line[1]:
                        yield Region(RegionKind.KEYWORD, *line.span(1))
                        mode = ElementMode.NONE
            if at < end:
                yield from self._element(_ElementFrame(at, end, mode, items))

    def _next_line(self, at: int, end: int) -> int:
        newline = self._text.find("\n", at, end)
        return end if newline < 0 else newline + 1

    def _line_end(self, at: int, end: int) -> int:
        newline = self._text.find("\n", at, end)
        return end if newline < 0 else newline

    def _go_on(self, at: int, frame: _ElementFrame, mode: ElementMode = ElementMode.NONE) -> None:
        self._frames.append(_ElementFrame(at, frame.end, mode, frame.items))

    def _go_in(
        self, begin: int, end: int, items: Items | None = None, mode: ElementMode = ElementMode.NONE
    ) -> None:
        if begin < end:
            self._frames.append(_ElementFrame(begin, end, mode, items))

    def _element(self, frame: _ElementFrame) -> Iterator[Region]:
        at, end, mode, _ = frame
        text = self._text
        if mode is ElementMode.ITEM:
            yield from self._item(frame)
            return
        is_line_start = at == 0 or text[at - 1] == "\n"
        if not is_line_start:
            yield from self._paragraph(at, frame)
            return
        first = _first_char(text, at, end)
        if first == "#" and (comments := _COMMENTS.match(text, at, end)):
            self._go_on(
                comments.end(), frame, ElementMode.DRAWER if mode is ElementMode.TOP else ElementMode.NONE
            )
        elif mode is ElementMode.PLANNING and _is_below_heading(text, at) and PLANNING.match(text, at, end):
            yield Region(RegionKind.TIMES, at, self._line_end(at, end))
            self._go_on(self._next_line(at, end), frame, ElementMode.DRAWER)
        elif mode is not ElementMode.NONE and first == ":" and (drawer := self._property_drawer(frame)):
            yield from self._properties(drawer)
            self._go_on(self._next_line(drawer.end(), end), frame)
        elif first in "cC" and _CLOCK.match(text, at, end):
            yield Region(RegionKind.TIMES, at, self._line_end(at, end))
            self._go_on(self._next_line(at, end), frame)
        elif first == "#":
            yield from self._with_affiliated(frame)
        else:
            yield from self._plain_element(at, first, frame)

    def _property_drawer(self, frame: _ElementFrame) -> re.Match[str] | None:
        if frame.mode is ElementMode.PLANNING and not _is_below_heading(self._text, frame.at):
            return None
        if frame.mode is not ElementMode.PLANNING and _is_below_blank(self._text, frame.at):
            return None
        return PROPERTY_DRAWER.match(self._text, frame.at, frame.end)

    def _properties(self, drawer: re.Match[str]) -> Iterator[Region]:
        at, end = drawer.span(1)
        while at < end:
            following = self._next_line(at, end)
            yield Region(RegionKind.PROPERTY, at, following - 1)
            at = following

    def _with_affiliated(self, frame: _ElementFrame) -> Iterator[Region]:
        """Read an element that keywords like `#+caption:` may stand before."""
        text, end = self._text, frame.end
        at = frame.at
        captions: list[Region] = []
        while at < end and (keyword := _AFFILIATED.match(text, at, end)):
            if keyword[1] and keyword[1].lower() == "caption":
                if keyword[2]:
                    captions.append(Region(RegionKind.CAPTION, *keyword.span(2)))
                captions.append(Region(RegionKind.CAPTION, keyword.end(), self._line_end(at, end)))
            at = self._next_line(at, end)
        if at > frame.at and (at >= end or not text[at : self._line_end(at, end)].strip(" \t")):
            yield from self._keywords(frame.at, at)
            self._go_on(at, frame)
            return
        yield from captions
        for region in self._plain_element(at, _first_char(text, at, end), frame):
            if region.place is RegionKind.KEYWORD and not captions:
                yield from self._keywords(frame.at, at)
            yield region

    def _keywords(self, at: int, end: int) -> Iterator[Region]:
        while at < end:
            yield Region(RegionKind.KEYWORD, at, self._line_end(at, end))
            at = self._next_line(at, end)

    def _plain_element(self, at: int, first: str, frame: _ElementFrame) -> Iterator[Region]:
        text, end = self._text, frame.end
        if first == "\\" and (closing := self._latex_end(at, end)) is not None:
            self._go_on(self._next_line(closing, end), frame)
        elif first == ":" and (drawer := self._drawer_end(at, end)) is not None:
            self._block(at, drawer, frame)
        elif first == ":" and (fixed := _FIXED_WIDTH.match(text, at, end)):
            self._go_on(fixed.end(), frame)
        elif first == "#" and text.startswith("#+", text.find("#", at)):
            yield from self._hash_plus(at, frame)
        elif first == "[" and _is_footnote(text, at, end):
            self._footnote(at, frame)
        elif (first == "-" and _RULE.match(text, at, end)) or text.startswith("%%(", at, end):
            self._go_on(self._next_line(at, end), frame)
        elif first == "|":
            yield from self._table(at, frame)
        elif first == "+" and (closing := self._table_el_end(at, end)) is not None:
            self._go_on(closing, frame)
        elif first in "-+*0123456789" and _ITEM.match(text, at, end):
            self._list(at, frame)
        else:
            yield from self._paragraph(at, frame)

    def _block(self, at: int, closing: int, frame: _ElementFrame) -> None:
        self._go_on(self._next_line(closing, frame.end), frame)
        self._go_in(self._next_line(at, frame.end), closing)

    def _latex_end(self, at: int, end: int) -> int | None:
        opening = _LATEX.match(self._text, at, end)
        return self._closings.first("\\" + opening[1], opening.end(), end) if opening else None

    def _is_drawer(self, at: int, end: int) -> bool:
        drawer = _DRAWER.match(self._text, at, end)
        return drawer is not None and is_name(drawer[1])

    def _drawer_end(self, at: int, end: int) -> int | None:
        if not self._is_drawer(at, end):
            return None
        return self._closings.first("drawer", self._line_end(at, end), end)

    def _hash_plus(self, at: int, frame: _ElementFrame) -> Iterator[Region]:
        text, end = self._text, frame.end
        if block := _BLOCK.match(text, at, end):
            name = block[1].lower()
            closing = self._closings.first("_" + name, at, end)
            if closing is None:
                yield from self._paragraph(at, frame)
            elif name in _CODE:
                self._go_on(self._next_line(closing, end), frame)
            elif name == "verse":
                self._go_on(self._next_line(closing, end), frame)
                yield Region(RegionKind.TEXT, self._next_line(at, end), closing)
            else:
                self._block(at, closing, frame)
        elif call := _CALL.match(text, at, end):
            self._go_on(self._next_line(self._call_end(call.end(), end), end), frame)
        elif _DYNAMIC_BLOCK.match(text, at, end):
            closing = self._closings.first("", at, end)
            if closing is None:
                yield from self._paragraph(at, frame)
            else:
                self._block(at, closing, frame)
        elif _KEYWORD.match(text, at, end):
            yield Region(RegionKind.KEYWORD, at, self._line_end(at, end))
            self._go_on(self._next_line(at, end), frame)
        else:
            yield from self._paragraph(at, frame)

    def _call_end(self, at: int, end: int) -> int:
        """Return where the brackets of a `#+call:` are closed; they may run over lines."""
        bracket = _BRACKET.search(self._text, at, self._line_end(at, end))
        place = bracket.start() if bracket else at
        for opener in "[(":
            if self._text.startswith(opener, place):
                closing = self._pairs.closing(place)
                place = place if closing is None else closing + 1
        return min(place, end)

    def _footnote(self, at: int, frame: _ElementFrame) -> None:
        text, end = self._text, frame.end
        closing = end
        after = self._line_end(at, end)
        while found := _FOOTNOTE_END.search(text, after, end):
            after = found.start() + 1
            if text[after] != "[":
                closing = after
                break
            if _is_footnote(text, after, end):
                closing = self._above_affiliated(at, after)
                break
        self._go_on(closing, frame)
        self._go_in(text.find("]", at) + 1, closing)

    def _above_affiliated(self, first: int, at: int) -> int:
        """Return `at` before the keywords that belong to the element there."""
        while (line := self._text.rfind("\n", first, at - 1)) > 0 and _AFFILIATED.match(
            self._text, line + 1, at
        ):
            at = line + 1
        return at

    def _table(self, at: int, frame: _ElementFrame) -> Iterator[Region]:
        text, end = self._text, frame.end
        last = _TABLE_END.search(text, self._line_end(at, end), end)
        closing = last.start() + 1 if last else end
        while at < closing:
            bar = text.index("|", at)
            if not text.startswith("-", bar + 1):
                yield Region(RegionKind.ROW, bar + 1, self._line_end(at, closing))
            at = self._next_line(at, closing)
        formulas = _FORMULAS.match(text, closing, end)
        self._go_on(formulas.end() if formulas else closing, frame)

    def _table_el_end(self, at: int, end: int) -> int | None:
        text = self._text
        if not _TABLE_EL_RULE.match(text, at, end):
            return None
        closing = min(self._table_el_ends.after(self._line_end(at, end)) + 1, end)
        line = text.rfind("\n", at, closing - 1) + 1
        return closing if line > at and _TABLE_EL_RULE.match(text, line, end) else None

    def _list(self, at: int, frame: _ElementFrame) -> None:
        items = frame.items
        if items is None or at not in items:
            items = find_items(self._text, at, frame.end, self._closings)
        indent = items[at].indent
        closing = items[at].end
        while closing in items and items[closing].indent == indent and closing < frame.end:
            closing = items[closing].end
        self._go_on(closing, frame)
        self._go_in(at, closing, items, ElementMode.ITEM)

    def _item(self, frame: _ElementFrame) -> Iterator[Region]:
        at, end, _, items = frame
        if items is None or at not in items:
            return
        closing = min(items[at].end, end)
        tag, begin = item_contents(self._text, at, closing)
        if tag is not None:
            yield Region(RegionKind.TEXT, *tag)
        self._go_in(closing, end, items, ElementMode.ITEM)
        self._go_in(begin, closing, items)

    def _paragraph(self, at: int, frame: _ElementFrame) -> Iterator[Region]:
        text, end = self._text, frame.end
        after = self._line_end(at, end)
        closing = end
        while separator := _SEPARATOR.search(text, after, end):
            line = separator.start() + 1
            if self._separates(line, end):
                closing = line
                break
            after = self._line_end(line, end)
        yield Region(RegionKind.TEXT, at, closing)
        self._go_on(closing, frame)

    def _separates(self, at: int, end: int) -> bool:
        """Whether the line at `at`, which looks as if it ended a paragraph, does."""
        text = self._text
        first = _first_char(text, at, end)
        if first == ":":
            if self._is_drawer(at, end):
                return self._drawer_end(at, end) is not None
            return _FIXED_WIDTH.match(text, at, end) is not None
        if first == "#":
            if block := _BLOCK.match(text, at, end):
                return self._closings.first("_" + block[1], at, end) is not None
            return self._is_keyword(at, end)
        if first == "\\":
            return self._latex_end(at, end) is not None
        return first != "[" or _is_footnote(text, at, end)

    def _is_keyword(self, at: int, end: int) -> bool:
        """Whether the `#` line at `at` stands for itself; `key[more]:` does for two keys only."""
        line = _HASH_PLUS.match(self._text, at, end)
        if line is None:
            return True
        name = line[1]
        last = self._text.rfind("]:", line.start(1), self._line_end(at, end))
        bracket = name.rfind("[", 1, max(last - line.start(1), 1))
        if bracket > 0:
            return name[:bracket].lower() in ("caption", "results")
        return ":" in name[1:]


def _first_char(text: str, at: int, end: int) -> str:
    while at < end and text[at] in " \t":
        at += 1
    return text[at : at + 1] if at < end else "\n"


def _is_below_heading(text: str, at: int) -> bool:
    return at > 0 and text.startswith("*", text.rfind("\n", 0, at - 1) + 1)


def _is_below_blank(text: str, at: int) -> bool:
    if at == 0:
        return False
    return not text[text.rfind("\n", 0, at - 1) + 1 : at - 1].strip()


def _is_footnote(text: str, at: int, end: int) -> bool:
    label = _FOOTNOTE.match(text, at, end)
    return label is not None and is_name(label[1])
