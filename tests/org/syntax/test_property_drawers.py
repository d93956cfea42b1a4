"""One bad line, and it's no property drawer."""

import pytest

from roamkb.org.syntax.property_drawers import PropertyDrawer
from roamkb.org.syntax.property_drawers import file_drawer
from roamkb.org.syntax.property_drawers import heading_drawer


@pytest.mark.parametrize(
    "lines",
    [
        ":ID: a",
        ":id:   a  ",
        "  :Id: a",
        ":x:\n:ID: a\n:y: ",
        ":a:b: c\n:ID: a",
        ":x:\t\n:ID: a",
    ],
)
def test_a_drawer_names_an_id(lines: str) -> None:
    """Keys know no case, and a key may stand without a value."""
    assert file_drawer(f":PROPERTIES:\n{lines}\n:END:\n").get_value("ID") == "a"
    assert file_drawer(f"  :properties: \n{lines}\n\t:end:  ").get_value("ID") == "a"


@pytest.mark.parametrize("lines", [":ID:a", ":ID:\ta", ":ID: a\n\n:x: y", ":ID: a\ntext", ": ID: a", ":ID: a\n:x"])
def test_a_bad_line_undoes_the_drawer(lines: str) -> None:
    """Blank lines, text, and tabs behind the key."""
    assert file_drawer(f":PROPERTIES:\n{lines}\n:END:\n") == PropertyDrawer()


@pytest.mark.parametrize(
    ("before", "is_found"),
    [("# comment\n", True), ("  #\n# c\n", True), ("\n", False), ("#+title: x\n", False), ("text\n", False)],
)
def test_only_comments_may_stand_above_a_files_drawer(before: str, is_found: bool) -> None:
    """A blank line is too much."""
    assert (file_drawer(f"{before}:PROPERTIES:\n:ID: a\n:END:\n").get_value("ID") == "a") == is_found


@pytest.mark.parametrize(
    ("below", "is_found"),
    [
        ("", True),
        ("SCHEDULED: <2024-01-01>\n", True),
        ("  closed: x\n", True),
        ("\n", False),
        ("text\n", False),
        (":LOGBOOK:\n:END:\n", False),
        ("SCHEDULED: x\nDEADLINE: y\n", False),
    ],
)
def test_a_headings_drawer_follows_it_or_its_planning_line(below: str, is_found: bool) -> None:
    """Nothing else may stand between."""
    text = f"* H\n{below}:PROPERTIES:\n:ID: a\n:END:\n"
    assert (heading_drawer(text, 4)[0].get_value("ID") == "a") == is_found


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ((("X", "a"), ("X", "b")), "a"),
        ((("X+", "b"), ("X", "a"), ("X+", "c")), "a b c"),
        ((("X+", "a"),), "a"),
        ((("X", "nil"),), None),
        ((("X", "nil"), ("X+", "a")), "a"),
        ((("X", ""),), ""),
        ((("Y", "a"),), None),
    ],
)
def test_a_property_has_a_value(entries: tuple[tuple[str, str], ...], expected: str | None) -> None:
    """The first entry counts, `KEY+:` adds, and `nil` is none."""
    assert PropertyDrawer(entries).get_value("X") == expected


def test_properties_are_the_drawers_own() -> None:
    """What Org answers itself is left out."""
    entries = (
        ("ID", "a"),
        ("TODO", "x"),
        ("Y+", "1"),
        ("Y", "0"),
        ("Y+", "2"),
        ("ID", "b"),
        ("CATEGORY", "c"),
    )
    assert PropertyDrawer(entries).joined_properties() == {"ID": "a", "Y": "0 1 2", "CATEGORY": "c"}
