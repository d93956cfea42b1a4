"""How far two texts are apart."""

import difflib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.line_diff import align_lines
from roamkb.text.line_diff import count_line_changes
from roamkb.text.line_diff import differing_lines

_LINES = st.lists(st.sampled_from("abcde"), max_size=12)


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("", "", (0, 0)),
        ("a\nb\n", "a\nb\n", (0, 0)),
        ("a\nb\n", "a\nb", (0, 0)),
        ("", "a\nb\n", (2, 0)),
        ("a\nb\n", "", (0, 2)),
        ("a\nb\nc\n", "a\nx\nc\n", (1, 1)),
        ("a\nb\nc\n", "c\na\nb\n", (1, 1)),
        ("a\na\n", "a\na\na\n", (1, 0)),
    ],
)
def test_lines_are_counted_as_diff_counts_them(old: str, new: str, changes: tuple[int, int]) -> None:
    """Added lines come first; a moved line is one added and one removed."""
    assert changes == count_line_changes(old, new)


@given(old=_LINES, new=_LINES)
def test_the_counts_add_up_and_are_never_more_than_difflib_finds(old: list[str], new: list[str]) -> None:
    """The distance is the least there is, and explains both lengths."""
    added, removed = count_line_changes("".join(f"{x}\n" for x in old), "".join(f"{x}\n" for x in new))
    kept = sum(block.size for block in difflib.SequenceMatcher(None, old, new, False).get_matching_blocks())
    assert len(old) + added - removed == len(new)
    assert added <= len(new) - kept
    assert removed <= len(old) - kept


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a\nb\n", "a\nb\n", ()),
        ("", "a\nb\n", ("@@ -0,0 +1,2 @@", "+a", "+b")),
        ("a\nb\nc\n", "a\nx\nc\n", ("@@ -2 +2 @@", "-b", "+x")),
        ("a\nb\nc\nd\n", "b\nc\ny\nz\nd\n", ("@@ -1 +0,0 @@", "-a", "@@ -3,0 +3,2 @@", "+y", "+z")),
    ],
)
def test_lines_that_differ_are_those_of_diff(old: str, new: str, lines: tuple[str, ...]) -> None:
    """With the place of each, and no context."""
    assert lines == differing_lines(old, new)


@given(old=_LINES, new=_LINES)
def test_lines_that_differ_make_one_text_of_the_other(old: list[str], new: list[str]) -> None:
    """Taken out and put in where they say, as few as are counted."""
    before, after = "".join(f"{x}\n" for x in old), "".join(f"{x}\n" for x in new)
    lines = differing_lines(before, after)
    assert count_line_changes(before, after) == tuple(
        sum(line.startswith(sign) for line in lines) for sign in ("+", "-")
    )
    made: list[str] = []
    at = 0
    for line in lines:
        if found := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            until = int(found[1]) - (0 if found[2] == "0" else 1)
            made += old[at:until]
            at = until
        elif line.startswith("-"):
            assert old[at] == line[1:]
            at += 1
        else:
            made.append(line[1:])
    assert new == made + old[at:]


def test_texts_without_a_common_line_are_compared_at_once() -> None:
    """Two long texts that differ everywhere are counted as heaps of lines."""
    old = "".join(f"old {n}\n" for n in range(30_000)) + "same\n" + "tail of old\n"
    new = "".join(f"new {n}\n" for n in range(40_000)) + "same\n" + "tail of new\n"
    assert (40_001, 30_001) == count_line_changes(old, new)
    assert () == differing_lines(old, new)


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_runs_side_by_side_are_both_texts(old: list[str], new: list[str]) -> None:
    """Alike and different by turns, and nothing of either is lost."""
    runs = align_lines("\n".join(old), "\n".join(new))
    assert 1 == len(runs) % 2
    assert all((first == second) is (number % 2 == 0) for number, (first, second) in enumerate(runs))
    for side, lines in enumerate((old, new)):
        expected = [] if lines in ([], [""]) else lines
        assert expected == [line for run in runs for line in run[side]]
