"""`prefer`: an agent's preference of a learning, which that agent is then shown first."""

from typing import Annotated

from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.known_learnings import get_learning
from roamkb.log.new_learning import EventFactory
from roamkb.log.pin import MarkedLearning
from roamkb.log.state.learning_state import NO_PREFERENCE
from roamkb.log.state.learning_state import PREFERS
from roamkb.log.verb_context import VerbContext


@dataclass(frozen=True, slots=True)
class PreferRequest:
    """Parameters of `prefer`."""

    key: Annotated[str, Argument("The learning, by key or id.", metavar="KEY", values="keys")]
    _: KW_ONLY
    off: bool = flag_option("--off", "No longer.")
    agent: AgentOption = None
    session: SessionOption = None


def prefer(context: VerbContext, request: PreferRequest) -> MarkedLearning:
    """Put a learning before its equals for one agent alone; with `off`, no longer.

    Raises:
        NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
    """
    log, author = context.log_to_write(f"prefer {request.key}"), context.author_of(request)
    with log.append_lock():
        contents = log.read_contents()
        standing = get_learning(log, contents.replay_state(), request.key)
        if (author.agent in standing.preferred_by) is not request.off:
            return MarkedLearning(standing=standing, is_new=False)
        stamps = EventFactory(author, after=contents.last_event, command="prefer")
        event = stamps.new_event("preferred", standing.id, preference=NO_PREFERENCE if request.off else PREFERS)
        log.append_entries(events=[event])
        new_standing = contents.plus_lines(events=[event]).replay_state().standings[standing.id]
    return MarkedLearning(standing=new_standing, is_new=True)
