"""The command `review --edit`: the waiting lines as a file in the human's editor, applied as saved."""

from collections.abc import Sequence

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_human
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.model import ProjectKind
from roamkb.core.request import AgentOption
from roamkb.core.request import AsOfOption
from roamkb.core.request import SessionOption
from roamkb.core.request import flag_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import times_phrase
from roamkb.curation.curate import CurationSignature
from roamkb.curation.review import ask_in_editor
from roamkb.curation.review_org import ReviewQuestion
from roamkb.curation.review_org import render_questions
from roamkb.instructions.approve import DecidedProposals
from roamkb.instructions.approve import ProposalChoice
from roamkb.instructions.approve import decide_proposals
from roamkb.instructions.queue import ReviewQueue
from roamkb.instructions.queue import WaitingProposal
from roamkb.instructions.queue import build_review_queue
from roamkb.instructions.queue import read_approval_context
from roamkb.instructions.queue import record_arrived_lines
from roamkb.log.state.confidence import as_fraction
from roamkb.log.store.project_log import Log


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """The options of `review`."""

    _: KW_ONLY
    curate: bool = flag_option("--curate", "Decide in your editor about what `curate` proposes; asks at the terminal.")
    all: bool = flag_option("--all", "What was decided before as well.")
    edit: bool = flag_option("--edit", "Decide in your editor about the lines that wait; asks at the terminal.")
    reason: str | None = text_option("--reason", "Why, for the log; the file has a line for it.", metavar="TEXT")
    agent: AgentOption = None
    session: SessionOption = None
    as_of: AsOfOption = None


def review_proposals(
    log: Log,
    kind: ProjectKind,
    signature: CurationSignature,
    *,
    human: HumanAtTerminal | None,
    editor: Sequence[str],
) -> DecidedProposals:
    """Let the human decide on each line that waits, and apply the decisions.

    Raises:
        UsageError, SecretFound: there is no human, no good end of the editor, or no reason to reject.
        ChangedOnDisk: something isn't as it was shown. Nothing was changed in any case.
    """
    present_human = require_human(human)
    shown_proposals = build_review_queue(record_arrived_lines(log, kind, signature)).proposals
    if not shown_proposals:
        return DecidedProposals()
    text = render_questions(map(_make_question, shown_proposals), reason=signature.reason)
    decided = ask_in_editor(log, text, signature.reason, human=present_human, editor=editor)
    approved, rejected = (
        [shown_proposals[number - 1] for number in sorted(numbers) if 0 < number <= len(shown_proposals)]
        for numbers in (decided.approved, decided.rejected)
    )
    if not approved and not rejected:
        return DecidedProposals()
    _require_same(log, build_review_queue(read_approval_context(log, kind)), [*approved, *rejected])
    choice = ProposalChoice(
        approved=[waiting_proposal.proposal.id for waiting_proposal in approved],
        rejected=[waiting_proposal.proposal.id for waiting_proposal in rejected],
    )
    return decide_proposals(log, kind, replace(signature, reason=decided.reason), choice, None, human=human)


def _make_question(waiting_proposal: WaitingProposal) -> ReviewQuestion:
    proposal, standing = waiting_proposal.proposal, waiting_proposal.standing
    facts = [f"{as_fraction(standing.confidence):.2f}", times_phrase(standing.occurrences)] if standing else []
    key = standing.learning.key if standing else proposal.learning
    return ReviewQuestion(
        place=f"{proposal.target}{f', {proposal.section}' if proposal.section else ''}",
        about=", ".join((key, *facts, *waiting_proposal.risks)),
        problem=waiting_proposal.problem,
        diff=waiting_proposal.diff or waiting_proposal.text,
    )


def _require_same(log: Log, current_queue: ReviewQueue, chosen: Sequence[WaitingProposal]) -> None:
    """Raise unless each chosen proposal would still make exactly the change that the editor showed."""
    digests = {
        waiting_proposal.proposal.id: (waiting_proposal.digest, waiting_proposal.text)
        for waiting_proposal in current_queue.proposals
    }
    for waiting_proposal in chosen:
        if digests.get(waiting_proposal.proposal.id) != (waiting_proposal.digest, waiting_proposal.text):
            raise ChangedOnDisk(log.root / waiting_proposal.proposal.target, "isn't what was shown any more")
