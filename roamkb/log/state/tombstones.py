"""Tombstones: what a human had forgotten, by id and digest, on every machine and after any merge.

A `forgotten` event counts whoever wrote it, and nothing takes it back. A clone adopts the ledger of others, so that
trust can't be asked for; and who can write the ledger can as well take the line out of the log. `audit` lists each.
"""

from collections.abc import Iterable

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import sha256
from roamkb.core.startup.typing import Final
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import LedgerEvent

#: The field of a tombstone that has the digest of the line's content.
DIGEST_FIELD: Final = "content_sha256"
#: Who says a sentence again may end it otherwise.
_CLOSING_MARKS: Final = " .!?…。！？"


def content_digest_of(content: str) -> str:
    """Return the SHA-256 of what a content says, of any type: without case, spacing and the mark at its end."""
    said = " ".join(content.casefold().split()).rstrip(_CLOSING_MARKS)
    return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstones:
    """The forgotten learnings of a log."""

    ids: frozenset[str] = frozenset()
    #: As `content_digest_of` makes them.
    digests: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Say whether anything was forgotten."""
        return bool(self.ids or self.digests)

    def covers(self, learning: Learning) -> bool:
        """Say whether a line was forgotten."""
        return bool(self) and (learning.id in self.ids or content_digest_of(learning.content) in self.digests)

    def covers_event(self, event: LedgerEvent) -> bool:
        """Say whether an event tells of what was forgotten; not the tombstone itself."""
        return event.event != FORGOTTEN and event.of in self.ids

    @property
    def marks(self) -> frozenset[str]:
        """The ids and digests, marked as no learning's id is."""
        return frozenset(f"{FORGOTTEN} {value}" for value in (*self.ids, *self.digests))


def tombstones_of(events: Iterable[LedgerEvent]) -> Tombstones:
    """Return the tombstones among `events`."""
    forgotten = [event for event in events if event.event == FORGOTTEN]
    return Tombstones(
        ids=frozenset(event.of for event in forgotten if event.of),
        digests=frozenset(filter(None, (event.text_field(DIGEST_FIELD) for event in forgotten))),
    )


def marks_of(learning: Learning) -> tuple[str, str]:
    """Return the marks by which `Tombstones.marks` would name a learning."""
    return f"{FORGOTTEN} {learning.id}", f"{FORGOTTEN} {content_digest_of(learning.content)}"


def event_mark(event: LedgerEvent) -> str:
    """Return the mark by which `Tombstones.marks` would name an event's learning."""
    return f"{FORGOTTEN} {event.of}"
