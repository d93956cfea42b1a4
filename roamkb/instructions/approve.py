"""The commands `approve` and `reject`: a human's decisions on proposals as shown (D10, D19).

A yes is remembered before the file is touched, and the line's being there after: whatever
stops in between, the next call sees which of the two is true.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_human
from roamkb.core.change_plan import TYPED_DIGEST_LENGTH
from roamkb.core.change_plan import matches_digest
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DurabilityDoubts
from roamkb.core.errors import UsageError
from roamkb.core.errors import tell_progress
from roamkb.core.model import ProjectKind
from roamkb.core.request import Argument
from roamkb.core.request import Option
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.core.text import times_phrase
from roamkb.curation.curate import CurationSignature
from roamkb.curation.curate import check_reason
from roamkb.curation.curate import sign_decision
from roamkb.instructions.proposal import APPLIED
from roamkb.instructions.proposal import OPEN_STATES
from roamkb.instructions.proposal import REJECTED
from roamkb.instructions.proposal import InstructionProposal
from roamkb.instructions.proposal import list_risks
from roamkb.instructions.queue import ApprovalContext
from roamkb.instructions.queue import ApprovalPlan
from roamkb.instructions.queue import build_review_queue
from roamkb.instructions.queue import describe_waiting
from roamkb.instructions.queue import find_proposal
from roamkb.instructions.queue import make_applied_event
from roamkb.instructions.queue import make_proposal_event
from roamkb.instructions.queue import read_approval_context
from roamkb.instructions.queue import record_arrived_lines
from roamkb.instructions.store.instruction_files import require_no_emacs_lock
from roamkb.instructions.store.instruction_files import write_instruction_file
from roamkb.log.new_learning import EventFactory
from roamkb.log.proof.ask import ask_for_events
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log
from roamkb.log.verb_context import VerbContext

_CHANGED_MESSAGE = "isn't what was shown any more, or the proposals aren't"
_CONTINUE_HINT = "`roamkb review` shows what is left, with the command that approves it"


@dataclass(frozen=True, slots=True)
class ApproveRequest:
    """The options of `approve`."""

    id: str | None = optional_argument("The proposal, as `review` shows it.", metavar="ID")
    _: KW_ONLY
    all: bool = flag_option("--all", "All that wait and can land.")
    digest: str | None = text_option(
        "--digest", "The change that `review` showed; by now it may be another.", metavar="DIGEST"
    )


@dataclass(frozen=True, slots=True)
class RejectRequest:
    """The options of `reject`."""

    id: Annotated[str, Argument("The proposal, as `review` shows it.", metavar="ID")]
    _: KW_ONLY
    reason: Annotated[str, Option("--reason", "Why, for the log.", metavar="TEXT")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedProposals:
    """The proposals that were applied or rejected, and those decided before."""

    applied: tuple[InstructionProposal, ...] = ()
    rejected: tuple[InstructionProposal, ...] = ()
    #: What was so before; nothing was written for it.
    known: tuple[InstructionProposal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalChoice:
    """The proposals that a human approves and rejects, by id."""

    approved: Collection[str] = ()
    rejected: Collection[str] = ()


def approve(verb: VerbContext, request: ApproveRequest) -> DecidedProposals:
    """Put one proposed line, or all, into their files: just the change that `digest` names.

    Raises:
        UsageError: no human said yes at a terminal. ChangedOnDisk: it would be another change by now.
        NotFound, Ambiguous, NoLog, Refused. Nothing was changed in any case.
    """
    name, digest = request.id, request.digest
    if request.all == (name is not None):
        raise UsageError("approve what?", hint="roamkb approve ID, or --all; `roamkb review` lists them")
    if digest is None:
        raise UsageError(
            "approve which change? --digest is missing",
            hint="`roamkb review` shows each change with its digest, and the command that approves it",
        )
    log, kind = verb.log_to_write("an approval"), verb.log_project.kind
    signature, human = sign_decision(verb), verb.human_at_terminal
    require_human(human)
    proposals_before = read_approval_context(log, kind).proposals
    context = record_arrived_lines(log, kind, signature)
    if name is None:
        chosen = [candidate.proposal.id for candidate in build_review_queue(context).proposals if not candidate.problem]
        arrived = [candidate for candidate in context.proposals.values() if candidate.state == APPLIED]
        arrived = [
            candidate
            for candidate in arrived
            if candidate.id in proposals_before and proposals_before[candidate.id].state != APPLIED
        ]
        if arrived and not chosen:
            return DecidedProposals(known=tuple(arrived))
    else:
        candidate = find_proposal(context, name)
        if candidate.state == APPLIED:
            return DecidedProposals(known=(candidate,))
        chosen = [candidate.id]
    if not chosen:
        raise UsageError("nothing waits that could be approved", hint="`roamkb review` says why")
    return decide_proposals(log, kind, signature, ProposalChoice(approved=chosen), digest, human=human)


def reject(verb: VerbContext, request: RejectRequest) -> DecidedProposals:
    """Record that a line is never proposed again for that file; a human's act, as approving is.

    Raises:
        UsageError, SecretFound, NotFound, Ambiguous, NoLog, Refused: nothing was written.
    """
    log, kind = verb.log_to_write("a rejection"), verb.log_project.kind
    signature, human = sign_decision(verb, request.reason), verb.human_at_terminal
    require_human(human)
    context = record_arrived_lines(log, kind, signature)
    proposal = find_proposal(context, request.id)
    if proposal.state == REJECTED:
        return DecidedProposals(known=(proposal,))
    return decide_proposals(log, kind, signature, ProposalChoice(rejected=[proposal.id]), None, human=human)


def decide_proposals(
    log: Log,
    kind: ProjectKind,
    signature: CurationSignature,
    choice: ProposalChoice,
    digest: str | None,
    *,
    human: HumanAtTerminal | None,
) -> DecidedProposals:
    """Show a choice whole, ask the human to confirm it, and carry it out.

    Raises:
        UsageError, SecretFound, ChangedOnDisk: as `approve` and `reject`.
    """
    if choice.rejected:
        check_reason(signature.reason)
    context = read_approval_context(log, kind)
    plan = _plan_choice(context, choice)
    if digest is not None and not matches_digest(plan.digest, digest):
        changed_error = ChangedOnDisk(_first_target(context, plan), _CHANGED_MESSAGE)
        if progress := _partly_applied(context, digest):
            changed_error.add_progress(f"of an approval that was broken off {progress}", hint=_CONTINUE_HINT)
        raise changed_error
    after = log.read_contents().last_event
    yes = log.yes_to(
        "\n".join(_render_question(context, plan, choice, signature)),
        _make_decisions(context, plan, choice, signature, EventFactory(signature.hand, after=after, command="approve")),
        after=after,
    )
    decisions = ask_for_events(log.proof_check, human, yes, word=plan.digest[:TYPED_DIGEST_LENGTH])
    with log.append_lock():
        # the human may have thought for long
        context = read_approval_context(log, kind)
        if _plan_choice(context, choice).digest != plan.digest:
            raise ChangedOnDisk(_first_target(context, plan), _CHANGED_MESSAGE)
        return _apply_choice(context, plan, choice, signature, decisions)


def _plan_choice(context: ApprovalContext, choice: ProposalChoice) -> ApprovalPlan:
    """Return the plan of a choice that can be carried out, or raise."""
    for id in (*choice.approved, *choice.rejected):
        proposal = context.proposals[id]
        if proposal.state not in OPEN_STATES:
            raise UsageError(
                f"{id} is {proposal.state.replace('_', ' ')}",
                hint=f"`roamkb rollback {id}` takes it out" if proposal.state == APPLIED else "that is final",
            )
    chosen = [context.proposals[id] for id in choice.approved]
    for proposal in chosen:
        waiting = describe_waiting(context, proposal)
        if waiting.problem:
            raise UsageError(f"it can't land: {one_line(waiting.problem)}", hint="nothing was changed")
        require_no_emacs_lock(context.log.root, proposal.target)
    return context.plan_approval(chosen, rejected=choice.rejected)


def _first_target(context: ApprovalContext, plan: ApprovalPlan) -> Path:
    target = next((target for target, _, _ in plan.files), "")
    return context.log.root / target if target else context.log.ledger


def _render_question(
    context: ApprovalContext, plan: ApprovalPlan, choice: ProposalChoice, signature: CurationSignature
) -> Iterable[str]:
    """Yield the lines that the human reads: every byte that changes, and each line's source."""
    for id in choice.approved:
        proposal = context.proposals[id]
        standing = context.state.standings[proposal.learning]
        risk_notes = "".join(f"; {one_line(risk)}" for risk in list_risks(standing))
        yield (
            f"{one_line(standing.learning.key)}: {as_fraction(standing.confidence):.2f}, "
            f"{times_phrase(standing.occurrences)}{risk_notes}"
        )
    if choice.approved:
        yield plan.diff or "Nothing changes: the lines are in the file.\n"
    for id in choice.rejected:
        proposal = context.proposals[id]
        yield (
            f"never again in {one_line(proposal.target)}, because {one_line(signature.reason)}:"
            f" {one_line(proposal.text)}"
        )
    if choice.approved:
        yield "Every agent that works here will be told so from now on."


