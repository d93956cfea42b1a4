"""Blocks of approved lines in a rule file, one a section, every other byte as it was.

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
from roamkb.org.from_markdown import markdown_parts

_LINE_PATTERN = lazily(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+\Z")
_LEARNED_MARK = lazily(rb" {0,3}<!-- roamkb:learned (begin|end)[^\r\n]*-->[ \t]*[\r\n]*")
_INSTALL_MARK = lazily(rb"[ \t]*<!-- roamkb:(begin|end)\b[^\r\n]*-->[ \t]*[\r\n]*")
BEGIN_MARK = b"<!-- roamkb:learned begin: lines that a human approved; `roamkb rollback` takes one out again -->"
END_MARK = b"<!-- roamkb:learned end -->"
_HEADING_NAME = lazily(r"(#{0,6})\s*(.*?)\s*#*\s*")
#: Above this a line is the old one with a word changed.
_MIN_SIMILARITY = 0.6


class BadPlace(ValueError):
    """A missing place in the file, or a line that was changed since; the message says which."""


@dataclass(frozen=True, slots=True)
class _InstructionLines:
    """The range of lines from the opening mark to the closing one, from 0."""

    begin: int
    end: int


def find_section(data: bytes, name: str) -> str:
    """Return the heading called `name` with its marks, such as `## Database`; empty for no name.

    Raises:
        BadPlace: there is none, or several.
    """
    if not name.strip():
        return ""
    return _find_heading(_decode_text(data), _split_lines(data), name)[1]


def insert_lines(data: bytes, section: str, lines: Sequence[str]) -> bytes:
    """Return `data` with `lines` added at the end of the section's block; a present line isn't added.

    Without a section the block is the file's only one, or stands at its end.

    Raises:
        BadPlace: there is no place where they would be read as lines of a list.
    """
    present_lines = block_lines(data)
    missing_lines = [line for line in dict.fromkeys(lines) if line not in present_lines]
    if not missing_lines:
        return data
    _require_place(data, section)
    if not all(map(_is_bullet, missing_lines)):
        raise BadPlace("takes one bullet a line")
    return _place_lines(data, section, missing_lines)[0]


@lru_cache(maxsize=8)
def _require_place(data: bytes, section: str) -> None:
    """Raise unless a line there is read as a list item, behind a mark that opens nothing else."""
    trial, lines = _place_lines(data, section, ["- x"])
    text = _decode_text(trial)
    items, tags = ({part.start for part in _parse_parts(text) if part.kind == kind} for kind in ("item", "html_block"))
    begins = {block.begin for block in _find_blocks(text, _split_lines(trial)) if block.begin < lines.start < block.end}
    if not begins & tags or not items.issuperset(lines):
        raise BadPlace("has code or a comment that isn't closed there, so the line would be part of it")


def _is_bullet(line: str) -> bool:
    return [part.kind for part in markdown_parts(line)] == ["bullet_list", "item"] and "\n" not in line


@lru_cache(maxsize=8)
def _parse_parts(text: str) -> tuple[MarkdownPart, ...]:
    """Return the blocks of a file; a queue asks for those of one file again and again."""
    return tuple(markdown_parts(text))


def _place_lines(data: bytes, section: str, lines: Sequence[str]) -> tuple[bytes, range]:
    """Return `data` with `lines`, and their positions in it."""
    text, file_lines = _decode_text(data), _split_lines(data)
    blocks = _find_blocks(text, file_lines)
    eol = _first_line_end(file_lines)
    new_lines = [line.encode() + eol for line in lines]
    first_line, end_line = _section_range(text, file_lines, section)
    section_blocks = [block for block in blocks if first_line <= block.begin < end_line]
    if not section:
        section_blocks = (
            blocks
            if len(blocks) == 1
            else [candidate for candidate in section_blocks if not any(map(_has_text, file_lines[candidate.end + 1 :]))]
        )
    if section_blocks:
        position = section_blocks[0].end
        file_lines[position:position] = new_lines
    else:
        position = _insert_block(file_lines, new_lines, first_line, end_line, eol)
    return b"".join(file_lines), range(position, position + len(new_lines))


def remove_line(data: bytes, line: str, *, others: Collection[str] = ()) -> bytes:
    """Return `data` without roamkb's `line`, and without the block where it is empty then.

    A line that is gone altogether is gone; `others` are the lines that may stand beside it.

    Raises:
        BadPlace: somebody changed the line, or made it their own.
    """
    text, file_lines = _decode_text(data), _split_lines(data)
    for block in _find_blocks(text, file_lines):
        for index in range(block.begin + 1, block.end):
            if _line_text(file_lines[index]) == line:
                del file_lines[index]
                if not any(map(_has_text, file_lines[block.begin + 1 : block.end - 1])):
                    _remove_block(file_lines, _InstructionLines(block.begin, block.end - 1))
                return b"".join(file_lines)
    _require_gone(text, file_lines, line, others)
    return data


def block_lines(data: bytes) -> set[str]:
    """Return the lines that stand in roamkb's blocks."""
    file_lines = _split_lines(data)
    return {
        _line_text(line)
        for block in _find_blocks(_decode_text(data), file_lines)
        for line in file_lines[block.begin + 1 : block.end]
        if _has_text(line)
    }


