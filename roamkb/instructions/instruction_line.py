"""A learning as one bullet of a rule file: it can't leave its line, hide in it, or load anything.

Agents read the bare text, people the rendered one; both should see what was learned and nothing
else. Some harnesses read `@path` as an import and `` !`…` `` as a command to be run.
"""

import re
from collections.abc import Sequence
from typing import Final

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clipped
from roamkb.core.text import shown

#: Files that a line names; the learning has all.
_FILES = 3
_LONGEST_FILE = 80

#: A code span; a backslash that would escape what follows, be it our own; what opens a tag or a comment;
#: what a harness loads.
_PIECES: Final = lazily(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?:.+?)(?<!`)(?P=ticks)(?!`))"
    r"|(?P<escape>\\(?=[!-/:-@\[-`{-~]))"
    r"|(?P<ticked>`+)"
    r"|(?P<comment><(?=!))"
    r"|(?P<tag><(?=[A-Za-z/?]))"
    r"|(?P<close>--(?=>))"
    r"|(?P<image>!(?=\[))"
    r"|(?P<load>(?<![^\s(\[{\"',;:])@(?=[\w~./\\-])[^\s`<>]*[^\s`<>.,;:!?)\]}\"'])"
)
_RUN = lazily(r"!(?=`)")
#: What would begin something else than a paragraph.
_STRUCTURE: Final = lazily(
    r"(?P<sign>#{1,6}(?=\s|\Z)|[-+*](?=\s|\Z)|>|~{3,}|<|\["
    r"|(?:-[ \t]*){3,}\Z|(?:_[ \t]*){3,}\Z|(?:\*[ \t]*){3,}\Z|=+\s*\Z)|(?P<number>\d{1,9})(?=[.)](?:\s|\Z))"
)


def rule_line(content: str, files: Sequence[str] = ()) -> str:
    """Return the bullet for a statement and the files that it is about, without a line end."""
    said = _RUN.sub("! ", _inline(shown(content)))
    about = ", ".join(f"`{name}`" for name in map(_file_name, files[:_FILES]) if name)
    return f"- {_led(said)}{f' (about {about})' if about else ''}"


def _file_name(pattern: str) -> str:
    name = clipped(shown(pattern).replace("`", ""), _LONGEST_FILE)
    while (less := name.replace("<!--", "").replace("-->", "")) != name:
        # what is left may be one again
        name = less
    return name.strip()


def _inline(text: str) -> str:
    return _PIECES.sub(_piece, text)


def _piece(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "code":
            # what looks for comments in the bare text knows no code spans
            return found.group().replace("<!--", "< !--").replace("-->", "-- >")
        case "escape":
            return "\\\\"
        case "ticked":
            return "".join(f"\\{tick}" for tick in found.group())
        case "close" | "comment":
            # behind the sign: whatever looks for comments in the bare text finds none either
            return found.group() + "\\"
        case "load":
            return f"`{found.group()}`"
        case _:
            return "\\" + found.group()


def _led(text: str) -> str:
    """Return `text` such that its beginning is a paragraph's."""
    found = _STRUCTURE.match(text)
    if found is None:
        return text
    at = found.end("number") if found["number"] else 0
    return f"{text[:at]}\\{text[at:]}"
