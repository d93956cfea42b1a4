"""Whose word the lines of a log are: what was there before this machine adopted it is somebody else's (D25).

Adopted history says what was learned, and never how far it is to be trusted. It begins unverified and at most
0.50 sure; what raised it, and all that only a human says, is struck out. What lowers it stays.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.digests import blake2b
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import ATTEMPTED
from roamkb.log.state.learning_state import CANONICAL
from roamkb.log.state.learning_state import VALIDATED
from roamkb.log.state.learning_state import LedgerEvent

#: Bytes by which an id is known again.
_MARK: Final = 8

#: What says how far something is to be trusted, or that a human said yes.
_OF_TRUST: Final = frozenset(
    {"reused", "judged", "pinned", "overridden", "preferred", "promoted", VALIDATED}
    | {"proposed", "approved", "rejected", "applied", "rolled_back"}
)


@dataclass(frozen=True, kw_only=True)
class AdoptedLines:
    """The lines that were there before, by their ids."""

    #: The marks of the ids, one behind the other, in ascending order.
    marks: bytes = b""

    @property
    def digest(self) -> str:
        """What stands for them; empty where all of the log is this machine's own."""
        return blake2b(self.marks, digest_size=16).hexdigest() if self.marks else ""

    def learnings(self, said: tuple[Learning, ...]) -> tuple[Learning, ...]:
        """Return what was said, with what was adopted known as that."""
        return tuple(map(self._learning, said)) if self.marks else said

    def events(self, happened: tuple[LedgerEvent, ...]) -> tuple[LedgerEvent, ...]:
        """Return what happened, with what was adopted known as that."""
        return tuple(map(self._event, happened)) if self.marks else happened

    def _learning(self, learning: Learning) -> Learning:
        if not self._has(learning.id):
            return learning
        provenance = "external" if learning.provenance == "user-stated" else learning.provenance
        return replace(learning, provenance=provenance, is_adopted=True)

    def _event(self, event: LedgerEvent) -> LedgerEvent:
        if not self._has(event.id):
            return event
        if event.event == ATTEMPTED:
            # the technique may be known here; that it worked is for this machine to find out
            event = replace(event, fields={**event.fields, "outcome": ""})
        return replace(event, is_adopted=True)

    def _has(self, id: str) -> bool:
        return _mark(id) in self._known

    @cached_property
    def _known(self) -> frozenset[bytes]:
        marks = self.marks
        return frozenset(marks[at : at + _MARK] for at in range(0, len(marks), _MARK))


#: Where all lines are this machine's own.
OWN: Final = AdoptedLines()


def adopting(ids: Iterable[str]) -> AdoptedLines:
    """Return what says that the lines of those ids are somebody else's word."""
    return AdoptedLines(marks=b"".join(sorted(set(map(_mark, ids)))))


def _mark(id: str) -> bytes:
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=_MARK).digest()


def counting(events: Iterable[LedgerEvent]) -> Iterator[LedgerEvent]:
    """Yield the events that say something here: of adopted ones, those that ask for no trust."""
    return (event for event in events if not (event.is_adopted and _asks_for_trust(event)))


def _asks_for_trust(event: LedgerEvent) -> bool:
    is_reviewed = event.event == "curated" and event.text("status") == CANONICAL
    return is_reviewed or event.event in _OF_TRUST
