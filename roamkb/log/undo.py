"""`undo`: takes back one event that an agent caused itself; both stay in the ledger."""

from typing import Annotated
from typing import Final

from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.log.state.learning_state import UNDONE
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.verb_context import VerbContext

#: What agents bring about and may be wrong in. A verdict is judged anew, a flag has its review, what a human
#: decided has its own way back, and what is in a knowledge base or a rule file stays there whatever is said.
UNDOABLE_EVENTS: Final = (
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
    """Parameters of `undo`."""

    event: Annotated[
        str,
        Argument("Its id, as `explain KEY` shows it; of an undoing, to have it count again.", metavar="EVENT"),
    ]
    _: KW_ONLY
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneEvent:
    """An event that doesn't count any more, and its learning without it."""

    JSON = "event.id event.event learning=standing changed=is_new"
    event: LedgerEvent
    #: The learning that it happened to, as it stands without; None where it was about none.
    standing: Annotated[LearningState | None, EVERY_KEY]
    #: Whether anything was written; not where it didn't count already.
    is_new: bool


def undo(context: VerbContext, request: UndoRequest) -> UndoneEvent:
    """Undo one event that an agent caused; undoing an undo lets it count again.

    Raises:
        NotFound: there is none. UsageError: it has another way back. NoLog, Refused, DiskError.
    """
    log, author = context.log_to_write(f"undo {request.event}"), context.author_of(request)
    with log.append_lock():
        contents = log.read_contents()
        event_id = request.event.strip().casefold()
        event = next((candidate for candidate in contents.events if candidate.id.casefold() == event_id), None)
        if event is None:
            raise NotFound(request.event, kind="event", hint="`roamkb explain KEY` shows a learning's, with their ids")
        if event.event not in UNDOABLE_EVENTS:
            raise UsageError(
                f"a line `{one_line(event.event)}` isn't taken back so",
                hint=f"undo takes back {', '.join(UNDOABLE_EVENTS)}; the rest has `verify`, `review` and `rollback`",
            )
        state = contents.replay_state()
        is_new = any(candidate.id == event.id for candidate in state.events)
        if is_new:
            stamps = EventFactory(author, after=contents.last_event, command="undo")
            undoing = stamps.new_event(UNDONE, event.id)
            log.append_entries(events=[undoing])
            state = contents.plus_lines(events=[undoing]).replay_state()
    return UndoneEvent(
        event=event, standing=state.standings.get(_subject_learning_id(event, contents.events)), is_new=is_new
    )


def _subject_learning_id(event: LedgerEvent, events: tuple[LedgerEvent, ...]) -> str:
    """Return the id of the learning that an event, or the event that it undoes, is about."""
    by_id = {entry.id: entry for entry in events}
    visited: set[str] = set()
    while event.event == UNDONE and event.of in by_id and event.id not in visited:
        visited.add(event.id)
        event = by_id[event.of]
    return event.of
