"""A learning as one bullet of a rule file: it can't leave its line, hide in it, or load anything.

Agents read the bare text, people the rendered one; both should see what was learned and nothing
else. Some harnesses read `@path` as an import and `` !`…` `` as a command to be run.
"""

import re
from collections.abc import Sequence
from typing import Final

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import one_line

#: Files that a line names; the learning has all.
_MAX_FILES = 3
_MAX_FILE_NAME = 80

#: A code span; a backslash that would escape what follows, be it our own; what opens a tag or a comment;
#: what a harness loads.
_MARKDOWN_PIECE: Final = lazily(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?:.+?)(?<!`)(?P=ticks)(?!`))"
    r"|(?P<escape>\\(?=[!-/:-@\[-`{-~]))"
    r"|(?P<ticked>`+)"
    r"|(?P<comment><(?=!))"
    r"|(?P<tag><(?=[A-Za-z/?]))"
    r"|(?P<close>--(?=>))"
    r"|(?P<image>!(?=\[))"
    r"|(?P<load>(?<![^\s(\[{\"',;:])@(?=[\w~./\\-])[^\s`<>]*[^\s`<>.,;:!?)\]}\"'])"
)
_FILE_LIST = lazily(r" \(about `[^`]*`(?:, `[^`]*`)*\)\Z")
_OUR_ESCAPE = lazily(r"\\(?=[!-/:-@\[-`{-~])")
_COMMAND_MARK = lazily(r"!(?=`)")
#: What would begin something else than a paragraph.
_BLOCK_START: Final = lazily(
    r"(?P<sign>#{1,6}(?=\s|\Z)|[-+*](?=\s|\Z)|>|~{3,}|<|\["
    r"|(?:-[ \t]*){3,}\Z|(?:_[ \t]*){3,}\Z|(?:\*[ \t]*){3,}\Z|=+\s*\Z)|(?P<number>\d{1,9})(?=[.)](?:\s|\Z))"
)


def render_instruction_line(content: str, files: Sequence[str] = ()) -> str:
    """Return the bullet for a statement and the files that it is about, without a line end."""
    statement = _COMMAND_MARK.sub("! ", _MARKDOWN_PIECE.sub(_escape_piece, one_line(content)))
    file_list = ", ".join(f"`{name}`" for name in map(_file_name, files[:_MAX_FILES]) if name)
    return f"- {_escape_start(statement)}{f' (about {file_list})' if file_list else ''}"


def possible_statements(line: str) -> tuple[str, ...]:
    """Return what a bullet may have been rendered from: its words as they stand, and without our backslashes."""
    words = _FILE_LIST.sub("", line.removeprefix("- "))
    return words, _OUR_ESCAPE.sub("", words)


def _file_name(pattern: str) -> str:
    name = clip_text(one_line(pattern).replace("`", ""), _MAX_FILE_NAME)
    while (shortened := name.replace("<!--", "").replace("-->", "")) != name:
        # what is left may be one again
        name = shortened
    return name.strip()


def _escape_piece(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "code":
            # what looks for comments in the bare text knows no code spans
            return match.group().replace("<!--", "< !--").replace("-->", "-- >")
        case "escape":
            return "\\\\"
        case "ticked":
            return "".join(f"\\{tick}" for tick in match.group())
        case "close" | "comment":
            # behind the sign: whatever looks for comments in the bare text finds none either
            return match.group() + "\\"
        case "load":
            return f"`{match.group()}`"
        case _:
            return "\\" + match.group()


def _escape_start(text: str) -> str:
    """Return `text` escaped such that it begins a paragraph."""
    match = _BLOCK_START.match(text)
    if match is None:
        return text
    position = match.end("number") if match["number"] else 0
    return f"{text[:position]}\\{text[position:]}"
