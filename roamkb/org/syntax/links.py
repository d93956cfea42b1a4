"""Links: their syntax, and the type and destination that org-roam stores."""

import re
from collections.abc import Iterator
from collections.abc import Mapping
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.forward_search import ForwardSearch
from roamkb.org.syntax.forward_search import forward_match
from roamkb.org.syntax.syntax_table import is_word
from roamkb.org.syntax.syntax_table import is_word_start

#: The types that a plain org-roam session knows; of two that end alike the longer is first.
TYPES = (
    "attachment bbdb bibtex docview doi elisp eww file+emacs file+sys file ftp gnus help https http id info "
    "irc mailto mhe news rmail roam shell w3m"
).split()

#: The colon behind a known type.
TYPE_COLON = ":(?:" + "|".join(f"(?<={re.escape(kind)}:)" for kind in TYPES) + ")"

_OPENER = lazily(r"\[(?=\[)")
_TYPE_COLON = lazily(TYPE_COLON, re.IGNORECASE)
_TYPE = lazily("(?:" + "|".join(re.escape(kind) for kind in TYPES) + ")(?=:)", re.IGNORECASE)

# runs of backslashes escape a bracket if they are odd
_BRACKET_PATH = lazily(r"\[\[((?>(?:[^\]\[\\]+|\\(?:\\\\)*[\]\[]|\\+)+))\](?=[\]\[])")

_ROUND = r"\((?:[^\]\[ \t\n()<>]|\([^\]\[ \t\n()<>]*\))*\)"
_PLAIN_PATH = lazily(rf"(?:[^\]\[ \t\n()<>]|{_ROUND})+(?:[^\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e \t\n]|/|{_ROUND})")
_BLANK_LINE = lazily(r"\n[ \t]*(?=\n)")

_NEWLINE = lazily(r"[ \t]*\n[ \t]*")
_ESCAPE = lazily(r"(\\+)(?=[\]\[]|\Z)")
_SLASHES = lazily(r"\A//+(.:)?/")
_RELATIVE = lazily(r"\A(?:/|~(?:/|\Z)|\.\.?/)")

#: Abbreviations of `#+link:` lines.
Abbreviations = Mapping[str, str]


class LinkText(NamedTuple):
    """A link at its place; its end is behind its last bracket."""

    begin: int
    end: int
    type: str
    path: str
    search: str | None


