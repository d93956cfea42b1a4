"""What words of a command become before anybody asks where they lead."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.reach import expand

_GLOBS = st.text(alphabet="ab/?*", max_size=6)


@pytest.mark.parametrize(
    ("word", "expanded"),
    [
        ("${X%/*}", "/home/ada/roam"),
        ("${X%%/*}", ""),
        ("${X#*/}", "home/ada/roam/a.b.org"),
        ("${X##*/}", "a.b.org"),
        ("${X%.org}", "/home/ada/roam/a.b"),
        ("${X%.*}.gpg", "/home/ada/roam/a.b.gpg"),
        ("${X%.???}", "/home/ada/roam/a.b"),
        ("${X%.[no]rg}", "/home/ada/roam/a.b"),
        ("${X%.txt}", "/home/ada/roam/a.b.org"),
    ],
)
def test_a_value_is_cut_as_in_bash(word: str, expanded: str) -> None:
    """Each was tried there."""
    assert expanded == expand(word, {"X": "/home/ada/roam/a.b.org"})


@given(st.text(alphabet="ab/*", max_size=8), _GLOBS)
def test_a_cut_is_the_shortest_or_the_longest_that_is_like_the_glob(value: str, glob: str) -> None:
    """By trying each."""
    ends = range(len(value) + 1)
    tails = [at for at in ends if fnmatchcase(value[at:], glob)] or [len(value)]
    heads = [at for at in ends if fnmatchcase(value[:at], glob)] or [0]
    variables = {"X": value}
    assert value[: tails[-1]] == expand(f"${{X%{glob}}}", variables)
    assert value[: tails[0]] == expand(f"${{X%%{glob}}}", variables)
    assert value[heads[0] :] == expand(f"${{X#{glob}}}", variables)
    assert value[heads[-1] :] == expand(f"${{X##{glob}}}", variables)


def test_a_hostile_glob_is_answered() -> None:
    """Tried end by end, each of these takes a third of a second."""
    word = " ".join(f"${{X%*a*a*a*a*{n}c*}}" for n in range(64))
    assert word.count("X") == expand(word, {"X": "ab" * 512}).count("ab" * 512)
