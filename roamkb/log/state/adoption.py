"""Adopted lines: those that were in a log before this machine adopted it are less trusted (D25).

Adopted history says what was learned, and never how far it is to be trusted. It begins unverified and at most
0.50 sure; what raised it, and all that only a human says, is struck out. What lowers it stays.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from functools import cached_property

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.digests import blake2b
from roamkb.core.startup.typing import Final
from roamkb.core.startup.typing import Protocol
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import ARCHIVED
from roamkb.log.state.learning_state import ATTEMPTED
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import OVERRIDDEN
from roamkb.log.state.learning_state import VALIDATED
from roamkb.log.state.learning_state import LedgerEvent

#: Bytes by which an id is known again.
_MARK_BYTES: Final = 8

#: What says how far something is to be trusted, or that a human said yes.
_TRUST_EVENTS: Final = frozenset(
    {"reused", "judged", "pinned", OVERRIDDEN, "preferred", "promoted", VALIDATED}
    | {"proposed", "approved", "rejected", "applied", "rolled_back"}
)
#: What a curator says of a learning that is to count less; without a status it says where a learning came from.
_DOUBTING_STATUSES: Final = ("", NEEDS_REVIEW, ARCHIVED)


class ProofJudge(Protocol):
    """A judge of the signatures that events claim to have."""

    #: Stands for the keys that count.
    digest: str

    def mark_events(self, events: tuple[LedgerEvent, ...]) -> tuple[LedgerEvent, ...]:
        """Return the events, those whose signature can't be verified as such from which nothing follows."""


@dataclass(frozen=True, kw_only=True)
class AdoptedLines:
    """The lines that were in the log before its adoption, by their ids; and who judges signatures of any line."""

    #: The marks of the ids, one behind the other, in ascending order.
    marks: bytes = b""
    #: Those of lines that a service brought since. Each stands here before its line is in the log, so that what was
    #: computed of an earlier log still holds.
    received: bytes = b""
    #: None where no event claims to be signed.
    proofs: ProofJudge | None = None

    def with_received(self, ids: Iterable[str]) -> "AdoptedLines":
        """Return these and the lines of those ids, which are about to be appended."""
        return replace(self, received=self.received + b"".join(map(_id_mark, ids)))

    @property
    def digest(self) -> str:
        """Digest of the ids that were there at the adoption, and of the keys that prove a yes; empty without any."""
        marks_digest = blake2b(self.marks, digest_size=16).hexdigest() if self.marks else ""
        return marks_digest + self.proofs_digest

    @property
    def proofs_digest(self) -> str:
        """Digest of the keys that prove a human's yes."""
        return self.proofs.digest if self.proofs else ""

    def mark_learnings(self, learnings: tuple[Learning, ...]) -> tuple[Learning, ...]:
        """Return the learnings, the adopted ones marked so."""
        return tuple(map(self._mark_learning, learnings)) if learnings and self._known_marks else learnings

    def mark_events(self, events: tuple[LedgerEvent, ...]) -> tuple[LedgerEvent, ...]:
        """Return the events, the adopted ones marked so, and those whose signature doesn't hold."""
        if self.proofs:
            events = self.proofs.mark_events(events)
        return tuple(map(self._mark_event, events)) if events and self._known_marks else events

    def _mark_learning(self, learning: Learning) -> Learning:
        if not self._is_adopted_id(learning.id):
            return learning
        provenance = "external" if learning.provenance == "user-stated" else learning.provenance
        return replace(learning, provenance=provenance, is_adopted=True)

    def _mark_event(self, event: LedgerEvent) -> LedgerEvent:
        if not self._is_adopted_id(event.id):
            return event
        if event.event == ATTEMPTED:
            # the technique may be known here; that it worked is for this machine to find out
            event = replace(event, fields={**event.fields, "outcome": ""})
        return replace(event, is_adopted=True)

    def _is_adopted_id(self, id: str) -> bool:
        return _id_mark(id) in self._known_marks

    @cached_property
    def _known_marks(self) -> frozenset[bytes]:
        marks = self.marks + self.received
        return frozenset(marks[offset : offset + _MARK_BYTES] for offset in range(0, len(marks), _MARK_BYTES))


#: Where all lines are this machine's own.
NONE_ADOPTED: Final = AdoptedLines()


def adopted_lines_of(ids: Iterable[str]) -> AdoptedLines:
    """Return the adopted lines of those ids."""
    return AdoptedLines(marks=b"".join(sorted(set(map(_id_mark, ids)))))


def _id_mark(id: str) -> bytes:
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=_MARK_BYTES).digest()


def countable_events(events: Iterable[LedgerEvent]) -> Iterator[LedgerEvent]:
    """Yield the events that count here: of adopted ones, those that don't raise trust."""
    return (event for event in events if not (event.is_adopted and _asks_for_trust(event)))


def _asks_for_trust(event: LedgerEvent) -> bool:
    if event.event == "curated":
        return event.text_field("status") not in _DOUBTING_STATUSES
    is_cleared = event.event == "flagged" and bool(event.fields.get("cleared"))
    return is_cleared or event.event in _TRUST_EVENTS