def _decode_text(data: bytes) -> str:
    """Return `data` as text with the same lines, or raise."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadPlace("is UTF-16; save it as UTF-8 first")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPlace(f"isn't UTF-8 (byte {error.start})") from error


def _split_lines(data: bytes) -> list[bytes]:
    return _LINE_PATTERN.findall(data)


def _line_text(line: bytes) -> str:
    return line.rstrip().decode("utf-8", "replace")


def _has_text(line: bytes) -> bool:
    return bool(line.strip())


def _first_line_end(file_lines: Sequence[bytes]) -> bytes:
    """Return the line end that the file uses first."""
    return _line_end(file_lines[0] if file_lines else b"") or b"\n"


def _find_blocks(text: str, file_lines: Sequence[bytes]) -> list[_InstructionLines]:
    """Return roamkb's blocks, in order; a mark that is quoted as code is none."""
    code = {
        code_line
        for part in _parse_parts(text)
        if part.kind in ("fence", "code_block")
        for code_line in range(part.start, part.end)
    }
    blocks: list[_InstructionLines] = []
    begin: int | None = None
    for number, line in enumerate(file_lines):
        mark = _LEARNED_MARK.fullmatch(line)
        if mark is None or number in code:
            continue
        if (mark[1] == b"begin") != (begin is None):
            raise BadPlace(f"has a mark of roamkb's out of order in line {number + 1}; put the marks right first")
        if begin is None:
            begin = number
        else:
            blocks.append(_InstructionLines(begin, number))
            begin = None
    if begin is not None:
        raise BadPlace(f"has no end to the block that begins in line {begin + 1}; put the marks right first")
    return blocks


def _install_block_lines(file_lines: Sequence[bytes]) -> set[int]:
    """Return the line numbers of `install`'s block, which the next `install` rewrites."""
    lines: set[int] = set()
    begin: int | None = None
    for number, line in enumerate(file_lines):
        mark = _INSTALL_MARK.fullmatch(line)
        if mark and mark[1] == b"begin":
            begin = number
        elif mark and begin is not None:
            lines |= set(range(begin, number + 1))
            begin = None
    return lines


def _find_heading(text: str, file_lines: Sequence[bytes], name: str) -> tuple[int, str]:
    """Return the line of the one heading that is called `name`, and the heading with its marks."""
    match = _HEADING_NAME.fullmatch(name.strip())
    level, folded_name = (len(match[1]), _fold_name(match[2])) if match else (0, _fold_name(name))
    foreign = _install_block_lines(file_lines)
    headings = [part for part in _parse_parts(text) if part.kind == "heading" and part.start not in foreign]
    matching = [
        heading for heading in headings if _fold_name(heading.text) == folded_name and level in (0, heading.level)
    ]
    if len(matching) > 1:
        lines = ", ".join(str(heading.start + 1) for heading in matching)
        raise BadPlace(f"has {len(matching)} sections called that (lines {lines}); give one of them another name")
    if not matching:
        known_names = ", ".join(dict.fromkeys(" ".join(heading.text.split()) for heading in headings)) or "none at all"
        raise BadPlace(f"has no section of that name; it has: {known_names}")
    return matching[0].start, f"{'#' * matching[0].level} {' '.join(matching[0].text.split())}"


