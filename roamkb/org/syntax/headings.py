"""Headings: the parts of a heading line, and the outline of a file."""

from collections.abc import Collection
from typing import NamedTuple

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.links import displayed_text
from roamkb.org.syntax.syntax_table import is_alphanumeric

_HEADING = lazily(r"\n(\*+) ")
_FIRST_HEADING = lazily(r"(\*+) ")
_PRIORITY = lazily(r" +\[#(.)\](?= |$)")
_COOKIE = lazily(r"\[[0-9]+%\]|\[[0-9]+/[0-9]+\]")
_TAG_ASCII = lazily(r":[A-Za-z0-9_@#%:]+:")


class Heading(NamedTuple):
    """The parts of a heading line."""

    todo: str | None
    priority: str | None
    #: Where the title is; None where there is none.
    title: tuple[int, int] | None
    tags: tuple[str, ...]


class HeadingLine(NamedTuple):
    """The place of a heading line, and the number of its stars."""

    begin: int
    #: Where the next line begins.
    end: int
    stars: int


def heading_lines(text: str) -> list[HeadingLine]:
    """Return all headings; a line of stars and a blank is one wherever it stands."""
    headings: list[HeadingLine] = []
    first_heading = _FIRST_HEADING.match(text)
    for stars in (*((first_heading,) if first_heading else ()), *_HEADING.finditer(text)):
        newline = text.find("\n", stars.end())
        end = len(text) if newline < 0 else newline + 1
        headings.append(HeadingLine(stars.start(1), end, stars.end(1) - stars.start(1)))
    return headings


def read_heading(text: str, line: HeadingLine, keywords: Collection[str]) -> Heading:
    """Return the parts of a heading; `keywords` are the TODO states that it may begin with."""
    position = line.begin + line.stars
    end, tags = _split_off_tags(text, position, line.end - text.startswith("\n", line.end - 1))
    todo, position = _read_todo(text, position, end, keywords)
    priority = None
    if priority_match := _PRIORITY.match(text, position, end):
        priority, position = priority_match[1], priority_match.end()
    return Heading(todo, priority, _title_span(text, position, end), tags)


def _split_off_tags(text: str, position: int, end: int) -> tuple[int, tuple[str, ...]]:
    """Return the end of the line without its tags, and the tags."""
    line = text[position:end].rstrip(" \t")
    place = max(line.rfind(" "), line.rfind("\t"))
    token = line[place + 1 :]
    if place < 0 or not token.startswith(":") or not _is_tag_group(token):
        return position + len(line), ()
    tags = tuple(tag for tag in token.split(":") if tag)
    return position + len(line[:place].rstrip(" \t")), tags


def _is_tag_group(token: str) -> bool:
    if len(token) < 3 or not token.endswith(":"):
        return False
    if token.isascii():
        return _TAG_ASCII.fullmatch(token) is not None
    return all(char in "_@#%:" or is_alphanumeric(char) for char in token)


def _read_todo(text: str, position: int, end: int, keywords: Collection[str]) -> tuple[str | None, int]:
    begin = position
    while begin < end and text[begin] == " ":
        begin += 1
    space = text.find(" ", begin, end)
    stop = end if space < 0 else space
    word = text[begin:stop]
    return (word, stop) if begin > position and word in keywords else (None, position)


def _title_span(text: str, position: int, end: int) -> tuple[int, int] | None:
    while position < end and text[position] == " ":
        position += 1
    return (position, end) if position < end else None


def outline_step(text: str, heading: Heading) -> str:
    """Return the heading as a step of an outline path: without cookies, links as they are shown."""
    if heading.title is None:
        return ""
    written = text[slice(*heading.title)]
    return displayed_text(_COOKIE.sub("", written) if "[" in written else written).strip(" \t\n\r")


def parent_places(headings: list[HeadingLine]) -> list[int]:
    """Return for each heading the index of its parent heading, or -1."""
    places: list[int] = []
    ancestors: list[int] = []
    for place, heading in enumerate(headings):
        while ancestors and headings[ancestors[-1]].stars >= heading.stars:
            ancestors.pop()
        places.append(ancestors[-1] if ancestors else -1)
        ancestors.append(place)
    return places
