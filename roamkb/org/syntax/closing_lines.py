"""The lines that close blocks, drawers and LaTeX environments, found once for a whole text."""

import re
from bisect import bisect_left

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.syntax_table import SPACE

_CLOSING = lazily(
    rf"^[ \t]*(?:#\+END(_[^{SPACE}]+|:?)|:(END):)[ \t]*$"
    r"|\\end\{([A-Za-z0-9*]+)\}[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


class ClosingLines:
    """The lines of a text that can close an element, by the kind of element."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, list[int]] | None = None

    def first_closing(self, kind: str, position: int, end: int) -> int | None:
        """Return the start of the first line between `position` and `end` that closes `kind`."""
        if self._found is None:
            self._found = self._collect_lines()
        places = self._found.get(kind.lower())
        if not places:
            return None
        place = bisect_left(places, position)
        return places[place] if place < len(places) and places[place] < end else None

    def _collect_lines(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for line in _CLOSING.finditer(self._text):
            block, drawer, latex = line.groups()
            if latex is not None:
                kind = "\\" + latex
            elif drawer is not None:
                kind = "drawer"
            else:
                kind = "" if block == ":" else block
            places.setdefault(kind.lower(), []).append(line.start())
        return places
