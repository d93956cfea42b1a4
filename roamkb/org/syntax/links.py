"""A link's text and what org-roam stores of it."""

import re
from collections.abc import Iterator
from collections.abc import Mapping
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.forward_search import ForwardSearch
from roamkb.org.syntax.syntax_table import is_word
from roamkb.org.syntax.syntax_table import is_word_start

#: The types that a plain org-roam session knows; of two that end alike the longer is first.
TYPES = (
    "attachment bbdb bibtex docview doi elisp eww file+emacs file+sys file ftp gnus help https http id info "
    "irc mailto mhe news rmail roam shell w3m"
).split()

#: The colon behind a known type.
TYPE_COLON = ":(?:" + "|".join(f"(?<={re.escape(kind)}:)" for kind in TYPES) + ")"

_ANCHOR = lazily(rf"\[(?=\[)|{TYPE_COLON}", re.IGNORECASE)
_TYPE = lazily("(?:" + "|".join(re.escape(kind) for kind in TYPES) + ")(?=:)", re.IGNORECASE)

# runs of backslashes escape a bracket if they are odd
_BRACKET_PATH = lazily(r"\[\[((?>(?:[^\]\[\\]+|\\(?:\\\\)*[\]\[]|\\+)+))\](?=[\]\[])")

_ROUND = r"\((?:[^\]\[ \t\n()<>]|\([^\]\[ \t\n()<>]*\))*\)"
_PLAIN_PATH = lazily(
    rf"(?:[^\]\[ \t\n()<>]|{_ROUND})+(?:[^\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e \t\n]|/|{_ROUND})"
)
_ANGLE_PATH = lazily(r"[^>\n]*(?:\n[ \t]*[^> \t\n][^>\n]*)*>")
_BLANK_LINE = lazily(r"\n[ \t]*(?=\n)")

_NEWLINE = lazily(r"[ \t]*\n[ \t]*")
_ESCAPE = lazily(r"(\\+)(?=[\]\[]|\Z)")
_SLASHES = lazily(r"\A//+(.:)?/")
_RELATIVE = lazily(r"\A(?:/|~(?:/|\Z)|\.\.?/)")

#: Abbreviations of `#+link:` lines.
Abbreviations = Mapping[str, str]


class LinkText(NamedTuple):
    """A link where it stands: its end is behind its last bracket."""

    begin: int
    end: int
    type: str
    path: str
    search: str | None


