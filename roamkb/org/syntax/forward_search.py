"""A search that remembers what it found, so that asking forwards costs one pass over the text."""

from collections.abc import Callable


class ForwardSearch:
    """The next place of something at or after a given one; `beyond` where there is none."""

    __slots__ = ("_asked", "_beyond", "_find", "_found")

    def __init__(self, find: Callable[[int], int], beyond: int) -> None:
        """Take `find`, which gives the first place from a given one on, or less than 0."""
        self._find = find
        self._beyond = beyond
        self._asked = 1
        self._found = 0

    def after(self, at: int) -> int:
        """Return the first place at or after `at`."""
        if self._asked <= at <= self._found:
            return self._found
        found = self._find(at)
        self._asked = at
        self._found = self._beyond if found < 0 else found
        return self._found
