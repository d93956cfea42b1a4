"""The lines that close blocks, drawers and LaTeX environments, found once for a whole text."""

import re
from bisect import bisect_left

from roamkb.core.startup.lazy_regex import lazily

_CLOSING = lazily(
    r"^[ \t]*(?:#\+END(_\S+|:?)|:(END):)[ \t]*$|\\end\{([A-Za-z0-9*]+)\}[ \t]*$", re.IGNORECASE | re.MULTILINE
)


class ClosingLines:
    """The lines of a text that can close something, by what they close."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, list[int]] | None = None

    def first(self, what: str, at: int, end: int) -> int | None:
        """Return where the first line that closes `what` begins, between `at` and `end`."""
        if self._found is None:
            self._found = self._all()
        places = self._found.get(what.lower())
        if not places:
            return None
        place = bisect_left(places, at)
        return places[place] if place < len(places) and places[place] < end else None

    def _all(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for line in _CLOSING.finditer(self._text):
            block, drawer, latex = line.groups()
            if latex is not None:
                what = "\\" + latex
            elif drawer is not None:
                what = "drawer"
            else:
                what = "" if block == ":" else block
            found.setdefault(what.lower(), []).append(line.start())
        return found
