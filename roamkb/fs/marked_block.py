"""One marked block in a file that is somebody else's: every other byte stays.

Works on bytes, so that a file's encoding, line ends and odd characters are nobody's
business. Putting a block in and taking it out again gives the file as it was.
"""

import re

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily

_MARK = lazily(
    rb"^[ \t]*<!-- roamkb:(?P<which>begin|end)(?P<rest>[^\r\n]*)-->[ \t]*(?P<eol>\r?\n|\Z)", re.MULTILINE
)
_LINE_END = lazily(rb"\r?\n")
_BEGIN = "<!-- roamkb:begin kept by roamkb install, edit outside of it{made} -->"
_END = "<!-- roamkb:end -->"
#: In the opening mark of a file that held nothing else and that we made.
_MADE = ", which made this file"


class BadMarks(ValueError):
    """The marks in a file don't make one block; the message says which and where."""


@dataclass(frozen=True, slots=True)
class _BlockSpan:
    """Where a block is, from its first byte to after its last line end."""

    start: int
    end: int
    #: The line end within the block; the rest of the file may use others.
    eol: bytes
    closed_by_newline: bool
    made_file: bool


def with_block(data: bytes | None, block: str) -> bytes:
    """Return `data` (None: no file yet) with `block` between marks, in the old one's place or at the end."""
    held = data or b""
    span = _find(held)
    eol = span.eol if span else _eol(held)
    made = data is None if span is None else span.made_file
    marked = _marked(block, made=made).replace("\n", eol.decode()).encode()
    if span is not None:
        return held[: span.start] + marked + (eol if span.closed_by_newline else b"") + held[span.end :]
    if not held:
        return marked + eol
    if held.endswith(b"\n"):
        return held + eol + marked + eol
    # no line end before, none behind: so taking the block out can tell the two apart
    return held + eol + eol + marked


def without_block(data: bytes) -> bytes | None:
    """Return `data` as it was before `with_block`; None where nothing but the block was ever in it."""
    span = _find(data)
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
    return _find(data) is not None


def _marked(block: str, *, made: bool) -> str:
    """Return `block` between its marks, without a last line end."""
    begin = _BEGIN.format(made=_MADE if made else "")
    return f"{begin}\n{block.strip()}\n{_END}"


def _find(data: bytes) -> _BlockSpan | None:
    """Return where the one block is, None where there is no mark at all, or raise `BadMarks`."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadMarks("is UTF-16; save it as UTF-8 first")
    marks = list(_MARK.finditer(data))
    if not marks:
        return None
    order = [mark["which"] for mark in marks]
    if order != [b"begin", b"end"]:
        lines = ", ".join(f"{m['which'].decode()} in line {_line(data, m.start())}" for m in marks)
        raise BadMarks(f"has roamkb's marks out of order ({lines}); there must be one begin and then one end")
    begin, end = marks
    return _BlockSpan(
        begin.start(), end.end(), begin["eol"], bool(end["eol"]), _MADE.encode() in begin["rest"]
    )


def _eol(data: bytes) -> bytes:
    """Return the line end that `data` uses first."""
    found = _LINE_END.search(data)
    return found.group() if found else b"\n"


def _line(data: bytes, position: int) -> int:
    """Return the 1-based line of `position`."""
    return len(_LINE_END.findall(data, 0, position)) + 1
