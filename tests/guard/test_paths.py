"""What words of a command become before anybody asks where they lead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.guard.paths import expand_variables
from roamkb.guard.paths import matches_glob
from roamkb.guard.paths import may_be_note


@pytest.mark.parametrize(
    ("word", "expanded"),
    [
        ("${X%/*}", "/home/ada/roam"),
        ("${X##*/}", "a.b.org"),
        ("${X%.org}", "/home/ada/roam/a.b"),
        ("${X%.*}.gpg", "/home/ada/roam/a.b.gpg"),
        ("${X%.txt}", "/home/ada/roam/a.b.org"),
        ("${X#/home}", "/ada/roam/a.b.org"),
        ("${N:-x}", "x"),
        ("a${X}b$X", "a/home/ada/roam/a.b.orgb/home/ada/roam/a.b.org"),
        (r"\$X", r"\$X"),
        ("$N", "$N"),
    ],
)
def test_a_value_is_cut_as_in_bash(word: str, expanded: str) -> None:
    """Each was tried there; what isn't known stays as it is written."""
    assert expanded == expand_variables(word, {"X": "/home/ada/roam/a.b.org"})


@given(st.text(alphabet="ab/?*[]\0", max_size=12), st.text(alphabet="ab/.", max_size=12))
def test_a_glob_is_matched_as_its_expression_is(glob: str, name: str) -> None:
    """With `*` and `?` alone, and a NUL for what nobody knows."""
    import re

    plain = re.sub(r"\[[^]]{1,100}+\]", "?", glob).replace("\0", "*")
    expression = "".join({"*": ".*", "?": "."}.get(one, re.escape(one)) for one in plain)
    assert matches_glob(glob, name) is (re.fullmatch(expression, name, re.DOTALL) is not None)


def test_a_hostile_glob_is_answered() -> None:
    """Tried end by end, this would take for ever."""
    assert not matches_glob("*a" * 200, "a" * 199 + "b" * 200)


@pytest.mark.parametrize(
    ("glob", "is_note"),
    [("*.org", True), ("*", True), ("20*", True), ("a.org.gpg", True), ("*.o*", True), ("*.pyc", False), ("node_modules", False), ("*.orgs", False), ("$X", True)],
)  # fmt: skip
def test_a_glob_tells_whether_it_may_be_a_notes(glob: str, is_note: bool) -> None:
    """By what follows its last wildcard."""
    assert is_note is may_be_note(glob)
