"""Headings: what a line of stars says, and which heading is above which."""

from collections.abc import Collection
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.links import displayed
from roamkb.org.syntax.syntax_table import is_alphanumeric

_HEADING = lazily(r"\n(\*+) ")
_FIRST_HEADING = lazily(r"(\*+) ")
_PRIORITY = lazily(r" +\[#(.)\](?= |$)")
_COOKIE = lazily(r"\[[0-9]+%\]|\[[0-9]+/[0-9]+\]")
_TAG_ASCII = lazily(r":[A-Za-z0-9_@#%:]+:")


class Heading(NamedTuple):
    """What a heading line says."""

    todo: str | None
    priority: str | None
    #: Where the title is; None where there is none.
    title: tuple[int, int] | None
    tags: tuple[str, ...]


class HeadingLine(NamedTuple):
    """Where a heading line is, and how many stars it begins with."""

    begin: int
    #: Where the next line begins.
    end: int
    stars: int


def heading_lines(text: str) -> list[HeadingLine]:
    """Return all headings; a line of stars and a blank is one wherever it stands."""
    found: list[HeadingLine] = []
    first = _FIRST_HEADING.match(text)
    for stars in (*((first,) if first else ()), *_HEADING.finditer(text)):
        newline = text.find("\n", stars.end())
        end = len(text) if newline < 0 else newline + 1
        found.append(HeadingLine(stars.start(1), end, stars.end(1) - stars.start(1)))
    return found


def read_heading(text: str, line: HeadingLine, keywords: Collection[str]) -> Heading:
    """Return what a heading says; `keywords` are the states that it may begin with."""
    at = line.begin + line.stars
    end, tags = _tags(text, at, line.end - text.startswith("\n", line.end - 1))
    todo, at = _todo(text, at, end, keywords)
    priority = None
    if found := _PRIORITY.match(text, at, end):
        priority, at = found[1], found.end()
    return Heading(todo, priority, _title(text, at, end), tags)


def _tags(text: str, at: int, end: int) -> tuple[int, tuple[str, ...]]:
    """Return where the line ends without its tags, and the tags."""
    line = text[at:end].rstrip(" \t")
    place = max(line.rfind(" "), line.rfind("\t"))
    token = line[place + 1 :]
    if place < 0 or not token.startswith(":") or not _is_tag_group(token):
        return at + len(line), ()
    tags = tuple(tag for tag in token.split(":") if tag)
    return at + len(line[:place].rstrip(" \t")), tags


def _is_tag_group(token: str) -> bool:
    if len(token) < 3 or not token.endswith(":"):
        return False
    if token.isascii():
        return _TAG_ASCII.fullmatch(token) is not None
    return all(char in "_@#%:" or is_alphanumeric(char) for char in token)


def _todo(text: str, at: int, end: int, keywords: Collection[str]) -> tuple[str | None, int]:
    begin = at
    while begin < end and text[begin] == " ":
        begin += 1
    space = text.find(" ", begin, end)
    stop = end if space < 0 else space
    word = text[begin:stop]
    return (word, stop) if begin > at and word in keywords else (None, at)


def _title(text: str, at: int, end: int) -> tuple[int, int] | None:
    while at < end and text[at] == " ":
        at += 1
    return (at, end) if at < end else None


def step(text: str, heading: Heading) -> str:
    """Return the heading as a step of an outline path: without cookies, links as they are shown."""
    if heading.title is None:
        return ""
    written = text[slice(*heading.title)]
    return displayed(_COOKIE.sub("", written) if "[" in written else written).strip(" \t\n\r")


def parents(headings: list[HeadingLine]) -> list[int]:
    """Return for each heading the place of the one it stands below, or -1."""
    found: list[int] = []
    above: list[int] = []
    for place, heading in enumerate(headings):
        while above and headings[above[-1]].stars >= heading.stars:
            above.pop()
        found.append(above[-1] if above else -1)
        above.append(place)
    return found
