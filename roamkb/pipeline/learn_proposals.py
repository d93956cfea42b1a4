"""`learn --proposals`: proposals of an agent, added to the log and put through the gate.

Each proposal stands for itself: one that can't be kept stops none of the others, and who is killed midway can
say all of them again.
"""

from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NotFound
from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.core.json_form import OrNull
from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.known_learnings import get_learning
from roamkb.log.known_learnings import learnings_by_name
from roamkb.log.learn import LearnResult
from roamkb.log.learning import canonical_type
from roamkb.log.learning import fitting_aliases
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.new_learning import NewLearning
from roamkb.log.new_learning import alias_fault
from roamkb.log.state.confidence import PROPOSED
from roamkb.log.state.learning_state import CONTESTED
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.promoted_notes import stale_note_warnings
from roamkb.log.store.project_log import Log
from roamkb.pipeline.proposed_learning import ProposedLearning
from roamkb.pipeline.proposed_learning import QuotedEvidence
from roamkb.pipeline.proposed_learning import evidence_of
from roamkb.remedies.remedy import replace_technique
from roamkb.secrets.detector import redact_fact


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalOutcome:
    """The outcome of one proposal."""

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
        """Keys of the learnings that it replaced; None where it was refused."""
        return self.replaced if self.standing else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalOutcomes:
    """The outcomes of one call's proposals, in their order."""

    JSON = "proposals=taken path"
    taken: tuple[ProposalOutcome, ...]
    log: Log

    @property
    def path(self) -> Path:
        """The file that holds the project's learnings."""
        return self.log.knowledge


def take_proposals(
    log: Log,
    proposals: Sequence[ProposedLearning],
    author: Author,
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
    return ProposalOutcomes(
        taken=tuple(_take_proposal(log, proposal, author, learn, verify) for proposal in proposals), log=log
    )


def _take_proposal(
    log: Log,
    proposal: ProposedLearning,
    author: Author,
    learn: Callable[[NewLearning, str | None], LearnResult],
    verify: Callable[[str], tuple[LearningState, tuple[str, ...]]],
) -> ProposalOutcome:
    try:
        if not proposal.claim:
            return _withdraw_learning(log, proposal.withdraws, author)
        superseded_name = proposal.supersedes or proposal.withdraws
        state = log.read_contents().replay_state()
        superseded = learnings_by_name(state, superseded_name) if superseded_name else []
        stale = stale_note_warnings(superseded[0] if superseded else None)
        repeated_standing = _find_repeated(state, proposal, author)
        if repeated_standing and repeated_standing not in superseded:
            replaced = (
                (_supersede_learning(log, superseded_name, repeated_standing, author),) if superseded_name else ()
            )
            standing, why = verify(repeated_standing.id)
            why = (*why, *stale, *_tell_what_mended(log, proposal, author))
            return ProposalOutcome(outcome="repeated", standing=standing, why=why, replaced=replaced)
        learned = learn(_new_learning(proposal), superseded_name or None)
    except (SecretFound, UsageError, NotFound, Ambiguous) as error:
        why = (error.message, error.hint) if isinstance(error, UsageError) and error.hint else (error.message,)
        return ProposalOutcome(outcome="refused", why=why, text=redact_fact(proposal.claim or proposal.withdraws))
    standing, why = verify(learned.learning.id)
    replaced = (learned.superseded.key,) if learned.superseded else ()
    warnings = learned.warnings if learned.outcome == "repeated" else stale
    why = (*why, *warnings, *_tell_what_mended(log, proposal, author))
    return ProposalOutcome(outcome=learned.outcome, standing=standing, why=why, replaced=replaced)


def _tell_what_mended(log: Log, proposal: ProposedLearning, author: Author) -> tuple[str, ...]:
    """Let the claim be the technique that mended an error; where it can't be, say why: it is a learning still."""
    if not proposal.mended:
        return ()
    try:
        replace_technique(log, proposal.mended, proposal.claim, author)
    except (NotFound, UsageError, SecretFound) as error:
        return (error.message,)
    return ()


def _find_repeated(state: LogState, proposal: ProposedLearning, author: Author) -> LearningState | None:
    """Return the learning that has the same claim, type and quote and these aliases; None where there is none.

    Who proposes again what was taken has repeated nothing: it may not have heard that it was taken.
    """
    if not author.session:
        return None
    quoted_evidence = QuotedEvidence(quote=proposal.quote, source=proposal.source, session=author.session)
    for standing in state.learnings_with("said", proposal.claim):
        is_same = standing.status != SUPERSEDED and standing.learning.canonical_type == canonical_type(proposal.type)
        aliases = {alias for alias in fitting_aliases(proposal.aliases) if not alias_fault(alias)}
        is_same = is_same and aliases.issubset(standing.learning.aliases)
        is_bare = quoted_evidence == QuotedEvidence(session=standing.learning.session)
        if is_same and (is_bare or quoted_evidence in evidence_of(standing)):
            return standing
    return None


def _supersede_learning(log: Log, name: str, successor: LearningState, author: Author) -> str:
    """Supersede the learning of that name by `successor`, unless it is already; return its key."""
    with log.append_lock():
        contents = log.read_contents()
        standing = get_learning(log, contents.replay_state(), name)
        if standing.status != SUPERSEDED and standing.id != successor.id:
            stamps = EventFactory(author, after=contents.last_event)
            log.append_entries(
                events=[stamps.new_event("superseded", standing.id, by_which=successor.id, reason="rewritten")]
            )
    return standing.learning.key


def _new_learning(proposal: ProposedLearning) -> NewLearning:
    evidence = {"quote": proposal.quote, "source": proposal.source}
    given_evidence = {name: text for name, text in evidence.items() if text}
    return NewLearning(
        content=proposal.claim,
        type=proposal.type,
        task=proposal.task,
        files=proposal.files,
        aliases=fitting_aliases(proposal.aliases),
        confidence=PROPOSED,
        extra={"evidence": given_evidence} if given_evidence else {},
    )


def _withdraw_learning(log: Log, name: str, author: Author) -> ProposalOutcome:
    """Take back a learning: at once in the session that made it, else by a flag that others settle."""
    with log.append_lock():
        contents = log.read_contents()
        standing = get_learning(log, contents.replay_state(), name)
        stamps = EventFactory(author, after=contents.last_event)
        is_own = bool(author.session) and standing.learning.session == author.session
        if standing.status == SUPERSEDED:
            return ProposalOutcome(outcome="withdrawn", standing=standing)
        if CONTESTED in standing.flags and not is_own:
            return ProposalOutcome(outcome="contested", standing=standing)
        if is_own and not standing.is_pinned and not standing.is_overridden:
            event = stamps.new_event("superseded", standing.id, reason="its session took it back")
        else:
            event = stamps.new_event("flagged", standing.id, reason=CONTESTED, evidence=f"{author.agent} takes it back")
        log.append_entries(events=[event])
        new_standing = contents.plus_lines(events=[event]).replay_state().standings[standing.id]
    return ProposalOutcome(
        outcome="withdrawn" if new_standing.status == SUPERSEDED else "contested",
        standing=new_standing,
        why=stale_note_warnings(new_standing),
    )
