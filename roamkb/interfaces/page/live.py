"""What agents do meanwhile: a mark of the notes and the log, by which an open page hears that it is out of date."""

import threading
from contextvars import ContextVar
from typing import Final

from roamkb.app import server

LIVE_PATH: Final = "/live"

#: The mark of what the page that is being made shows; empty for one that stays as it is.
shown_mark: ContextVar[str] = ContextVar("shown_mark", default="")


class LiveMark:
    """A number that grows once a note or a line of the log came, changed or went; several threads may ask.

    A look costs next to nothing while nothing happens: the walk is watched, and hands out what it had.
    """

    def __init__(self) -> None:
        """Begin without a look."""
        self._guard = threading.Lock()
        self._seen: object = None
        self._number = 0

    def read(self, kb: "server.ServedKnowledgeBase") -> str:
        """Return the mark of what there is now."""
        state = kb.changing_state()
        with self._guard:
            if state != self._seen:
                self._seen = state
                self._number += 1
            return str(self._number)
