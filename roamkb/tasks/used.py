"""`used`: whether something that was shown helped; only what a receipt says was shown counts."""

from collections.abc import Sequence
from typing import Annotated

from roamkb.core.errors import UsageError
from roamkb.core.json_form import OrNull
from roamkb.core.request import AgentOption
from roamkb.core.request import Argument
from roamkb.core.request import Option
from roamkb.core.request import SessionOption
from roamkb.core.request import option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import shown
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state import confidence
from roamkb.log.state.confidence import Hundredths
from roamkb.log.state.learning_state import VALIDATED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.store.project_log import Log
from roamkb.log.store.receipts import Receipt
from roamkb.tasks.stats import MATCHES
from roamkb.tasks.stats import OUTCOMES


@dataclass(frozen=True, slots=True)
class UsedRequest:
    """What `used` takes."""

    name: Annotated[str, Argument("The learning, by key or id.", metavar="KEY")]
    _: KW_ONLY
    outcome: Annotated[
        str,
        Option(
            "--outcome",
            "success, failure, partial, not_applied, prevented, or validated: "
            "another agent than the one that learned it found it true.",
            metavar="O",
        ),
    ]
    task: str | None = option("--task", "The task that it was for.", metavar="ID")
    match: str | None = option("--match", "How it was found: exact, similar or suggested.", metavar="M")
    agent: AgentOption = None
    session: SessionOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedLearning:
    """What an outcome did to a learning."""

    JSON = "standing.id standing.learning.key outcome confidence_before=before confidence=after receipt still"
    standing: LearningState
    outcome: str
    #: In hundredths.
    before: Hundredths
    after: Hundredths
    receipt: str
    #: Why the confidence is what it was; empty where it moved.
    still: OrNull = ""


def used(
    log: Log,
    standing: LearningState,
    receipts: Sequence[Receipt],
    hand: Author,
    *,
    outcome: str,
    match: str,
    task: str,
) -> UsedLearning:
    """Record how a learning that was shown fared.

    Raises:
        UsageError: no such outcome, or it was never shown.
    """
    if outcome not in OUTCOMES:
        raise UsageError(f"no outcome {shown(outcome)}", hint=f"one of {', '.join(OUTCOMES)}")
    if match and match not in MATCHES:
        raise UsageError(f"no match {shown(match)}", hint=f"one of {', '.join(MATCHES)}")
    shown_to = [receipt for receipt in receipts if standing.id in receipt.shown]
    if hand.session:
        shown_to = [receipt for receipt in shown_to if receipt.session in (hand.session, "")]
    if not shown_to:
        raise UsageError(
            f"{shown(standing.learning.key)} wasn't shown to anybody here, so nobody can have used it",
            hint="`roamkb recall` or `roamkb relevant` shows it first",
        )
    receipt = shown_to[-1]
    with log.locked():
        contents = log.read()
        stamps = EventFactory(hand, after=contents.last_event, by="used")
        told = {} if outcome == VALIDATED else {"outcome": outcome}
        event = stamps.event(
            VALIDATED if outcome == VALIDATED else "reused",
            standing.id,
            task=task or receipt.task,
            **told,
            receipt=receipt.id,
            **({"match": match} if match else {}),
        )
        log.append(events=[event])
        after = contents.plus(events=[event]).state().standings[standing.id]
    return UsedLearning(
        standing=after,
        outcome=outcome,
        before=standing.confidence,
        after=after.confidence,
        receipt=receipt.id,
        still=_still(standing, after, outcome=outcome, receipt=receipt.id, agent=hand.agent),
    )


def _still(before: LearningState, after: LearningState, *, outcome: str, receipt: str, agent: str) -> str:
    """Return why an outcome moved no confidence; empty where it did."""
    if before.confidence != after.confidence:
        return ""
    if outcome not in ("success", "failure", "prevented", VALIDATED):
        return "such an outcome moves nothing"
    if after.is_overridden:
        return "a human said what it counts"
    if outcome == VALIDATED and agent == before.learning.agent:
        return f"{shown(agent)} learned it; another agent has to validate it"
    if outcome == VALIDATED and (VALIDATED, agent) in before.heard:
        return f"{shown(agent)} validated it before; it counts once"
    if outcome != VALIDATED and ("receipt", receipt) in before.heard:
        return "an outcome was told of this showing before; each counts once"
    if after.confidence in (confidence.LEAST, confidence.MOST):
        return "it goes no further"
    return "who said it told this outcome before; it counts once"
