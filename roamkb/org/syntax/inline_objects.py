"""The live links and citations of a stretch of text, by the order of Org's own parser.

A shape of a link counts only where Org's parser, reading objects from the left, makes it
one: not inside verbatim text, formulas, macros, inline code or targets. The order in which
objects are tried, and what each may hold, is org-element's.
"""

import re
from collections.abc import Callable
from collections.abc import Iterator
from enum import Enum
from enum import auto
from typing import ClassVar
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org import entities
from roamkb.org.syntax.brackets import BracketPairs
from roamkb.org.syntax.forward_search import ForwardSearch
from roamkb.org.syntax.forward_search import forward_match
from roamkb.org.syntax.links import TYPE_COLON
from roamkb.org.syntax.links import LinkFinder
from roamkb.org.syntax.links import LinkText
from roamkb.org.syntax.syntax_table import AFTER_EMPHASIS
from roamkb.org.syntax.syntax_table import BEFORE_EMPHASIS
from roamkb.org.syntax.syntax_table import SPACE
from roamkb.org.syntax.syntax_table import is_name
from roamkb.org.syntax.syntax_table import is_punctuation
from roamkb.org.syntax.syntax_table import is_space
from roamkb.org.syntax.syntax_table import is_word
from roamkb.org.syntax.syntax_table import is_word_start

#: A time with its repeater is shorter; what is longer is looked at closely.
_LONGEST_TIME = 100


class NoDate(Exception):
    """Text with the shape of a time that names no date: Org gives up on the file."""


class ObjectSet(Enum):
    """The objects that a stretch of text may hold."""

    ALL = auto()
    #: The value of a caption: no footnote references.
    CAPTION = auto()
    #: A table cell: no inline code.
    CELL = auto()
    #: A link's description: no links.
    DESCRIPTION = auto()


class ObjectWindow(NamedTuple):
    """The rest of a stretch that is being read: from `at` on, in a stretch from `begin` to `end`."""

    begin: int
    at: int
    end: int
    holds: ObjectSet


class InlineObject(NamedTuple):
    """An object: its span, and the span of its contents if it can hold other objects."""

    begin: int
    #: Behind the blanks that follow it.
    end: int
    link: LinkText | None = None
    inside: tuple[int, int] | None = None
    citation: bool = False


_ANCHOR = lazily(
    rf"[*~=+/_](?![{SPACE}])"
    r"|\^(?=[-{(*+.,\\\w])"
    rf"|{TYPE_COLON}"
    r"|\[(?=cite[:/]|fn:|\[|[0-9])|@(?=@)|\{(?=\{\{)|<(?=%%|<|[0-9a-z])|\$|\\(?=[a-z(\[])",
    re.IGNORECASE,
)

