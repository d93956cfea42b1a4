"""Lines of ours in somebody's rule file: in one marked block a section, every other byte as it was.

Works on bytes by lines, so that line ends and a missing last one are nobody's business. Taking
the last line out gives the file as it was. The marks aren't those of `fs.marked_block`, whose one
block of `install` may stand in the same file.
"""

from collections.abc import Collection
from collections.abc import Sequence
from difflib import SequenceMatcher
from difflib import unified_diff
from functools import lru_cache

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.from_markdown import MarkdownPart
from roamkb.org.from_markdown import parts

_LINE = lazily(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+\Z")
_MARK = lazily(rb" {0,3}<!-- roamkb:learned (begin|end)[^\r\n]*-->[ \t]*[\r\n]*")
_FOREIGN = lazily(rb"[ \t]*<!-- roamkb:(begin|end)\b[^\r\n]*-->[ \t]*[\r\n]*")
BEGIN = b"<!-- roamkb:learned begin: lines that a human approved; `roamkb rollback` takes one out again -->"
END = b"<!-- roamkb:learned end -->"
_HASHES = lazily(r"(#{0,6})\s*(.*?)\s*#*\s*")
#: Above this a line is the old one with a word changed.
_ALIKE = 0.6


class BadPlace(ValueError):
    """The file has no such place, or the line isn't as it was put there; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class _InstructionLines:
    """The lines from the opening mark to the closing one, from 0."""

    begin: int
    end: int


def section_named(data: bytes, name: str) -> str:
    """Return the heading called `name` with its marks, such as `## Database`; nothing for no name.

    Raises:
        BadPlace: there is none, or several.
    """
    if not name.strip():
        return ""
    return _heading(_checked(data), _lines(data), name)[1]


def with_lines(data: bytes, section: str, lines: Sequence[str]) -> bytes:
    """Return `data` with `lines` at the end of the section's block; what a block holds already stays alone.

    Without a section the block is the file's only one, or stands at its end.

    Raises:
        BadPlace: there is no place where they would be read as lines of a list.
    """
    known = lines_in(data)
    wanted = [line for line in dict.fromkeys(lines) if line not in known]
    if not wanted:
        return data
    _require_place(data, section)
    if not all(map(_is_bullet, wanted)):
        raise BadPlace("takes one bullet a line")
    return _put(data, section, wanted)[0]


@lru_cache(maxsize=8)
def _require_place(data: bytes, section: str) -> None:
    """Raise unless a line there is read as an item of a list, behind a mark that opens nothing else."""
    made, lines = _put(data, section, ["- x"])
    text = _checked(made)
    items, tags = (
        {part.start for part in _parts(text) if part.kind == kind} for kind in ("item", "html_block")
    )
    begins = {block.begin for block in _blocks(text, _lines(made)) if block.begin < lines.start < block.end}
    if not begins & tags or not items.issuperset(lines):
        raise BadPlace("has code or a comment that isn't closed there, so the line would be part of it")


def _is_bullet(line: str) -> bool:
    return [part.kind for part in parts(line)] == ["bullet_list", "item"] and "\n" not in line


@lru_cache(maxsize=8)
def _parts(text: str) -> tuple[MarkdownPart, ...]:
    """Return the blocks of a file; a queue asks for those of one file again and again."""
    return tuple(parts(text))


def _put(data: bytes, section: str, lines: Sequence[str]) -> tuple[bytes, range]:
    """Return `data` with `lines`, and where they are in it."""
    text, held = _checked(data), _lines(data)
    blocks = _blocks(text, held)
    eol = _eol(held)
    new = [line.encode() + eol for line in lines]
    first, last = _range(text, held, section)
    own = [block for block in blocks if first <= block.begin < last]
    if not section:
        own = blocks if len(blocks) == 1 else [one for one in own if not any(map(_says, held[one.end + 1 :]))]
    if own:
        at = own[0].end
        held[at:at] = new
    else:
        at = _put_block(held, new, first, last, eol)
    return b"".join(held), range(at, at + len(new))


def without_line(data: bytes, line: str, *, others: Collection[str] = ()) -> bytes:
    """Return `data` without our `line`; without the whole block where nothing else is in it.

    A line that is gone altogether is gone; `others` are the lines that may stand beside it.

    Raises:
        BadPlace: somebody changed the line, or made it their own.
    """
    text, held = _checked(data), _lines(data)
    for block in _blocks(text, held):
        for at in range(block.begin + 1, block.end):
            if _said(held[at]) == line:
                del held[at]
                if not any(map(_says, held[block.begin + 1 : block.end - 1])):
                    _take_block(held, _InstructionLines(block.begin, block.end - 1))
                return b"".join(held)
    _require_gone(text, held, line, others)
    return data


def lines_in(data: bytes) -> set[str]:
    """Return the lines that stand in blocks of ours."""
    held = _lines(data)
    return {
        _said(one)
        for block in _blocks(_checked(data), held)
        for one in held[block.begin + 1 : block.end]
        if _says(one)
    }


def _checked(data: bytes) -> str:
    """Return `data` as text with the same lines, or raise."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadPlace("is UTF-16; save it as UTF-8 first")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPlace(f"isn't UTF-8 (byte {error.start})") from error


def _lines(data: bytes) -> list[bytes]:
    return _LINE.findall(data)


def _said(line: bytes) -> str:
    return line.rstrip().decode("utf-8", "replace")


def _says(line: bytes) -> bool:
    return bool(line.strip())


def _eol(held: Sequence[bytes]) -> bytes:
    """Return the line end that the file uses first."""
    return _line_end(held[0] if held else b"") or b"\n"


def _blocks(text: str, held: Sequence[bytes]) -> list[_InstructionLines]:
    """Return our blocks, in order; a mark that is quoted as code is none."""
    code = {
        n
        for part in _parts(text)
        if part.kind in ("fence", "code_block")
        for n in range(part.start, part.end)
    }
    blocks: list[_InstructionLines] = []
    begin: int | None = None
    for number, line in enumerate(held):
        mark = _MARK.fullmatch(line)
        if mark is None or number in code:
            continue
        if (mark[1] == b"begin") != (begin is None):
            raise BadPlace(
                f"has a mark of roamkb's out of order in line {number + 1}; put the marks right first"
            )
        if begin is None:
            begin = number
        else:
            blocks.append(_InstructionLines(begin, number))
            begin = None
    if begin is not None:
        raise BadPlace(f"has no end to the block that begins in line {begin + 1}; put the marks right first")
    return blocks


def _foreign(held: Sequence[bytes]) -> set[int]:
    """Return the lines of `install`'s block, which the next `install` writes anew."""
    lines: set[int] = set()
    begin: int | None = None
    for number, line in enumerate(held):
        mark = _FOREIGN.fullmatch(line)
        if mark and mark[1] == b"begin":
            begin = number
        elif mark and begin is not None:
            lines |= set(range(begin, number + 1))
            begin = None
    return lines


def _heading(text: str, held: Sequence[bytes], name: str) -> tuple[int, str]:
    """Return the line of the one heading that is called `name`, and the heading with its marks."""
    found = _HASHES.fullmatch(name.strip())
    level, wanted = (len(found[1]), _folded(found[2])) if found else (0, _folded(name))
    foreign = _foreign(held)
    headings = [part for part in _parts(text) if part.kind == "heading" and part.start not in foreign]
    meant = [one for one in headings if _folded(one.text) == wanted and level in (0, one.level)]
    if len(meant) > 1:
        lines = ", ".join(str(one.start + 1) for one in meant)
        raise BadPlace(
            f"has {len(meant)} sections called that (lines {lines}); give one of them another name"
        )
    if not meant:
        known = ", ".join(dict.fromkeys(" ".join(one.text.split()) for one in headings)) or "none at all"
        raise BadPlace(f"has no section of that name; it has: {known}")
    return meant[0].start, f"{'#' * meant[0].level} {' '.join(meant[0].text.split())}"


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _range(text: str, held: Sequence[bytes], section: str) -> tuple[int, int]:
    """Return a section's own lines, from its heading to behind the last; the file's without one."""
    if not section:
        return 0, len(held)
    start, _ = _heading(text, held, section)
    foreign = _foreign(held)
    ends = [part.start for part in _parts(text) if part.kind == "heading"] + sorted(foreign)
    return start, min((end for end in ends if end > start), default=len(held))


def _put_block(held: list[bytes], new: Sequence[bytes], first: int, last: int, eol: bytes) -> int:
    """Put a block behind the last line that says something; return where the first new line is."""
    at = next((n + 1 for n in range(last - 1, first - 1, -1) if _says(held[n])), first)
    block = [BEGIN + eol, *new, END + eol]
    if at:
        above = held[at - 1]
        if not above.endswith((b"\n", b"\r")):
            # no line end before, none behind: so taking the block out can tell the two apart
            held[at - 1] = above + eol
            block[-1] = END
        block.insert(0, eol)
    held[at:at] = block
    return at + len(block) - len(new) - 1


def _take_block(held: list[bytes], block: _InstructionLines) -> None:
    """Take out a block with the blank line above it."""
    has_end = held[block.end].endswith((b"\n", b"\r"))
    eol = _line_end(held[block.begin])
    del held[block.begin : block.end + 1]
    above = block.begin - 1
    if above >= 0 and held[above] == eol:
        del held[above]
        above -= 1
    if not has_end and above >= 0:
        held[above] = held[above].removesuffix(eol)


def _line_end(line: bytes) -> bytes:
    return line[len(line.rstrip(b"\r\n")) :]


def _require_gone(text: str, held: Sequence[bytes], line: str, others: Collection[str]) -> None:
    ours = {n for block in _blocks(text, held) for n in range(block.begin + 1, block.end)}
    for number, one in enumerate(held):
        said = _said(one)
        if not said.strip() or said in others or _MARK.fullmatch(one):
            continue
        where = f"line {number + 1}"
        if said.strip() == line:
            raise BadPlace(f"has it in {where}, out of roamkb's block: it is yours by now; delete it by hand")
        if SequenceMatcher(None, said, line, autojunk=False).ratio() >= _ALIKE:
            raise BadPlace(f"has it changed in {where}; delete it by hand if it is to go")
        if number in ours and said.lstrip().startswith(("-", "*", "+")):
            raise BadPlace(f"has another line in roamkb's block, {where}; move it out of there first")


def patch_of(before: bytes, after: bytes, name: str) -> str:
    """Return what differs as a unified diff; nothing where nothing does."""
    old, new = ([line.decode("utf-8", "replace") for line in _lines(data)] for data in (before, after))
    found = unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n" for line in found
    )
