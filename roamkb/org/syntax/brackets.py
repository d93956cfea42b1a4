"""Brackets and what closes them, found in one pass."""

import re


class BracketPairs:
    """Which bracket closes which, each of the three kinds for itself."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closing: dict[str, dict[int, int]] = {}
        #: Of each pair: the least and the greatest height of the pairs directly in it.
        self._inner: dict[int, tuple[int, int]] = {}

    def closing(self, at: int) -> int | None:
        """Return where the bracket at `at` is closed."""
        return self._of_kind(self._text[at]).get(at)

    def shallow_closing(self, at: int) -> int | None:
        """Return where the bracket at `at` is closed, if Org can look through what is between.

        That is nothing nested, or pairs that hold none, or pairs that all hold such pairs.
        """
        closing = self.closing(at)
        if closing is None:
            return None
        least, greatest = self._inner[at]
        return closing if least == greatest <= 2 else None

    def _of_kind(self, opener: str) -> dict[int, int]:
        if opener not in self._closing:
            self._closing[opener] = self._matched(opener, {"[": "]", "(": ")", "{": "}"}[opener])
        return self._closing[opener]

    def _matched(self, opener: str, closer: str) -> dict[int, int]:
        pairs: dict[int, int] = {}
        #: Open brackets, each with the least and greatest height found in it so far.
        open_ones: list[list[int]] = []
        for bracket in re.finditer(f"[{re.escape(opener + closer)}]", self._text):
            if bracket[0] == opener:
                open_ones.append([bracket.start(), 0, 0])
            elif open_ones:
                begin, least, greatest = open_ones.pop()
                pairs[begin] = bracket.start()
                self._inner[begin] = (least, greatest)
                if open_ones:
                    _add_height(open_ones[-1], greatest + 1)
        return pairs


def _add_height(outer: list[int], height: int) -> None:
    outer[1] = min(outer[1] or height, height)
    outer[2] = max(outer[2], height)