def _make_decisions(
    context: ApprovalContext,
    plan: ApprovalPlan,
    choice: ProposalChoice,
    signature: CurationSignature,
    stamps: EventFactory,
) -> Iterator[LedgerEvent]:
    """Yield the events of a choice, which the human's yes is put into."""
    for id in choice.rejected:
        proposal = context.proposals[id]
        yield make_proposal_event("rejected", proposal, stamps, signature, text=proposal.text, reason=signature.reason)
    for id in choice.approved:
        proposal = context.proposals[id]
        text = context.landing_line(proposal)
        yield make_proposal_event("approved", proposal, stamps, signature, text=text, digest=plan.digest)


def _apply_choice(
    context: ApprovalContext,
    plan: ApprovalPlan,
    choice: ProposalChoice,
    signature: CurationSignature,
    decisions: Sequence[LedgerEvent],
) -> DecidedProposals:
    """Record the decisions and change the files; the lock is held.

    Raises:
        DiskError, ChangedOnDisk: the message says which files have their lines. NotDurable: all have.
    """
    log = context.log
    latest = max(log.read_contents().last_event, *(event.id for event in decisions))
    stamps = EventFactory(signature.hand, after=latest, command="approve")
    chosen = [context.proposals[id] for id in choice.approved]
    rejected = [context.proposals[id] for id in choice.rejected]
    doubts, changed = DurabilityDoubts(), list[str]()
    targets = [target for target, _, _ in plan.files]
    with tell_progress(lambda: _describe_progress(targets, changed), hint=_CONTINUE_HINT) if targets else nullcontext():
        with doubts.collect():
            log.append_entries(events=decisions)
        for target, before, after in plan.files:
            if before != after:
                with doubts.collect():
                    write_instruction_file(log.root, target, after, old_content=before)
            changed.append(target)
            applied = [
                make_applied_event(context, proposal, stamps, signature, after)
                for proposal in chosen
                if proposal.target == target
            ]
            with doubts.collect():
                log.append_entries(events=applied)
    doubts.raise_first()
    return DecidedProposals(
        applied=tuple(replace(proposal, state=APPLIED) for proposal in chosen),
        rejected=tuple(replace(proposal, state=REJECTED) for proposal in rejected),
    )


def _describe_progress(targets: Collection[str], changed: Collection[str]) -> str:
    """Return which files have the approved lines, and which haven't."""
    having, lacking = (
        ", ".join(one_line(target) for target in targets if (target in changed) is is_changed)
        for is_changed in (True, False)
    )
    if not lacking:
        return f"the lines are in {having}, which isn't all recorded yet"
    return f"the lines are in {having}, and not yet in {lacking}" if having else f"the lines aren't in {lacking} yet"


def _partly_applied(context: ApprovalContext, digest: str) -> str:
    """Return how far an approval of the change called `digest` came before; empty where it is none, or all is done."""
    approved = [
        proposal
        for proposal in context.proposals.values()
        for event in proposal.history
        if event.event == "approved" and matches_digest(event.text_field("digest"), digest)
    ]
    # what was taken out again, or rejected elsewhere, waits for nobody
    changed, waiting = (
        {proposal.target for proposal in approved if proposal.state in states} for states in ((APPLIED,), OPEN_STATES)
    )
    return _describe_progress(sorted(changed | waiting), changed - waiting) if waiting else ""
