"""A human's word, which no agent, hook or server can give in their place (D19).

Who stands at a terminal is asked there, on the device itself; a door without one has nobody to ask.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from roamkb.core.errors import UsageError


class Human(Protocol):
    """Somebody at a terminal."""

    def confirm(self, question: str, word: str) -> bool:
        """Say whether the human typed `word` after reading `question`."""
        ...

    def edit(self, path: Path, editor: Sequence[str]) -> bool:
        """Open a file in the human's editor; say whether the editor ended well."""
        ...


def require_human(human: Human | None) -> Human:
    """Return the human, or raise where nobody can be asked."""
    if human is None:
        raise UsageError(
            "only a human at a terminal can do that; nothing was written",
            hint="run it yourself in a terminal: agents, hooks and servers can't",
        )
    return human


def require_yes(human: Human | None, question: str, *, word: str) -> None:
    """Raise unless a human at a terminal types `word` after reading `question`."""
    if not require_human(human).confirm(question, word):
        raise UsageError("it was not confirmed; nothing was written")
