"""Difference of two texts, counted and shown in lines."""

from collections import Counter
from collections.abc import Sequence

#: Differences beyond this are counted without regard to order: a second, not an hour.
_MOST_DIFFERENCES = 1_000
_MOST_STEPS = 20_000_000


def count_line_changes(old_text: str, new_text: str) -> tuple[int, int]:
    """Return how many lines of the new text aren't in the old one, and how many of the old one aren't in the new.

    They are what `diff` counts. Two long texts that have hardly a line in common are
    compared as heaps of lines, so that this takes no longer than reading them.
    """
    old_lines, new_lines = _trim_common_ends(_split_lines(old_text), _split_lines(new_text))
    most = min(_MOST_DIFFERENCES, _MOST_STEPS // (len(old_lines) + len(new_lines) + 1))
    distance = _edit_distance(old_lines, new_lines, most)
    if distance is None:
        old_counts, new_counts = Counter(old_lines), Counter(new_lines)
        return (new_counts - old_counts).total(), (old_counts - new_counts).total()
    grown = len(new_lines) - len(old_lines)
    return (distance + grown) // 2, (distance - grown) // 2


def differing_lines(old_text: str, new_text: str) -> tuple[str, ...]:
    """Return the lines that differ as `diff -U0` prints them, with hunk headings in between.

    Nothing where the texts are alike, or have too little in common to be set side by side.
    """
    old_lines, new_lines = _split_lines(old_text), _split_lines(new_text)
    output_lines: list[str] = []
    for (old_start, new_start), (old_end, new_end) in _find_hunks(old_lines, new_lines) or ():
        output_lines.append(
            f"@@ -{_hunk_range(old_start, old_end - old_start)} +{_hunk_range(new_start, new_end - new_start)} @@"
        )
        output_lines += [f"-{line}" for line in old_lines[old_start:old_end]]
        output_lines += [f"+{line}" for line in new_lines[new_start:new_end]]
    return tuple(output_lines)


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


def _find_hunks(old_lines: list[str], new_lines: list[str]) -> list[_Hunk] | None:
    """Return the start and end of each run of differences; None where there are too many."""
    old_middle, new_middle = _trim_common_ends(old_lines, new_lines)
    most = min(_MOST_DIFFERENCES, _MOST_STEPS // (len(old_middle) + len(new_middle) + 1))
    steps: list[dict[int, int]] = []
    if _edit_distance(old_middle, new_middle, most, steps) is None:
        return None
    start = next(
        (index for index, pair in enumerate(zip(old_lines, new_lines, strict=False)) if pair[0] != pair[1]), None
    )
    start = min(len(old_lines), len(new_lines)) if start is None else start
    return [
        ((start + old_start, start + new_start), (start + old_end, start + new_end))
        for (old_start, new_start), (old_end, new_end) in _trace_hunks(len(old_middle), len(new_middle), steps)
    ]


def _hunk_range(offset: int, length: int) -> str:
    """Return one half of a hunk heading: first line and length; for an empty half, the line before."""
    return f"{offset + 1 if length else offset}" + ("" if length == 1 else f",{length}")


def _trace_hunks(old_length: int, new_length: int, steps: list[dict[int, int]]) -> list[_Hunk]:
    """Return the start and end of each run of differences, traced back from the end of both texts."""
    if not old_length or not new_length:
        return [((0, 0), (old_length, new_length))] if old_length or new_length else []
    hunks: list[tuple[tuple[int, int], tuple[int, int]]] = []
    old_offset, new_offset = old_length, new_length
    for distance in range(len(steps) - 1, 0, -1):
        furthest, diagonal = steps[distance], old_offset - new_offset
        down = diagonal == -distance or (diagonal != distance and furthest[diagonal - 1] < furthest[diagonal + 1])
        old_start = furthest[diagonal + 1] if down else furthest[diagonal - 1]
        new_start = old_start - (diagonal + 1 if down else diagonal - 1)
        to = (old_start, new_start + 1) if down else (old_start + 1, new_start)
        if hunks and hunks[-1][0] == to:
            hunks[-1] = ((old_start, new_start), hunks[-1][1])
        else:
            hunks.append(((old_start, new_start), to))
        old_offset, new_offset = old_start, new_start
    return hunks[::-1]


def _split_lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _trim_common_ends(old_lines: list[str], new_lines: list[str]) -> tuple[list[str], list[str]]:
    """Return both lists without the lines that they begin and end with alike."""
    shorter = min(len(old_lines), len(new_lines))
    start = 0
    while start < shorter and old_lines[start] == new_lines[start]:
        start += 1
    end = 0
    while end < shorter - start and old_lines[-1 - end] == new_lines[-1 - end]:
        end += 1
    return old_lines[start : len(old_lines) - end], new_lines[start : len(new_lines) - end]


def _edit_distance(
    old_lines: Sequence[str], new_lines: Sequence[str], max_distance: int, steps: list[dict[int, int]] | None = None
) -> int | None:
    """Return the fewest lines to delete and insert (Myers 1986); None beyond `max_distance`.

    What was known before each step is put into `steps`, for who wants to walk back.
    """
    if not old_lines or not new_lines:
        return len(old_lines) + len(new_lines)
    furthest = {1: 0}
    for distance in range(max_distance + 1):
        if steps is not None:
            steps.append(dict(furthest))
        for diagonal in range(-distance, distance + 1, 2):
            down = diagonal == -distance or (diagonal != distance and furthest[diagonal - 1] < furthest[diagonal + 1])
            old_offset = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            new_offset = old_offset - diagonal
            while (
                old_offset < len(old_lines)
                and new_offset < len(new_lines)
                and old_lines[old_offset] == new_lines[new_offset]
            ):
                old_offset, new_offset = old_offset + 1, new_offset + 1
            furthest[diagonal] = old_offset
            if old_offset >= len(old_lines) and new_offset >= len(new_lines):
                return distance
    return None
