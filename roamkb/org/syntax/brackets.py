"""Pairs of brackets, found in one pass."""

import re


class BracketPairs:
    """The pairs of brackets of a text, each of the three kinds by itself."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closing: dict[str, dict[int, int]] = {}
        #: Of each pair: the least and the greatest height of the pairs directly in it.
        self._inner: dict[int, tuple[int, int]] = {}

    def closing_of(self, position: int) -> int | None:
        """Return the position of the bracket that closes the one at `position`."""
        return self._of_kind(self._text[position]).get(position)

    def shallow_closing(self, position: int) -> int | None:
        """Return the closing bracket's position, if Org can look through the text between.

        That is nothing nested, or pairs that hold none, or pairs that all hold such pairs.
        """
        closing = self.closing_of(position)
        if closing is None:
            return None
        least, greatest = self._inner[position]
        return closing if least == greatest <= 2 else None

    def _of_kind(self, opener: str) -> dict[int, int]:
        if opener not in self._closing:
            self._closing[opener] = self._match_brackets(opener, {"[": "]", "(": ")", "{": "}"}[opener])
        return self._closing[opener]

    def _match_brackets(self, opener: str, closer: str) -> dict[int, int]:
        pairs: dict[int, int] = {}
        #: Open brackets, each with the least and greatest height found in it so far.
        open_brackets: list[list[int]] = []
        for bracket in re.finditer(f"[{re.escape(opener + closer)}]", self._text):
            if bracket[0] == opener:
                open_brackets.append([bracket.start(), 0, 0])
            elif open_brackets:
                begin, least, greatest = open_brackets.pop()
                pairs[begin] = bracket.start()
                self._inner[begin] = (least, greatest)
                if open_brackets:
                    _add_height(open_brackets[-1], greatest + 1)
        return pairs


def _add_height(outer: list[int], height: int) -> None:
    outer[1] = min(outer[1] or height, height)
    outer[2] = max(outer[2], height)
