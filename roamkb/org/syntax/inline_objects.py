"""Which links and citations of a stretch of text are live.

A shape of a link counts only where Org's parser, reading objects from the left, makes it
one: not inside verbatim text, formulas, macros, inline code or targets. The order in which
objects are tried, and what each may hold, is org-element's.
"""

import re
from collections.abc import Callable
from collections.abc import Iterator
from enum import Enum
from enum import auto
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.brackets import BracketPairs
from roamkb.org.syntax.forward_search import ForwardSearch
from roamkb.org.syntax.links import TYPE_COLON
from roamkb.org.syntax.links import LinkFinder
from roamkb.org.syntax.links import LinkText
from roamkb.org.syntax.syntax_table import is_name
from roamkb.org.syntax.syntax_table import is_punctuation
from roamkb.org.syntax.syntax_table import is_word
from roamkb.org.syntax.syntax_table import is_word_start

#: A time with its repeater is shorter; what is longer is looked at closely.
_LONGEST_TIME = 100


class NoDate(Exception):
    """Something has the shape of a time and names no date: Org gives up on the file."""


class ObjectSet(Enum):
    """What objects a stretch of text may hold."""

    ALL = auto()
    #: The value of a caption: no footnote references.
    CAPTION = auto()
    #: A table cell: no inline code.
    CELL = auto()
    #: A link's description: no links.
    DESCRIPTION = auto()


class ObjectWindow(NamedTuple):
    """What is being read: objects from `at` on, in a stretch that begins at `begin`."""

    begin: int
    at: int
    end: int
    holds: ObjectSet


class InlineObject(NamedTuple):
    """An object: where it is, and where its contents are if it can hold others."""

    begin: int
    #: Behind the blanks that follow it.
    end: int
    link: LinkText | None = None
    inside: tuple[int, int] | None = None
    citation: bool = False


_ANCHOR = lazily(
    r"[*~=+/](?![\s\u200b])|_(?![\s\u200b])|\^(?=[-{(*+.,\w])"
    rf"|{TYPE_COLON}"
    r"|\[(?=cite[:/]|fn:|\[|[0-9])|@(?=@)|\{(?=\{\{)|<(?=%%|<|[0-9a-z])|\$|\\(?=[a-z(\[])",
    re.IGNORECASE,
)

_AFTER_EMPHASIS = "-\\s\u200b.,:!?;'\")}\\["
_CLOSERS = {mark: lazily(rf"(?<![\s\u200b]){re.escape(mark)}(?=[{_AFTER_EMPHASIS}]|\Z)") for mark in "*~=+_/"}
_BEFORE_EMPHASIS = lazily("[-\\s\u200b('\"{]")
_SCRIPT = lazily(r"\*|[+-]?(?:[^\W_]|[.,\\])*[^\W_]")
_FOOTNOTE = lazily(r"\[fn:([^\]\[\s:]*)(:|\])", re.IGNORECASE)
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
_HALF_RANGE = lazily(r"[\]>]--[\[<](?!\d{4}-\d{2}-\d{2})", re.ASCII)
_LATEX_MACRO = lazily(r"\\([a-zA-Z]+)\*?((?:\[[^\]\[\n{}]*\]|\{[^{}\n]*\})*)")
_ENTITY_END = lazily(r"\\(?:there4|sup[123]|frac[13][24]|[a-zA-Z]+)")
_BLANKS = lazily(r"[ \t]*+")
_TIME_END = lazily(r"[\]>\n]")
_ANGLE_END = lazily(r"[>\n]")
_CODE_END = lazily(r"[ \t\n\[({]")