class LinkFinder:
    """Links in one text, asked for from its start to its end."""

    def __init__(self, text: str, abbreviations: Abbreviations | None = None) -> None:
        self._text = text
        self._abbreviations = abbreviations or {}
        self._closing = ForwardSearch(lambda at: text.find("]]", at), len(text))
        self._greater = ForwardSearch(lambda at: text.find(">", at), len(text))
        self._blank = ForwardSearch(self._find_blank, len(text))

    def _find_blank(self, at: int) -> int:
        found = _BLANK_LINE.search(self._text, at)
        return found.start() if found else -1

    def everywhere(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where each thing of a link's shape begins and ends, whatever it stands in."""
        at = begin
        while anchor := _ANCHOR.search(self._text, at, end):
            span = self._at_anchor(anchor.start(), at, end)
            if span is None:
                at = anchor.end()
            else:
                yield span
                at = max(span[1] - 1, anchor.end())

    def _at_anchor(self, at: int, earliest: int, end: int) -> tuple[int, int] | None:
        if self._text[at] == "[":
            found = self.bracket_parts(at, end)
            return None if found is None else (at, found[1])
        begin = at - len(self.type_before(at))
        if begin > earliest and self._text[begin - 1] == "<":
            closing = self._angle_end(at + 1, end)
            if closing is not None:
                return begin - 1, closing
        if begin < earliest or not is_word_start(self._text, begin):
            return None
        closing = self._plain_end(at + 1, end)
        return None if closing is None else (begin, closing)

    def first_plain(self) -> tuple[str, str] | None:
        """Return type and path of the first plain link, whatever it stands in."""
        for anchor in _ANCHOR.finditer(self._text):
            if anchor[0] == ":" and (link := self.plain(anchor.start(), len(self._text))):
                colon = anchor.start()
                return self._text[link.begin : colon], self._text[colon + 1 : link.end]
        return None

    def type_before(self, colon: int) -> str:
        """Return the known type, as written, that ends at `colon`."""
        lower = self._text[max(colon - 12, 0) : colon].lower()
        kind = next(kind for kind in TYPES if lower.endswith(kind))
        return self._text[colon - len(kind) : colon]

    def whole(self, begin: int, end: int) -> LinkText | None:
        """Return the link that `everywhere` found from `begin` to `end`."""
        if self._text[begin] == "[":
            return self.bracket(begin, end)
        if self._text[begin] == "<":
            return self.angle(begin, end)
        return self.plain(self._text.index(":", begin), end)

    def bracket(self, at: int, end: int) -> LinkText | None:
        """Return the `[[link][…]]` at `at`, if there is one before `end`."""
        found = self.bracket_parts(at, end)
        if found is None:
            return None
        path, closing = found
        return LinkText(at, closing, *resolved(path[1], self._abbreviations))

    def angle(self, at: int, end: int) -> LinkText | None:
        """Return the `<type:link>` at `at`, if there is one before `end`."""
        kind = _TYPE.match(self._text, at + 1, end)
        if kind is None:
            return None
        closing = self._angle_end(kind.end() + 1, end)
        if closing is None:
            return None
        path = _NEWLINE.sub("", self._text[kind.end() + 1 : closing - 1])
        return LinkText(at, closing, *_of_type(kind[0], path))

    def plain(self, colon: int, end: int) -> LinkText | None:
        """Return the link in plain text whose type ends at `colon`, if there is one before `end`."""
        kind = self.type_before(colon)
        begin = colon - len(kind)
        if not is_word_start(self._text, begin):
            return None
        closing = self._plain_end(colon + 1, end)
        if closing is None:
            return None
        return LinkText(begin, closing, *_of_type(kind, self._text[colon + 1 : closing]))

    def bracket_parts(self, at: int, end: int) -> tuple[re.Match[str], int] | None:
        """Return the first part of the bracket link at `at`, up to its `]`, and where the link ends."""
        path = _BRACKET_PATH.match(self._text, at, end)
        if path is None:
            return None
        if self._text[path.end()] == "]":
            return path, path.end() + 1
        closing = self._closing.after(path.end() + 2)
        return (path, closing + 2) if closing + 2 <= end else None

    def _angle_end(self, at: int, end: int) -> int | None:
        greater = self._greater.after(at)
        if greater >= end or self._blank.after(at) < greater:
            return None
        line = self._text.rfind("\n", at, greater)
        if line >= 0 and not self._text[line:greater].strip(" \t\n"):
            return None
        return greater + 1

    def _plain_end(self, at: int, end: int) -> int | None:
        found = _PLAIN_PATH.match(self._text, at, end)
        if found is None:
            return None
        last = found.end()
        # a symbol beyond ASCII can be inside a link, but not its end
        while last > at and not _can_end_link(self._text[last - 1]):
            last -= 1
        if last < found.end():
            found = _PLAIN_PATH.match(self._text, at, last)
        return None if found is None else found.end()


def _can_end_link(char: str) -> bool:
    return char in "/)" or char.isalnum() if char.isascii() else is_word(char)


def resolved(written: str, abbreviations: Abbreviations) -> tuple[str, str, str | None]:
    """Return type, destination and search of what stands between a link's first brackets."""
    raw = expanded(unescaped(_NEWLINE.sub(" ", written)), abbreviations)
    if _RELATIVE.match(raw):
        return _of_type("file", raw)
    if kind := _TYPE.match(raw):
        return _of_type(kind[0], raw[kind.end() + 1 :])
    if raw.startswith("(") and raw.endswith(")"):
        return _cut("coderef", raw[1:-1])
    if raw.startswith("#"):
        return _cut("custom-id", raw[1:])
    return _cut("fuzzy", raw)


def unescaped(written: str) -> str:
    """Return a link's target without the backslashes that protect its brackets."""
    if "\\" not in written:
        return written
    return _ESCAPE.sub(lambda run: "\\" * (len(run[1]) // 2), written)


def expanded(raw: str, abbreviations: Abbreviations) -> str:
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


def _of_type(kind: str, path: str) -> tuple[str, str, str | None]:
    if kind.lower() not in ("file", "file+emacs", "file+sys"):
        return _cut(kind, path)
    # org itself takes a file's search away before org-roam looks for one
    kind, dest, _ = _cut("file", path)
    return kind, _SLASHES.sub(lambda slashes: (slashes[1] or "") + "/", dest), None


def _cut(kind: str, path: str) -> tuple[str, str, str | None]:
    dest, colons, search = path.partition("::")
    return kind, dest, search if colons else None


def displayed(title: str) -> str:
    """Return `title` with each bracket link as it is shown: its description, or else its target."""
    if "[[" not in title:
        return title
    finder = LinkFinder(title)
    parts: list[str] = []
    done = at = 0
    while (at := title.find("[[", at)) >= 0:
        found = finder.bracket_parts(at, len(title))
        if found is None:
            at += 1
            continue
        path, closing = found
        shown = path[1] if title[path.end()] == "]" else title[path.end() + 1 : closing - 2]
        parts += (title[done:at], shown)
        done = at = closing
    return "".join(parts) + title[done:]
