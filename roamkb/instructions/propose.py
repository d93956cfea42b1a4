"""`promote --to FILE`: learnings proposed as lines of a rule file; they wait there for a human (D10)."""

from collections.abc import Sequence
from typing import Annotated

from roamkb.core.change_plan import digest_of
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import shown
from roamkb.instructions.instruction_block import BadPlace
from roamkb.instructions.instruction_block import section_named
from roamkb.instructions.instruction_block import with_lines
from roamkb.instructions.instruction_line import rule_line
from roamkb.instructions.proposal import APPLIED
from roamkb.instructions.proposal import APPROVED
from roamkb.instructions.proposal import OPEN
from roamkb.instructions.proposal import REJECTED
from roamkb.instructions.proposal import ROLLED_BACK
from roamkb.instructions.proposal import InstructionProposal
from roamkb.instructions.proposal import proposal_id
from roamkb.instructions.proposal import rule_proposals
from roamkb.instructions.proposal import why_not
from roamkb.instructions.store.instruction_files import read_rule_file
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log

_BEFORE = {
    APPROVED: "a human approved it; `roamkb review` says how it stands",
    APPLIED: "it is in the file",
    REJECTED: "a human rejected it",
    ROLLED_BACK: "a human took it out again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionPlace:
    """Where lines are to go."""

    #: From the project's root.
    target: str
    #: As the file has it, with its marks; empty for the end of the file.
    section: str
    #: What the project is.
    kind: ProjectKind


@dataclass(frozen=True, slots=True, kw_only=True)
class NotProposed:
    """A learning that wasn't proposed, and why."""

    JSON = "standing.id standing.learning.key reason"
    standing: LearningState
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeResult:
    """What waits for a human now, and what doesn't."""

    JSON = "place.target place.section proposed=made left candidates dry_run"
    place: InstructionPlace
    made: Annotated[
        tuple[tuple[LearningState, InstructionProposal], ...],
        Rows("standing proposal"),
        Keys("*proposal standing.learning.key"),
    ] = ()
    left: tuple[NotProposed, ...] = ()
    #: What could be proposed, where nothing was named.
    candidates: tuple[LearningState, ...] = ()
    #: Proposals for that file that wait for a human by now.
    waiting: int = 0
    dry_run: bool = False


def place_in(log: Log, target: str, section: str, *, kind: ProjectKind) -> InstructionPlace:
    """Return the place for new lines in the file `target`.

    Raises:
        UsageError: it has no such section, or a line there would be part of something else.
    """
    data = read_rule_file(log.root, target)
    try:
        name = section_named(data, section)
        with_lines(data, name, [rule_line("a line that would stand there")])
    except BadPlace as error:
        raise UsageError(f"{shown(target)} {shown(str(error))}", hint="nothing was proposed") from error
    return InstructionPlace(target=target, section=name, kind=kind)


def rule_candidates(state: LogState, place: InstructionPlace) -> list[LearningState]:
    """Return what may be proposed for that file and wasn't yet, the surest first."""
    known = rule_proposals(state.events)
    found = [
        one
        for one in state.standings.values()
        if not why_not(one, place=place.kind) and proposal_id(one.id, place.target) not in known
    ]
    return sorted(found, key=lambda one: (-one.confidence, -one.occurrences, -one.learning.ts, one.id))


def propose(
    log: Log,
    standings: Sequence[LearningState],
    place: InstructionPlace,
    hand: Author,
    *,
    dry_run: bool = False,
) -> ProposeResult:
    """Remember a proposal for each learning that may go, once for a learning and a file.

    Raises:
        DiskError: nothing was proposed.
    """
    made: list[tuple[LearningState, InstructionProposal]] = []
    left: list[NotProposed] = []
    with log.locked():
        contents = log.read()
        state = contents.state()
        known = rule_proposals(state.events)
        texts = {
            one.text for one in known.values() if one.target == place.target and one.state in (*OPEN, APPLIED)
        }
        # what was seen is what is meant, as it stands under the lock
        for standing in dict.fromkeys(one.id for one in standings):
            now = state.standings[standing]
            proposal = _proposal(now, place)
            if reason := _reason(now, place, known.get(proposal.id), proposal, texts):
                left.append(NotProposed(standing=now, reason=reason))
            else:
                made.append((now, proposal))
                texts.add(proposal.text)
        if made and not dry_run:
            stamps = EventFactory(hand, after=contents.last_event, by="promote")
            log.append(
                events=[
                    stamps.event(
                        "proposed",
                        one.learning,
                        proposal=one.id,
                        target=one.target,
                        section=one.section,
                        text=one.text,
                        digest=digest_of((one.target, one.section), (one.text,)),
                    )
                    for _, one in made
                ]
            )
    return ProposeResult(
        place=place,
        made=tuple(made),
        left=tuple(left),
        waiting=waiting(state, place) + (0 if dry_run else len(made)),
        dry_run=dry_run,
    )


def waiting(state: LogState, place: InstructionPlace) -> int:
    """Return how many proposals for a file wait for a human."""
    known = rule_proposals(state.events).values()
    return sum(one.target == place.target and one.state in OPEN for one in known)


def _proposal(standing: LearningState, place: InstructionPlace) -> InstructionProposal:
    learning = standing.learning
    return InstructionProposal(
        id=proposal_id(standing.id, place.target),
        learning=standing.id,
        target=place.target,
        section=place.section,
        text=rule_line(learning.statement, learning.files),
    )


def _reason(
    standing: LearningState,
    place: InstructionPlace,
    known: InstructionProposal | None,
    proposal: InstructionProposal,
    texts: set[str],
) -> str:
    if known and known.state in _BEFORE:
        return _BEFORE[known.state]
    if known and known.section == proposal.section:
        return "it is proposed already: `roamkb review`"
    if reason := why_not(standing, place=place.kind):
        return reason
    return (
        ""
        if known or proposal.text not in texts
        else "another learning that says the same is proposed or there"
    )
