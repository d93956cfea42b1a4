"""A note's nodes, as org-roam would put them into its database."""

from bisect import bisect_right
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property

from roamkb.core.model import Citation
from roamkb.core.model import Link
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.agent_node import is_agent_node
from roamkb.org.breaks import BREAK
from roamkb.org.escape import unescaped_name
from roamkb.org.file_variables import mode_fault
from roamkb.org.file_variables import other_mode
from roamkb.org.syntax.active_content import LiveText
from roamkb.org.syntax.headings import Heading
from roamkb.org.syntax.headings import parents
from roamkb.org.syntax.headings import read_heading
from roamkb.org.syntax.headings import step
from roamkb.org.syntax.inline_objects import NoDate
from roamkb.org.syntax.keywords import INTERESTING
from roamkb.org.syntax.keywords import FileKeywords
from roamkb.org.syntax.keywords import collect
from roamkb.org.syntax.keywords import states
from roamkb.org.syntax.links import displayed
from roamkb.org.syntax.planning import planned
from roamkb.org.syntax.property_drawers import PropertyDrawer
from roamkb.org.syntax.property_drawers import file_drawer
from roamkb.org.syntax.property_drawers import heading_drawer
from roamkb.org.syntax.property_values import UnbalancedQuote
from roamkb.org.syntax.property_values import split_quoted
from roamkb.org.syntax.refs import read_refs

_NEWLINE = lazily("\n")

#: The number of what stands above all headings.
_TOP = -1


def no_setup(_path: str) -> str | None:
    """Return None: there is no set-up file."""
    return None


def parse_note(
    text: str,
    *,
    file: str,
    setup: Callable[[str], str | None] = no_setup,
    todo_lines: Sequence[str] = (),
) -> Note:
    """Return the note in `text`; `file` is its path relative to the knowledge base.

    `setup` gives the text of a set-up file by its path: relative to the knowledge base, `..`
    and the including file's folder worked in, or as written where that begins with `/` or
    `~`. `todo_lines` are the human's own TODO sequences, for files that have none.
    """
    live = LiveText(text)
    keywords = collect(live.keyword_lines(INTERESTING), file, lambda path: _setup_lines(setup(path)))
    reader = _NoteReader(live, file, keywords, states(keywords.todo_lines or todo_lines))
    fault = reader.mode_fault
    nodes: tuple[Node, ...] = ()
    try:
        nodes = reader.nodes()
        reader.check_times()
    except UnbalancedQuote as broken:
        fault = f"a quote in a property is never closed: {broken}"
    except _UntitledHeading as broken:
        fault = f"the heading in line {broken} has an ID and no title, but tags, aliases, refs or links"
    except NoDate as broken:
        fault = f"Org can't read {broken} as a time"
    note = Note(
        file=file,
        text=text,
        title=reader.title,
        nodes=() if fault else nodes,
        setupfiles=tuple(dict.fromkeys(keywords.setupfiles)),
        fault=fault,
    )
    return _as_given(note) if BREAK in text else note


def _as_given(note: Note) -> Note:
    """Return an agent's note with its names as they were given, which its file shows broken."""
    if not note.nodes or not is_agent_node(note, note.nodes[0]):
        return note
    node = note.nodes[0]
    named = replace(node, title=unescaped_name(node.title), aliases=tuple(map(unescaped_name, node.aliases)))
    return replace(note, title=named.title, nodes=(named, *note.nodes[1:]))


def _setup_lines(text: str | None) -> Iterator[str]:
    return LiveText(text or "").keyword_lines(INTERESTING)


class _UntitledHeading(Exception):
    """org-roam fails on a heading that has an ID, no title, and something to say."""