_CLOSERS = {mark: lazily(rf"(?<![{SPACE}]){re.escape(mark)}(?={AFTER_EMPHASIS}|\Z)") for mark in "*~=+_/"}
_BEFORE_EMPHASIS = lazily(BEFORE_EMPHASIS)
_SCRIPT = lazily(r"\*|[+-]?(?:[^\W_]|[.,\\])*[^\W_]")
_FOOTNOTE = lazily(rf"\[fn:([^\]\[{SPACE}:]*)(:|\])", re.IGNORECASE)
_CITE = lazily(r"\[cite(?:/(?:[^\W_]|[/_-])+)?:[\t\n ]*", re.IGNORECASE)
_CITE_KEY = lazily(r"@((?:[!#-+./:<>-@^-`{-~0-9A-Za-z$%'-]|[^\x00-\x7f])+)")
_SNIPPET = lazily(r"@@[-A-Za-z0-9]+:")
_MACRO = lazily(r"\{\{\{[a-zA-Z][-a-zA-Z0-9_]*(\(|\}\}\})")
_TARGET = lazily(r"<<(?:[^<>\n\r\t ]|[^<>\n\r\t ][^<>\n\r]*[^<>\n\r\t ])>>")
_RADIO_TARGET = lazily(r"<<<(?:[^<>\n\r\t ]|[^<>\n\r\t ][^<>\n\r]*[^<>\n\r\t ])>>>")
_DATE = lazily(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIMESTAMP = lazily(r"[\[<]\d{4}-\d{2}-\d{2}[ \]>]", re.ASCII)
_ODD_TIMESTAMP = lazily(r"<\d+-\d+-\d+", re.ASCII)
_REPEATER = lazily(r"\+\d++[dwmy]>", re.ASCII)
_HALF_RANGE = lazily(r"--(?<=[\]>]--)[\[<](?!\d{4}-\d{2}-\d{2})", re.ASCII)
_LATEX_MACRO = lazily(r"\\([a-zA-Z]+)\*?((?:\[[^\]\[\n{}]*\]|\{[^{}\n]*\})*)")
_ENTITY_END = lazily(r"\\(?:there4|sup[123]|frac[13][24]|[a-zA-Z]+)")
_BLANKS = lazily(r"[ \t]*+")
_TIME_END = lazily(r"[\]>\n]")
_ANGLE_END = lazily(r"[>\n]")
_CODE_END = lazily(r"[ \t\n\[({]")


class ObjectReader:
    """The reader of the objects of one text, to be called from its start to its end."""

    def __init__(self, text: str, links: LinkFinder) -> None:
        self._text = text
        self._links = links
        self._pairs = BracketPairs(text)
        self._next: dict[str, ForwardSearch] = {}
        self._repeaters: dict[int, int] = {}

    def links_at(self, begin: int, end: int, points: Iterator[int] | list[int], holds: ObjectSet) -> Iterator[LinkText]:
        """Yield the link around each of the rising `points` between `begin` and `end`, if any."""
        frames = [_ObjectFrame(begin, end, holds)]
        for point in points:
            while len(frames) > 1 and not frames[-1].has_point(point, self._text):
                frames.pop()
            link = self._link_at(point, frames)
            if link is not None:
                yield link

    def _link_at(self, point: int, frames: list["_ObjectFrame"]) -> LinkText | None:
        touching: InlineObject | None = None
        while True:
            frame = frames[-1]
            inline_object = frame.found or self._next_object(frame.rest_window())
            frame.found = inline_object
            if inline_object is None or inline_object.begin > point:
                return touching.link if touching else None
            if inline_object.end <= point and inline_object.end != frame.end:
                frame.at, frame.found = inline_object.end, None
                if inline_object.end == point and self._text[point - 1] not in " \t":
                    touching = inline_object
                continue
            if inline_object.inside is None or inline_object.citation:
                return inline_object.link
            inner = _ObjectFrame(*inline_object.inside, ObjectSet.ALL, frame.end)
            if not inner.has_point(point, self._text):
                return inline_object.link
            frames.append(inner)

    def read_objects(self, begin: int, end: int, holds: ObjectSet) -> Iterator[InlineObject]:
        """Yield the objects between `begin` and `end`, but for those inside of another one."""
        window = ObjectWindow(begin, begin, end, holds)
        while inline_object := self._next_object(window):
            yield inline_object
            window = window._replace(at=inline_object.end)

    def find_citations(self, begin: int, end: int, holds: ObjectSet) -> Iterator[tuple[str, int]]:
        """Yield each cited key between `begin` and `end`, with the place of its reference."""
        windows = [ObjectWindow(begin, begin, end, holds)]
        while windows:
            window = windows.pop()
            inline_object = self._next_object(window)
            if inline_object is None:
                continue
            windows.append(window._replace(at=inline_object.end))
            if inline_object.inside and inline_object.citation:
                yield from self.citation_keys(*inline_object.inside)
            elif inline_object.inside:
                inside_begin, inside_end = inline_object.inside
                windows.append(ObjectWindow(inside_begin, inside_begin, inside_end, ObjectSet.ALL))

    def find_verbatims(self, begin: int, end: int, holds: ObjectSet) -> Iterator[tuple[int, int]]:
        """Yield the span of each verbatim or code text between `begin` and `end`."""
        text = self._text
        windows = [ObjectWindow(begin, begin, end, holds)]
        while windows:
            window = windows.pop()
            inline_object = self._next_object(window)
            if inline_object is None:
                continue
            windows.append(window._replace(at=inline_object.end))
            if text[inline_object.begin] in "~=":
                yield (
                    inline_object.begin,
                    inline_object.begin + len(text[inline_object.begin : inline_object.end].rstrip(" \t")),
                )
            elif not inline_object.citation and (
                inside := self.description_span(inline_object) if inline_object.link else inline_object.inside
            ):
                is_described = inline_object.link is not None or window.holds is ObjectSet.DESCRIPTION
                object_set = ObjectSet.DESCRIPTION if is_described else ObjectSet.ALL
                windows.append(ObjectWindow(inside[0], *inside, object_set))

    def description_span(self, link: InlineObject) -> tuple[int, int] | None:
        """Return the span of a bracket link's description."""
        parts = self._links.bracket_parts(link.begin, link.end) if self._text[link.begin] == "[" else None
        if parts is None or self._text[parts[0].end()] == "]":
            return None
        return parts[0].end() + 1, parts[1] - 2

    def _next_object(self, window: ObjectWindow) -> InlineObject | None:
        position = window.at
        while anchor := _ANCHOR.search(self._text, position, window.end):
            inline_object = self._HANDLERS[anchor[0]](self, anchor.start(), window)
            if inline_object is not None:
                return inline_object
            position = anchor.end()
        return None

    def _make_object(
        self,
        begin: int,
        end: int,
        limit: int,
        *,
        link: LinkText | None = None,
        inside: tuple[int, int] | None = None,
        citation: bool = False,
    ) -> InlineObject:
        blanks = _BLANKS.match(self._text, end, limit)
        return InlineObject(begin, blanks.end() if blanks else end, link, inside, citation)

    def _find_text(self, needle: str, position: int) -> int:
        """Return the first place of `needle` from `position` on."""
        ahead = self._next.get(needle)
        if ahead is None:
            text = self._text
            ahead = self._next[needle] = ForwardSearch(lambda position: text.find(needle, position), len(text))
        return ahead.first_from(position)

    def _find_match(self, pattern: re.Pattern[str], position: int) -> int:
        ahead = self._next.get(pattern.pattern)
        if ahead is None:
            ahead = self._next[pattern.pattern] = forward_match(pattern, self._text)
        return ahead.first_from(position)

    def _emphasis_object(self, position: int, window: ObjectWindow) -> InlineObject | None:
        text, end = self._text, window.end
        if position > window.begin and not _BEFORE_EMPHASIS.match(text, position - 1):
            return None
        mark = text[position]
        closing = self._find_match(_CLOSERS[mark], position + 2)
        if closing >= end:
            closing = end - 1
            if closing < position + 2 or text[closing] != mark or is_space(text[closing - 1]):
                return None
        if self._find_text("\n", self._find_text("\n", position) + 1) < closing:
            return None
        if mark in "~=":
            return self._make_object(position, closing + 1, end)
        return self._make_object(position, closing + 1, end, inside=(position + 1, closing))

    def _underscore_object(self, position: int, window: ObjectWindow) -> InlineObject | None:
        code = None if window.holds is ObjectSet.CELL else self._inline_code(position, window)
        return code or self._script_object(position, window) or self._emphasis_object(position, window)

    def _inline_code(self, position: int, window: ObjectWindow) -> InlineObject | None:
        for name, opener in (("src", "{"), ("call", "(")):
            begin = position - len(name)
            if begin < window.at or not self._text.startswith(name, begin):
                continue
            if is_word_start(self._text, begin):
                return self._code_object(begin, position + 1, window.end, opener)
        return None

    def _code_object(self, begin: int, position: int, end: int, opener: str) -> InlineObject | None:
        text = self._text
        stop = self._find_match(_CODE_END, position)
        while stop < end and text[stop] in "({" and text[stop] != opener:
            stop = self._find_match(_CODE_END, stop + 1)
        if stop >= end or stop == position or text[stop] not in ("[", opener):
            return None
        if text[stop] == "[":
            stop = self._behind_pair(stop, end) or stop
        if text[stop : stop + 1] != opener:
            return None
        closing = self._behind_pair(stop, end)
        if closing is None:
            return None
        if opener == "(" and text[closing : closing + 1] == "[":
            closing = self._behind_pair(closing, end) or closing
        return self._make_object(begin, closing, end)

    def _behind_pair(self, position: int, end: int) -> int | None:
        closing = self._pairs.closing_of(position)
        return closing + 1 if closing is not None and closing < end else None

    def _script_object(self, position: int, window: ObjectWindow) -> InlineObject | None:
        text, end = self._text, window.end
        if position == window.begin or is_space(text[position - 1]) or position + 1 >= end:
            return None
        opener = text[position + 1]
        if opener in "{(":
            closing = self._pairs.shallow_closing(position + 1)
            if closing is not None and closing < end:
                inside = (position + 2, closing) if opener == "{" else (position + 1, closing + 1)
                return self._make_object(position, closing + 1, end, inside=inside)
            return None
        word = _SCRIPT.match(text, position + 1, end)
        if word is None:
            return None
        return self._make_object(position, word.end(), end, inside=(position + 1, word.end()))

    def _plain_link_object(self, position: int, window: ObjectWindow) -> InlineObject | None:
        link = None if window.holds is ObjectSet.DESCRIPTION else self._links.plain_link(position, window.end)
        if link is None or link.begin < window.at:
            return None
        return self._make_object(link.begin, link.end, window.end, link=link)

    def _bracket_object(self, position: int, window: ObjectWindow) -> InlineObject | None:
        second, end = self._text[position + 1], window.end
        if second == "[":
            link = self._links.bracket_link(position, end)
            return None if link is None else self._make_object(position, link.end, end, link=link)
        if second in "fF":
            return None if window.holds is ObjectSet.CAPTION else self._footnote_object(position, end)
        if second in "cC":
            return self._citation_object(position, end)
        return self._timestamp_object(position, end)

    def _footnote_object(self, position: int, end: int) -> InlineObject | None:
        label = _FOOTNOTE.match(self._text, position, end)
        if label is None or not is_name(label[1]) or (label[2] == "]" and not label[1]):
            return None
        closing = self._behind_pair(position, end)
        if closing is None:
            return None
        inside = (label.end(), closing - 1) if label[2] == ":" else None
        return self._make_object(position, closing, end, inside=inside)

    def _citation_object(self, position: int, end: int) -> InlineObject | None:
        prefix = _CITE.match(self._text, position, end)
        closing = self._behind_pair(position, end) if prefix else None
        if prefix is None or closing is None or not _CITE_KEY.search(self._text, prefix.end(), closing):
            return None
        return self._make_object(position, closing, end, inside=(prefix.end(), closing - 1), citation=True)

    def citation_keys(self, position: int, end: int) -> Iterator[tuple[str, int]]:
        """Yield each key of a citation with these contents, and the place of its reference."""
        first_key = _CITE_KEY.search(self._text, position, end)
        common = self._text.rfind(";", position, first_key.start()) if first_key else -1
        position = max(position, common + 1)
        while key := _CITE_KEY.search(self._text, position, end):
            name = cut_key(key[1])
            if name:
                yield name, position
            separator = self._text.find(";", key.start(1) + len(name), end)
            position = end if separator < 0 else separator + 1

    def _timestamp_object(self, position: int, end: int) -> InlineObject | None:
        text = self._text
        if not _TIMESTAMP.match(text, position, end) and not self._is_odd_timestamp(position, end):
            return None
        closing = self._find_match(_TIME_END, position)
        if closing >= end or text[closing] == "\n":
            return None
        self._check_date(position, closing)
        if text.startswith(("--<", "--["), closing + 1, end) and not text.startswith("<%%", position):
            second = self._find_match(_TIME_END, closing + 4)
            if second < end and text[second] != "\n":
                self._check_date(closing + 3, second)
                closing = second
        return self._make_object(position, closing + 1, end)

    def _is_odd_timestamp(self, position: int, end: int) -> bool:
        """Say whether a repeated date with missing digits, or a diary entry, begins here."""
        text = self._text
        closing = self._find_match(_ANGLE_END, position)
        if closing >= end or text[closing] == "\n":
            return False
        if text.startswith("<%%(", position):
            return closing > position + 5 and text[closing - 1] == ")"
        date = _ODD_TIMESTAMP.match(text, position, end)
        return date is not None and date.end() < self._repeater_of(closing)

    def _repeater_of(self, closing: int) -> int:
        """Return the start of the `+1w` before `closing`; -1 if there is none."""
        if closing not in self._repeaters:
            position = self._text.rfind("+", 0, closing)
            match = _REPEATER.match(self._text, position) if position >= 0 else None
            self._repeaters[closing] = position if match and match.end() == closing + 1 else -1
        return self._repeaters[closing]

    def _check_date(self, begin: int, end: int) -> None:
        if not _DATE.search(self._text, begin, end) and not self._text.startswith("<%%", begin):
            raise NoDate(self._text[begin : end + 1])

    def _snippet_object(self, position: int, window: ObjectWindow) -> InlineObject | None:
        end = window.end
        name = _SNIPPET.match(self._text, position, end)
        if name is None:
            return None
        closing = self._find_text("@@", name.end()) + 2
        # without its end, it's only its beginning that nothing else can use
        return self._make_object(position, closing if closing <= end else name.end(), end)

    def _macro_object(self, position: int, window: ObjectWindow) -> InlineObject | None:
        end = window.end
        name = _MACRO.match(self._text, position, end)
        if name is None:
            return None
        if name[1] != "(":
            return self._make_object(position, name.end(), end)
        closing = self._find_text(")}}}", name.end())
        return self._make_object(position, closing + 4, end) if closing + 4 <= end else None

    def _angle_object(self, position: int, window: ObjectWindow) -> InlineObject | None:
        end = window.end
        if self._text[position + 1] == "<":
            radio = _RADIO_TARGET.match(self._text, position, end)
            target = radio or _TARGET.match(self._text, position, end)
            if target is None:
                return None
            return self._make_object(position, target.end(), end)
        time = self._timestamp_object(position, end)
        if time is not None:
            return time
        link = self._links.angle_link(position, end)
        return None if link is None else self._make_object(position, link.end, end, link=link)

    def _formula_object(self, position: int, window: ObjectWindow) -> InlineObject | None:
        text, end = self._text, window.end
        if text.startswith("$$", position, end):
            closing = self._find_text("$$", position + 2) + 2
            return self._make_object(position, closing, end) if closing <= end else None
        closing = self._find_text("$", position + 1)
        if closing >= end or (position > window.begin and text[position - 1] == "$"):
            return None
        if text[position + 1] in " \t\n,.;" or text[closing - 1] in " \t\n,.":
            return None
        if closing + 1 < end and not is_punctuation(text[closing + 1]):
            return None
        return self._make_object(position, closing + 1, end)

    def _backslash_object(self, position: int, window: ObjectWindow) -> InlineObject | None:
        second, end = self._text[position + 1], window.end
        if second in "([":
            closing = self._find_text("\\)" if second == "(" else "\\]", position + 2) + 2
            return self._make_object(position, closing, end) if closing <= end else None
        macro = _LATEX_MACRO.match(self._text, position, end)
        if macro is None:
            return None
        if macro[2] and self.is_entity(position, end):
            return self._make_object(position, macro.end(1), end)
        return self._make_object(position, macro.end(), end)

    def is_entity(self, position: int, end: int) -> bool:
        """Say whether the backslash at `position` begins the name of a character."""
        name = _ENTITY_END.match(self._text, position, end)
        return name is not None and name[0][1:] in entities.ENTITIES

    #: What reads the object that begins with a mark; of the class, since bound methods would refer to their own reader.
    _HANDLERS: ClassVar[dict[str, Callable[["ObjectReader", int, ObjectWindow], InlineObject | None]]] = {
        **dict.fromkeys("*~=+/", _emphasis_object),
        "_": _underscore_object,
        "^": _script_object,
        ":": _plain_link_object,
        "[": _bracket_object,
        "@": _snippet_object,
        "{": _macro_object,
        "<": _angle_object,
        "$": _formula_object,
        "\\": _backslash_object,
    }


def suspect_times(text: str) -> list[int]:
    """Return the places that could make Org fail: half ranges, and dates that lack a digit."""
    places = [half.start() - 1 for half in _HALF_RANGE.finditer(text)]
    for repeater in _REPEATER.finditer(text):
        position = repeater.start()
        begin = text.rfind("<", max(position - _LONGEST_TIME, 0), position)
        if begin < 0 or not _TIMESTAMP.match(text, begin):
            places.append(position)
    return sorted(places)


class _ObjectFrame:
    """A stretch of text that is being read: the region, or the contents of an object."""

    __slots__ = ("at", "begin", "end", "found", "holds", "outer")

    def __init__(self, begin: int, end: int, holds: ObjectSet, outer: int = -1) -> None:
        self.begin = begin
        self.end = end
        self.at = begin
        self.holds = holds
        #: Where the stretch around it ends.
        self.outer = outer
        #: The object that comes next, once it's known.
        self.found: InlineObject | None = None

    def rest_window(self) -> ObjectWindow:
        """Return the part of the stretch that is still to be read."""
        return ObjectWindow(self.begin, self.at, self.end, self.holds)

    def has_point(self, point: int, text: str) -> bool:
        """Say whether Org takes `point` to be inside, the very end of the contents included."""
        if self.begin <= point < self.end:
            return True
        return point == self.end and (point == self.outer or text[point - 1] not in " \t")


def cut_key(key: str) -> str:
    """Return as much of `key` as citation keys may hold."""
    if key.isascii():
        return key
    for place, char in enumerate(key):
        if not char.isascii() and not is_word(char):
            return key[:place]
    return key
