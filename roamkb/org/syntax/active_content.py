"""The active content of a text: its live links, citations, keywords and verbatim text."""

import re
from bisect import bisect_left
from bisect import bisect_right
from collections.abc import Callable
from collections.abc import Iterator
from itertools import takewhile

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.elements import ElementMode
from roamkb.org.syntax.elements import Region
from roamkb.org.syntax.elements import RegionKind
from roamkb.org.syntax.elements import SectionReader
from roamkb.org.syntax.headings import heading_lines
from roamkb.org.syntax.inline_objects import ObjectReader
from roamkb.org.syntax.inline_objects import ObjectSet
from roamkb.org.syntax.inline_objects import suspect_times
from roamkb.org.syntax.links import Abbreviations
from roamkb.org.syntax.links import LinkFinder
from roamkb.org.syntax.links import LinkText
from roamkb.org.syntax.syntax_table import SPACE

_CITE = lazily(r"\[cite[:/]", re.IGNORECASE)
_VERBATIM_MARK = lazily("[~=]")
_KEY = lazily(rf"[ \t]*(?:#\+([^{SPACE}]*):|:([^{SPACE}]+):)")
#: Keywords and properties whose links org-roam leaves out.
_MUTE = frozenset(("TRANSCLUDE", "ROAM_REFS"))


class LiveText:
    """A text that is parsed only where something of interest stands in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = heading_lines(text)
        self.begins = [line.begin for line in self.lines]
        self._reader = SectionReader(text)
        #: The regions that were read of each section, and up to where they were.
        self._read: dict[int, tuple[list[Region], int]] = {}

    def keyword_lines(self, pattern: re.Pattern[str]) -> Iterator[str]:
        """Yield the keyword lines in which `pattern` matches somewhere."""
        places = [line.start() for line in pattern.finditer(self.text)]
        for region, _ in self._regions_with(places):
            if region.kind is RegionKind.KEYWORD:
                yield self.text[region.begin : region.end]

    def find_links(
        self, title: Callable[[int], tuple[int, int] | None], abbreviations: Abbreviations
    ) -> Iterator[LinkText]:
        """Yield all links; `title` returns the span of the title of the heading with that number."""
        if "[[" not in self.text and ":" not in self.text:
            return
        finder = LinkFinder(self.text, abbreviations)
        points = [end - 1 for _, end in finder.find_spans(0, len(self.text))]
        objects = ObjectReader(self.text, finder)
        for region, inside in self._regions_with(points, title):
            if region.kind in (RegionKind.KEYWORD, RegionKind.PROPERTY):
                yield from self._links_of_line(region, inside)
            elif region.kind is not RegionKind.TIMES:
                for begin, end, holds in self._object_spans(region):
                    points_inside = inside[bisect_left(inside, begin) : bisect_left(inside, end)]
                    if points_inside:
                        yield from objects.links_at(begin, end, points_inside, holds)

    def check_times(self, title: Callable[[int], tuple[int, int] | None]) -> None:
        """Raise `NoDate` where Org would fail to read a time."""
        places = suspect_times(self.text)
        if not places:
            return
        objects = ObjectReader(self.text, LinkFinder(self.text))
        for region, _ in self._regions_with(places, title):
            if region.kind not in (RegionKind.KEYWORD, RegionKind.PROPERTY):
                for begin, end, holds in self._object_spans(region):
                    for _ in objects.find_citations(begin, end, holds):
                        pass

    def find_citations(self, title: Callable[[int], tuple[int, int] | None]) -> Iterator[tuple[str, int]]:
        """Yield all cited keys with their places."""
        if "[" not in self.text:
            return
        places = [cite.start() for cite in _CITE.finditer(self.text)]
        if not places:
            return
        objects = ObjectReader(self.text, LinkFinder(self.text))
        for region, _ in self._regions_with(places, title):
            if region.kind in (RegionKind.TEXT, RegionKind.ROW):
                for begin, end, holds in self._object_spans(region):
                    yield from objects.find_citations(begin, end, holds)

    def find_verbatims(self) -> Iterator[tuple[int, int]]:
        """Yield the span of each verbatim or code text, its marks included.

        Raises:
            NoDate: Org would fail to read a time.
        """
        places = [mark.start() for mark in _VERBATIM_MARK.finditer(self.text)]
        objects = ObjectReader(self.text, LinkFinder(self.text))
        for region, _ in self._regions_with(places):
            if region.kind in (RegionKind.TEXT, RegionKind.ROW, RegionKind.CAPTION):
                for begin, end, holds in self._object_spans(region):
                    yield from objects.find_verbatims(begin, end, holds)

    def _links_of_line(self, region: Region, points: list[int]) -> Iterator[LinkText]:
        key = _KEY.match(self.text, region.begin, region.end)
        if key is not None and (key[1] or key[2] or "").upper() in _MUTE:
            return
        finder = LinkFinder(self.text)
        spans = list(finder.find_spans(region.begin, region.end))
        for point in points:
            place = bisect_right(spans, (point, len(self.text))) - 1
            if place >= 0 and point <= spans[place][1]:
                link = finder.link_in_span(*spans[place])
                if link is not None:
                    yield link

    def _object_spans(self, region: Region) -> Iterator[tuple[int, int, ObjectSet]]:
        """Yield the spans that are parsed alone: the region, or each cell of a table's row."""
        begin, end = region.begin, region.end
        if region.kind is not RegionKind.ROW:
            yield begin, end, ObjectSet.CAPTION if region.kind is RegionKind.CAPTION else ObjectSet.ALL
            return
        while begin < end:
            bar = self.text.find("|", begin, end)
            bar = end if bar < 0 else bar
            cell = self.text[begin:bar]
            content_begin = begin + len(cell) - len(cell.lstrip(" \t"))
            yield content_begin, max(begin + len(cell.rstrip(" \t")), content_begin), ObjectSet.CELL
            begin = bar + 1

    def _regions_with(
        self, places: list[int], title: Callable[[int], tuple[int, int] | None] | None = None
    ) -> Iterator[tuple[Region, list[int]]]:
        """Yield the regions that hold some of the rising `places`, with those that each holds."""
        index = 0
        while index < len(places):
            number = bisect_right(self.begins, places[index]) - 1
            following = self.begins[number + 1] if number + 1 < len(self.begins) else len(self.text)
            stop = bisect_left(places, following, index)
            inside = places[index:stop]
            index = stop
            if number >= 0 and inside[0] < self.lines[number].end and title and (span := title(number)):
                yield from _regions_holding([Region(RegionKind.TEXT, *span)], inside)
            if number < 0 or inside[-1] >= self.lines[number].end:
                yield from _regions_holding(self._section_regions(number, following, inside[-1]), inside)

    def _section_regions(self, number: int, end: int, last: int) -> list[Region]:
        """Return the regions of a section that begin up to the place `last`, and perhaps others."""
        regions, read_until = self._read.get(number, ([], -1))
        if last > read_until:
            begin, mode = (self.lines[number].end, ElementMode.PLANNING) if number >= 0 else (0, ElementMode.TOP)
            regions_in_order = self._reader.read_regions(begin, end, mode)
            regions = list(takewhile(lambda region: region.begin <= last, regions_in_order))
            self._read[number] = regions, last
        return regions


def _regions_holding(regions: list[Region], places: list[int]) -> Iterator[tuple[Region, list[int]]]:
    for region in regions:
        inside = places[bisect_left(places, region.begin) : bisect_left(places, region.end)]
        if inside:
            yield region, inside
