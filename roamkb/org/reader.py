"""The reader of notes: their nodes, as org-roam would put them into its database."""

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
from roamkb.org.escape import unescape_name
from roamkb.org.file_variables import mode_fault
from roamkb.org.file_variables import other_mode
from roamkb.org.syntax.active_content import LiveText
from roamkb.org.syntax.headings import Heading
from roamkb.org.syntax.headings import outline_step
from roamkb.org.syntax.headings import parent_places
from roamkb.org.syntax.headings import read_heading
from roamkb.org.syntax.inline_objects import NoDate
from roamkb.org.syntax.keywords import INTERESTING
from roamkb.org.syntax.keywords import FileKeywords
from roamkb.org.syntax.keywords import collect_keywords
from roamkb.org.syntax.keywords import todo_states
from roamkb.org.syntax.links import displayed_text
from roamkb.org.syntax.planning import planned_time
from roamkb.org.syntax.property_drawers import PropertyDrawer
from roamkb.org.syntax.property_drawers import file_drawer
from roamkb.org.syntax.property_drawers import heading_drawer
from roamkb.org.syntax.property_values import UnbalancedQuote
from roamkb.org.syntax.property_values import split_quoted
from roamkb.org.syntax.refs import read_refs
from roamkb.org.syntax.syntax_table import BREAK

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
    keywords = collect_keywords(live.keyword_lines(INTERESTING), file, lambda path: _setup_lines(setup(path)))
    reader = _NoteReader(live, file, keywords, todo_states(keywords.todo_lines or todo_lines))
    fault = "a set-up file's name is a single quote" if keywords.has_lone_quote else reader.mode_fault
    nodes: tuple[Node, ...] = ()
    try:
        nodes = reader.read_nodes()
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
    """Return an agent's note with its names as they were given, without the breaks of its file."""
    if not note.nodes or not is_agent_node(note, note.nodes[0]):
        return note
    node = note.nodes[0]
    named_node = replace(node, title=unescape_name(node.title), aliases=tuple(map(unescape_name, node.aliases)))
    return replace(note, title=named_node.title, nodes=(named_node, *note.nodes[1:]))


def _setup_lines(text: str | None) -> Iterator[str]:
    return LiveText(text or "").keyword_lines(INTERESTING)


class _UntitledHeading(Exception):
    """A heading with an ID, no title and other metadata, on which org-roam fails."""


