"""`pin` and `override`: what somebody says of a learning that no event moves any more."""

from typing import Annotated

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_yes
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import SessionOption
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.log.known_learnings import called
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import EVERY_KEY
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log


@dataclass(frozen=True, slots=True)
class PinRequest:
    """What `pin` takes."""

    key: Annotated[str, Argument("The learning, by key or id.", metavar="KEY")]
    _: KW_ONLY
    off: bool = switch("--off", "No longer.")
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True)
class OverrideRequest:
    """What `override` takes."""

    key: Annotated[str, Argument("The learning, by key or id.", metavar="KEY")]
    confidence: Annotated[str, Argument("0.00 to 1.00.", metavar="CONFIDENCE")]
    _: KW_ONLY
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedLearning:
    """A learning as it stands after the mark."""

    JSON = "learning=standing changed=is_new"
    standing: Annotated[LearningState, EVERY_KEY]
    #: Whether anything was written; not where it stood so already.
    is_new: bool


def pin(log: Log, name: str, hand: Author, *, off: bool = False) -> MarkedLearning:
    """Exempt a learning from decay, or, with `off`, no longer.

    Raises:
        NotFound, Ambiguous, DiskError: nothing was written.
    """
    with log.locked():
        contents = log.read()
        standing = called(log, contents.state(), name)
        if standing.is_pinned is not off:
            return MarkedLearning(standing=standing, is_new=False)
        event = EventFactory(hand, after=contents.last_event, by="pin").event(
            "pinned", standing.id, value=not off
        )
        return _marked(log, standing, event)


def override(
    log: Log, name: str, confidence: int, hand: Author, *, operator: str, human: HumanAtTerminal | None
) -> MarkedLearning:
    """Set a learning's confidence, in hundredths, to what a human says it is; no event moves it any more.

    Raises:
        UsageError: no human at a terminal said yes. NotFound, Ambiguous, DiskError: nothing was written.
    """
    standing = called(log, log.read().state(), name)
    word = f"{as_fraction(confidence):.2f}"
    require_yes(
        human,
        f"{shown(standing.learning.key)}: {clipped(shown(standing.learning.statement), 300)}\n"
        f"counts {as_fraction(standing.confidence):.2f} and is to count {word}, whatever happens.",
        word=word,
    )
    with log.locked():
        contents = log.read()
        # what the human saw is what is meant, by its id
        standing = called(log, contents.state(), standing.id)
        stamps = EventFactory(hand, after=contents.last_event, by="override")
        event = stamps.event("overridden", standing.id, value=confidence, operator=operator)
        return _marked(log, standing, event)


def _marked(log: Log, standing: LearningState, event: LedgerEvent) -> MarkedLearning:
    """Append the mark; the lock is held."""
    log.append(events=[event])
    return MarkedLearning(standing=log.read().state().standings[standing.id], is_new=True)
