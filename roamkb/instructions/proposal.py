"""What might become a line of a rule file: proposals, and what a human made of them (D10, D15).

One proposal for a learning and a file. What was rejected or taken back stays so: nobody is
asked twice. An event tells what happened and authorises nothing.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Annotated
from typing import Final

from roamkb.core.ids import derived_id
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import times
from roamkb.core.timestamps import iso
from roamkb.log.state import confidence
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.pipeline.gate.checks import VERIFIED
from roamkb.pipeline.gate.checks import StatementEvidence
from roamkb.pipeline.gate.checks import checks
from roamkb.text.store.lexicons import alternatives

PENDING: Final = "pending"
#: A human said yes, and nobody has seen the line in the file yet: the machine stopped in between.
APPROVED: Final = "approved"
APPLIED: Final = "applied"
REJECTED: Final = "rejected"
ROLLED_BACK: Final = "rolled_back"
#: What still waits for somebody.
OPEN: Final = (PENDING, APPROVED)

#: Characters of one line; every session of every agent reads it.
MOST_CHARACTERS: Final = 600
#: Above so many a reader should look twice.
_LONG = 200
_SURE = 90
_NEVER_LANDS: Final = ("no_secret", "no_instruction")
_ORDERS = lazily(rf"\b{alternatives('orders')}\b", re.IGNORECASE)
_COMMAND = lazily(r"`[^`]*\s[^`]*`|\$\(|https?://|\bsudo\b")


def _told(history: Iterable[LedgerEvent]) -> list[Mapping[str, str]]:
    """Return events as a proposal tells them: what somebody did, and what they said of it."""
    return [
        {"event": event.event, "ts": iso(event.ts), "agent": event.agent}
        | {name: event.text(name) for name in ("operator", "reason", "digest") if event.text(name)}
        for event in history
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionProposal:
    """One learning on its way into one file."""

    id: str
    #: The learning's id.
    learning: str
    #: The file, from the project's root.
    target: str
    #: The heading as it was named, with its marks; empty for the end of the file.
    section: str
    #: The line as it was proposed; what lands is made anew.
    text: str
    state: str = PENDING
    #: What happened to it, in order.
    history: Annotated[tuple[LedgerEvent, ...], _told] = ()


def proposal_id(learning: str, target: str) -> str:
    """Return the id of the one proposal for a learning and a file, whichever machine makes it."""
    return derived_id(f"rule of {learning} in {target}")


def rule_proposals(events: Iterable[LedgerEvent]) -> dict[str, InstructionProposal]:
    """Return the proposals that a ledger's events amount to, by id, in the order of their making."""
    found: dict[str, InstructionProposal] = {}
    for event in events:
        if event.event not in _NEXT:
            continue
        known = found.get(event.text("proposal"))
        if known is None:
            known = _begun(event)
        elif event.event == "proposed" and known.state == PENDING:
            # somebody chose another section before anybody decided
            known = replace(known, section=event.text("section"), text=event.text("text"))
        if known is not None and known.learning == event.of:
            state = _NEXT[event.event].get(known.state, known.state)
            found[known.id] = replace(known, state=state, history=(*known.history, event))
    return found


def _begun(event: LedgerEvent) -> InstructionProposal | None:
    """Return the proposal that an event begins; a made-up id begins none."""
    target = event.text("target")
    if event.event != "proposed" or not target or event.text("proposal") != proposal_id(event.of, target):
        return None
    return InstructionProposal(
        id=event.text("proposal"),
        learning=event.of,
        target=target,
        section=event.text("section"),
        text=event.text("text"),
    )


#: By event and by what a proposal was: what it is then. What isn't here changes nothing, so that of a
#: rejection and an approval from two machines the file's own fate counts.
_NEXT: Final = {
    "proposed": {PENDING: PENDING},
    "approved": {PENDING: APPROVED},
    "rejected": {PENDING: REJECTED, APPROVED: REJECTED},
    "applied": {PENDING: APPLIED, APPROVED: APPLIED, REJECTED: APPLIED},
    "rolled_back": {APPLIED: ROLLED_BACK},
}


def why_not(standing: LearningState, *, place: ProjectKind) -> str:
    """Return why a learning may not be a rule in a project of that kind; empty where it may."""
    learning = standing.learning
    if standing.status == SUPERSEDED:
        return "another replaced it"
    if standing.status == NEEDS_REVIEW:
        return "it needs a review first: `roamkb curate`"
    if learning.kind is ProjectKind.WORK and place is not ProjectKind.WORK:
        return "it was learned in a work project; nothing of that leaves it"
    if standing.verdict != VERIFIED:
        return f"it is {standing.verdict}: `roamkb verify {learning.key}` first"
    if standing.confidence < confidence.DURABLE:
        said, least = standing.confidence / 100, confidence.DURABLE / 100
        return f"its confidence is {said:.2f}; a rule takes {least:.2f}"
    if standing.occurrences < confidence.OFTEN:
        return f"it was said {times(standing.occurrences)}; a rule takes {confidence.OFTEN}"
    if len(learning.statement) > MOST_CHARACTERS:
        return f"it has more than {MOST_CHARACTERS} characters; say it shorter"
    wrong = {check.name: check.why for check in checks(learning.content, StatementEvidence()) if not check.ok}
    return next((wrong[name] for name in _NEVER_LANDS if name in wrong), "")


def risks(standing: LearningState) -> tuple[str, ...]:
    """Return what a reader should look at twice; nothing where a line is short, sure and mild."""
    return tuple(_risks(standing))


def _risks(standing: LearningState) -> Iterator[str]:
    content = standing.learning.statement
    if unsafe := next(
        (check.why for check in checks(content, StatementEvidence()) if check.name == "safe" and check.why),
        "",
    ):
        yield unsafe
    if found := _ORDERS.search(content):
        yield f"it orders: “{found.group()}”"
    if _COMMAND.search(content):
        yield "it has a command or an address"
    if len(content) > _LONG:
        yield "it is long"
    if standing.confidence < _SURE:
        yield f"its confidence is {standing.confidence / 100:.2f}"
    if standing.learning.origin or standing.learning.provenance == "external":
        yield "it came from elsewhere"
    if standing.flags:
        yield ", ".join(sorted(standing.flags))
