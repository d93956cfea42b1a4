"""Heading lines are taken apart as Org takes them apart."""

import pytest

from roamkb.org.syntax.headings import heading_lines
from roamkb.org.syntax.headings import outline_step
from roamkb.org.syntax.headings import parent_places
from roamkb.org.syntax.headings import read_heading

_STATES = frozenset(("TODO", "DONE", "NÄXT"))


@pytest.mark.parametrize(
    ("line", "todo", "priority", "title", "tags"),
    [
        ("* A title", None, None, "A title", ()),
        ("*   TODO   [#B]   x  :a:b:  ", "TODO", "B", "x", ("a", "b")),
        ("* TODO", "TODO", None, None, ()),
        ("* TODOx", None, None, "TODOx", ()),
        ("* todo x", None, None, "todo x", ()),
        ("* NÄXT x", "NÄXT", None, "x", ()),
        ("* TODO\tx", None, None, "TODO\tx", ()),
        ("* TODO\t:a:", "TODO", None, None, ("a",)),
        ("* [#a] x", None, "a", "x", ()),
        ("* [#10] x", None, None, "[#10] x", ()),
        ("* [#A]x", None, None, "[#A]x", ()),
        ("* [#A]\tx", None, None, "[#A]\tx", ()),
        ("* :a:", None, None, None, ("a",)),
        ("* x:a:", None, None, "x:a:", ()),
        ("* x :a: :b:", None, None, "x :a:", ("b",)),
        ("* x :a-b:", None, None, "x :a-b:", ()),
        ("* x :é日_@#%:", None, None, "x", ("é日_@#%",)),
        ("* x :²:", None, None, "x :²:", ()),
        ("* x :a::b:", None, None, "x", ("a", "b")),
        ("* x :::", None, None, "x", ()),
        ("* x ::", None, None, "x ::", ()),
        ("* COMMENT x [1/2]", None, None, "COMMENT x [1/2]", ()),
        ("* ", None, None, None, ()),
    ],
)
def test_a_heading_says(
    line: str, todo: str | None, priority: str | None, title: str | None, tags: tuple[str, ...]
) -> None:
    """State, priority, title and tags, each only where Org sees one."""
    heading = read_heading(line, heading_lines(line)[0], _STATES)
    assert heading.todo == todo
    assert heading.priority == priority
    assert (line[slice(*heading.title)] if heading.title else None) == title
    assert heading.tags == tags


def test_headings_begin_with_stars_and_a_blank() -> None:
    """Nothing else is one, whatever it stands in."""
    text = "* a\n*b\n *c\n*\td\n*\n#+begin_src\n** e\n#+end_src\n"
    assert [(line.begin, line.end, line.stars) for line in heading_lines(text)] == [(0, 4, 1), (29, 34, 2)]


def test_a_heading_stands_below_the_last_one_with_fewer_stars() -> None:
    """Levels may be left out."""
    lines = heading_lines("** a\n*** b\n* c\n*** d\n** e\n")
    assert parent_places(lines) == [-1, 0, -1, 2, 2]


def test_a_step_of_an_outline_path_is_plain() -> None:
    """Cookies go, links are shown, COMMENT stays."""
    text = "* COMMENT [[id:x][Shown]] [1/2] a [33%]\n"
    line = heading_lines(text)[0]
    assert outline_step(text, read_heading(text, line, _STATES)) == "COMMENT Shown  a"
    assert outline_step("* ", read_heading("* ", heading_lines("* ")[0], _STATES)) == ""
