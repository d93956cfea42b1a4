"""A file that asks Emacs for another mode isn't org-roam's."""

import pytest

from roamkb.org.file_variables import file_variables
from roamkb.org.file_variables import mode_fault
from roamkb.org.file_variables import other_mode


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# -*- mode: org; coding: utf-8 -*-\n", [("mode", "org"), ("coding", "utf-8")]),
        ("#!/bin/x\n# -*- mode: text -*-\n", [("mode", "text")]),
        ("# -*- org -*-\n", []),
        ("x\n# -*- mode: text -*-\n", []),
        ("# Local Variables:\n# mode: text\n# End:\n", [("mode", "text")]),
        ("/* Local Variables: */\n/* a: b */\n/* End: */\n", [("a", "b")]),
        ("# Local Variables:\nmode: text\n# End:\n", []),
        ("# Local Variables:\n# mode: text\n", []),
        ("# Local Variables:\n# nonsense\n# End:\n", []),
        ("# Local Variables:\n# mode: text\n# End:\n" + "x" * 3000, []),
    ],
)
def test_variables_are_read_where_emacs_reads_them(text: str, expected: list[tuple[str, str]]) -> None:
    """The first line, the second behind `#!`, and a closed block near the end."""
    assert file_variables(text) == expected


@pytest.mark.parametrize(
    ("mode", "expected"), [("text", "text"), ("ORG", None), ("visual-line", None), ("Nosuch", "nosuch")]
)
def test_only_a_major_mode_takes_a_file_out_of_org(mode: str, expected: str | None) -> None:
    """Minor modes are switched on beside it."""
    assert other_mode(f"# -*- mode: {mode} -*-\n") == expected
    assert other_mode("no variables") is None


@pytest.mark.parametrize(
    ("mode", "has_headings", "has_nodes", "fails"),
    [
        ("text", True, False, False),
        ("text", True, True, True),
        ("python", False, False, False),
        ("python", True, False, True),
        ("nosuch", False, False, True),
    ],
)
def test_outside_org_mode_only_the_files_own_node_is_found(
    mode: str, has_headings: bool, has_nodes: bool, fails: bool
) -> None:
    """org-roam fails on the nodes of headings, and on modes that Emacs doesn't have."""
    assert (mode_fault(mode, has_headings=has_headings, has_heading_nodes=has_nodes) is not None) == fails