class _NoteReader:
    """One file while its nodes are read; a heading goes by its number."""

    def __init__(self, live: LiveText, file: str, keywords: FileKeywords, todo: frozenset[str]) -> None:
        self._live = live
        self._text = live.text
        self._file = file
        self._keywords = keywords
        self._todo = todo
        self._mode = other_mode(live.text)
        self._lines = live.lines
        self._parents = parents(self._lines)
        self._headings: dict[int, Heading] = {}
        self._steps: dict[int, str] = {}
        #: The paths and the tags of those that were asked for: who is below goes on from there.
        self._paths: dict[int, tuple[str, ...]] = {}
        self._tags: dict[int, tuple[str, ...]] = {}

    @cached_property
    def title(self) -> str:
        """The file's title, or its path without the ending."""
        titles = self._keywords.titles
        return displayed(titles[0] if titles else _without_ending(self._file))

    @property
    def mode_fault(self) -> str | None:
        """Why org-roam fails on a file that isn't in Org mode."""
        if self._mode is None:
            return None
        nodes = any(self._is_node(number) for number in range(len(self._lines)))
        return mode_fault(self._mode, has_headings=bool(self._lines), has_heading_nodes=nodes)

    def nodes(self) -> tuple[Node, ...]:
        """Return the file's node and those of its headings."""
        found = [self._file_node()] if self._is_node(_TOP) else []
        known = {node.id for node in found}
        for number in range(len(self._lines)):
            if not self._is_node(number):
                continue
            if self._heading(number).title is not None:
                node = self._heading_node(number)
                found.append(node)
                known.add(node.id)
            elif self._drawers[number][0].get("ID") not in known and self._says_something(number):
                raise _UntitledHeading(self._line_number(self._lines[number].begin))
        return tuple(found)

    def check_times(self) -> None:
        """Raise `NoDate` where Org would fail to read a time."""
        self._live.check_times(self._title_span)

    def _says_something(self, number: int) -> bool:
        drawer, _ = self._drawers[number]
        return bool(
            self._tags_of(number)
            or split_quoted(drawer.get("ROAM_ALIASES") or "")
            or read_refs(drawer.get("ROAM_REFS") or "")
            or self._links.get(number)
            or self._citations.get(number)
        )

    @cached_property
    def _drawers(self) -> dict[int, tuple[PropertyDrawer, str | None]]:
        starts_with_heading = bool(self._lines) and self._lines[0].begin == 0
        top = PropertyDrawer() if starts_with_heading else file_drawer(self._text)
        found = {number: heading_drawer(self._text, line.end) for number, line in enumerate(self._lines)}
        return {_TOP: (top, None), **found}

    def _is_node(self, number: int) -> bool:
        drawer, _ = self._drawers[number]
        if not drawer.entries:
            return False
        identity = drawer.get("ID")
        return identity is not None and bool(identity.strip()) and drawer.get("ROAM_EXCLUDE") is None

    @cached_property
    def _owners(self) -> dict[int, int | None]:
        """The node that each heading's own text belongs to."""
        top = _TOP if self._is_node(_TOP) else None
        if self._lines and self._lines[0].begin == 0 and self._is_node(0):
            # org-roam climbs to the first character, and that is the first heading
            top = 0
        found: dict[int, int | None] = {_TOP: top}
        for number, parent in enumerate(self._parents):
            found[number] = number if self._is_node(number) else found[parent]
        return found

    def _heading_of(self, place: int) -> int:
        return bisect_right(self._live.begins, place) - 1

    def _line_number(self, place: int) -> int:
        return bisect_right(self._newlines, place - 1) + 1

    @cached_property
    def _newlines(self) -> list[int]:
        return [newline.start() for newline in _NEWLINE.finditer(self._text)]

    @cached_property
    def _links(self) -> dict[int, list[Link]]:
        found: dict[int, list[Link]] = {}
        for link in self._live.links(self._title_span, self._keywords.links):
            owner = self._owners[self._heading_of(link.begin)]
            if owner is not None:
                line = self._line_number(link.begin)
                stored = Link(type=link.type, dest=link.path, search=link.search, line=line)
                found.setdefault(owner, []).append(stored)
        return found

    @cached_property
    def _citations(self) -> dict[int, list[Citation]]:
        found: dict[int, list[Citation]] = {}
        for key, place in self._live.citations(self._title_span):
            owner = self._owners[self._heading_of(place)]
            if owner is not None:
                found.setdefault(owner, []).append(Citation(key=key, line=self._line_number(place)))
        return found

    def _heading(self, number: int) -> Heading:
        if number not in self._headings:
            self._headings[number] = read_heading(self._text, self._lines[number], self._todo)
        return self._headings[number]

    def _title_span(self, number: int) -> tuple[int, int] | None:
        span = self._heading(number).title
        if span is None or not self._text.startswith("COMMENT", span[0], span[1]):
            return span
        return span[0] + len("COMMENT"), span[1]

    def _file_node(self) -> Node:
        drawer, _ = self._drawers[_TOP]
        return Node(
            id=drawer.get("ID") or "",
            file=self._file,
            line=1,
            pos=1,
            level=0,
            title=self.title,
            tags=() if self._mode else tuple(self._keywords.filetags),
            end_line=self._last_line(len(self._text)),
            aliases=_aliases(drawer),
            refs=read_refs(drawer.get("ROAM_REFS") or ""),
            links=tuple(self._links.get(_TOP, ())),
            citations=tuple(self._citations.get(_TOP, ())),
            properties={} if self._mode else drawer.properties(),
        )

    def _heading_node(self, number: int) -> Node:
        line = self._lines[number]
        heading = self._heading(number)
        drawer, planning = self._drawers[number]
        return Node(
            id=drawer.get("ID") or "",
            file=self._file,
            line=self._line_number(line.begin),
            pos=line.begin + 1,
            level=1 + line.stars // 2 if self._keywords.odd_levels else line.stars,
            title=displayed(self._text[slice(*heading.title)]) if heading.title else "",
            olp=self._path(number),
            todo=heading.todo,
            priority=heading.priority,
            scheduled=planned(planning, "SCHEDULED:") if planning else None,
            deadline=planned(planning, "DEADLINE:") if planning else None,
            tags=self._tags_of(number),
            end_line=self._last_line(self._ends[number]),
            aliases=_aliases(drawer),
            refs=read_refs(drawer.get("ROAM_REFS") or ""),
            links=tuple(self._links.get(number, ())),
            citations=tuple(self._citations.get(number, ())),
            properties=drawer.properties(),
        )

    def _path(self, number: int) -> tuple[str, ...]:
        """Return the steps of the outline above a heading, the outermost first."""
        added: list[str] = []
        above = self._parents[number]
        while above != _TOP and above not in self._paths:
            added.append(self._step(above))
            above = self._parents[above]
        known = () if above == _TOP else (*self._paths[above], self._step(above))
        self._paths[number] = (*known, *reversed(added))
        return self._paths[number]

    def _step(self, number: int) -> str:
        if number not in self._steps:
            self._steps[number] = step(self._text, self._heading(number))
        return self._steps[number]

    def _tags_of(self, number: int) -> tuple[str, ...]:
        """Return the file's tags, those of the headings above and a heading's own; the last of equal ones.

        What is only inherited is shared: thousands of tags above thousands of headings are in
        memory once.
        """
        if number not in self._tags:
            added: list[tuple[str, ...]] = []
            above = number
            while above != _TOP and above not in self._tags:
                added.append(self._heading(above).tags)
                above = self._parents[above]
            known = self._tags[above] if above != _TOP else self._file_tags
            own = [tag for tags in reversed(added) for tag in tags]
            self._tags[number] = _last_of_equals((*known, *own)) if own else known
        return self._tags[number]

    @cached_property
    def _file_tags(self) -> tuple[str, ...]:
        return _last_of_equals(self._keywords.filetags)

    @cached_property
    def _ends(self) -> list[int]:
        """Where the subtree of each heading ends."""
        ends = [len(self._text)] * len(self._lines)
        open_ones: list[int] = []
        for number, line in enumerate(self._lines):
            while open_ones and self._lines[open_ones[-1]].stars >= line.stars:
                ends[open_ones.pop()] = line.begin
            open_ones.append(number)
        return ends

    def _last_line(self, end: int) -> int:
        return self._line_number(max(end - 1, 0))


def _last_of_equals(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reversed(tags)))[::-1]


def _aliases(drawer: PropertyDrawer) -> tuple[str, ...]:
    return tuple(split_quoted(drawer.get("ROAM_ALIASES") or ""))


def _without_ending(file: str) -> str:
    stem, dot, _ = file.rpartition(".")
    return stem if dot and not stem.endswith("/") else file
