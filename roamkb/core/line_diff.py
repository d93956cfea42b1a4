"""How far two texts are apart, in lines."""

from collections import Counter
from collections.abc import Sequence

#: Differences beyond this are counted without regard to order: a second, not an hour.
_MOST_DIFFERENCES = 1_000
_MOST_STEPS = 20_000_000


def line_changes(old: str, new: str) -> tuple[int, int]:
    """Return how many lines of `new` aren't in `old`, and how many of `old` aren't in `new`.

    They are what `diff` counts. Two long texts that have hardly a line in common are
    compared as heaps of lines, so that this takes no longer than reading them.
    """
    left, right = _differing(_lines(old), _lines(new))
    most = min(_MOST_DIFFERENCES, _MOST_STEPS // (len(left) + len(right) + 1))
    distance = _distance(left, right, most)
    if distance is None:
        before, after = Counter(left), Counter(right)
        return (after - before).total(), (before - after).total()
    grown = len(right) - len(left)
    return (distance + grown) // 2, (distance - grown) // 2


def differing_lines(old: str, new: str) -> tuple[str, ...]:
    """Return the lines that differ as `diff -U0` prints them, headings of places in between.

    Nothing where the texts are alike, or have too little in common to be set side by side.
    """
    before, after = _lines(old), _lines(new)
    left, right = _differing(before, after)
    most = min(_MOST_DIFFERENCES, _MOST_STEPS // (len(left) + len(right) + 1))
    steps: list[dict[int, int]] = []
    if _distance(left, right, most, steps) is None:
        return ()
    start = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    start = min(len(before), len(after)) if start is None else start
    found: list[str] = []
    for (x, y), (to_x, to_y) in _hunks(len(left), len(right), steps):
        found.append(f"@@ -{_place(start + x, to_x - x)} +{_place(start + y, to_y - y)} @@")
        found += [f"-{line}" for line in left[x:to_x]]
        found += [f"+{line}" for line in right[y:to_y]]
    return tuple(found)


def _place(at: int, length: int) -> str:
    """Return a heading's half: the first line and how many; for none, the line before."""
    return f"{at + 1 if length else at}" + ("" if length == 1 else f",{length}")


def _hunks(
    width: int, height: int, steps: list[dict[int, int]]
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where each run of differences begins and ends, walked back from the end of both texts."""
    if not width or not height:
        return [((0, 0), (width, height))] if width or height else []
    found: list[tuple[tuple[int, int], tuple[int, int]]] = []
    x, y = width, height
    for distance in range(len(steps) - 1, 0, -1):
        furthest, diagonal = steps[distance], x - y
        down = diagonal == -distance or (
            diagonal != distance and furthest[diagonal - 1] < furthest[diagonal + 1]
        )
        from_x = furthest[diagonal + 1] if down else furthest[diagonal - 1]
        from_y = from_x - (diagonal + 1 if down else diagonal - 1)
        to = (from_x, from_y + 1) if down else (from_x + 1, from_y)
        if found and found[-1][0] == to:
            found[-1] = ((from_x, from_y), found[-1][1])
        else:
            found.append(((from_x, from_y), to))
        x, y = from_x, from_y
    return found[::-1]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _differing(left: list[str], right: list[str]) -> tuple[list[str], list[str]]:
    """Return both without the lines that they begin and end with alike."""
    shorter = min(len(left), len(right))
    start = 0
    while start < shorter and left[start] == right[start]:
        start += 1
    end = 0
    while end < shorter - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return left[start : len(left) - end], right[start : len(right) - end]


def _distance(
    left: Sequence[str], right: Sequence[str], most: int, steps: list[dict[int, int]] | None = None
) -> int | None:
    """Return the fewest lines to take out and put in (Myers 1986); None beyond `most`.

    What was known before each step is put into `steps`, for who wants to walk back.
    """
    if not left or not right:
        return len(left) + len(right)
    furthest = {1: 0}
    for distance in range(most + 1):
        if steps is not None:
            steps.append(dict(furthest))
        for diagonal in range(-distance, distance + 1, 2):
            down = diagonal == -distance or (
                diagonal != distance and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(left) and y < len(right) and left[x] == right[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(left) and y >= len(right):
                return distance
    return None
