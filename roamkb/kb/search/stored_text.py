"""Texts, tags and line numbers in the form in which an index stores them."""

from collections.abc import Sequence

from roamkb.core.text import fold_text

#: Separates names and tags; no title, alias or tag holds it.
SEPARATOR = "\x1f"


def storable_text(text: str) -> str:
    """Return `text` as SQLite accepts it, without NUL and lone surrogates."""
    text = text.replace("\0", " ")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def tag_set(tags: Sequence[str]) -> str:
    """Return the folded tags in one string, with a separator on each side of each tag."""
    return SEPARATOR + "".join(storable_text(fold_text(tag)) + SEPARATOR for tag in tags)


def format_ranges(numbers: Sequence[int]) -> str:
    """Return line numbers as `first+count` for each run of them."""
    # a number less its place is the same all along a run, and most passages are one
    if numbers and numbers[-1] - numbers[0] == len(numbers) - 1 and len(set(numbers)) == len(numbers):
        return f"{numbers[0]}+{len(numbers)}"
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][0] + runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return " ".join(f"{start}+{count}" for start, count in runs)


def line_numbers(ranges: str) -> list[int]:
    """Return the line numbers that `format_ranges` wrote."""
    numbers: list[int] = []
    for run in ranges.split():
        start, _, count = run.partition("+")
        numbers += range(int(start), int(start) + int(count))
    return numbers
