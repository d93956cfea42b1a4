"""`undo`: takes back one event that an agent brought about itself; it stays in the ledger, as does this."""

from typing import Annotated
from typing import Final

from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import shown
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.log.state.learning_state import UNDONE
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log

#: What agents bring about and may be wrong in. A verdict is judged anew, a flag has its review, what a human
#: decided has its own way back, and what is in a knowledge base or a rule file stays there whatever is said.
OWN: Final = (
    "repeated",
    "reused",
    "validated",
    "pinned",
    "preferred",
    "attempted",
    "task",
    UNDONE,
)


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """What `undo` takes."""

    event: Annotated[
        str,
        Argument(
            "Its id, as `explain KEY` shows it; of an undoing, to have it count again.", metavar="EVENT"
        ),
    ]
    _: KW_ONLY
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneEvent:
    """An event that doesn't count any more."""

    JSON = "event.id event.event learning=standing changed=is_new"
    event: LedgerEvent
    #: The learning that it happened to, as it stands without; None where it was about none.
    standing: Annotated[LearningState | None, EVERY_KEY]
    #: Whether anything was written; not where it didn't count already.
    is_new: bool


def undo(log: Log, id: str, hand: Author) -> UndoneEvent:
    """Take back the event `id`; taking back an undoing lets the first event count again.

    Raises:
        NotFound: there is none. UsageError: it has another way back, or none. DiskError.
    """
    with log.locked():
        contents = log.read()
        wanted = id.strip().casefold()
        event = next((one for one in contents.events if one.id.casefold() == wanted), None)
        if event is None:
            raise NotFound(id, what="event", hint="`roamkb explain KEY` shows a learning's, with their ids")
        if event.event not in OWN:
            raise UsageError(
                f"a line `{shown(event.event)}` isn't taken back so",
                hint=f"undo takes back {', '.join(OWN)}; the rest has `verify`, `review` and `rollback`",
            )
        state = contents.state()
        is_new = any(one.id == event.id for one in state.events)
        if is_new:
            stamps = EventFactory(hand, after=contents.last_event, by="undo")
            undoing = stamps.event(UNDONE, event.id)
            log.append(events=[undoing])
            state = contents.plus(events=[undoing]).state()
    return UndoneEvent(
        event=event, standing=state.standings.get(_subject(event, contents.events)), is_new=is_new
    )


def _subject(event: LedgerEvent, events: tuple[LedgerEvent, ...]) -> str:
    """Return the id of the learning that an event, or what it takes back, is about."""
    by_id = {one.id: one for one in events}
    seen: set[str] = set()
    while event.event == UNDONE and event.of in by_id and event.id not in seen:
        seen.add(event.id)
        event = by_id[event.of]
    return event.of
