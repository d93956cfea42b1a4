"""The command `rollback`: an approved line is removed from its rule file (document 004, FR-6)."""

from typing import Annotated

from roamkb.boundary.human_consent import require_human
from roamkb.core.change_plan import TYPED_DIGEST_LENGTH
from roamkb.core.change_plan import plan_digest
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DurabilityDoubts
from roamkb.core.errors import UsageError
from roamkb.core.errors import tell_progress
from roamkb.core.request import Argument
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.curation.curate import CurationSignature
from roamkb.curation.curate import sign_decision
from roamkb.fs.files import content_digest
from roamkb.instructions.instruction_block import BadPlace
from roamkb.instructions.instruction_block import remove_line
from roamkb.instructions.instruction_block import render_patch
from roamkb.instructions.proposal import APPLIED
from roamkb.instructions.proposal import ROLLED_BACK
from roamkb.instructions.proposal import InstructionProposal
from roamkb.instructions.queue import MIN_ID_PREFIX
from roamkb.instructions.queue import ApprovalContext
from roamkb.instructions.queue import find_proposal
from roamkb.instructions.queue import make_proposal_event
from roamkb.instructions.queue import read_approval_context
from roamkb.instructions.queue import record_arrived_lines
from roamkb.instructions.store.instruction_files import require_no_emacs_lock
from roamkb.instructions.store.instruction_files import write_instruction_file
from roamkb.instructions.unproven_lines import find_lapsed_lines
from roamkb.log.new_learning import EventFactory
from roamkb.log.proof.ask import ask_for_events
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.verb_context import VerbContext
from roamkb.secrets.detector import refuse_secrets


@dataclass(frozen=True, slots=True)
class RollbackRequest:
    """The options of `rollback`."""

    id: Annotated[str, Argument("The proposal, as `review --all` shows it.", metavar="ID")]
    _: KW_ONLY
    reason: str | None = text_option("--reason", "Why, for the log.", metavar="TEXT")


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    """A proposal whose line is no longer in the file."""

    JSON = "rolled_back=proposal diff changed=is_new"
    proposal: InstructionProposal
    diff: str
    #: Whether anything was written; not where it had been taken out before.
    is_new: bool


@dataclass(frozen=True, slots=True)
class _LineRemoval:
    proposal: InstructionProposal
    line: str
    before: bytes
    after: bytes

    @property
    def change_digest(self) -> str:
        proposal = self.proposal
        return plan_digest(
            (proposal.id, proposal.target, self.line), (content_digest(self.before), content_digest(self.after))
        )


def rollback(verb: VerbContext, request: RollbackRequest) -> RolledBack:
    """Take an approved line out of its file again, and nothing else.

    Raises:
        UsageError: no human said yes at a terminal, or somebody changed the line.
        ChangedOnDisk, SecretFound, NotFound, Ambiguous, NoLog, Refused: nothing was changed.
    """
    log, kind = verb.log_to_write("a rollback"), verb.log_project.kind
    signature, human = sign_decision(verb, request.reason), verb.human_at_terminal
    require_human(human)
    refuse_secrets(signature.reason)
    context = record_arrived_lines(log, kind, signature)
    proposal = _find_landed(context, request.id)
    if proposal.state == ROLLED_BACK:
        return RolledBack(proposal=proposal, diff="", is_new=False)
    removal = _plan_removal(context, proposal)
    diff = render_patch(removal.before, removal.after, proposal.target)
    unchanged_note = f"Nothing changes in {one_line(proposal.target)}: the line is gone. It is only remembered.\n"
    after = log.read_contents().last_event
    yes = log.yes_to(
        f"{diff or unchanged_note}It won't be proposed again.", [_make_event(removal, signature, after)], after=after
    )
    (event,) = ask_for_events(log.proof_check, human, yes, word=removal.change_digest[:TYPED_DIGEST_LENGTH])
    with log.append_lock():
        context = read_approval_context(log, kind)
        if _plan_removal(context, _find_landed(context, proposal.id)).change_digest != removal.change_digest:
            raise ChangedOnDisk(log.root / proposal.target, "isn't what was shown any more")
        _apply_removal(context, removal, event)
    return RolledBack(proposal=replace(proposal, state=ROLLED_BACK), diff=diff, is_new=True)


def _find_landed(context: ApprovalContext, name: str) -> InstructionProposal:
    """Return the proposal of that name, also where its learning was forgotten and its line still stands."""
    forgotten = [
        line
        for line in find_lapsed_lines(context.log, context.state)
        if line.proposal not in context.proposals
        and (name in (line.proposal, line.learning) or (len(name) >= MIN_ID_PREFIX and line.proposal.startswith(name)))
    ]
    if len(forgotten) != 1:
        return find_proposal(context, name)
    (line,) = forgotten
    return InstructionProposal(
        id=line.proposal, learning=line.learning, target=line.target, section="", text=line.text, state=APPLIED
    )


def _plan_removal(context: ApprovalContext, proposal: InstructionProposal) -> _LineRemoval:
    if proposal.state != APPLIED:
        raise UsageError(f"{proposal.id} is {proposal.state}; no line of it is in {one_line(proposal.target)}")
    require_no_emacs_lock(context.log.root, proposal.target)
    before = context.read_target(proposal.target)
    applied = (event.text_field("text") for event in reversed(proposal.history) if event.event == "applied")
    line = next(applied, proposal.text)
    others = {
        event.text_field("text")
        for other_proposal in context.proposals.values()
        if other_proposal.target == proposal.target and other_proposal.id != proposal.id
        for event in other_proposal.history
        if event.event == "applied"
    }
    try:
        return _LineRemoval(proposal, line, before, remove_line(before, line, others=others))
    except BadPlace as error:
        raise UsageError(f"{one_line(proposal.target)} {one_line(str(error))}; nothing was changed") from error


def _make_event(removal: _LineRemoval, signature: CurationSignature, after: str) -> LedgerEvent:
    return make_proposal_event(
        "rolled_back",
        removal.proposal,
        EventFactory(signature.hand, after=after, command="rollback"),
        signature,
        # what was forgotten isn't written again
        text=removal.line if removal.proposal.history else "",
        digest=content_digest(removal.after),
        reason=signature.reason,
    )


def _apply_removal(context: ApprovalContext, removal: _LineRemoval, event: LedgerEvent) -> None:
    """Change the file, then record it: after an interruption the next call finds the line gone."""
    log, proposal = context.log, removal.proposal
    doubts = DurabilityDoubts()
    again = f"`roamkb rollback {proposal.id}`"
    target = one_line(proposal.target)
    if removal.before != removal.after:
        with (
            tell_progress(lambda: f"the line is still in {target}", hint=f"{again} takes it out"),
            doubts.collect(),
        ):
            write_instruction_file(log.root, proposal.target, removal.after, old_content=removal.before)
    with (
        tell_progress(lambda: f"the line is out of {target}, which isn't recorded", hint=f"{again} records it"),
        doubts.collect(),
    ):
        log.append_entries(events=[event])
    doubts.raise_first()
