"""The division of a section into elements: paragraphs, cells, captions, keywords.

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
from roamkb.org.syntax.forward_search import forward_match
from roamkb.org.syntax.lists import Items
from roamkb.org.syntax.lists import find_items
from roamkb.org.syntax.lists import item_contents
from roamkb.org.syntax.syntax_table import SPACE
from roamkb.org.syntax.syntax_table import is_name


class RegionKind(Enum):
    """The kind of a region, which decides what objects it may hold."""

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
    """A stretch of text with links, citations or a value to be read."""

    kind: RegionKind
    begin: int
    end: int


class ElementMode(Enum):
    """The context that allows elements which can't come elsewhere."""

    NONE = auto()
    TOP = auto()
    PLANNING = auto()
    DRAWER = auto()
    ITEM = auto()


class ElementFrame(NamedTuple):
    """Elements still to be read: from `at` to `end`."""

    at: int
    end: int
    mode: ElementMode
    items: Items | None


#: One bad line, and it is no property drawer.
PROPERTY_DRAWER = lazily(
    r"[ \t]*:PROPERTIES:[ \t]*\n"
    rf"((?:(?![ \t]*:END:[ \t]*$)[ \t]*:[^{SPACE}]{{2,}}+(?<=:)(?: .*+|[ \t]*+)\n)*)"
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
_DRAWER = lazily(rf"[ \t]*:([^{SPACE}:]+):[ \t]*$", re.MULTILINE)
_FIXED_WIDTH = lazily(r"(?:[ \t]*+:(?: .*+)?(?:\n|\Z))+")
_BLOCK = lazily(rf"[ \t]*#\+BEGIN_([^{SPACE}]+)", re.IGNORECASE)
_CALL = lazily(r"[ \t]*#\+CALL:", re.IGNORECASE)
_BRACKET = lazily(r"[\[\]()]")
_DYNAMIC_BLOCK = lazily(r"[ \t]*#\+BEGIN:? ", re.IGNORECASE)
_KEYWORD = lazily(rf"[ \t]*#\+[^{SPACE}]+:")
_HASH_PLUS = lazily(rf"[ \t]*#\+([^{SPACE}]*)")
_LATEX = lazily(r"[ \t]*\\begin\{([A-Za-z0-9*]+)\}", re.IGNORECASE)
_FOOTNOTE = lazily(rf"\[fn:([^\]\[{SPACE}:]+)\]", re.IGNORECASE)
_TRANSCLUDE = lazily(r"[ \t]*#\+TRANSCLUDE:", re.IGNORECASE)
_RULE = lazily(r"[ \t]*-{5,}[ \t]*$", re.MULTILINE)
_TABLE_END = lazily(r"\n[ \t]*(?:$|[^| \t\n])", re.MULTILINE)
_TABLE_EL_RULE = lazily(r"[ \t]*\+(?:-+\+)+[ \t]*$", re.MULTILINE)
_TABLE_EL_END = lazily(r"\n[ \t]*(?:$|[^+| \t\n])", re.MULTILINE)
_FORMULAS = lazily(r"(?:[ \t]*#\+TBLFM: +.*+(?:\n|\Z))+", re.IGNORECASE)
_ITEM = lazily(r"(?:[ \t]*(?:[-+]|[0-9]+[.)])|[ \t]+\*)(?:[ \t]|$)", re.MULTILINE)
_FOOTNOTE_END = lazily(rf"\n(?:\[fn:[^\]\[{SPACE}:]+\]|[ \t]*\n[ \t]*(?:\n|\Z))", re.IGNORECASE)
_SEPARATOR = lazily(
    rf"\n(?:\[fn:[^\]\[{SPACE}:]+\]|%%\(|[ \t]*+(?:$|\||\+(?:-+\+)+[ \t]*$"
    rf"|#(?: |$|\+[^{SPACE}])"
    rf"|:(?: |$|[^{SPACE}:]+:[ \t]*$)|-{{5,}}[ \t]*$"
    r"|\\begin\{[A-Za-z0-9*]+\}|CLOCK:|(?:[-+*]|[0-9]+[.)])(?:[ \t]|$)))",
    re.IGNORECASE | re.MULTILINE,
)
_CODE = frozenset(("comment", "example", "export", "src"))


class SectionReader:
    """The reader of the regions of a text's sections."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closings = ClosingLines(text)
        self._table_el_ends = forward_match(_TABLE_EL_END, text)
        self._pairs = BracketPairs(text)
        self._frames: list[ElementFrame] = []

    def read_regions(self, begin: int, end: int, mode: ElementMode) -> Iterator[Region]:
        """Yield the regions between `begin` and `end`, in the order of the text."""
        text = self._text
        self._frames = [ElementFrame(begin, end, mode, None)]
        while self._frames:
            position, end, mode, items = self._frames.pop()
            if position == 0 or text[position - 1] == "\n":
                # most keywords stand in a row, and need no frame
                while line := _BLANK_OR_KEYWORD.match(text, position, end):
                    position = line.end()
                    if line[1]:
                        yield Region(RegionKind.KEYWORD, *line.span(1))
                        mode = ElementMode.NONE
            if position < end:
                yield from self._read_element(ElementFrame(position, end, mode, items))

    def _next_line(self, position: int, end: int) -> int:
        newline = self._text.find("\n", position, end)
        return end if newline < 0 else newline + 1

    def _line_end(self, position: int, end: int) -> int:
        newline = self._text.find("\n", position, end)
        return end if newline < 0 else newline

    def _go_on(self, position: int, frame: ElementFrame, mode: ElementMode = ElementMode.NONE) -> None:
        self._frames.append(ElementFrame(position, frame.end, mode, frame.items))

    def _go_in(self, begin: int, end: int, items: Items | None = None, mode: ElementMode = ElementMode.NONE) -> None:
        if begin < end:
            self._frames.append(ElementFrame(begin, end, mode, items))

    def _read_element(self, frame: ElementFrame) -> Iterator[Region]:
        position, end, mode, _ = frame
        text = self._text
        if mode is ElementMode.ITEM:
            yield from self._read_item(frame)
            return
        is_line_start = position == 0 or text[position - 1] == "\n"
        if not is_line_start:
            yield from self._read_paragraph(position, frame)
            return
        first_char = line_mark(text, position, end)
        if first_char == "#" and (comments := _COMMENTS.match(text, position, end)):
            self._go_on(comments.end(), frame, ElementMode.DRAWER if mode is ElementMode.TOP else ElementMode.NONE)
        elif mode is ElementMode.PLANNING and _is_below_heading(text, position) and PLANNING.match(text, position, end):
            yield Region(RegionKind.TIMES, position, self._line_end(position, end))
            self._go_on(self._next_line(position, end), frame, ElementMode.DRAWER)
        elif mode is not ElementMode.NONE and first_char == ":" and (drawer := self._property_drawer(frame)):
            yield from self._property_regions(drawer)
            self._go_on(self._next_line(drawer.end(), end), frame)
        elif first_char in "cC" and _CLOCK.match(text, position, end):
            yield Region(RegionKind.TIMES, position, self._line_end(position, end))
            self._go_on(self._next_line(position, end), frame)
        elif first_char == "#":
            yield from self._with_affiliated(frame)
        else:
            yield from self._plain_element(position, first_char, frame)

    def _property_drawer(self, frame: ElementFrame) -> re.Match[str] | None:
        if frame.mode is ElementMode.PLANNING and not _is_below_heading(self._text, frame.at):
            return None
        if frame.mode is not ElementMode.PLANNING and _is_below_blank(self._text, frame.at):
            return None
        return PROPERTY_DRAWER.match(self._text, frame.at, frame.end)

    def _property_regions(self, drawer: re.Match[str]) -> Iterator[Region]:
        position, end = drawer.span(1)
        while position < end:
            following = self._next_line(position, end)
            yield Region(RegionKind.PROPERTY, position, following - 1)
            position = following

    def _with_affiliated(self, frame: ElementFrame) -> Iterator[Region]:
        """Read an element that keywords like `#+caption:` may precede."""
        text, end = self._text, frame.end
        position = frame.at
        captions: list[Region] = []
        names: list[Region] = []
        while position < end and (keyword := _AFFILIATED.match(text, position, end)):
            if keyword[1] and keyword[1].lower() == "caption":
                if keyword[2]:
                    captions.append(Region(RegionKind.CAPTION, *keyword.span(2)))
                captions.append(Region(RegionKind.CAPTION, keyword.end(), self._line_end(position, end)))
            else:
                names.append(Region(RegionKind.KEYWORD, position, self._line_end(position, end)))
            position = self._next_line(position, end)
        if position > frame.at and (position >= end or not text[position : self._line_end(position, end)].strip(" \t")):
            yield from self._keyword_regions(frame.at, position)
            self._go_on(position, frame)
            return
        regions = self._plain_element(position, line_mark(text, position, end), frame)
        first = next(regions, None)
        # a link in a name or in results is the keyword's own, and org-roam leaves some keywords out
        if first and first.kind is RegionKind.KEYWORD and not _TRANSCLUDE.match(text, first.begin, first.end):
            captions = sorted([*captions, *names], key=lambda region: region.begin)
        yield from captions
        if first:
            yield first
        yield from regions

    def _keyword_regions(self, position: int, end: int) -> Iterator[Region]:
        while position < end:
            yield Region(RegionKind.KEYWORD, position, self._line_end(position, end))
            position = self._next_line(position, end)

    def _plain_element(self, position: int, first_char: str, frame: ElementFrame) -> Iterator[Region]:
        text, end = self._text, frame.end
        if first_char == "\\" and (closing := self._latex_end(position, end)) is not None:
            self._go_on(self._next_line(closing, end), frame)
        elif first_char == ":" and (drawer := self._drawer_end(position, end)) is not None:
            self._enter_block(position, drawer, frame)
        elif first_char == ":" and (fixed := _FIXED_WIDTH.match(text, position, end)):
            self._go_on(fixed.end(), frame)
        elif first_char == "#" and text.startswith("#+", text.find("#", position)):
            yield from self._hash_plus(position, frame)
        elif first_char == "[" and _is_footnote(text, position, end):
            self._enter_footnote(position, frame)
        elif (first_char == "-" and _RULE.match(text, position, end)) or text.startswith("%%(", position, end):
            self._go_on(self._next_line(position, end), frame)
        elif first_char == "|":
            yield from self._read_table(position, frame)
        elif first_char == "+" and (closing := self._table_el_end(position, end)) is not None:
            self._go_on(closing, frame)
        elif first_char in "-+*0123456789" and _ITEM.match(text, position, end):
            self._enter_list(position, frame)
        else:
            yield from self._read_paragraph(position, frame)

    def _enter_block(self, position: int, closing: int, frame: ElementFrame) -> None:
        self._go_on(self._next_line(closing, frame.end), frame)
        self._go_in(self._next_line(position, frame.end), closing)

    def _latex_end(self, position: int, end: int) -> int | None:
        opening = _LATEX.match(self._text, position, end)
        return self._closings.first_closing("\\" + opening[1], opening.end(), end) if opening else None

    def _is_drawer(self, position: int, end: int) -> bool:
        drawer = _DRAWER.match(self._text, position, end)
        return drawer is not None and is_name(drawer[1])

    def _drawer_end(self, position: int, end: int) -> int | None:
        if not self._is_drawer(position, end):
            return None
        return self._closings.first_closing("drawer", self._line_end(position, end), end)

    def _hash_plus(self, position: int, frame: ElementFrame) -> Iterator[Region]:
        text, end = self._text, frame.end
        if block := _BLOCK.match(text, position, end):
            name = block[1].lower()
            closing = self._closings.first_closing("_" + name, position, end)
            if closing is None:
                yield from self._read_paragraph(position, frame)
            elif name in _CODE:
                self._go_on(self._next_line(closing, end), frame)
            elif name == "verse":
                self._go_on(self._next_line(closing, end), frame)
                yield Region(RegionKind.TEXT, self._next_line(position, end), closing)
            else:
                self._enter_block(position, closing, frame)
        elif call := _CALL.match(text, position, end):
            self._go_on(self._next_line(self._call_end(call.end(), end), end), frame)
        elif _DYNAMIC_BLOCK.match(text, position, end):
            closing = self._closings.first_closing("", position, end)
            if closing is None:
                yield from self._read_paragraph(position, frame)
            else:
                self._enter_block(position, closing, frame)
        elif _KEYWORD.match(text, position, end):
            yield Region(RegionKind.KEYWORD, position, self._line_end(position, end))
            self._go_on(self._next_line(position, end), frame)
        else:
            yield from self._read_paragraph(position, frame)

    def _call_end(self, position: int, end: int) -> int:
        """Return the end of the brackets of a `#+call:`; they may run over lines."""
        bracket = _BRACKET.search(self._text, position, self._line_end(position, end))
        place = bracket.start() if bracket else position
        for opener in "[(":
            if self._text.startswith(opener, place):
                closing = self._pairs.closing_of(place)
                place = place if closing is None else closing + 1
        return min(place, end)

    def _enter_footnote(self, position: int, frame: ElementFrame) -> None:
        text, end = self._text, frame.end
        closing = end
        search_from = self._line_end(position, end)
        while match := _FOOTNOTE_END.search(text, search_from, end):
            search_from = match.start() + 1
            if text[search_from] != "[":
                closing = search_from
                break
            if _is_footnote(text, search_from, end):
                closing = self._above_affiliated(position, search_from)
                break
        self._go_on(closing, frame)
        self._go_in(text.find("]", position) + 1, closing)

    def _above_affiliated(self, lowest: int, position: int) -> int:
        """Return the start of the keywords that belong to the element at `position`."""
        while (line := self._text.rfind("\n", lowest, position - 1)) > 0 and _AFFILIATED.match(
            self._text, line + 1, position
        ):
            position = line + 1
        return position

    def _read_table(self, position: int, frame: ElementFrame) -> Iterator[Region]:
        text, end = self._text, frame.end
        table_end = _TABLE_END.search(text, self._line_end(position, end), end)
        closing = table_end.start() + 1 if table_end else end
        while position < closing:
            bar = text.index("|", position)
            if not text.startswith("-", bar + 1):
                yield Region(RegionKind.ROW, bar + 1, self._line_end(position, closing))
            position = self._next_line(position, closing)
        formulas = _FORMULAS.match(text, closing, end)
        self._go_on(formulas.end() if formulas else closing, frame)

    def _table_el_end(self, position: int, end: int) -> int | None:
        text = self._text
        if not _TABLE_EL_RULE.match(text, position, end):
            return None
        closing = min(self._table_el_ends.first_from(self._line_end(position, end)) + 1, end)
        line = text.rfind("\n", position, closing - 1) + 1
        return closing if line > position and _TABLE_EL_RULE.match(text, line, end) else None

    def _enter_list(self, position: int, frame: ElementFrame) -> None:
        items = frame.items
        if items is None or position not in items:
            items = find_items(self._text, position, frame.end, self._closings)
        indent = items[position].indent
        closing = items[position].end
        while closing in items and items[closing].indent == indent and closing < frame.end:
            closing = items[closing].end
        self._go_on(closing, frame)
        self._go_in(position, closing, items, ElementMode.ITEM)

    def _read_item(self, frame: ElementFrame) -> Iterator[Region]:
        position, end, _, items = frame
        if items is None or position not in items:
            return
        closing = min(items[position].end, end)
        tag, begin = item_contents(self._text, position, closing)
        if tag is not None:
            yield Region(RegionKind.TEXT, *tag)
        self._go_in(closing, end, items, ElementMode.ITEM)
        self._go_in(begin, closing, items)

    def _read_paragraph(self, position: int, frame: ElementFrame) -> Iterator[Region]:
        text, end = self._text, frame.end
        search_from = self._line_end(position, end)
        closing = end
        while separator := _SEPARATOR.search(text, search_from, end):
            line = separator.start() + 1
            if self._is_separator(line, end):
                closing = line
                break
            search_from = self._line_end(line, end)
        yield Region(RegionKind.TEXT, position, closing)
        self._go_on(closing, frame)

    def _is_separator(self, position: int, end: int) -> bool:
        """Say whether the line, which looks as if it ended a paragraph, really ends it."""
        text = self._text
        first_char = line_mark(text, position, end)
        if first_char == ":":
            if self._is_drawer(position, end):
                return self._drawer_end(position, end) is not None
            return _FIXED_WIDTH.match(text, position, end) is not None
        if first_char == "#":
            if block := _BLOCK.match(text, position, end):
                return self._closings.first_closing("_" + block[1], position, end) is not None
            return self._is_keyword(position, end)
        if first_char == "\\":
            return self._latex_end(position, end) is not None
        return first_char != "[" or _is_footnote(text, position, end)

    def _is_keyword(self, position: int, end: int) -> bool:
        """Say whether the `#` line stands by itself; `key[more]:` does for two keys only."""
        line = _HASH_PLUS.match(self._text, position, end)
        if line is None:
            return True
        name = line[1]
        key_end = self._text.rfind("]:", line.start(1), self._line_end(position, end))
        bracket = name.rfind("[", 1, max(key_end - line.start(1), 1))
        if bracket > 0:
            return name[:bracket].lower() in ("caption", "results")
        return ":" in name[1:]


def line_mark(text: str, position: int, end: int) -> str:
    """Return the first character of a line that is no blank; a newline where there is none."""
    while position < end and text[position] in " \t":
        position += 1
    return text[position : position + 1] if position < end else "\n"


def _is_below_heading(text: str, position: int) -> bool:
    return position > 0 and text.startswith("*", text.rfind("\n", 0, position - 1) + 1)


def _is_below_blank(text: str, position: int) -> bool:
    if position == 0:
        return False
    return not text[text.rfind("\n", 0, position - 1) + 1 : position - 1].strip()


def _is_footnote(text: str, position: int, end: int) -> bool:
    label = _FOOTNOTE.match(text, position, end)
    return label is not None and is_name(label[1])
