"""The command `promote --to FILE`: learnings proposed as lines of a rule file (D10)."""

from collections.abc import Sequence
from typing import Annotated

from roamkb.core.change_plan import plan_digest
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.json_form import Rows
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.instructions.instruction_block import BadPlace
from roamkb.instructions.instruction_block import find_section
from roamkb.instructions.instruction_block import insert_lines
from roamkb.instructions.instruction_line import render_instruction_line
from roamkb.instructions.proposal import APPLIED
from roamkb.instructions.proposal import APPROVED
from roamkb.instructions.proposal import OPEN_STATES
from roamkb.instructions.proposal import REJECTED
from roamkb.instructions.proposal import ROLLED_BACK
from roamkb.instructions.proposal import InstructionProposal
from roamkb.instructions.proposal import exclusion_reason
from roamkb.instructions.proposal import proposal_id
from roamkb.instructions.proposal import replay_proposals
from roamkb.instructions.store.instruction_files import read_instruction_file
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import surest_first
from roamkb.log.store.project_log import Log

_DECIDED_REASONS = {
    APPROVED: "a human approved it; `roamkb review` says how it stands",
    APPLIED: "it is in the file",
    REJECTED: "a human rejected it",
    ROLLED_BACK: "a human took it out again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionPlace:
    """The place for new lines."""

    #: From the project's root.
    target: str
    #: As the file has it, with its marks; empty for the end of the file.
    section: str
    #: What the project is.
    kind: ProjectKind


@dataclass(frozen=True, slots=True, kw_only=True)
class NotProposed:
    """A learning that wasn't proposed, with the reason."""

    JSON = "standing.id standing.learning.key reason"
    standing: LearningState
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeResult:
    """The proposals that were made, and the learnings left out."""

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


def find_instruction_place(log: Log, target: str, section: str, *, kind: ProjectKind) -> InstructionPlace:
    """Return the place for new lines in the file `target`.

    Raises:
        UsageError: it has no such section, or a line there would be part of something else.
    """
    data = read_instruction_file(log.root, target)
    try:
        name = find_section(data, section)
        insert_lines(data, name, [render_instruction_line("a line that would stand there")])
    except BadPlace as error:
        raise UsageError(f"{one_line(target)} {one_line(str(error))}", hint="nothing was proposed") from error
    return InstructionPlace(target=target, section=name, kind=kind)


def list_candidates(state: LogState, place: InstructionPlace) -> list[LearningState]:
    """Return the learnings that may be proposed for that file and weren't yet, the surest first."""
    proposals = replay_proposals(state.events)
    return surest_first(
        standing
        for standing in state.standings.values()
        if not exclusion_reason(standing, project_kind=place.kind)
        and proposal_id(standing.id, place.target) not in proposals
    )


def propose_instructions(
    log: Log,
    standings: Sequence[LearningState],
    place: InstructionPlace,
    hand: Author,
    *,
    dry_run: bool = False,
) -> ProposeResult:
    """Record a proposal for each eligible learning, once for a learning and a file.

    Raises:
        DiskError: nothing was proposed.
    """
    accepted: list[tuple[LearningState, InstructionProposal]] = []
    not_proposed: list[NotProposed] = []
    with log.append_lock():
        contents = log.read_contents()
        state = contents.replay_state()
        proposals = replay_proposals(state.events)
        texts = {
            proposed.text
            for proposed in proposals.values()
            if proposed.target == place.target and proposed.state in (*OPEN_STATES, APPLIED)
        }
        # what was seen is what is meant, as it stands under the lock
        for standing in dict.fromkeys(proposed.id for proposed in standings):
            current_standing = state.standings[standing]
            proposal = _make_proposal(current_standing, place)
            if reason := _refusal_reason(current_standing, place, proposals.get(proposal.id), proposal, texts):
                not_proposed.append(NotProposed(standing=current_standing, reason=reason))
            else:
                accepted.append((current_standing, proposal))
                texts.add(proposal.text)
        if accepted and not dry_run:
            stamps = EventFactory(hand, after=contents.last_event, command="promote")
            log.append_entries(
                events=[
                    stamps.new_event(
                        "proposed",
                        proposed.learning,
                        proposal=proposed.id,
                        target=proposed.target,
                        section=proposed.section,
                        text=proposed.text,
                        digest=plan_digest((proposed.target, proposed.section), (proposed.text,)),
                    )
                    for _, proposed in accepted
                ]
            )
    return ProposeResult(
        place=place,
        made=tuple(accepted),
        left=tuple(not_proposed),
        waiting=count_waiting(state, place) + (0 if dry_run else len(accepted)),
        dry_run=dry_run,
    )


def count_waiting(state: LogState, place: InstructionPlace) -> int:
    """Return the number of proposals for a file that wait for a human."""
    proposals = replay_proposals(state.events).values()
    return sum(proposal.target == place.target and proposal.state in OPEN_STATES for proposal in proposals)


def _make_proposal(standing: LearningState, place: InstructionPlace) -> InstructionProposal:
    learning = standing.learning
    return InstructionProposal(
        id=proposal_id(standing.id, place.target),
        learning=standing.id,
        target=place.target,
        section=place.section,
        text=render_instruction_line(learning.statement, learning.files),
    )


def _refusal_reason(
    standing: LearningState,
    place: InstructionPlace,
    earlier: InstructionProposal | None,
    proposal: InstructionProposal,
    texts: set[str],
) -> str:
    if earlier and earlier.state in _DECIDED_REASONS:
        return _DECIDED_REASONS[earlier.state]
    if earlier and earlier.section == proposal.section:
        return "it is proposed already: `roamkb review`"
    if reason := exclusion_reason(standing, project_kind=place.kind):
        return reason
    return "" if earlier or proposal.text not in texts else "another learning that says the same is proposed or there"