class LinkFinder:
    """The finder of links in one text, to be called from its start to its end."""

    def __init__(self, text: str, abbreviations: Abbreviations | None = None) -> None:
        self._text = text
        self._abbreviations = abbreviations or {}
        self._closing = ForwardSearch(lambda position: text.find("]]", position), len(text))
        self._greater = ForwardSearch(lambda position: text.find(">", position), len(text))
        self._blank = forward_match(_BLANK_LINE, text)

    def find_spans(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the span of each text with the shape of a link, whatever stands around it."""
        position = begin
        # to look for each of the two letters alone takes half as long as for either
        anchors = (*_OPENER.finditer(self._text, begin, end), *_TYPE_COLON.finditer(self._text, begin, end))
        for place in sorted(anchor.start() for anchor in anchors):
            if place < position:
                continue
            span = self._at_anchor(place, position, end)
            position = place + 1
            if span is not None:
                yield span
                position = max(span[1] - 1, position)

    def _at_anchor(self, position: int, earliest: int, end: int) -> tuple[int, int] | None:
        if self._text[position] == "[":
            parts = self.bracket_parts(position, end)
            return None if parts is None else (position, parts[1])
        begin = position - len(self.type_before(position))
        if begin > earliest and self._text[begin - 1] == "<":
            closing = self._angle_end(position + 1, end)
            if closing is not None:
                return begin - 1, closing
        if begin < earliest or not is_word_start(self._text, begin):
            return None
        closing = self._plain_end(position + 1, end)
        return None if closing is None else (begin, closing)

    def first_plain(self) -> tuple[str, str] | None:
        """Return type and path of the first plain link, whatever stands around it."""
        for anchor in _TYPE_COLON.finditer(self._text):
            colon = anchor.start()
            if link := self.plain_link(colon, len(self._text)):
                return self._text[link.begin : colon], self._text[colon + 1 : link.end]
        return None

    def type_before(self, colon: int) -> str:
        """Return the known type, as written, that ends at `colon`."""
        lower = self._text[max(colon - 12, 0) : colon].lower()
        kind = next(kind for kind in TYPES if lower.endswith(kind))
        return self._text[colon - len(kind) : colon]

    def link_in_span(self, begin: int, end: int) -> LinkText | None:
        """Return the link at a span that `find_spans` yielded."""
        if self._text[begin] == "[":
            return self.bracket_link(begin, end)
        if self._text[begin] == "<":
            return self.angle_link(begin, end)
        return self.plain_link(self._text.index(":", begin), end)

    def bracket_link(self, position: int, end: int) -> LinkText | None:
        """Return the `[[link][…]]` at `position`, if there is one before `end`."""
        parts = self.bracket_parts(position, end)
        if parts is None:
            return None
        path, closing = parts
        return LinkText(position, closing, *resolve_target(path[1], self._abbreviations))

    def angle_link(self, position: int, end: int) -> LinkText | None:
        """Return the `<type:link>` at `position`, if there is one before `end`."""
        kind = _TYPE.match(self._text, position + 1, end)
        if kind is None:
            return None
        closing = self._angle_end(kind.end() + 1, end)
        if closing is None:
            return None
        path = _NEWLINE.sub("", self._text[kind.end() + 1 : closing - 1])
        return LinkText(position, closing, *_typed_target(kind[0], path))

    def plain_link(self, colon: int, end: int) -> LinkText | None:
        """Return the link in plain text whose type ends at `colon`, if there is one before `end`."""
        kind = self.type_before(colon)
        begin = colon - len(kind)
        if not is_word_start(self._text, begin):
            return None
        closing = self._plain_end(colon + 1, end)
        if closing is None:
            return None
        return LinkText(begin, closing, *_typed_target(kind, self._text[colon + 1 : closing]))

    def bracket_parts(self, position: int, end: int) -> tuple[re.Match[str], int] | None:
        """Return the match of a bracket link's target, up to its `]`, and the end of the link."""
        path = _BRACKET_PATH.match(self._text, position, end)
        if path is None:
            return None
        if self._text[path.end()] == "]":
            return path, path.end() + 1
        closing = self._closing.first_from(path.end() + 2)
        return (path, closing + 2) if closing + 2 <= end else None

    def _angle_end(self, position: int, end: int) -> int | None:
        greater = self._greater.first_from(position)
        if greater >= end or self._blank.first_from(position) < greater:
            return None
        line = self._text.rfind("\n", position, greater)
        if line >= 0 and not self._text[line:greater].strip(" \t\n"):
            return None
        return greater + 1

    def _plain_end(self, position: int, end: int) -> int | None:
        match = _PLAIN_PATH.match(self._text, position, end)
        if match is None:
            return None
        match_end = match.end()
        # a symbol beyond ASCII can be inside a link, but not its end
        while match_end > position and not _can_end_link(self._text[match_end - 1]):
            match_end -= 1
        if match_end < match.end():
            match = _PLAIN_PATH.match(self._text, position, match_end)
        return None if match is None else match.end()


def _can_end_link(char: str) -> bool:
    return char in "/)" or char.isalnum() if char.isascii() else is_word(char)


def resolve_target(written: str, abbreviations: Abbreviations) -> tuple[str, str, str | None]:
    """Return type, destination and search of the text between a link's first brackets."""
    raw = expand_abbreviation(unescape_brackets(_NEWLINE.sub(" ", written)), abbreviations)
    if _RELATIVE.match(raw):
        return _typed_target("file", raw)
    if kind := _TYPE.match(raw):
        return _typed_target(kind[0], raw[kind.end() + 1 :])
    if raw.startswith("(") and raw.endswith(")"):
        return _split_search("coderef", raw[1:-1])
    if raw.startswith("#"):
        return _split_search("custom-id", raw[1:])
    return _split_search("fuzzy", raw)


def unescape_brackets(written: str) -> str:
    """Return a link's target without the backslashes that protect its brackets."""
    if "\\" not in written:
        return written
    return _ESCAPE.sub(lambda run: "\\" * (len(run[1]) // 2), written)


def expand_abbreviation(raw: str, abbreviations: Abbreviations) -> str:
    """Return `raw` with the abbreviation that it begins with replaced; functions are never called."""
    key, colon, tag = raw.partition(":")
    written = abbreviations.get(key)
    if written is None or "%(" in written:
        return raw
    if colon and tag.startswith(":"):
        tag = tag[1:]
    if "%s" in written:
        return written.replace("%s", tag, 1)
    if "%h" in written:
        from urllib.parse import quote

        return written.replace("%h", quote(tag, safe="-_.~"), 1)
    return written + tag


def _typed_target(kind: str, path: str) -> tuple[str, str, str | None]:
    if kind.lower() not in ("file", "file+emacs", "file+sys"):
        return _split_search(kind, path)
    # org itself takes a file's search away before org-roam looks for one
    kind, dest, _ = _split_search("file", path)
    return kind, _SLASHES.sub(lambda slashes: (slashes[1] or "") + "/", dest), None


def _split_search(kind: str, path: str) -> tuple[str, str, str | None]:
    dest, colons, search = path.partition("::")
    return kind, dest, search if colons else None


def displayed_text(title: str) -> str:
    """Return `title` with each bracket link as it is shown: its description, or else its target."""
    if "[[" not in title:
        return title
    finder = LinkFinder(title)
    parts: list[str] = []
    copied_until = position = 0
    while (position := title.find("[[", position)) >= 0:
        link_parts = finder.bracket_parts(position, len(title))
        if link_parts is None:
            position += 1
            continue
        path, closing = link_parts
        shown_text = path[1] if title[path.end()] == "]" else title[path.end() + 1 : closing - 2]
        parts += (title[copied_until:position], shown_text)
        copied_until = position = closing
    return "".join(parts) + title[copied_until:]
