"""Difference of two texts, counted and shown in lines."""

import difflib
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

#: Differences times lines, beyond which texts aren't set side by side: a second, not an hour.
_MOST_STEPS = 20_000_000


def count_line_changes(old_text: str, new_text: str) -> tuple[int, int]:
    """Return how many lines of the new text aren't in the old one, and how many of the old one aren't in the new.

    Two long texts that have hardly a line in common are compared as heaps of lines, so that this takes no longer
    than reading them.
    """
    old_lines, new_lines = _split_lines(old_text), _split_lines(new_text)
    hunks = _find_hunks(old_lines, new_lines)
    if hunks is None:
        old_counts, new_counts = Counter(old_lines), Counter(new_lines)
        return (new_counts - old_counts).total(), (old_counts - new_counts).total()
    return sum(end[1] - start[1] for start, end in hunks), sum(end[0] - start[0] for start, end in hunks)


def differing_lines(old_text: str, new_text: str) -> tuple[str, ...]:
    """Return the lines that differ as `diff -U0` prints them, with hunk headings in between.

    Nothing where the texts are alike, or have too little in common to be set side by side.
    """
    old_lines, new_lines = _split_lines(old_text), _split_lines(new_text)
    if _find_hunks(old_lines, new_lines) is None:
        return ()
    # behind the names of the two
    return tuple(difflib.unified_diff(old_lines, new_lines, lineterm="", n=0))[2:]


def align_lines(old_text: str, new_text: str) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Return two texts as runs of lines side by side: alike on both sides, then different, by turns.

    The first run is of lines that are alike, as the last is, and may be empty. Two texts with too little in
    common are one run that differs.
    """
    old_lines, new_lines = _split_lines(old_text), _split_lines(new_text)
    hunks = _find_hunks(old_lines, new_lines)
    if hunks is None:
        hunks = [((0, 0), (len(old_lines), len(new_lines)))]
    runs: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    old_offset = 0
    for (old_start, new_start), (old_end, new_end) in hunks:
        common = tuple(old_lines[old_offset:old_start])
        runs += [(common, common), (tuple(old_lines[old_start:old_end]), tuple(new_lines[new_start:new_end]))]
        old_offset = old_end
    rest = tuple(old_lines[old_offset:])
    return (*runs, (rest, rest))


_Hunk = tuple[tuple[int, int], tuple[int, int]]


def _find_hunks(old_lines: Sequence[str], new_lines: Sequence[str]) -> list[_Hunk] | None:
    """Return the start and end of each run of differences; None where there are too many."""
    old_pairs, new_pairs = Counter(pairwise(old_lines)), Counter(pairwise(new_lines))
    differing = (new_pairs - old_pairs).total() + (old_pairs - new_pairs).total()
    if differing * (len(old_lines) + len(new_lines)) > _MOST_STEPS:
        return None
    operations = difflib.SequenceMatcher(None, old_lines, new_lines).get_opcodes()
    return [
        ((old_start, new_start), (old_end, new_end))
        for kind, old_start, old_end, new_start, new_end in operations
        if kind != "equal"
    ]


def _split_lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