class _NoteReader:
    """The reader of one file; a heading is known by its number."""

    def __init__(self, live: LiveText, file: str, keywords: FileKeywords, todo: frozenset[str]) -> None:
        self._live = live
        self._text = live.text
        self._file = file
        self._keywords = keywords
        self._todo = todo
        self._mode = other_mode(live.text)
        self._lines = live.lines
        self._parents = parent_places(self._lines)
        self._headings: dict[int, Heading] = {}
        self._steps: dict[int, str] = {}
        #: The paths and the tags of those that were asked for: who is below goes on from there.
        self._paths: dict[int, tuple[str, ...]] = {}
        self._tags: dict[int, tuple[str, ...]] = {}

    @cached_property
    def title(self) -> str:
        """The file's title of one line or more, as org-roam 2.3 joins them, or its path without the ending."""
        titles = self._keywords.titles
        # 2.3 means to fall back to the path as well, and by a slip of its own never does
        return displayed_text(" ".join(titles) if titles else _without_ending(self._file))

    @property
    def mode_fault(self) -> str | None:
        """The reason why org-roam fails on a file that isn't in Org mode."""
        if self._mode is None:
            return None
        nodes = any(self._is_node(number) for number in range(len(self._lines)))
        return mode_fault(self._mode, has_headings=bool(self._lines), has_heading_nodes=nodes)

    def read_nodes(self) -> tuple[Node, ...]:
        """Return the file's node and those of its headings."""
        nodes = [self._file_node()] if self._is_node(_TOP) else []
        known_ids = {node.id for node in nodes}
        for number in range(len(self._lines)):
            if not self._is_node(number):
                continue
            if self._heading_at(number).title is not None:
                node = self._heading_node(number)
                nodes.append(node)
                known_ids.add(node.id)
            elif self._drawers_by_number[number][0].get_value("ID") not in known_ids and self._has_metadata(number):
                raise _UntitledHeading(self._line_number(self._lines[number].begin))
        return tuple(nodes)

    def check_times(self) -> None:
        """Raise `NoDate` where Org would fail to read a time."""
        self._live.check_times(self._title_span)

    def _has_metadata(self, number: int) -> bool:
        drawer, _ = self._drawers_by_number[number]
        return bool(
            self._tags_of(number)
            or split_quoted(drawer.get_value("ROAM_ALIASES") or "")
            or read_refs(drawer.get_value("ROAM_REFS") or "")
            or self._links_by_owner.get(number)
            or self._citations_by_owner.get(number)
        )

    @cached_property
    def _drawers_by_number(self) -> dict[int, tuple[PropertyDrawer, str | None]]:
        starts_with_heading = bool(self._lines) and self._lines[0].begin == 0
        top = PropertyDrawer() if starts_with_heading else file_drawer(self._text)
        heading_drawers = {number: heading_drawer(self._text, line.end) for number, line in enumerate(self._lines)}
        return {_TOP: (top, None), **heading_drawers}

    def _is_node(self, number: int) -> bool:
        drawer, _ = self._drawers_by_number[number]
        if not drawer.entries:
            return False
        identity = drawer.get_value("ID")
        return identity is not None and bool(identity.strip()) and drawer.get_value("ROAM_EXCLUDE") is None

    @cached_property
    def _owner_numbers(self) -> dict[int, int | None]:
        """The node that each heading's own text belongs to."""
        top = _TOP if self._is_node(_TOP) else None
        if self._lines and self._lines[0].begin == 0 and self._is_node(0):
            # org-roam climbs to the first character, and that is the first heading
            top = 0
        owners: dict[int, int | None] = {_TOP: top}
        for number, parent in enumerate(self._parents):
            owners[number] = number if self._is_node(number) else owners[parent]
        return owners

    def _heading_of(self, place: int) -> int:
        return bisect_right(self._live.begins, place) - 1

    def _line_number(self, place: int) -> int:
        return bisect_right(self._newline_places, place - 1) + 1

    @cached_property
    def _newline_places(self) -> list[int]:
        return [newline.start() for newline in _NEWLINE.finditer(self._text)]

    @cached_property
    def _links_by_owner(self) -> dict[int, list[Link]]:
        links_by_owner: dict[int, list[Link]] = {}
        for link in self._live.find_links(self._title_span, self._keywords.links):
            owner = self._owner_numbers[self._heading_of(link.begin)]
            if owner is not None:
                line = self._line_number(link.begin)
                _, _, described = self._text[link.begin : link.end].partition("][")
                text = " ".join(described.removesuffix("]]").split())
                stored = Link(type=link.type, dest=link.path, search=link.search, line=line, text=text)
                links_by_owner.setdefault(owner, []).append(stored)
        return links_by_owner

    @cached_property
    def _citations_by_owner(self) -> dict[int, list[Citation]]:
        citations_by_owner: dict[int, list[Citation]] = {}
        for key, place in self._live.find_citations(self._title_span):
            owner = self._owner_numbers[self._heading_of(place)]
            if owner is not None:
                citations_by_owner.setdefault(owner, []).append(Citation(key=key, line=self._line_number(place)))
        return citations_by_owner

    def _heading_at(self, number: int) -> Heading:
        if number not in self._headings:
            self._headings[number] = read_heading(self._text, self._lines[number], self._todo)
        return self._headings[number]

    def _title_span(self, number: int) -> tuple[int, int] | None:
        span = self._heading_at(number).title
        if span is None or not self._text.startswith("COMMENT", span[0], span[1]):
            return span
        return span[0] + len("COMMENT"), span[1]

    def _file_node(self) -> Node:
        drawer, _ = self._drawers_by_number[_TOP]
        return Node(
            id=drawer.get_value("ID") or "",
            file=self._file,
            line=1,
            pos=1,
            level=0,
            title=self.title,
            tags=() if self._mode else tuple(self._keywords.filetags),
            end_line=self._last_line(len(self._text)),
            aliases=_drawer_aliases(drawer),
            refs=read_refs(drawer.get_value("ROAM_REFS") or ""),
            links=tuple(self._links_by_owner.get(_TOP, ())),
            citations=tuple(self._citations_by_owner.get(_TOP, ())),
            properties={} if self._mode else drawer.joined_properties(),
        )

    def _heading_node(self, number: int) -> Node:
        line = self._lines[number]
        heading = self._heading_at(number)
        drawer, planning = self._drawers_by_number[number]
        return Node(
            id=drawer.get_value("ID") or "",
            file=self._file,
            line=self._line_number(line.begin),
            pos=line.begin + 1,
            level=1 + line.stars // 2 if self._keywords.odd_levels else line.stars,
            title=displayed_text(self._text[slice(*heading.title)]) if heading.title else "",
            olp=self._outline_path(number),
            todo=heading.todo,
            priority=heading.priority,
            scheduled=planned_time(planning, "SCHEDULED:") if planning else None,
            deadline=planned_time(planning, "DEADLINE:") if planning else None,
            tags=self._tags_of(number),
            end_line=self._last_line(self._subtree_ends[number]),
            aliases=_drawer_aliases(drawer),
            refs=read_refs(drawer.get_value("ROAM_REFS") or ""),
            links=tuple(self._links_by_owner.get(number, ())),
            citations=tuple(self._citations_by_owner.get(number, ())),
            properties=drawer.joined_properties(),
        )

    def _outline_path(self, number: int) -> tuple[str, ...]:
        """Return the steps of the outline above a heading, the outermost first."""
        added: list[str] = []
        ancestor = self._parents[number]
        while ancestor != _TOP and ancestor not in self._paths:
            added.append(self._outline_step(ancestor))
            ancestor = self._parents[ancestor]
        known_path = () if ancestor == _TOP else (*self._paths[ancestor], self._outline_step(ancestor))
        self._paths[number] = (*known_path, *reversed(added))
        return self._paths[number]

    def _outline_step(self, number: int) -> str:
        if number not in self._steps:
            self._steps[number] = outline_step(self._text, self._heading_at(number))
        return self._steps[number]

    def _tags_of(self, number: int) -> tuple[str, ...]:
        """Return the tags of the file, of the headings above and of a heading; of equal ones the last.

        What is only inherited is shared: thousands of tags above thousands of headings are in
        memory once.
        """
        if number not in self._tags:
            added: list[tuple[str, ...]] = []
            ancestor = number
            while ancestor != _TOP and ancestor not in self._tags:
                added.append(self._heading_at(ancestor).tags)
                ancestor = self._parents[ancestor]
            inherited = self._tags[ancestor] if ancestor != _TOP else self._file_tags
            own = [tag for tags in reversed(added) for tag in tags]
            self._tags[number] = _last_of_equals((*inherited, *own)) if own else inherited
        return self._tags[number]

    @cached_property
    def _file_tags(self) -> tuple[str, ...]:
        return _last_of_equals(self._keywords.filetags)

    @cached_property
    def _subtree_ends(self) -> list[int]:
        """Where the subtree of each heading ends."""
        ends = [len(self._text)] * len(self._lines)
        open_headings: list[int] = []
        for number, line in enumerate(self._lines):
            while open_headings and self._lines[open_headings[-1]].stars >= line.stars:
                ends[open_headings.pop()] = line.begin
            open_headings.append(number)
        return ends

    def _last_line(self, end: int) -> int:
        return self._line_number(max(end - 1, 0))


def _last_of_equals(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reversed(tags)))[::-1]


def _drawer_aliases(drawer: PropertyDrawer) -> tuple[str, ...]:
    return tuple(split_quoted(drawer.get_value("ROAM_ALIASES") or ""))


def _without_ending(file: str) -> str:
    stem, dot, _ = file.rpartition(".")
    return stem if dot and not stem.endswith("/") else file
