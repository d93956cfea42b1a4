"""`learn --proposals`: what an agent proposes goes into the log, and through the gate with its evidence.

Each proposal stands for itself: one that can't be kept stops none of the others, and who is killed midway can
say all of them again.
"""

from collections.abc import Callable
from collections.abc import Sequence

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NotFound
from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.core.json_form import OrNull
from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.known_learnings import called
from roamkb.log.learn import LearnResult
from roamkb.log.learning import canonical_type
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.new_learning import NewLearning
from roamkb.log.state.confidence import PROPOSED
from roamkb.log.state.learning_state import CONTESTED
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.pipeline.proposed_learning import ProposedLearning
from roamkb.pipeline.proposed_learning import QuotedEvidence
from roamkb.pipeline.proposed_learning import evidence_of
from roamkb.remedies.remedy import mend
from roamkb.secrets.detector import redacted


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalOutcome:
    """What became of one proposal."""

    JSON = (
        "outcome text? standing.id? standing.learning.key? standing.verdict? standing.status? "
        "standing.confidence? why replaced=replacements?"
    )
    #: new, repeated, withdrawn, contested or refused.
    outcome: str
    #: The learning that says it now, or that was taken back; None where it was refused.
    standing: LearningState | None = None
    #: What the gate found wrong with it, or why it was refused.
    why: tuple[str, ...] = ()
    #: Keys of the learnings that it took the place of, which are no longer offered.
    replaced: tuple[str, ...] = ()
    #: One redacted line, where it was refused.
    text: OrNull = ""

    @property
    def replacements(self) -> tuple[str, ...] | None:
        """What it took the place of; None where it was refused."""
        return self.replaced if self.standing else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalOutcomes:
    """What became of the proposals of one call, in their order."""

    JSON = "proposals=taken path=log.knowledge"
    taken: tuple[ProposalOutcome, ...]
    log: Log


def take_proposals(
    log: Log,
    proposals: Sequence[ProposedLearning],
    hand: Author,
    *,
    learn: Callable[[NewLearning, str | None], LearnResult],
    verify: Callable[[str], tuple[LearningState, tuple[str, ...]]],
) -> ProposalOutcomes:
    """Add `proposals` to the log.

    `learn` adds a saying in place of another, if any; `verify` puts a learning through the gate and returns
    it with what was found wrong.

    Raises:
        DiskError, NotDurable: what came before is there.
    """
    return ProposalOutcomes(taken=tuple(_take(log, one, hand, learn, verify) for one in proposals), log=log)


def _take(
    log: Log,
    proposal: ProposedLearning,
    hand: Author,
    learn: Callable[[NewLearning, str | None], LearnResult],
    verify: Callable[[str], tuple[LearningState, tuple[str, ...]]],
) -> ProposalOutcome:
    try:
        if not proposal.claim:
            return _withdraw(log, proposal.withdraws, hand)
        if proposal.mended:
            mend(log, proposal.mended, proposal.claim, hand)
        old = proposal.supersedes or proposal.withdraws
        state = log.read().state()
        if known := _said_before(state, proposal, hand):
            replaced = (_replace(log, old, known, hand),) if old else ()
            standing, why = verify(known.id)
            return ProposalOutcome(outcome="repeated", standing=standing, why=why, replaced=replaced)
        learned = learn(_saying(proposal), old or None)
    except (SecretFound, UsageError, NotFound, Ambiguous) as error:
        return ProposalOutcome(
            outcome="refused", why=(error.message,), text=redacted(proposal.claim or proposal.withdraws)
        )
    standing, why = verify(learned.learning.id)
    replaced = (learned.superseded.key,) if learned.superseded else ()
    return ProposalOutcome(outcome=learned.outcome, standing=standing, why=why, replaced=replaced)


def _said_before(state: LogState, proposal: ProposedLearning, hand: Author) -> LearningState | None:
    """Return the learning that says so by the session's own word and quote; None where there is none.

    Who proposes again what was taken has repeated nothing: it may not have heard that it was taken.
    """
    if not hand.session:
        return None
    given = QuotedEvidence(quote=proposal.quote, source=proposal.source, session=hand.session)
    for one in state.having("said", proposal.claim):
        is_same = one.status != SUPERSEDED and one.learning.canonical_type == canonical_type(proposal.type)
        is_bare = given == QuotedEvidence(session=one.learning.session)
        if is_same and (is_bare or given in evidence_of(one)):
            return one
    return None


def _replace(log: Log, old: str, new: LearningState, hand: Author) -> str:
    """Have `new` take the place of what is called `old`, if it hasn't yet; return that one's key."""
    with log.locked():
        contents = log.read()
        standing = called(log, contents.state(), old)
        if standing.status != SUPERSEDED and standing.id != new.id:
            stamps = EventFactory(hand, after=contents.last_event)
            log.append(events=[stamps.event("superseded", standing.id, by_which=new.id, reason="rewritten")])
    return standing.learning.key


def _saying(proposal: ProposedLearning) -> NewLearning:
    evidence = {"quote": proposal.quote, "source": proposal.source}
    told = {name: text for name, text in evidence.items() if text}
    return NewLearning(
        content=proposal.claim,
        type=proposal.type,
        task=proposal.task,
        files=proposal.files,
        confidence=PROPOSED,
        extra={"evidence": told} if told else {},
    )


def _withdraw(log: Log, name: str, hand: Author) -> ProposalOutcome:
    """Take back a learning: at once where the same session said it, else as a doubt that others settle."""
    with log.locked():
        contents = log.read()
        standing = called(log, contents.state(), name)
        stamps = EventFactory(hand, after=contents.last_event)
        is_own = bool(hand.session) and standing.learning.session == hand.session
        if standing.status == SUPERSEDED:
            return ProposalOutcome(outcome="withdrawn", standing=standing)
        if CONTESTED in standing.flags and not is_own:
            return ProposalOutcome(outcome="contested", standing=standing)
        if is_own and not standing.is_pinned and not standing.is_overridden:
            event = stamps.event("superseded", standing.id, reason="its session took it back")
        else:
            event = stamps.event(
                "flagged", standing.id, reason=CONTESTED, evidence=f"{hand.agent} takes it back"
            )
        log.append(events=[event])
        after = contents.plus(events=[event]).state().standings[standing.id]
    return ProposalOutcome(outcome="withdrawn" if after.status == SUPERSEDED else "contested", standing=after)
