"""A cached forward search: rising queries together cost one pass over the text."""

import re
from collections.abc import Callable


class ForwardSearch:
    """The search for the next match from a position on; `beyond` where there is none."""

    __slots__ = ("_asked", "_beyond", "_find", "_found")

    def __init__(self, find: Callable[[int], int], beyond: int) -> None:
        """Store `find`, which returns the first match from a position on, or less than 0."""
        self._find = find
        self._beyond = beyond
        self._asked = 1
        self._found = 0

    def first_from(self, position: int) -> int:
        """Return the first match at or after `position`."""
        if self._asked <= position <= self._found:
            return self._found
        place = self._find(position)
        self._asked = position
        self._found = self._beyond if place < 0 else place
        return self._found


def forward_match(pattern: re.Pattern[str], text: str) -> ForwardSearch:
    """Return the search for the next match of `pattern` in `text`."""

    def find_match(position: int) -> int:
        match = pattern.search(text, position)
        return match.start() if match else -1

    # no method of a reader: what refers to itself stays in memory until Python looks for garbage
    return ForwardSearch(find_match, len(text))
