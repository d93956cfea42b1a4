"""Keyword lines say something of the file."""

from collections.abc import Iterator

import pytest

from roamkb.org.syntax.keywords import MOST_SETUPFILES
from roamkb.org.syntax.keywords import collect_keywords
from roamkb.org.syntax.keywords import keyword_line
from roamkb.org.syntax.keywords import todo_states


def _collected(lines: str, files: dict[str, str] | None = None) -> tuple[list[str], list[str], list[str]]:
    def setup(path: str) -> Iterator[str]:
        return iter((files or {}).get(path, "").splitlines())

    found = collect_keywords(iter(lines.splitlines()), "sub/a.org", setup)
    return found.titles, found.filetags, found.setupfiles


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (":a:b:", ["a", "b"]),
        ("a b", ["a", "b"]),
        (":a b:c:", ["a", "b", "c"]),
        ("Topic", ["Topic"]),
        ("a-b/c,d", ["a-b/c,d"]),
        (":a::b:", ["a", "", "b"]),
        (":", []),
        ("::", [""]),
        ("", []),
    ],
)
def test_filetags_are_split_at_blanks_and_colons(value: str, tags: list[str]) -> None:
    """Any other character is part of a tag."""
    assert _collected(f"#+filetags: {value}")[1] == tags


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("#+title: a b ", "TITLE", "a b"),
        ("  #+Title:x", "TITLE", "x"),
        ("#+title:a:b c", "TITLE:A", "b c"),
        ("#+title", "", ""),
    ],
)
def test_a_line_has_a_key_and_a_value(line: str, key: str, value: str) -> None:
    """The key runs to the last colon before a blank."""
    assert keyword_line(line) == (key, value)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], {"TODO", "DONE"}),
        (["A B | C"], {"A", "B", "C"}),
        (["A(a) B(b@/!)", "X"], {"A", "B", "X"}),
        (["|"], set()),
    ],
)
def test_states_replace_orgs_own(lines: list[str], expected: set[str]) -> None:
    """Keys in parentheses are no part of a name."""
    assert todo_states(lines) == expected


def test_a_setup_file_stands_in_place_of_its_line() -> None:
    """Its paths are relative to itself, and the whole chain counts."""
    files = {
        "setup/b.org": "#+title: B\n#+setupfile: c.org\n#+filetags: :b:",
        "setup/c.org": "#+filetags: :c:",
    }
    lines = '#+filetags: :a:\n#+setupfile: "../setup/b.org"\n#+title: A'
    assert _collected(lines, files) == (["B", "A"], ["a", "c", "b"], ["setup/b.org", "setup/c.org"])


def test_urls_and_loops_are_not_followed() -> None:
    """A set-up file can't name itself or what names it, and nothing is fetched."""
    files = {"sub/b.org": "#+setupfile: a.org\n#+setupfile: b.org\n#+title: B"}
    lines = "#+setupfile: https://x.org/a\n#+setupfile:\n#+setupfile: b.org"
    assert _collected(lines, files) == (["B"], [], ["sub/b.org"])


def test_doubling_set_up_files_end() -> None:
    """A chain that names each next file twice doesn't take forever."""
    files = {f"sub/{n}.org": f"#+setupfile: {n + 1}.org\n#+setupfile: {n + 1}.org" for n in range(100)}
    assert len(_collected("#+setupfile: 0.org", files)[2]) == MOST_SETUPFILES
