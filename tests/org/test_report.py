"""Links and quotations in a report."""

import pytest

from roamkb.org.reader import parse_note
from roamkb.org.report import file_link
from roamkb.org.report import node_link
from roamkb.org.report import quote_for_org


@pytest.mark.parametrize("path", ["/kb/a.org", "/kb/a[1].org", "/kb/[[x]].org", "/kb/back\\[slash.org", "/kb/é ü.org"])
def test_a_file_link_leads_to_its_file(path: str) -> None:
    """Whatever brackets the name holds."""
    written = file_link(path, 7, path)
    note = parse_note(f":PROPERTIES:\n:ID: x\n:END:\n- {written} and more\n", file="x.org")
    (link,) = note.nodes[0].links
    assert ("file", path) == (link.type, link.dest)
    assert "::7]" in written


@pytest.mark.parametrize("path", ["/kb/a::3.org", "/kb/a\x1b.org", "/kb/a\nb.org", "/kb/\udce9.org"])
def test_a_path_that_a_link_would_change_gets_none(path: str) -> None:
    """Better no link than one to another file."""
    assert "[[" not in file_link(path, 7, "name")
    assert file_link(path, 7, "name").endswith("name:7")


def test_a_node_without_a_title_is_shown_by_its_id() -> None:
    """A link needs words."""
    assert "[[id:x][x]]" == node_link("x", " ")


def test_ordinary_words_are_quoted_as_they_are() -> None:
    """Nothing is broken that isn't live."""
    words = "C++ (1 < 2) – a_b, {x}, 50 %, “quotes”, 日本語, https://example.org/a"
    assert words == quote_for_org(words)
