"""`rollback`: a line that was approved leaves its rule file; nothing else does (document 004, FR-6)."""

from typing import Annotated

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_human
from roamkb.boundary.human_consent import require_yes
from roamkb.core.change_plan import TYPED
from roamkb.core.change_plan import digest_of
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import NotDurable
from roamkb.core.errors import UsageError
from roamkb.core.model import ProjectKind
from roamkb.core.request import Argument
from roamkb.core.request import option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import shown
from roamkb.curation.curate import CurationSignature
from roamkb.fs.files import digest
from roamkb.instructions.instruction_block import BadPlace
from roamkb.instructions.instruction_block import patch_of
from roamkb.instructions.instruction_block import without_line
from roamkb.instructions.proposal import APPLIED
from roamkb.instructions.proposal import ROLLED_BACK
from roamkb.instructions.proposal import InstructionProposal
from roamkb.instructions.queue import ApprovalContext
from roamkb.instructions.queue import desk
from roamkb.instructions.queue import event_of
from roamkb.instructions.queue import find_proposal
from roamkb.instructions.queue import settled
from roamkb.instructions.store.instruction_files import put_rule_file
from roamkb.instructions.store.instruction_files import require_unheld
from roamkb.log.new_learning import EventFactory
from roamkb.log.store.project_log import Log
from roamkb.secrets.detector import refuse_secrets


@dataclass(frozen=True, slots=True)
class RollbackRequest:
    """What `rollback` takes."""

    id: Annotated[str, Argument("The proposal, as `review --all` shows it.", metavar="ID")]
    _: KW_ONLY
    reason: str | None = option("--reason", "Why, for the log.", metavar="TEXT")


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    """A proposal whose line isn't in the file any more."""

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
    def digest(self) -> str:
        one = self.proposal
        return digest_of((one.id, one.target, self.line), (digest(self.before), digest(self.after)))


def rollback(
    log: Log, kind: ProjectKind, signature: CurationSignature, name: str, *, human: HumanAtTerminal | None
) -> RolledBack:
    """Take the line of the proposal `name` out of its file, once a human says so.

    Raises:
        UsageError: no human's yes, it isn't in the file, or somebody changed the line since.
        ChangedOnDisk: the file changed meanwhile. Nothing was changed in any case.
    """
    require_human(human)
    refuse_secrets(signature.reason)
    at = settled(log, kind, signature)
    one = find_proposal(at, name)
    if one.state == ROLLED_BACK:
        return RolledBack(proposal=one, diff="", is_new=False)
    removal = _removal(at, one)
    diff = patch_of(removal.before, removal.after, one.target)
    gone = f"Nothing changes in {shown(one.target)}: the line is gone. It is only remembered.\n"
    require_yes(human, f"{diff or gone}It won't be proposed again.", word=removal.digest[:TYPED])
    with log.locked():
        at = desk(log, kind)
        if _removal(at, at.proposals[one.id]).digest != removal.digest:
            raise ChangedOnDisk(log.root / one.target, "isn't what was shown any more")
        _take_out(at, removal, signature)
    return RolledBack(proposal=replace(one, state=ROLLED_BACK), diff=diff, is_new=True)


def _removal(at: ApprovalContext, one: InstructionProposal) -> _LineRemoval:
    if one.state != APPLIED:
        raise UsageError(f"{one.id} is {one.state}; no line of it is in {shown(one.target)}")
    require_unheld(at.log.root, one.target)
    before = at.holds(one.target)
    line = next(event.text("text") for event in reversed(one.history) if event.event == "applied")
    others = {
        event.text("text")
        for other in at.proposals.values()
        if other.target == one.target and other.id != one.id
        for event in other.history
        if event.event == "applied"
    }
    try:
        return _LineRemoval(one, line, before, without_line(before, line, others=others))
    except BadPlace as error:
        raise UsageError(f"{shown(one.target)} {shown(str(error))}; nothing was changed") from error


def _take_out(at: ApprovalContext, removal: _LineRemoval, signature: CurationSignature) -> None:
    """Change the file, then remember it: stopped in between, the next call finds the line gone."""
    log, one = at.log, removal.proposal
    doubt: NotDurable | None = None
    if removal.before != removal.after:
        try:
            put_rule_file(log.root, one.target, removal.after, was=removal.before)
        except NotDurable as error:
            doubt = error
    stamps = EventFactory(signature.hand, after=log.read().last_event, by="rollback")
    log.append(
        events=[
            event_of(
                "rolled_back",
                one,
                stamps,
                signature,
                text=removal.line,
                digest=digest(removal.after),
                reason=signature.reason,
            )
        ]
    )
    if doubt is not None:
        raise doubt
