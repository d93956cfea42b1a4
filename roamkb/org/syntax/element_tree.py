"""The elements of a section with their places, in the order of the text, for who shows all of it."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import Enum
from enum import auto
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.elements import PLANNING
from roamkb.org.syntax.elements import ElementFrame
from roamkb.org.syntax.elements import ElementMode
from roamkb.org.syntax.elements import Region
from roamkb.org.syntax.elements import RegionKind
from roamkb.org.syntax.elements import SectionReader
from roamkb.org.syntax.elements import line_mark
from roamkb.org.syntax.lists import Items
from roamkb.org.syntax.lists import item_contents
from roamkb.org.syntax.syntax_table import SPACE


class ElementKind(Enum):
    """The kind of an element, by which it is shown."""

    PARAGRAPH = auto()
    LIST = auto()
    ITEM = auto()
    TABLE = auto()
    BLOCK = auto()
    DRAWER = auto()
    PROPERTIES = auto()
    FOOTNOTE = auto()
    FIXED_WIDTH = auto()
    RULE = auto()
    COMMENT = auto()
    KEYWORD = auto()
    #: A planning line or a clock.
    TIMES = auto()
    #: What is shown as it stands: LaTeX environments, tables of other programs, diary entries.
    VERBATIM = auto()


class Element(NamedTuple):
    """An element at its place; what it contains follows it and lies in its `contents`."""

    kind: ElementKind
    begin: int
    #: Where it begins itself, behind keywords such as `#+caption:`.
    own: int
    end: int
    contents: tuple[int, int] | None = None
    #: The tag of an item of a description list.
    tag: tuple[int, int] | None = None


_BLOCK = lazily(rf"[ \t]*#\+begin(?:_[^{SPACE}]|:? )", re.IGNORECASE)
_CALL = lazily(r"[ \t]*#\+call:", re.IGNORECASE)
_DRAWER = lazily(rf"[ \t]*:([^{SPACE}:]+):[ \t]*(?=\n|\Z)")


class ElementReader(SectionReader):
    """The reader of a text's elements; its parent decides where each begins and ends."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._elements: list[Element] = []
        #: The kind of the element that is being read, where not its beginning tells.
        self._kind: ElementKind | None = None
        self._own = 0

    def read_elements(self, begin: int, end: int, mode: ElementMode) -> list[Element]:
        """Return the elements between `begin` and `end`, each before what it contains."""
        self._elements, self._kind, self._own = [], None, 0
        for region in self.read_regions(begin, end, mode):
            if region.kind is RegionKind.KEYWORD:
                line_end = self._next_line(region.begin, end)
                self._elements.append(Element(ElementKind.KEYWORD, region.begin, region.begin, line_end))
        heads = sorted((element.begin, element.own) for element in self._elements if element.own > element.begin)
        return sorted(
            (element for element in self._elements if not _is_affiliated(element, heads)),
            key=lambda element: element.begin,
        )

    def _go_on(self, position: int, frame: ElementFrame, mode: ElementMode = ElementMode.NONE) -> None:
        own = max(self._own, frame.at)
        kind = self._kind or self._kind_at(own, position)
        self._kind = None
        # keywords have regions
        if kind is not ElementKind.KEYWORD or _CALL.match(self._text, own):
            self._elements.append(Element(kind, frame.at, own, position))
        super()._go_on(position, frame, mode)

    def _go_in(self, begin: int, end: int, items: Items | None = None, mode: ElementMode = ElementMode.NONE) -> None:
        if items is None and mode is ElementMode.NONE:
            # what is gone into was passed just now
            self._elements[-1] = self._elements[-1]._replace(contents=(begin, end))
        super()._go_in(begin, end, items, mode)

    def _plain_element(self, position: int, first_char: str, frame: ElementFrame) -> Iterator[Region]:
        self._own = position
        yield from super()._plain_element(position, first_char, frame)

    def _read_paragraph(self, position: int, frame: ElementFrame) -> Iterator[Region]:
        self._own = position
        for region in super()._read_paragraph(position, frame):
            # it is passed once its region was given
            self._kind = ElementKind.PARAGRAPH
            yield region

    def _enter_list(self, position: int, frame: ElementFrame) -> None:
        self._kind = ElementKind.LIST
        super()._enter_list(position, frame)

    def _read_item(self, frame: ElementFrame) -> Iterator[Region]:
        position, end, _, items = frame
        if items is not None and position in items:
            closing = min(items[position].end, end)
            tag, begin = item_contents(self._text, position, closing)
            self._elements.append(Element(ElementKind.ITEM, position, position, closing, (begin, closing), tag))
        yield from super()._read_item(frame)

    def _kind_at(self, own: int, end: int) -> ElementKind:
        """Return the kind of an element that is neither a paragraph nor a list, by its first letter."""
        text = self._text
        match line_mark(text, own, end):
            case "#":
                return self._hash_kind(own, end)
            case ":":
                drawer = _DRAWER.match(text, own, end)
                if drawer is None:
                    return ElementKind.FIXED_WIDTH
                return ElementKind.PROPERTIES if drawer[1].upper() == "PROPERTIES" else ElementKind.DRAWER
            case "[":
                return ElementKind.FOOTNOTE
            case "|":
                return ElementKind.TABLE
            case "-":
                return ElementKind.RULE
            case "c" | "C":
                return ElementKind.TIMES
        return ElementKind.TIMES if PLANNING.match(text, own, end) else ElementKind.VERBATIM

    def _hash_kind(self, own: int, end: int) -> ElementKind:
        if _BLOCK.match(self._text, own, end):
            return ElementKind.BLOCK
        is_keyword = self._text.startswith("#+", self._text.index("#", own))
        return ElementKind.KEYWORD if is_keyword else ElementKind.COMMENT


def _is_affiliated(element: Element, heads: list[tuple[int, int]]) -> bool:
    """Say whether a keyword belongs to the element below it; `heads` are the spans of such keywords."""
    if element.kind is not ElementKind.KEYWORD:
        return False
    place = bisect_right(heads, (element.begin, len(heads) and heads[-1][1])) - 1
    return place >= 0 and heads[place][0] <= element.begin < heads[place][1]
