"""`pin` and `override`: marks of a learning that no later event changes."""

from typing import Annotated

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.log.known_learnings import get_learning
from roamkb.log.learning import content_identity
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.proof.ask import ask_for_events
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.log.state.learning_state import OVERRIDDEN
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedLearning:
    """A learning after the mark."""

    JSON = "learning=standing changed=is_new"
    standing: Annotated[LearningState, EVERY_KEY]
    #: Whether anything was written; not where it stood so already.
    is_new: bool


def pin(log: Log, name: str, author: Author, *, off: bool = False) -> MarkedLearning:
    """Exempt a learning from decay, or, with `off`, no longer.

    Raises:
        NotFound, Ambiguous, DiskError: nothing was written.
    """
    with log.append_lock():
        contents = log.read_contents()
        standing = get_learning(log, contents.replay_state(), name)
        if standing.is_pinned is not off:
            return MarkedLearning(standing=standing, is_new=False)
        event = EventFactory(author, after=contents.last_event, command="pin").new_event(
            "pinned", standing.id, value=not off
        )
        return _append_mark(log, standing, event)


def override(
    log: Log, name: str, confidence: int, author: Author, *, operator: str, human: HumanAtTerminal | None
) -> MarkedLearning:
    """Set a learning's confidence, in hundredths, to a human's value; no later event changes it.

    Raises:
        UsageError: no human at a terminal said yes. NotFound, Ambiguous, DiskError: nothing was written.
    """
    contents = log.read_contents()
    standing = get_learning(log, contents.replay_state(), name)
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
                operator=operator,
                said=content_identity(standing.learning.type, standing.learning.content),
            )
        ],
        after=contents.last_event,
    )
    (event,) = ask_for_events(log.proof_check, human, yes, word=word)
    with log.append_lock():
        # what the human saw is what is meant, by its id and its words
        standing = get_learning(log, log.read_contents().replay_state(), standing.id)
        return _append_mark(log, standing, event)


def _append_mark(log: Log, standing: LearningState, event: LedgerEvent) -> MarkedLearning:
    """Append the mark; the lock is held."""
    log.append_entries(events=[event])
    return MarkedLearning(standing=log.read_contents().replay_state().standings[standing.id], is_new=True)
