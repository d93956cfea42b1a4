"""A node as HTML: its headings and their sections, or a file's."""

from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.model import Node
from roamkb.core.startup.dataclasses import dataclass
from roamkb.org.html.blocks import BlockRenderer
from roamkb.org.html.inline import InlineRenderer
from roamkb.org.html.markup import LinkTargets
from roamkb.org.html.markup import shown
from roamkb.org.syntax.active_content import LiveText
from roamkb.org.syntax.element_tree import ElementReader
from roamkb.org.syntax.elements import ElementMode
from roamkb.org.syntax.headings import HeadingLine
from roamkb.org.syntax.headings import heading_lines
from roamkb.org.syntax.headings import read_heading
from roamkb.org.syntax.inline_objects import ObjectSet
from roamkb.org.syntax.keywords import INTERESTING
from roamkb.org.syntax.keywords import collect_keywords
from roamkb.org.syntax.keywords import todo_states

#: Characters of a note that a browser lays out at once; more is somebody's data.
MOST_TEXT = 400_000
_LEAST_LEVEL = 2
_MOST_LEVEL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedNode:
    """A node's text as HTML."""

    html: str
    #: Whether the end is left out.
    is_cut: bool


def render_node(
    text: str, node: Node, targets: LinkTargets, *, todo_lines: Sequence[str] = (), line: int | None = None
) -> RenderedNode:
    """Return `node`, which lies in the note `text`, as HTML in which everything unknown is text.

    Headings are `h2` and below, each one level below the one around it. What stands in `line`, counted from 1,
    gets the anchor `here`.
    """
    lines = heading_lines(text)
    begin, end = _node_span(text, node, lines)
    stop = min(end, begin + MOST_TEXT)
    keywords = collect_keywords(LiveText(text).keyword_lines(INTERESTING), node.file, lambda _: iter(()))
    marked = None if line is None else _line_begin(text, line)
    inline = InlineRenderer(text, targets, keywords.links)
    blocks = BlockRenderer(text, inline, marked=marked)
    reader = ElementReader(text)
    sections = _Sections(lines, begin, stop)
    states = todo_states(keywords.todo_lines or todo_lines)
    parts: list[str] = []
    for heading, level, section_begin, section_end in sections.iterate():
        mode = ElementMode.TOP if section_begin == 0 else ElementMode.PLANNING
        if heading is not None and level:
            anchor = ' id="here"' if marked is not None and heading.begin <= marked < heading.end else ""
            parts.append(_render_heading(text, heading, inline, states, level=level, anchor=anchor))
        parts += blocks.render(reader.read_elements(section_begin, section_end, mode))
    return RenderedNode(html="\n".join(parts), is_cut=stop < end)


class _Sections:
    """The headings and sections between two places of a text, with the level that each heading has in a page."""

    def __init__(self, lines: Sequence[HeadingLine], begin: int, end: int) -> None:
        self._lines = [line for line in lines if begin <= line.begin < end]
        self._begin = begin
        self._end = end

    def iterate(self) -> Iterator[tuple[HeadingLine | None, int, int, int]]:
        """Yield each heading, its level (0 for the node's own), and the span of its section."""
        starts_with_heading = bool(self._lines) and self._lines[0].begin == self._begin and self._begin > 0
        if not starts_with_heading:
            yield None, 0, self._begin, self._lines[0].begin if self._lines else self._end
        above: list[int] = []
        for number, line in enumerate(self._lines):
            following = self._lines[number + 1].begin if number + 1 < len(self._lines) else self._end
            is_own = starts_with_heading and number == 0
            if not is_own:
                while above and above[-1] >= line.stars:
                    above.pop()
                above.append(line.stars)
            level = 0 if is_own else min(_LEAST_LEVEL + len(above) - 1, _MOST_LEVEL)
            yield line, level, min(line.end, self._end), following


def _node_span(text: str, node: Node, lines: Sequence[HeadingLine]) -> tuple[int, int]:
    """Return the span of a node's subtree; of a file's node that of its text."""
    if not node.level:
        return 0, len(text)
    begin = node.pos - 1
    place = next((number for number, line in enumerate(lines) if line.begin == begin), None)
    if place is None:
        return 0, len(text)
    stars = lines[place].stars
    return begin, next((line.begin for line in lines[place + 1 :] if line.stars <= stars), len(text))


def _line_begin(text: str, line: int) -> int:
    position = 0
    for _ in range(min(line, text.count("\n") + 1) - 1):
        position = text.index("\n", position) + 1
    return position


def _render_heading(
    text: str, line: HeadingLine, inline: InlineRenderer, states: frozenset[str], *, level: int, anchor: str
) -> str:
    heading = read_heading(text, line, states)
    parts = []
    if heading.todo:
        parts.append(f'<span class="todo">{shown(heading.todo)}</span>')
    if heading.priority:
        parts.append(f'<span class="priority">{shown(heading.priority)}</span>')
    if heading.title:
        parts.append(inline.render(*heading.title, ObjectSet.ALL))
    parts += [f'<span class="tag">{shown(tag)}</span>' for tag in heading.tags]
    return f"<h{level}{anchor}>{' '.join(parts) or '…'}</h{level}>"
