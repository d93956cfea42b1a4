"""`prefer`: what one agent would rather do than another way; it changes what that agent is shown first."""

from typing import Annotated

from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.known_learnings import called
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.pin import MarkedLearning
from roamkb.log.state.learning_state import NO_PREFERENCE
from roamkb.log.state.learning_state import PREFERS
from roamkb.log.store.project_log import Log


@dataclass(frozen=True, slots=True)
class PreferRequest:
    """What `prefer` takes."""

    key: Annotated[str, Argument("The learning, by key or id.", metavar="KEY")]
    _: KW_ONLY
    off: bool = switch("--off", "No longer.")
    agent: AgentOption = None
    session: SessionOption = None


def prefer(log: Log, name: str, hand: Author, *, off: bool = False) -> MarkedLearning:
    """Put a learning before its equals for the hand's own agent or, with `off`, no longer.

    Raises:
        NotFound, Ambiguous, DiskError: nothing was written.
    """
    with log.locked():
        contents = log.read()
        standing = called(log, contents.state(), name)
        if (hand.agent in standing.preferred_by) is not off:
            return MarkedLearning(standing=standing, is_new=False)
        stamps = EventFactory(hand, after=contents.last_event, by="prefer")
        event = stamps.event("preferred", standing.id, preference=NO_PREFERENCE if off else PREFERS)
        log.append(events=[event])
        after = contents.plus(events=[event]).state().standings[standing.id]
    return MarkedLearning(standing=after, is_new=True)
