"""Passages, the units that a search can find: each node with the lines that are its own.

A heading node's text isn't its file's text as well; text around no node belongs to the
file itself, so that nothing that a person wrote is unfindable.
"""

import re
from collections.abc import Iterator
from collections.abc import Sequence
from itertools import pairwise

from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily

#: Lines that repeat what the fields say already.
_FIELD = lazily(r"\s*(?:#\+(?:title|filetags):|:(?:ID|ROAM_ALIASES|PROPERTIES|END):)", re.IGNORECASE)
_TITLE = lazily(r"\s*#\+title:", re.IGNORECASE)
_STAMP = lazily(r"(?:.*/)?(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\D[^/]*")
_DAILY = lazily(r"(?:.*/)?(\d{4}-\d\d-\d\d)[^/]*")
_CREATED = lazily(r"[\[<]?(\d{4}-\d\d-\d\d)[^\]>\d]*(\d\d:\d\d)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotePassage:
    """One unit that a search can find: a node, or a file's text outside all nodes."""

    note: Note
    #: None for the text of a file that lies in no node.
    node: Node | None
    #: (line number, text), the fields' own lines left out.
    lines: tuple[tuple[int, str], ...]

    @property
    def title(self) -> str:
        """The node's title, or the file's."""
        return self.node.title if self.node else self.note.title

    @property
    def titles_above(self) -> tuple[str, ...]:
        """The titles of the file and the headings above a heading's node, outermost first."""
        return (self.note.title, *self.node.olp) if self.node and self.node.level else ()

    @property
    def tags(self) -> tuple[str, ...]:
        """The node's tags, including inherited ones."""
        return self.node.tags if self.node else ()

    @property
    def date(self) -> str:
        """The time of creation, local ISO; empty where it is unknown."""
        return creation_time(self.note, self.node)

    def first_line(self) -> int:
        """Return the line that shows the title."""
        if self.node and self.node.level:
            return self.node.line
        for number, line in enumerate(self.note.text.split("\n", 50)[:50], start=1):
            if _TITLE.match(line):
                return number
        return 1


def split_passages(note: Note) -> Iterator[NotePassage]:
    """Yield each node of `note` with its own lines, then the text outside all nodes."""
    owners = _lines_by_node(note)
    for node in (*note.nodes, None):
        lines = tuple(owners.get(id(node), ()))
        if node is not None or any(text.strip() for _, text in lines) or not note.nodes:
            yield NotePassage(note=note, node=node, lines=lines)


def passage_at(pieces: Sequence[NotePassage], line: int) -> NotePassage:
    """Return the passage of a note that `line` stands in: the innermost node's, else the file's."""
    enclosing = [p for p in pieces if p.node and p.node.level and p.node.line <= line <= p.node.end_line]
    if enclosing:
        return max(enclosing, key=lambda passage: passage.node.line if passage.node else 0)
    return next((p for p in pieces if p.node and not p.node.level), pieces[-1])


def _lines_by_node(note: Note) -> dict[int, list[tuple[int, str]]]:
    """Return the lines of each node, by the node's identity; lines outside all nodes are under None's."""
    lines = list(enumerate(note.text.split("\n"), start=1))
    owned: dict[int, list[tuple[int, str]]] = {}
    starts = {node.line: node for node in note.nodes if node.level}
    open_nodes: list[Node | None] = [next((node for node in note.nodes if not node.level), None)]
    edges = {1, len(lines) + 1, *starts, *(node.end_line + 1 for node in starts.values())}
    for begin, end in pairwise(sorted(edges)):
        while len(open_nodes) > 1 and (innermost_node := open_nodes[-1]) and begin > innermost_node.end_line:
            open_nodes.pop()
        if begin in starts:
            open_nodes.append(starts[begin])
        own_lines = lines[begin - (begin not in starts) : end - 1]
        owned.setdefault(id(open_nodes[-1]), []).extend(
            line for line in own_lines if ":" not in line[1] or not _FIELD.match(line[1])
        )
    return owned


def creation_time(note: Note, node: Node | None) -> str:
    """Return the creation time of a node: from CREATED, else from the file name, else empty."""
    if node and (match := _CREATED.match(node.properties.get("CREATED", ""))):
        return f"{match[1]}T{match[2]}:00" if match[2] else match[1]
    if match := _STAMP.fullmatch(note.file):
        year, month, day, *time = match.groups()
        return f"{year}-{month}-{day}T{':'.join(time)}"
    daily = _DAILY.fullmatch(note.file)
    return daily[1] if daily else ""
