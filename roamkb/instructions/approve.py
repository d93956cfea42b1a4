"""`approve` and `reject`: what a human at a terminal makes of proposals, bound to what was shown (D10, D19).

A yes is remembered before the file is touched, and the line's being there after: whatever
stops in between, the next call sees which of the two is true.
"""

from collections.abc import Collection
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_human
from roamkb.boundary.human_consent import require_yes
from roamkb.core.change_plan import TYPED
from roamkb.core.change_plan import is_named
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import NotDurable
from roamkb.core.errors import UsageError
from roamkb.core.model import ProjectKind
from roamkb.core.request import Argument
from roamkb.core.request import Option
from roamkb.core.request import argument
from roamkb.core.request import option
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import shown
from roamkb.core.text import times
from roamkb.curation.curate import CurationSignature
from roamkb.curation.curate import check_reason
from roamkb.instructions.proposal import APPLIED
from roamkb.instructions.proposal import OPEN
from roamkb.instructions.proposal import REJECTED
from roamkb.instructions.proposal import InstructionProposal
from roamkb.instructions.proposal import risks
from roamkb.instructions.queue import ApprovalContext
from roamkb.instructions.queue import ApprovalPlan
from roamkb.instructions.queue import applied_event
from roamkb.instructions.queue import desk
from roamkb.instructions.queue import event_of
from roamkb.instructions.queue import find_proposal
from roamkb.instructions.queue import queue
from roamkb.instructions.queue import settled
from roamkb.instructions.queue import waiting_for
from roamkb.instructions.store.instruction_files import put_rule_file
from roamkb.instructions.store.instruction_files import require_unheld
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.confidence import as_fraction
from roamkb.log.store.project_log import Log

_OTHER = "isn't what was shown any more, or the proposals aren't"


@dataclass(frozen=True, slots=True)
class ApproveRequest:
    """What `approve` takes."""

    id: str | None = argument("The proposal, as `review` shows it.", metavar="ID")
    _: KW_ONLY
    all: bool = switch("--all", "All that wait and can land.")
    digest: str | None = option(
        "--digest", "The change that `review` showed; by now it may be another.", metavar="DIGEST"
    )


