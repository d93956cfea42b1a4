"""The queue of proposed lines, as the log and the rule files are at one moment, and what one would change."""

from collections.abc import Iterable
from contextlib import suppress

from roamkb.core.change_plan import digest_of
from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NotFound
from roamkb.core.errors import RoamkbError
from roamkb.core.json_form import OrNull
from roamkb.core.model import NodeCandidate
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import clipped
from roamkb.curation.curate import CurationSignature
from roamkb.fs.files import digest as content_digest
from roamkb.instructions.instruction_block import BadPlace
from roamkb.instructions.instruction_block import lines_in
from roamkb.instructions.instruction_block import patch_of
from roamkb.instructions.instruction_block import with_lines
from roamkb.instructions.instruction_line import rule_line
from roamkb.instructions.proposal import APPROVED
from roamkb.instructions.proposal import OPEN
from roamkb.instructions.proposal import InstructionProposal
from roamkb.instructions.proposal import risks
from roamkb.instructions.proposal import rule_proposals
from roamkb.instructions.proposal import why_not
from roamkb.instructions.store.instruction_files import read_rule_file
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log

#: Characters of an id that may stand for it.
_SHORTEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingProposal:
    """A proposal that somebody should decide about."""

    JSON = (
        "*proposal text standing.learning.key standing.confidence standing.occurrences risks problem "
        "digest diff"
    )
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
    """What waits, what can be waved through first; and what was settled before."""

    #: Names the change that all of them together are; empty where none can land.
    digest: str
    proposals: tuple[WaitingProposal, ...]
    settled: tuple[InstructionProposal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPlan:
    """What approving would do to which files."""

    digest: str
    #: The file, what it holds, and what it would hold.
    files: tuple[tuple[str, bytes, bytes], ...]

    @property
    def diff(self) -> str:
        """Everything that would change."""
        return "".join(patch_of(before, after, target) for target, before, after in self.files)


@dataclass(slots=True)
class ApprovalContext:
    """The log and its files as they are at one moment."""

    log: Log
    kind: ProjectKind
    state: LogState
    proposals: dict[str, InstructionProposal]
    _files: dict[str, bytes] = field(default_factory=dict)

    def holds(self, target: str) -> bytes:
        """Return what a file holds; raise where it is none of the project's any more."""
        if target not in self._files:
            self._files[target] = read_rule_file(self.log.root, target)
        return self._files[target]

    def text(self, proposal: InstructionProposal) -> str:
        """Return the line that lands, made of the learning itself, whatever the event says."""
        learning = self.state.standings[proposal.learning].learning
        return rule_line(learning.statement, learning.files)

    def has(self, proposal: InstructionProposal) -> bool:
        """Say whether the line is in the file."""
        with suppress(RoamkbError, BadPlace, KeyError):
            return self.text(proposal) in lines_in(self.holds(proposal.target))
        return False

    def plan(self, chosen: Iterable[InstructionProposal], *, rejected: Iterable[str] = ()) -> ApprovalPlan:
        """Return what approving `chosen` together would do.

        Raises:
            BadPlace: a line has no place. RoamkbError: a file can't be read.
        """
        basis = [f"reject {id}" for id in sorted(rejected)]
        by_place: dict[tuple[str, str], list[str]] = {}
        for one in chosen:
            text = self.text(one)
            basis += [one.id, one.target, one.section, text]
            by_place.setdefault((one.target, one.section), []).append(text)
        now: dict[str, bytes] = {}
        for (target, section), texts in by_place.items():
            now[target] = with_lines(now.get(target, self.holds(target)), section, texts)
        files = tuple((target, self.holds(target), after) for target, after in now.items())
        marks = [content_digest(data) for _, before, after in files for data in (before, after)]
        return ApprovalPlan(digest=digest_of(basis, marks), files=files)


def desk(log: Log, kind: ProjectKind, *, as_of: float | None = None) -> ApprovalContext:
    """Return the log of a project of that kind as it is now, or was; the files are as they are."""
    state = log.read().state(as_of=as_of)
    return ApprovalContext(log=log, kind=kind, state=state, proposals=rule_proposals(state.events))


def queue(at: ApprovalContext) -> ReviewQueue:
    """Return what waits for somebody, what is short, sure and mild first."""
    waiting = sorted((waiting_for(at, one) for one in at.proposals.values() if one.state in OPEN), key=_rank)
    able = [one.proposal for one in waiting if not one.problem]
    return ReviewQueue(
        proposals=tuple(waiting),
        digest=at.plan(able).digest if able else "",
        settled=tuple(one for one in at.proposals.values() if one.state not in OPEN),
    )


def waiting_for(at: ApprovalContext, proposal: InstructionProposal) -> WaitingProposal:
    """Return how a proposal stands that nobody has decided about."""
    standing = at.state.standings.get(proposal.learning)
    if standing is None:
        problem = "its learning isn't in the log"
        return WaitingProposal(
            proposal=proposal, standing=None, text=proposal.text, risks=(), problem=problem
        )
    text, looks = at.text(proposal), risks(standing)
    problem = why_not(standing, place=at.kind)
    try:
        plan = at.plan([proposal])
    except BadPlace as error:
        problem = problem or f"{proposal.target} {error}"
    except RoamkbError as error:
        problem = problem or error.message
    if problem:
        return WaitingProposal(proposal=proposal, standing=standing, text=text, risks=looks, problem=problem)
    return WaitingProposal(
        proposal=proposal,
        standing=standing,
        text=text,
        risks=looks,
        problem="",
        digest=plan.digest,
        diff=plan.diff,
    )


def _rank(one: WaitingProposal) -> tuple[bool, int, int, int, str]:
    sure = one.standing.confidence if one.standing else 0
    return bool(one.problem), len(one.risks), -sure, len(one.text), one.proposal.id


def find_proposal(at: ApprovalContext, name: str) -> InstructionProposal:
    """Return the proposal with that id, the beginning of one, or the key or id of its learning.

    Raises:
        NotFound, Ambiguous.
    """
    if name in at.proposals:
        return at.proposals[name]
    learnings = {standing.id for standing in at.state.called(name)}
    found = [
        one
        for one in at.proposals.values()
        if one.learning in learnings or (len(name) >= _SHORTEST and one.id.startswith(name.lower()))
    ]
    if not found:
        raise NotFound(name, what="proposal", hint="`roamkb review` lists what waits, with --all all others")
    if len(found) > 1:
        raise Ambiguous(
            name,
            [
                NodeCandidate(id=one.id, title=clipped(one.text, 80), path=at.log.root / one.target)
                for one in found
            ],
        )
    return found[0]


def settled(log: Log, kind: ProjectKind, signature: CurationSignature) -> ApprovalContext:
    """Return the log as it is, after remembering which lines arrived that a human had approved."""
    at = desk(log, kind)
    if not any(one.state == APPROVED and at.has(one) for one in at.proposals.values()):
        return at
    with log.locked():
        at = desk(log, kind)
        arrived = [one for one in at.proposals.values() if one.state == APPROVED and at.has(one)]
        stamps = EventFactory(signature.hand, after=log.read().last_event, by="approve")
        log.append(
            events=[applied_event(at, one, stamps, signature, at.holds(one.target)) for one in arrived]
        )
    return desk(log, kind)


def event_of(
    name: str,
    one: InstructionProposal,
    stamps: EventFactory,
    signature: CurationSignature,
    *,
    text: str,
    digest: str = "",
    reason: str = "",
) -> LedgerEvent:
    """Return the event `name` of a proposal, whose line is `text`."""
    told = {
        "proposal": one.id,
        "target": one.target,
        "section": one.section,
        "text": text,
        "operator": signature.operator,
        "digest": digest,
        "reason": reason,
    }
    made = stamps.event(name, one.learning)
    return replace(made, fields={key: value for key, value in told.items() if value})


def applied_event(
    at: ApprovalContext,
    one: InstructionProposal,
    stamps: EventFactory,
    signature: CurationSignature,
    data: bytes,
) -> LedgerEvent:
    """Return the event that says that a line is in its file, which holds `data`."""
    return event_of("applied", one, stamps, signature, text=at.text(one), digest=content_digest(data))
