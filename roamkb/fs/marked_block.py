"""A marked block of roamkb's in a file of somebody else; every other byte is kept.

Works on bytes, so that a file's encoding, line ends and odd characters are nobody's
business. Putting a block in and taking it out again gives the file as it was.
"""

import re

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily

_MARK_LINE = lazily(
    rb"^[ \t]*<!-- roamkb:(?P<which>begin|end)(?P<rest>[^\r\n]*)-->[ \t]*(?P<eol>\r?\n|\Z)", re.MULTILINE
)
_LINE_END = lazily(rb"\r?\n")
_BEGIN_MARK = "<!-- roamkb:begin kept by roamkb install, edit outside of it{made} -->"
_END_MARK = "<!-- roamkb:end -->"
#: In the opening mark of a file that held nothing else and that we made.
_MADE_NOTE = ", which made this file"


class BadMarks(ValueError):
    """Marks in a file that don't make one block; the message says which and where."""


@dataclass(frozen=True, slots=True)
class _BlockSpan:
    """The byte range of a block, from its first byte to after its last line end."""

    start: int
    end: int
    #: The line end within the block; the rest of the file may use others.
    eol: bytes
    closed_by_newline: bool
    made_file: bool


def with_block(data: bytes | None, block: str) -> bytes:
    """Return `data` (None: no file yet) with `block` between marks, in the old one's place or at the end."""
    content = data or b""
    span = _find_block(content)
    eol = span.eol if span else _first_line_end(content)
    made_file = data is None if span is None else span.made_file
    marked = _render_block(block, made_file=made_file).replace("\n", eol.decode()).encode()
    if span is not None:
        return content[: span.start] + marked + (eol if span.closed_by_newline else b"") + content[span.end :]
    if not content:
        return marked + eol
    if content.endswith(b"\n"):
        return content + eol + marked + eol
    # no line end before, none behind: so taking the block out can tell the two apart
    return content + eol + eol + marked


def without_block(data: bytes) -> bytes | None:
    """Return `data` as it was before `with_block`; None where nothing but the block was ever in it."""
    span = _find_block(data)
    if span is None:
        return data
    before, after = data[: span.start], data[span.end :]
    if span.made_file and not before and not after:
        return None
    above = before.removesuffix(span.eol)
    # a blank line above is ours; where somebody moved the block under a line of text there is none
    if above != before and (not above or above.endswith(b"\n")):
        before = above if span.closed_by_newline else above.removesuffix(span.eol)
    return before + after


def has_block(data: bytes) -> bool:
    """Say whether there is one whole block in `data`."""
    return _find_block(data) is not None


def _render_block(block: str, *, made_file: bool) -> str:
    """Return `block` between its marks, without a last line end."""
    begin = _BEGIN_MARK.format(made=_MADE_NOTE if made_file else "")
    return f"{begin}\n{block.strip()}\n{_END_MARK}"


def _find_block(data: bytes) -> _BlockSpan | None:
    """Return the span of the one block, None without any mark, or raise `BadMarks`."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadMarks("is UTF-16; save it as UTF-8 first")
    marks = list(_MARK_LINE.finditer(data))
    if not marks:
        return None
    order = [mark["which"] for mark in marks]
    if order != [b"begin", b"end"]:
        lines = ", ".join(f"{m['which'].decode()} in line {_line_number(data, m.start())}" for m in marks)
        raise BadMarks(f"has roamkb's marks out of order ({lines}); there must be one begin and then one end")
    begin, end = marks
    return _BlockSpan(begin.start(), end.end(), begin["eol"], bool(end["eol"]), _MADE_NOTE.encode() in begin["rest"])


def _first_line_end(data: bytes) -> bytes:
    """Return the line end that `data` uses first."""
    match = _LINE_END.search(data)
    return match.group() if match else b"\n"


def _line_number(data: bytes, position: int) -> int:
    """Return the 1-based line of `position`."""
    return len(_LINE_END.findall(data, 0, position)) + 1
