"""Notes that learnings became, and what to do with those whose learnings don't hold any more."""

from collections.abc import Iterator

from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import lapse_reason

#: The event by which a learning became a note.
_PROMOTED = "promoted"


@dataclass(frozen=True, slots=True, kw_only=True)
class LapsedNote:
    """A note that says what no learning in force says any more in the log that it came from."""

    #: The note's id, and the name of its knowledge base; empty for the default one.
    id: str
    kb_name: str
    #: What became of its learning, a clause.
    reason: str

    @property
    def command(self) -> str:
        """The command that replaces it."""
        return f"roamkb supersede {self.id} TITLE{f' --kb {self.kb_name}' if self.kb_name else ''}"


def lapsed_notes(state: LogState, *, latest: int | None = None) -> Iterator[LapsedNote]:
    """Yield the notes that learnings became of which none holds, the last promoted first; of so many promotions."""
    promotions = state.events_named(_PROMOTED, latest=latest)
    kb_names = {event.text_field("node"): event.text_field("kb") for event in reversed(promotions)}
    for id, kb_name in kb_names.items():
        if id and (reason := lapse_reason(state.learnings_with("node", id))):
            yield LapsedNote(id=id, kb_name=kb_name, reason=reason)


def has_promoted(state: LogState) -> bool:
    """Say whether any learning became a note."""
    return bool(state.events_named(_PROMOTED, latest=1))


def stale_note_warnings(standing: LearningState | None) -> tuple[str, ...]:
    """Return what to say of the note that a learning became which was replaced, or is in doubt.

    Other projects go by the note alone.
    """
    if standing is None or not standing.node:
        return ()
    promotions = (step.event for step in reversed(standing.history) if step.event.event == _PROMOTED)
    kb_name = next((event.text_field("kb") for event in promotions), "")
    note = LapsedNote(id=standing.node, kb_name=kb_name, reason="")
    return (f"the note that {standing.learning.key} became still says it: `{note.command}`",)
