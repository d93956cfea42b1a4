"""`used`: whether something that was shown helped; only what a receipt says was shown counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from roamkb.core.errors import UsageError
from roamkb.core.ledger import Standing
from roamkb.core.reuse import MATCHES
from roamkb.core.reuse import OUTCOMES
from roamkb.core.saying import Hand
from roamkb.core.saying import Stamps
from roamkb.core.text import shown
from roamkb.storage.log import Log
from roamkb.storage.receipts import Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What an outcome did to a learning."""

    standing: Standing
    outcome: str
    #: In hundredths.
    before: int
    after: int
    receipt: str


def used(
    log: Log,
    standing: Standing,
    receipts: Sequence[Receipt],
    hand: Hand,
    *,
    outcome: str,
    match: str,
    task: str,
) -> Used:
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
        stamps = Stamps(hand, after=contents.last_event, by="used")
        event = stamps.event(
            "reused",
            standing.id,
            task=task or receipt.task,
            outcome=outcome,
            receipt=receipt.id,
            **({"match": match} if match else {}),
        )
        log.append(events=[event])
        after = contents.plus(events=[event]).state().standings[standing.id]
    return Used(
        standing=after,
        outcome=outcome,
        before=standing.confidence,
        after=after.confidence,
        receipt=receipt.id,
    )