@dataclass(frozen=True, slots=True)
class RejectRequest:
    """What `reject` takes."""

    id: Annotated[str, Argument("The proposal, as `review` shows it.", metavar="ID")]
    _: KW_ONLY
    reason: Annotated[str, Option("--reason", "Why, for the log.", metavar="TEXT")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedProposals:
    """What is in a file now, and what never will be."""

    applied: tuple[InstructionProposal, ...] = ()
    rejected: tuple[InstructionProposal, ...] = ()
    #: What was so before; nothing was written for it.
    known: tuple[InstructionProposal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalChoice:
    """Which proposals a human wants in, and which never, by id."""

    approved: Collection[str] = ()
    rejected: Collection[str] = ()


def approve(
    log: Log,
    kind: ProjectKind,
    signature: CurationSignature,
    name: str | None,
    digest: str,
    *,
    human: HumanAtTerminal | None,
) -> DecidedProposals:
    """Put the line of the proposal `name`, or of all that wait, into its file, once a human says so.

    Raises:
        UsageError: no human at a terminal said yes, or it can't land. NotFound, Ambiguous.
        ChangedOnDisk: it isn't what `digest` names any more. Nothing was changed in any case.
    """
    require_human(human)
    before = desk(log, kind).proposals
    at = settled(log, kind, signature)
    if name is None:
        chosen = [one.proposal.id for one in queue(at).proposals if not one.problem]
        arrived = [one for one in at.proposals.values() if one.state == APPLIED]
        arrived = [one for one in arrived if one.id in before and before[one.id].state != APPLIED]
        if arrived and not chosen:
            return DecidedProposals(known=tuple(arrived))
    else:
        one = find_proposal(at, name)
        if one.state == APPLIED:
            return DecidedProposals(known=(one,))
        chosen = [one.id]
    if not chosen:
        raise UsageError("nothing waits that could be approved", hint="`roamkb review` says why")
    return decide(log, kind, signature, ProposalChoice(approved=chosen), digest, human=human)


def reject(
    log: Log, kind: ProjectKind, signature: CurationSignature, name: str, *, human: HumanAtTerminal | None
) -> DecidedProposals:
    """Have a proposal never made again, once a human says so; the reason is kept.

    Raises:
        UsageError, SecretFound: no reason, no human's yes, or it is in the file. NotFound, Ambiguous.
    """
    require_human(human)
    at = settled(log, kind, signature)
    one = find_proposal(at, name)
    if one.state == REJECTED:
        return DecidedProposals(known=(one,))
    return decide(log, kind, signature, ProposalChoice(rejected=[one.id]), None, human=human)


def decide(
    log: Log,
    kind: ProjectKind,
    signature: CurationSignature,
    choice: ProposalChoice,
    digest: str | None,
    *,
    human: HumanAtTerminal | None,
) -> DecidedProposals:
    """Ask the human about a choice, all of it shown, and do it; `digest` is what they named before.

    Raises:
        UsageError, SecretFound, ChangedOnDisk: as `approve` and `reject`.
    """
    if choice.rejected:
        check_reason(signature.reason)
    at = desk(log, kind)
    plan = _planned(at, choice)
    if digest is not None and not is_named(plan.digest, digest):
        raise ChangedOnDisk(_first(at, plan), _OTHER)
    require_yes(human, "\n".join(_question(at, plan, choice, signature)), word=plan.digest[:TYPED])
    with log.locked():
        # the human may have thought for long
        at = desk(log, kind)
        if _planned(at, choice).digest != plan.digest:
            raise ChangedOnDisk(_first(at, plan), _OTHER)
        return _done(at, plan, choice, signature)


def _planned(at: ApprovalContext, choice: ProposalChoice) -> ApprovalPlan:
    """Return the plan of a choice that can be carried out, or raise."""
    for id in (*choice.approved, *choice.rejected):
        one = at.proposals[id]
        if one.state not in OPEN:
            raise UsageError(
                f"{id} is {one.state.replace('_', ' ')}",
                hint=f"`roamkb rollback {id}` takes it out" if one.state == APPLIED else "that is final",
            )
    chosen = [at.proposals[id] for id in choice.approved]
    for one in chosen:
        waiting = waiting_for(at, one)
        if waiting.problem:
            raise UsageError(f"it can't land: {shown(waiting.problem)}", hint="nothing was changed")
        require_unheld(at.log.root, one.target)
    return at.plan(chosen, rejected=choice.rejected)


def _first(at: ApprovalContext, plan: ApprovalPlan) -> Path:
    target = next((target for target, _, _ in plan.files), "")
    return at.log.root / target if target else at.log.ledger


def _question(
    at: ApprovalContext, plan: ApprovalPlan, choice: ProposalChoice, signature: CurationSignature
) -> Iterable[str]:
    """Yield what the human reads: every byte that changes, and what each line comes from."""
    for id in choice.approved:
        one = at.proposals[id]
        standing = at.state.standings[one.learning]
        looks = "".join(f"; {shown(risk)}" for risk in risks(standing))
        yield (
            f"{shown(standing.learning.key)}: {as_fraction(standing.confidence):.2f}, "
            f"{times(standing.occurrences)}{looks}"
        )
    if choice.approved:
        yield plan.diff or "Nothing changes: the lines are in the file.\n"
    for id in choice.rejected:
        one = at.proposals[id]
        yield f"never again in {shown(one.target)}, because {shown(signature.reason)}: {shown(one.text)}"
    if choice.approved:
        yield "Every agent that works here will be told so from now on."


def _done(
    at: ApprovalContext, plan: ApprovalPlan, choice: ProposalChoice, signature: CurationSignature
) -> DecidedProposals:
    """Remember the decisions and change the files; the lock is held."""
    log, stamps = at.log, EventFactory(signature.hand, after=at.log.read().last_event, by="approve")
    chosen = [at.proposals[id] for id in choice.approved]
    rejected = [at.proposals[id] for id in choice.rejected]
    log.append(
        events=[
            *(
                event_of("rejected", one, stamps, signature, text=one.text, reason=signature.reason)
                for one in rejected
            ),
            *(
                event_of("approved", one, stamps, signature, text=at.text(one), digest=plan.digest)
                for one in chosen
            ),
        ]
    )
    for target, before, after in plan.files:
        doubt: NotDurable | None = None
        if before != after:
            try:
                put_rule_file(log.root, target, after, was=before)
            except NotDurable as error:
                # it is there, and that is worth knowing
                doubt = error
        own = [one for one in chosen if one.target == target]
        log.append(events=[applied_event(at, one, stamps, signature, after) for one in own])
        if doubt is not None:
            raise doubt
    return DecidedProposals(
        applied=tuple(replace(one, state=APPLIED) for one in chosen),
        rejected=tuple(replace(one, state=REJECTED) for one in rejected),
    )
