"""The lines that close blocks, drawers and LaTeX environments, found once for a whole text."""

import re
from bisect import bisect_left

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.syntax.syntax_table import SPACE

_END_LINE = lazily(rf"\n[ \t]*(?:#\+END(_[^{SPACE}]+|:?)|:END:)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_LATEX_END = lazily(r"\\end\{([A-Za-z0-9*]+)\}[ \t]*$", re.IGNORECASE | re.MULTILINE)


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
        # with a newline before each line, of which a search makes less than of `^`
        for line in _END_LINE.finditer("\n" + self._text):
            kind = "drawer" if line[1] is None else "" if line[1] == ":" else line[1]
            places.setdefault(kind.lower(), []).append(line.start())
        for latex in _LATEX_END.finditer(self._text):
            places.setdefault("\\" + latex[1].lower(), []).append(latex.start())
        return places
