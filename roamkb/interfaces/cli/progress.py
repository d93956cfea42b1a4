"""A progress bar on standard error, for what a person would otherwise wonder about."""

import sys
import time
from collections.abc import Callable

#: Seconds after which a person wonders what it is doing.
_PROGRESS_DELAY = 1.0
#: Characters of the bar.
_PROGRESS_WIDTH = 20
#: What commands count that don't read notes.
_LABELS = {"verify": "judging learnings"}


class ProgressBar:
    """A bar with what was done and the time left, once a second has passed; it goes when all is done."""

    def __init__(self, command_name: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the command, which tells what is counted, and what gives the seconds."""
        self._clock = clock
        self._label = _LABELS.get(command_name, "reading notes")
        #: When it began, and how much was done before; None until then, as a human may be asked first.
        self._start: tuple[float, int] | None = None
        self._is_shown = False

    def __call__(self, done_count: int, total_count: int) -> None:
        """Show that so many are done."""
        began, first_count = self._start = self._start or (self._clock(), done_count)
        taken, newly_done = self._clock() - began, done_count - first_count
        if newly_done > 0 and done_count < total_count and taken > _PROGRESS_DELAY:
            self._is_shown = True
            bar = "#" * (_PROGRESS_WIDTH * done_count // total_count)
            minutes, seconds = divmod(round(taken / newly_done * (total_count - done_count)), 60)
            line = f"[{bar:<{_PROGRESS_WIDTH}}] {done_count} of {total_count}, {minutes}:{seconds:02} left"
            print(f"\rroamkb: {self._label} {line}\x1b[K", end="", file=sys.stderr, flush=True)
        elif self._is_shown:
            self._is_shown = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
