"""The queue of proposed lines, with the change that each would make to its rule file."""

from collections.abc import Iterable
from contextlib import suppress

from roamkb.core.change_plan import plan_digest
from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NotFound
from roamkb.core.errors import RoamkbError
from roamkb.core.json_form import OrNull
from roamkb.core.model import NodeCandidate
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import clip_text
from roamkb.curation.curate import CurationSignature
from roamkb.fs.files import content_digest as content_digest
from roamkb.instructions.instruction_block import BadPlace
from roamkb.instructions.instruction_block import block_lines
from roamkb.instructions.instruction_block import insert_lines
from roamkb.instructions.instruction_block import render_patch
from roamkb.instructions.instruction_line import render_instruction_line
from roamkb.instructions.proposal import APPROVED
from roamkb.instructions.proposal import OPEN_STATES
from roamkb.instructions.proposal import InstructionProposal
from roamkb.instructions.proposal import exclusion_reason
from roamkb.instructions.proposal import list_risks
from roamkb.instructions.proposal import replay_proposals
from roamkb.instructions.store.instruction_files import read_instruction_file
from roamkb.instructions.unproven_lines import LapsedLine
from roamkb.instructions.unproven_lines import find_lapsed_lines
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log

#: Characters of an id that may stand for it.
MIN_ID_PREFIX = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingProposal:
    """A proposal that waits for a decision."""

    JSON = "*proposal text standing.learning.key standing.confidence standing.occurrences risks problem digest diff"
    proposal: InstructionProposal
    standing: LearningState | None
    #: The line that would land now.
    text: str
    #: What to look at twice.
    risks: tuple[str, ...]
    #: Why it can't land as things are; empty where it can.
    problem: OrNull
    #: Names this one change; empty where there is none.
    digest: str = ""
    #: What changes if nothing else does.
    diff: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQueue:
    """The proposals that wait, those with the least risk first, and those decided before."""

    #: Names the change that all of them together are; empty where none can land.
    digest: str
    proposals: tuple[WaitingProposal, ...]
    settled: tuple[InstructionProposal, ...] = ()
    #: Lines that landed and whose learning is in force no more.
    lapsed: tuple[LapsedLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPlan:
    """The changes to files that an approval would make."""

    digest: str
    #: The file, what it holds, and what it would hold.
    files: tuple[tuple[str, bytes, bytes], ...]

    @property
    def diff(self) -> str:
        """All changes as one diff."""
        return "".join(render_patch(before, after, target) for target, before, after in self.files)


@dataclass(slots=True)
class ApprovalContext:
    """The log and its files at one moment."""

    log: Log
    kind: ProjectKind
    state: LogState
    proposals: dict[str, InstructionProposal]
    _files: dict[str, bytes] = field(default_factory=dict)

    def read_target(self, target: str) -> bytes:
        """Return the content of a file; raise where it is none of the project's any more."""
        if target not in self._files:
            self._files[target] = read_instruction_file(self.log.root, target)
        return self._files[target]

    def landing_line(self, proposal: InstructionProposal) -> str:
        """Return the line that lands, made from the learning itself, whatever the event says."""
        learning = self.state.standings[proposal.learning].learning
        return render_instruction_line(learning.statement, learning.files)

    def has_line(self, proposal: InstructionProposal) -> bool:
        """Say whether the line is in the file."""
        with suppress(RoamkbError, BadPlace, KeyError):
            return self.landing_line(proposal) in block_lines(self.read_target(proposal.target))
        return False

    def plan_approval(self, chosen: Iterable[InstructionProposal], *, rejected: Iterable[str] = ()) -> ApprovalPlan:
        """Return the changes that approving `chosen` together would make.

        Raises:
            BadPlace: a line has no place. RoamkbError: a file can't be read.
        """
        basis = [f"reject {id}" for id in sorted(rejected)]
        by_place: dict[tuple[str, str], list[str]] = {}
        for proposal in chosen:
            text = self.landing_line(proposal)
            basis += [proposal.id, proposal.target, proposal.section, text]
            by_place.setdefault((proposal.target, proposal.section), []).append(text)
        new_contents: dict[str, bytes] = {}
        for (target, section), texts in by_place.items():
            new_contents[target] = insert_lines(new_contents.get(target, self.read_target(target)), section, texts)
        files = tuple((target, self.read_target(target), after) for target, after in new_contents.items())
        marks = [content_digest(data) for _, before, after in files for data in (before, after)]
        return ApprovalPlan(digest=plan_digest(basis, marks), files=files)


def read_approval_context(log: Log, kind: ProjectKind, *, as_of: float | None = None) -> ApprovalContext:
    """Return the log of a project of that kind as it is now, or was; the files are as they are."""
    state = log.read_contents().replay_state(as_of=as_of)
    return ApprovalContext(log=log, kind=kind, state=state, proposals=replay_proposals(state.events))


def build_review_queue(context: ApprovalContext) -> ReviewQueue:
    """Return the proposals that wait for a decision, those that are short, sure and mild first."""
    waiting = sorted(
        (
            describe_waiting(context, candidate)
            for candidate in context.proposals.values()
            if candidate.state in OPEN_STATES
        ),
        key=_review_rank,
    )
    # a line that arrived is only recorded, before `approve` looks at what waits
    landing_proposals = [
        candidate.proposal
        for candidate in waiting
        if not candidate.problem and not (candidate.proposal.state == APPROVED and context.has_line(candidate.proposal))
    ]
    return ReviewQueue(
        proposals=tuple(waiting),
        digest=context.plan_approval(landing_proposals).digest if landing_proposals else "",
        lapsed=find_lapsed_lines(context.log, context.state),
        settled=tuple(candidate for candidate in context.proposals.values() if candidate.state not in OPEN_STATES),
    )


def describe_waiting(context: ApprovalContext, proposal: InstructionProposal) -> WaitingProposal:
    """Return an undecided proposal with its risks, and with the change that it would make."""
    standing = context.state.standings.get(proposal.learning)
    if standing is None:
        problem = "its learning isn't in the log"
        return WaitingProposal(proposal=proposal, standing=None, text=proposal.text, risks=(), problem=problem)
    text, risk_notes = context.landing_line(proposal), list_risks(standing)
    problem = exclusion_reason(standing, project_kind=context.kind)
    try:
        plan = context.plan_approval([proposal])
    except BadPlace as error:
        problem = problem or f"{proposal.target} {error}"
    except RoamkbError as error:
        problem = problem or error.message
    if problem:
        return WaitingProposal(proposal=proposal, standing=standing, text=text, risks=risk_notes, problem=problem)
    return WaitingProposal(
        proposal=proposal,
        standing=standing,
        text=text,
        risks=risk_notes,
        problem="",
        digest=plan.digest,
        diff=plan.diff,
    )


def _review_rank(waiting_proposal: WaitingProposal) -> tuple[bool, int, int, int, str]:
    sure = waiting_proposal.standing.confidence if waiting_proposal.standing else 0
    return (
        bool(waiting_proposal.problem),
        len(waiting_proposal.risks),
        -sure,
        len(waiting_proposal.text),
        waiting_proposal.proposal.id,
    )


def find_proposal(context: ApprovalContext, name: str) -> InstructionProposal:
    """Return the proposal with that id, the beginning of one, or the key or id of its learning.

    Raises:
        NotFound, Ambiguous.
    """
    if name in context.proposals:
        return context.proposals[name]
    learnings = {standing.id for standing in context.state.learnings_called(name)}
    matching = [
        proposal
        for proposal in context.proposals.values()
        if proposal.learning in learnings or (len(name) >= MIN_ID_PREFIX and proposal.id.startswith(name.lower()))
    ]
    if not matching:
        raise NotFound(name, kind="proposal", hint="`roamkb review` lists what waits, with --all all others")
    if len(matching) > 1:
        raise Ambiguous(
            name,
            [
                NodeCandidate(
                    id=proposal.id, title=clip_text(proposal.text, 80), path=context.log.root / proposal.target
                )
                for proposal in matching
            ],
        )
    return matching[0]


def record_arrived_lines(log: Log, kind: ProjectKind, signature: CurationSignature) -> ApprovalContext:
    """Record the lines that arrived after a human's approval, and return the log as it is then."""
    context = read_approval_context(log, kind)
    if not any(proposal.state == APPROVED and context.has_line(proposal) for proposal in context.proposals.values()):
        return context
    with log.append_lock():
        context = read_approval_context(log, kind)
        arrived = [
            proposal
            for proposal in context.proposals.values()
            if proposal.state == APPROVED and context.has_line(proposal)
        ]
        stamps = EventFactory(signature.hand, after=log.read_contents().last_event, command="approve")
        log.append_entries(
            events=[
                make_applied_event(context, proposal, stamps, signature, context.read_target(proposal.target))
                for proposal in arrived
            ]
        )
    return read_approval_context(log, kind)


def make_proposal_event(
    name: str,
    proposal: InstructionProposal,
    stamps: EventFactory,
    signature: CurationSignature,
    *,
    text: str,
    digest: str = "",
    reason: str = "",
) -> LedgerEvent:
    """Return the event `name` of a proposal, whose line is `text`."""
    event_fields = {
        "proposal": proposal.id,
        "target": proposal.target,
        "section": proposal.section,
        "text": text,
        "operator": signature.operator,
        "digest": digest,
        "reason": reason,
    }
    event = stamps.new_event(name, proposal.learning)
    return replace(event, fields={key: value for key, value in event_fields.items() if value})


def make_applied_event(
    context: ApprovalContext,
    proposal: InstructionProposal,
    stamps: EventFactory,
    signature: CurationSignature,
    data: bytes,
) -> LedgerEvent:
    """Return the event that records that a line is in its file, which holds `data`."""
    return make_proposal_event(
        "applied", proposal, stamps, signature, text=context.landing_line(proposal), digest=content_digest(data)
    )