def _fold_name(name: str) -> str:
    return " ".join(name.split()).casefold()


def _section_range(text: str, file_lines: Sequence[bytes], section: str) -> tuple[int, int]:
    """Return a section's own lines, from its heading to behind the last; the file's without one."""
    if not section:
        return 0, len(file_lines)
    start, _ = _find_heading(text, file_lines, section)
    foreign = _install_block_lines(file_lines)
    ends = [part.start for part in _parse_parts(text) if part.kind == "heading"] + sorted(foreign)
    return start, min((end for end in ends if end > start), default=len(file_lines))


def _insert_block(
    file_lines: list[bytes], new_lines: Sequence[bytes], first_line: int, end_line: int, eol: bytes
) -> int:
    """Insert a block behind the last line with text; return the position of its first new line."""
    position = next(
        (number + 1 for number in range(end_line - 1, first_line - 1, -1) if _has_text(file_lines[number])), first_line
    )
    block = [BEGIN_MARK + eol, *new_lines, END_MARK + eol]
    if position:
        line_above = file_lines[position - 1]
        if not line_above.endswith((b"\n", b"\r")):
            # no line end before, none behind: so taking the block out can tell the two apart
            file_lines[position - 1] = line_above + eol
            block[-1] = END_MARK
        block.insert(0, eol)
    file_lines[position:position] = block
    return position + len(block) - len(new_lines) - 1


def _remove_block(file_lines: list[bytes], block: _InstructionLines) -> None:
    """Remove a block with the blank line above it."""
    has_end = file_lines[block.end].endswith((b"\n", b"\r"))
    eol = _line_end(file_lines[block.begin])
    del file_lines[block.begin : block.end + 1]
    index_above = block.begin - 1
    if index_above >= 0 and file_lines[index_above] == eol:
        del file_lines[index_above]
        index_above -= 1
    if not has_end and index_above >= 0:
        file_lines[index_above] = file_lines[index_above].removesuffix(eol)


def _line_end(line: bytes) -> bytes:
    return line[len(line.rstrip(b"\r\n")) :]


def _require_gone(text: str, file_lines: Sequence[bytes], line: str, others: Collection[str]) -> None:
    block_line_numbers = {
        block_line for block in _find_blocks(text, file_lines) for block_line in range(block.begin + 1, block.end)
    }
    for number, file_line in enumerate(file_lines):
        text_of_line = _line_text(file_line)
        if not text_of_line.strip() or text_of_line in others or _LEARNED_MARK.fullmatch(file_line):
            continue
        line_reference = f"line {number + 1}"
        if text_of_line.strip() == line:
            raise BadPlace(f"has it in {line_reference}, out of roamkb's block: it is yours by now; delete it by hand")
        if SequenceMatcher(None, text_of_line, line, autojunk=False).ratio() >= _MIN_SIMILARITY:
            raise BadPlace(f"has it changed in {line_reference}; delete it by hand if it is to go")
        if number in block_line_numbers and text_of_line.lstrip().startswith(("-", "*", "+")):
            raise BadPlace(f"has another line in roamkb's block, {line_reference}; move it out of there first")


def render_patch(before: bytes, after: bytes, name: str) -> str:
    """Return the differences as a unified diff; empty without any."""
    old_lines, new_lines = (
        [line.decode("utf-8", "replace") for line in _split_lines(data)] for data in (before, after)
    )
    diff_lines = unified_diff(old_lines, new_lines, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n" for line in diff_lines
    )
