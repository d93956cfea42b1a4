"""`review --edit`: the lines that wait as a file in the human's editor; what is saved is what is done."""

from collections.abc import Sequence

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_human
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import UsageError
from roamkb.core.model import ProjectKind
from roamkb.core.request import AgentOption
from roamkb.core.request import AsOfOption
from roamkb.core.request import SessionOption
from roamkb.core.request import option
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import times
from roamkb.curation.curate import CurationSignature
from roamkb.curation.review_org import ReviewQuestion
from roamkb.curation.review_org import parse_review
from roamkb.curation.review_org import render_questions
from roamkb.fs.private_files import REVIEW
from roamkb.fs.private_files import drop_paper
from roamkb.fs.private_files import put_paper
from roamkb.fs.private_files import read_paper
from roamkb.instructions.approve import DecidedProposals
from roamkb.instructions.approve import ProposalChoice
from roamkb.instructions.approve import decide
from roamkb.instructions.queue import ReviewQueue
from roamkb.instructions.queue import WaitingProposal
from roamkb.instructions.queue import desk
from roamkb.instructions.queue import queue
from roamkb.instructions.queue import settled
from roamkb.log.state.confidence import as_fraction
from roamkb.log.store.project_log import Log
from roamkb.org.report import quoted


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """What `review` takes."""

    _: KW_ONLY
    curate: bool = switch(
        "--curate", "Decide in your editor about what `curate` proposes; asks at the terminal."
    )
    all: bool = switch("--all", "What was decided before as well.")
    edit: bool = switch("--edit", "Decide in your editor about the lines that wait; asks at the terminal.")
    reason: str | None = option("--reason", "Why, for the log; the file has a line for it.", metavar="TEXT")
    agent: AgentOption = None
    session: SessionOption = None
    as_of: AsOfOption = None


def review_rules(
    log: Log,
    kind: ProjectKind,
    signature: CurationSignature,
    *,
    human: HumanAtTerminal | None,
    editor: Sequence[str],
) -> DecidedProposals:
    """Let the human decide about each line that waits, and do it; nothing where nothing is decided.

    Raises:
        UsageError, SecretFound: there is no human, no good end of the editor, or no reason to reject.
        ChangedOnDisk: something isn't as it was shown. Nothing was changed in any case.
    """
    somebody = require_human(human)
    shown = queue(settled(log, kind, signature)).proposals
    if not shown:
        return DecidedProposals()
    path = log.local / REVIEW
    text = render_questions(map(_question, shown), reason=signature.reason)
    put_paper(path, text.encode("utf-8", "replace"))
    try:
        if not somebody.edit(path, editor):
            raise UsageError("the editor didn't end well; nothing was written")
        decided = parse_review(read_paper(path).decode("utf-8", "replace"))
    finally:
        drop_paper(path)
    approved, rejected = (
        [shown[number - 1] for number in sorted(numbers) if 0 < number <= len(shown)]
        for numbers in (decided.approved, decided.rejected)
    )
    if not approved and not rejected:
        return DecidedProposals()
    _require_same(log, queue(desk(log, kind)), [*approved, *rejected])
    is_as_given = decided.reason == quoted(signature.reason) or not decided.reason
    reason = signature.reason if is_as_given else decided.reason
    choice = ProposalChoice(
        approved=[one.proposal.id for one in approved], rejected=[one.proposal.id for one in rejected]
    )
    return decide(log, kind, replace(signature, reason=reason), choice, None, human=human)


def _question(one: WaitingProposal) -> ReviewQuestion:
    proposal, standing = one.proposal, one.standing
    facts = [f"{as_fraction(standing.confidence):.2f}", times(standing.occurrences)] if standing else []
    key = standing.learning.key if standing else proposal.learning
    return ReviewQuestion(
        place=f"{proposal.target}{f', {proposal.section}' if proposal.section else ''}",
        about=", ".join((key, *facts, *one.risks)),
        problem=one.problem,
        diff=one.diff or one.text,
    )


def _require_same(log: Log, now: ReviewQueue, chosen: Sequence[WaitingProposal]) -> None:
    """Raise unless each that was chosen would still change just what the editor showed."""
    digests = {one.proposal.id: (one.digest, one.text) for one in now.proposals}
    for one in chosen:
        if digests.get(one.proposal.id) != (one.digest, one.text):
            raise ChangedOnDisk(log.root / one.proposal.target, "isn't what was shown any more")
