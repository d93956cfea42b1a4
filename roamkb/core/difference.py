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


def _distance(left: Sequence[str], right: Sequence[str], most: int) -> int | None:
    """Return the fewest lines to take out and put in (Myers 1986); None beyond `most`."""
    if not left or not right:
        return len(left) + len(right)
    furthest = {1: 0}
    for distance in range(most + 1):
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
