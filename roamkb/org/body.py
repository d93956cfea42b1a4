"""The text of a node: as it stands for a human's, as it was given for an agent's."""

import re

from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.agent_node import AGENT_TAG
from roamkb.org.agent_node import is_agent_node
from roamkb.org.escape import unescape_lines
from roamkb.org.escape import unescape_text
from roamkb.org.syntax.syntax_table import BREAK
from roamkb.org.syntax.syntax_table import SPACE

#: Tells by its head that a note may be an agent's, whose text has marks to take off.
_AGENT = lazily(rf"[ \t]*#\+filetags:.*:{AGENT_TAG}:", re.IGNORECASE)
_COMMENT = lazily(r"#(?: |$)")
_KEYWORD = lazily(rf"[ \t]*#\+[^{SPACE}:]+:")
_PLANNING = lazily(r"[ \t]*(?:SCHEDULED|DEADLINE|CLOSED):", re.IGNORECASE)
_DRAWER = lazily(r"[ \t]*:PROPERTIES:[ \t]*", re.IGNORECASE)
_PROPERTY = lazily(rf"[ \t]*:[^{SPACE}]+:(?:[ \t].*)?")
_END = lazily(r"[ \t]*:END:[ \t]*", re.IGNORECASE)


def body_of(note: Note, node: Node) -> str:
    """Return the node's text: a human's as it stands, an agent's as it was given to `render_node`.

    An agent node's links to related nodes are text at its end, and come with it.
    """
    lines = note.text.removeprefix("\ufeff").split("\n")
    if node.level:
        return "\n".join(_below_heading(lines[node.line - 1 : node.end_line])).strip("\n")
    own = _after_head(lines)
    if not is_agent_node(note, node):
        return "\n".join(own).strip("\n")
    # exactly one empty line stands between head and body: more of them are the body's own
    return unescape_text("\n".join(own[1:] if own and not own[0].strip() else own).rstrip("\n"))


def lines_as_shown(text: str) -> dict[int, str]:
    """Return, by number, the lines of a note that are shown differently from how its file has them."""
    lines = text.split("\n")
    shown_lines = {n: line.replace(BREAK, "") for n, line in enumerate(lines, start=1) if BREAK in line}
    body = _after_head(lines)
    head_length = len(lines) - len(body)
    if any(map(_AGENT.match, lines[:head_length])):
        for number, given_lines in enumerate(unescape_lines(body), start=head_length + 1):
            if given_lines and given_lines[0] != lines[number - 1]:
                shown_lines[number] = given_lines[0]
    return shown_lines


def _below_heading(lines: list[str]) -> list[str]:
    """Return a subtree's lines after heading, planning line and drawer."""
    start = 2 if len(lines) > 1 and _PLANNING.match(lines[1]) else 1
    return lines[_after_drawer(lines, start) :]


def _after_head(lines: list[str]) -> list[str]:
    """Return a file's lines after its drawer and the keywords that lead it."""
    start = 0
    while start < len(lines) and _COMMENT.match(lines[start]):
        start += 1
    start = _after_drawer(lines, start)
    while start < len(lines) and _KEYWORD.match(lines[start]):
        start += 1
    return lines[start:]


def _after_drawer(lines: list[str], start: int) -> int:
    """Return the index of the line behind the property drawer at `start`; `start` where there is none."""
    if start >= len(lines) or not _DRAWER.fullmatch(lines[start]):
        return start
    for number in range(start + 1, len(lines)):
        if _END.fullmatch(lines[number]):
            return number + 1
        if not _PROPERTY.fullmatch(lines[number]):
            break
    return start