class ObjectReader:
    """Objects in one text, asked for from its start to its end."""

    def __init__(self, text: str, links: LinkFinder) -> None:
        self._text = text
        self._links = links
        self._pairs = BracketPairs(text)
        self._next: dict[str, ForwardSearch] = {}
        self._repeaters: dict[int, int] = {}
        self._handlers: dict[str, Callable[[int, ObjectWindow], InlineObject | None]] = {
            **dict.fromkeys("*~=+/", self._emphasis),
            "_": self._underscore,
            "^": self._script,
            ":": self._plain_link,
            "[": self._bracket,
            "@": self._snippet,
            "{": self._macro,
            "<": self._less,
            "$": self._formula,
            "\\": self._backslash,
        }

    def links_at(
        self, begin: int, end: int, points: Iterator[int] | list[int], holds: ObjectSet
    ) -> Iterator[LinkText]:
        """Yield the link around each of the rising `points` between `begin` and `end`, if there is one."""
        frames = [_ObjectFrame(begin, end, holds)]
        for point in points:
            while len(frames) > 1 and not frames[-1].has(point, self._text):
                frames.pop()
            link = self._link_at(point, frames)
            if link is not None:
                yield link

    def _link_at(self, point: int, frames: list["_ObjectFrame"]) -> LinkText | None:
        touching: InlineObject | None = None
        while True:
            frame = frames[-1]
            found = frame.found or self._next_object(frame.window())
            frame.found = found
            if found is None or found.begin > point:
                return touching.link if touching else None
            if found.end <= point and found.end != frame.end:
                frame.at, frame.found = found.end, None
                if found.end == point and self._text[point - 1] not in " \t":
                    touching = found
                continue
            if found.inside is None or found.citation:
                return found.link
            inner = _ObjectFrame(*found.inside, ObjectSet.ALL, frame.end)
            if not inner.has(point, self._text):
                return found.link
            frames.append(inner)

    def citations(self, begin: int, end: int, holds: ObjectSet) -> Iterator[tuple[str, int]]:
        """Yield each cited key between `begin` and `end`, with where its reference begins."""
        windows = [ObjectWindow(begin, begin, end, holds)]
        while windows:
            window = windows.pop()
            found = self._next_object(window)
            if found is None:
                continue
            windows.append(window._replace(at=found.end))
            if found.inside and found.citation:
                yield from self._keys(*found.inside)
            elif found.inside:
                first, last = found.inside
                windows.append(ObjectWindow(first, first, last, ObjectSet.ALL))

    def verbatims(self, begin: int, end: int, holds: ObjectSet) -> Iterator[tuple[int, int]]:
        """Yield where each verbatim or code text between `begin` and `end` begins and ends."""
        text = self._text
        windows = [ObjectWindow(begin, begin, end, holds)]
        while windows:
            window = windows.pop()
            found = self._next_object(window)
            if found is None:
                continue
            windows.append(window._replace(at=found.end))
            if text[found.begin] in "~=":
                yield found.begin, found.begin + len(text[found.begin : found.end].rstrip(" \t"))
            elif not found.citation and (inside := self._described(found) if found.link else found.inside):
                is_described = found.link is not None or window.holds is ObjectSet.DESCRIPTION
                held = ObjectSet.DESCRIPTION if is_described else ObjectSet.ALL
                windows.append(ObjectWindow(inside[0], *inside, held))

    def _described(self, link: InlineObject) -> tuple[int, int] | None:
        """Return where the description of a bracket link is."""
        parts = self._links.bracket_parts(link.begin, link.end) if self._text[link.begin] == "[" else None
        if parts is None or self._text[parts[0].end()] == "]":
            return None
        return parts[0].end() + 1, parts[1] - 2

    def _next_object(self, window: ObjectWindow) -> InlineObject | None:
        at = window.at
        while anchor := _ANCHOR.search(self._text, at, window.end):
            found = self._handlers[anchor[0]](anchor.start(), window)
            if found is not None:
                return found
            at = anchor.end()
        return None

    def _object(
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

    def _first(self, what: str, at: int) -> int:
        """Return the first place of `what` from `at` on."""
        ahead = self._next.get(what)
        if ahead is None:
            text = self._text
            ahead = self._next[what] = ForwardSearch(lambda at: text.find(what, at), len(text))
        return ahead.after(at)

    def _first_match(self, pattern: re.Pattern[str], at: int) -> int:
        ahead = self._next.get(pattern.pattern)
        if ahead is None:

            def find(at: int) -> int:
                found = pattern.search(self._text, at)
                return found.start() if found else -1

            ahead = self._next[pattern.pattern] = ForwardSearch(find, len(self._text))
        return ahead.after(at)

    def _emphasis(self, at: int, window: ObjectWindow) -> InlineObject | None:
        text, end = self._text, window.end
        if at > window.begin and not _BEFORE_EMPHASIS.match(text, at - 1):
            return None
        mark = text[at]
        closing = self._first_match(_CLOSERS[mark], at + 2)
        if closing >= end:
            closing = end - 1
            if closing < at + 2 or text[closing] != mark or text[closing - 1].isspace():
                return None
        if self._first("\n", self._first("\n", at) + 1) < closing:
            return None
        if mark in "~=":
            return self._object(at, closing + 1, end)
        return self._object(at, closing + 1, end, inside=(at + 1, closing))

    def _underscore(self, at: int, window: ObjectWindow) -> InlineObject | None:
        code = None if window.holds is ObjectSet.CELL else self._inline_code(at, window)
        return code or self._script(at, window) or self._emphasis(at, window)

    def _inline_code(self, at: int, window: ObjectWindow) -> InlineObject | None:
        for name, opener in (("src", "{"), ("call", "(")):
            begin = at - len(name)
            if begin < window.at or not self._text.startswith(name, begin):
                continue
            if is_word_start(self._text, begin):
                return self._code(begin, at + 1, window.end, opener)
        return None

    def _code(self, begin: int, at: int, end: int, opener: str) -> InlineObject | None:
        text = self._text
        stop = self._first_match(_CODE_END, at)
        while stop < end and text[stop] in "({" and text[stop] != opener:
            stop = self._first_match(_CODE_END, stop + 1)
        if stop >= end or stop == at or text[stop] not in ("[", opener):
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
        return self._object(begin, closing, end)

    def _behind_pair(self, at: int, end: int) -> int | None:
        closing = self._pairs.closing(at)
        return closing + 1 if closing is not None and closing < end else None

    def _script(self, at: int, window: ObjectWindow) -> InlineObject | None:
        text, end = self._text, window.end
        if at == window.begin or text[at - 1].isspace() or at + 1 >= end:
            return None
        opener = text[at + 1]
        if opener in "{(":
            closing = self._pairs.shallow_closing(at + 1)
            if closing is not None and closing < end:
                inside = (at + 2, closing) if opener == "{" else (at + 1, closing + 1)
                return self._object(at, closing + 1, end, inside=inside)
            return None
        word = _SCRIPT.match(text, at + 1, end)
        if word is None:
            return None
        return self._object(at, word.end(), end, inside=(at + 1, word.end()))

    def _plain_link(self, at: int, window: ObjectWindow) -> InlineObject | None:
        link = None if window.holds is ObjectSet.DESCRIPTION else self._links.plain(at, window.end)
        if link is None or link.begin < window.at:
            return None
        return self._object(link.begin, link.end, window.end, link=link)

    def _bracket(self, at: int, window: ObjectWindow) -> InlineObject | None:
        second, end = self._text[at + 1], window.end
        if second == "[":
            link = self._links.bracket(at, end)
            return None if link is None else self._object(at, link.end, end, link=link)
        if second in "fF":
            return None if window.holds is ObjectSet.CAPTION else self._footnote(at, end)
        if second in "cC":
            return self._citation(at, end)
        return self._timestamp(at, end)

    def _footnote(self, at: int, end: int) -> InlineObject | None:
        label = _FOOTNOTE.match(self._text, at, end)
        if label is None or not is_name(label[1]) or (label[2] == "]" and not label[1]):
            return None
        closing = self._behind_pair(at, end)
        if closing is None:
            return None
        inside = (label.end(), closing - 1) if label[2] == ":" else None
        return self._object(at, closing, end, inside=inside)

    def _citation(self, at: int, end: int) -> InlineObject | None:
        prefix = _CITE.match(self._text, at, end)
        closing = self._behind_pair(at, end) if prefix else None
        if prefix is None or closing is None or not _CITE_KEY.search(self._text, prefix.end(), closing):
            return None
        return self._object(at, closing, end, inside=(prefix.end(), closing - 1), citation=True)

    def _keys(self, at: int, end: int) -> Iterator[tuple[str, int]]:
        first = _CITE_KEY.search(self._text, at, end)
        common = self._text.rfind(";", at, first.start()) if first else -1
        at = max(at, common + 1)
        while key := _CITE_KEY.search(self._text, at, end):
            name = cut_key(key[1])
            if name:
                yield name, at
            separator = self._text.find(";", key.start(1) + len(name), end)
            at = end if separator < 0 else separator + 1

    def _timestamp(self, at: int, end: int) -> InlineObject | None:
        text = self._text
        if not _TIMESTAMP.match(text, at, end) and not self._is_odd_timestamp(at, end):
            return None
        closing = self._first_match(_TIME_END, at)
        if closing >= end or text[closing] == "\n":
            return None
        self._check_date(at, closing)
        if text.startswith(("--<", "--["), closing + 1, end) and not text.startswith("<%%", at):
            second = self._first_match(_TIME_END, closing + 4)
            if second < end and text[second] != "\n":
                self._check_date(closing + 3, second)
                closing = second
        return self._object(at, closing + 1, end)

    def _is_odd_timestamp(self, at: int, end: int) -> bool:
        """Whether a repeated date that needn't have all its digits, or a diary entry, begins at `at`."""
        text = self._text
        closing = self._first_match(_ANGLE_END, at)
        if closing >= end or text[closing] == "\n":
            return False
        if text.startswith("<%%(", at):
            return closing > at + 5 and text[closing - 1] == ")"
        date = _ODD_TIMESTAMP.match(text, at, end)
        return date is not None and date.end() < self._repeater_of(closing)

    def _repeater_of(self, closing: int) -> int:
        """Return where the `+1w` before `closing` begins; -1 if there is none."""
        if closing not in self._repeaters:
            at = self._text.rfind("+", 0, closing)
            found = _REPEATER.match(self._text, at) if at >= 0 else None
            self._repeaters[closing] = at if found and found.end() == closing + 1 else -1
        return self._repeaters[closing]

    def _check_date(self, begin: int, end: int) -> None:
        if not _DATE.search(self._text, begin, end) and not self._text.startswith("<%%", begin):
            raise NoDate(self._text[begin : end + 1])

    def _snippet(self, at: int, window: ObjectWindow) -> InlineObject | None:
        end = window.end
        name = _SNIPPET.match(self._text, at, end)
        if name is None:
            return None
        closing = self._first("@@", name.end()) + 2
        # without its end, it's only its beginning that nothing else can use
        return self._object(at, closing if closing <= end else name.end(), end)

    def _macro(self, at: int, window: ObjectWindow) -> InlineObject | None:
        end = window.end
        name = _MACRO.match(self._text, at, end)
        if name is None:
            return None
        if name[1] != "(":
            return self._object(at, name.end(), end)
        closing = self._first(")}}}", name.end())
        return self._object(at, closing + 4, end) if closing + 4 <= end else None

    def _less(self, at: int, window: ObjectWindow) -> InlineObject | None:
        end = window.end
        if self._text[at + 1] == "<":
            radio = _RADIO_TARGET.match(self._text, at, end)
            target = radio or _TARGET.match(self._text, at, end)
            if target is None:
                return None
            return self._object(at, target.end(), end)
        time = self._timestamp(at, end)
        if time is not None:
            return time
        link = self._links.angle(at, end)
        return None if link is None else self._object(at, link.end, end, link=link)

    def _formula(self, at: int, window: ObjectWindow) -> InlineObject | None:
        text, end = self._text, window.end
        if text.startswith("$$", at, end):
            closing = self._first("$$", at + 2) + 2
            return self._object(at, closing, end) if closing <= end else None
        closing = self._first("$", at + 1)
        if closing >= end or (at > window.begin and text[at - 1] == "$"):
            return None
        if text[at + 1] in " \t\n,.;" or text[closing - 1] in " \t\n,.":
            return None
        if closing + 1 < end and not is_punctuation(text[closing + 1]):
            return None
        return self._object(at, closing + 1, end)

    def _backslash(self, at: int, window: ObjectWindow) -> InlineObject | None:
        second, end = self._text[at + 1], window.end
        if second in "([":
            closing = self._first("\\)" if second == "(" else "\\]", at + 2) + 2
            return self._object(at, closing, end) if closing <= end else None
        macro = _LATEX_MACRO.match(self._text, at, end)
        if macro is None:
            return None
        if macro[2] and self._is_entity(at, end):
            return self._object(at, macro.end(1), end)
        return self._object(at, macro.end(), end)

    def _is_entity(self, at: int, end: int) -> bool:
        from roamkb.org.entities import ENTITIES

        name = _ENTITY_END.match(self._text, at, end)
        return name is not None and name[0][1:] in ENTITIES


def suspect_times(text: str) -> list[int]:
    """Return where something stands that could make Org fail: half a range, or a date that lacks a digit."""
    found = [half.start() for half in _HALF_RANGE.finditer(text)]
    for repeater in _REPEATER.finditer(text):
        at = repeater.start()
        begin = text.rfind("<", max(at - _LONGEST_TIME, 0), at)
        if begin < 0 or not _TIMESTAMP.match(text, begin):
            found.append(at)
    return sorted(found)


class _ObjectFrame:
    """A stretch of text that is being read: the region, or what an object holds."""

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

    def window(self) -> ObjectWindow:
        """Return what is still to be read."""
        return ObjectWindow(self.begin, self.at, self.end, self.holds)

    def has(self, point: int, text: str) -> bool:
        """Whether Org takes `point` to be inside, the very end of the contents included."""
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
