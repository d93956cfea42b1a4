"""Proposals for lines of a rule file, with the human's decisions on them (D10, D15).

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
from roamkb.core.text import times_phrase
from roamkb.core.timestamps import format_iso
from roamkb.log.state import confidence
from roamkb.log.state.learning_state import NEEDS_REVIEW
from roamkb.log.state.learning_state import SIGNED
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import TYPED
from roamkb.log.state.learning_state import YES_FIELD
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.pipeline.gate.checks import VERIFIED
from roamkb.pipeline.gate.checks import StatementEvidence
from roamkb.pipeline.gate.checks import check_statement
from roamkb.text.store.lexicons import alternatives_pattern

PENDING: Final = "pending"
#: A human said yes, and nobody has seen the line in the file yet: the machine stopped in between.
APPROVED: Final = "approved"
APPLIED: Final = "applied"
REJECTED: Final = "rejected"
ROLLED_BACK: Final = "rolled_back"
#: What still waits for somebody.
OPEN_STATES: Final = (PENDING, APPROVED)

#: Characters of one line; every session of every agent reads it.
MAX_CHARACTERS: Final = 600
#: Above so many a reader should look twice.
_LONG_LINE = 200
_SURE_CONFIDENCE = 90
_EXCLUDING_CHECKS: Final = ("no_secret", "no_instruction")
_IMPERATIVE = lazily(rf"\b{alternatives_pattern('orders')}\b", re.IGNORECASE)
_COMMAND_OR_ADDRESS = lazily(r"`[^`]*\s[^`]*`|\$\(|https?://|\bsudo\b")


def _history_rows(history: Iterable[LedgerEvent]) -> list[Mapping[str, str]]:
    """Return events as a proposal prints them: the action, and the reason given for it."""
    return [
        {"event": event.event, "ts": format_iso(event.ts), "agent": event.agent}
        | {name: event.text_field(name) for name in ("operator", "reason", "digest") if event.text_field(name)}
        # another value may look like one of them
        | ({YES_FIELD: yes} if (yes := event.text_field(YES_FIELD)) in (TYPED, SIGNED) else {})
        for event in history
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionProposal:
    """A proposal to put one learning into one file."""

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
    history: Annotated[tuple[LedgerEvent, ...], _history_rows] = ()


def proposal_id(learning: str, target: str) -> str:
    """Return the id of the one proposal for a learning and a file, whichever machine makes it."""
    return derived_id(f"rule of {learning} in {target}")


def replay_proposals(events: Iterable[LedgerEvent]) -> dict[str, InstructionProposal]:
    """Return the proposals that result from a ledger's events, by id, in the order of their making."""
    proposals: dict[str, InstructionProposal] = {}
    for event in events:
        if event.event not in _NEXT_STATES:
            continue
        proposal = proposals.get(event.text_field("proposal"))
        if proposal is None:
            proposal = _new_proposal(event)
        elif event.event == "proposed" and proposal.state == PENDING:
            # somebody chose another section before anybody decided
            proposal = replace(proposal, section=event.text_field("section"), text=event.text_field("text"))
        if proposal is not None and proposal.learning == event.of:
            state = _NEXT_STATES[event.event].get(proposal.state, proposal.state)
            proposals[proposal.id] = replace(proposal, state=state, history=(*proposal.history, event))
    return proposals


def _new_proposal(event: LedgerEvent) -> InstructionProposal | None:
    """Return the proposal that an event begins; None for a made-up id."""
    target = event.text_field("target")
    if event.event != "proposed" or not target or event.text_field("proposal") != proposal_id(event.of, target):
        return None
    return InstructionProposal(
        id=event.text_field("proposal"),
        learning=event.of,
        target=target,
        section=event.text_field("section"),
        text=event.text_field("text"),
    )


#: By event and by what a proposal was: what it is then. What isn't here changes nothing, so that of a
#: rejection and an approval from two machines the file's own fate counts.
_NEXT_STATES: Final = {
    "proposed": {PENDING: PENDING},
    "approved": {PENDING: APPROVED},
    "rejected": {PENDING: REJECTED, APPROVED: REJECTED},
    "applied": {PENDING: APPLIED, APPROVED: APPLIED, REJECTED: APPLIED},
    "rolled_back": {APPLIED: ROLLED_BACK},
}


def exclusion_reason(standing: LearningState, *, project_kind: ProjectKind) -> str:
    """Return why a learning may not be a rule in a project of that kind; empty where it may."""
    learning = standing.learning
    if standing.status == SUPERSEDED:
        return "another replaced it"
    if standing.status == NEEDS_REVIEW:
        return "it needs a review first: `roamkb curate`"
    if learning.kind is ProjectKind.WORK and project_kind is not ProjectKind.WORK:
        return "it was learned in a work project; nothing of that leaves it"
    if standing.verdict != VERIFIED:
        return f"it is {standing.verdict}: `roamkb verify {learning.key}` first"
    if standing.confidence < confidence.DURABLE:
        present_confidence, least_confidence = standing.confidence / 100, confidence.DURABLE / 100
        return f"its confidence is {present_confidence:.2f}; a rule takes {least_confidence:.2f}"
    if standing.occurrences < confidence.PROMOTION_OCCURRENCES:
        return f"it was said {times_phrase(standing.occurrences)}; a rule takes {confidence.PROMOTION_OCCURRENCES}"
    if len(learning.statement) > MAX_CHARACTERS:
        return f"it has more than {MAX_CHARACTERS} characters; say it shorter"
    failed_checks = {
        check.name: check.why for check in check_statement(learning.content, StatementEvidence()) if not check.ok
    }
    return next((failed_checks[name] for name in _EXCLUDING_CHECKS if name in failed_checks), "")


def list_risks(standing: LearningState) -> tuple[str, ...]:
    """Return the risks that a reader should examine; empty where a line is short, sure and mild."""
    return tuple(_find_risks(standing))


def _find_risks(standing: LearningState) -> Iterator[str]:
    content = standing.learning.statement
    if unsafe := next(
        (check.why for check in check_statement(content, StatementEvidence()) if check.name == "safe" and check.why),
        "",
    ):
        yield unsafe
    if match := _IMPERATIVE.search(content):
        yield f"it orders: “{match.group()}”"
    if _COMMAND_OR_ADDRESS.search(content):
        yield "it has a command or an address"
    if len(content) > _LONG_LINE:
        yield "it is long"
    if standing.confidence < _SURE_CONFIDENCE:
        yield f"its confidence is {standing.confidence / 100:.2f}"
    if standing.learning.origin or standing.learning.provenance == "external":
        yield "it came from elsewhere"
    if standing.flags:
        yield ", ".join(sorted(standing.flags))
