"""`pin`, `override` and `prefer`: marks of a learning, by a human or by one agent for itself."""

from typing import Annotated

from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.log.known_learnings import get_learning
from roamkb.log.learning import content_identity
from roamkb.log.new_learning import EventFactory
from roamkb.log.proof.ask import ask_for_events
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.confidence import parse_hundredths
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.log.state.learning_state import NO_PREFERENCE
from roamkb.log.state.learning_state import OVERRIDDEN
from roamkb.log.state.learning_state import PREFERS
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import is_settled
from roamkb.log.state.promoted_notes import stale_note_warnings
from roamkb.log.store.project_log import Log
from roamkb.log.verb_context import VerbContext


@dataclass(frozen=True, slots=True)
class PinRequest:
    """Parameters of `pin`."""

    key: Annotated[str, Argument("The learning, by key or id.", metavar="KEY", values="keys")]
    _: KW_ONLY
    off: bool = flag_option("--off", "No longer.")
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True)
class OverrideRequest:
    """Parameters of `override`."""

    key: Annotated[str, Argument("The learning, by key or id.", metavar="KEY", values="keys")]
    confidence: Annotated[str, Argument("0.00 to 1.00.", metavar="CONFIDENCE")]
    _: KW_ONLY
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True)
class PreferRequest:
    """Parameters of `prefer`."""

    key: Annotated[str, Argument("The learning, by key or id.", metavar="KEY", values="keys")]
    _: KW_ONLY
    off: bool = flag_option("--off", "No longer.")
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedLearning:
    """A learning after the mark."""

    JSON = "learning=standing changed=is_new warnings"
    standing: Annotated[LearningState, EVERY_KEY]
    #: Whether anything was written; not where it stood so already.
    is_new: bool
    warnings: tuple[str, ...] = ()


def pin(context: VerbContext, request: PinRequest) -> MarkedLearning:
    """Exempt a learning from decay; with `off`, no longer.

    Raises:
        NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
    """
    log, author = context.log_to_write(f"pin {request.key}"), context.author_of(request)
    with log.append_lock():
        contents = log.read_contents()
        standing = get_learning(log, contents.replay_state(), request.key)
        if standing.is_pinned is not request.off:
            return MarkedLearning(standing=standing, is_new=False)
        stamps = EventFactory(author, after=contents.last_event, command="pin")
        event = stamps.new_event("pinned", standing.id, value=not request.off)
        return _append_mark(log, standing, event)


def override(context: VerbContext, request: OverrideRequest) -> MarkedLearning:
    """Set a learning's confidence, 0.00 to 1.00, for good; only a human at a terminal can.

    Raises:
        UsageError, NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
    """
    log, author = context.log_to_write(f"override {request.key}"), context.author_of(request)
    human = context.human_at_terminal
    contents = log.read_contents()
    standing = get_learning(log, contents.replay_state(), request.key)
    confidence = parse_hundredths(request.confidence) or 0
    word = f"{as_fraction(confidence):.2f}"
    stamps = EventFactory(author, after=contents.last_event, command="override")
    yes = log.yes_to(
        f"{one_line(standing.learning.key)}: {one_line(standing.learning.content)}\n"
        f"counts {as_fraction(standing.confidence):.2f} and is to count {word}, whatever happens.",
        [
            stamps.new_event(
                OVERRIDDEN,
                standing.id,
                value=confidence,
                operator=context.login,
                said=content_identity(standing.learning.type, standing.learning.content),
            )
        ],
        after=contents.last_event,
    )
    (event,) = ask_for_events(log.proof_check, human, yes, word=word)
    with log.append_lock():
        # what the human saw is what is meant, by its id and its words
        standing = get_learning(log, log.read_contents().replay_state(), standing.id)
        marked = _append_mark(log, standing, event)
    return replace(marked, warnings=stale_note_warnings(marked.standing)) if is_settled(marked.standing) else marked


def _append_mark(log: Log, standing: LearningState, event: LedgerEvent) -> MarkedLearning:
    """Append the mark; the lock is held."""
    log.append_entries(events=[event])
    return MarkedLearning(standing=log.read_contents().replay_state().standings[standing.id], is_new=True)


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
        return _append_mark(log, standing, event)
