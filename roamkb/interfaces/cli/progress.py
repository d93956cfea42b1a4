"""A progress bar on standard error, for what a person would otherwise wonder about."""

import os
import sys
import time
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager

from roamkb.core.progress import listening

#: Seconds after which a person wonders what it is doing.
_PROGRESS_DELAY = 1.0
#: Seconds for which a line stands: an eye follows no more, and a terminal over the network is spared.
_LEAST_SECONDS = 0.1
#: Characters of the bar.
_PROGRESS_WIDTH = 20
_USUAL_COLUMNS = 80


class ProgressBar:
    """A bar with what was done and the time left, once a second has passed; it goes when all is done."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Take what gives the seconds."""
        self._clock = clock
        self._label = ""
        #: When this work began, and how much was done before: a human may be asked first.
        self._start = 0.0, 0
        self._shown_at: float | None = None

    def __call__(self, label: str, done_count: int, total_count: int | None) -> None:
        """Show that so many of so many are done; without a total, that it lasts."""
        now = self._clock()
        if label != self._label:
            self._label, self._start = label, (now, done_count)
        if done_count == total_count:
            self._label = ""
            self.erase()
        elif total_count is None:
            self._show(f"{label}…" + (f" {done_count}" if done_count else ""), now)
        elif self._shown_at is None or now - self._shown_at >= _LEAST_SECONDS:
            began, first_count = self._start
            taken, newly_done = now - began, done_count - first_count
            if newly_done > 0 and taken > _PROGRESS_DELAY:
                bar = "#" * (_PROGRESS_WIDTH * done_count // total_count)
                minutes, seconds = divmod(round(taken / newly_done * (total_count - done_count)), 60)
                left = f"{done_count} of {total_count}, {minutes}:{seconds:02} left"
                self._show(f"{label} [{bar:<{_PROGRESS_WIDTH}}] {left}", now)

    def _show(self, line: str, now: float) -> None:
        self._shown_at = now
        # a line that is broken can't be taken away
        line = line[: max(0, _columns() - len("roamkb: ") - 1)]
        print(f"\rroamkb: {line}\x1b[K", end="", file=sys.stderr, flush=True)

    def erase(self) -> None:
        """Take the line away."""
        if self._shown_at is not None:
            self._shown_at = None
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):
        return _USUAL_COLUMNS


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show at the terminal how far the work inside is; nothing is left of it, whatever happens."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    bar = ProgressBar()
    try:
        with listening(bar):
            yield
    finally:
        bar.erase()
