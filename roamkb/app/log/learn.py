"""Learnings stated on purpose, and the gate that judges them by their evidence (D6, D21)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.core.errors import UsageError
from roamkb.core.text import as_text_tuple
from roamkb.kb.notes.file_names import require_name
from roamkb.log.state.confidence import parse_hundredths

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Iterable

    from roamkb.app import requests
    from roamkb.app.log.project_context import ProjectContext
    from roamkb.kb.write import NodeContent
    from roamkb.log.learn import LearnResult
    from roamkb.log.new_learning import Author
    from roamkb.log.new_learning import NewLearning
    from roamkb.log.state.learning_state import LearningState
    from roamkb.log.state.learning_state import LogState
    from roamkb.log.store.project_log import Log
    from roamkb.pipeline.gate.judge_protocol import Judgement
    from roamkb.pipeline.gate.witnesses import SessionWitnesses
    from roamkb.pipeline.learn_proposals import ProposalOutcomes
    from roamkb.pipeline.verify import JudgeContext


def take_learning(
    context: "ProjectContext",
    new_learning: "NewLearning",
    *,
    agent: str | None = None,
    session: str | None = None,
    supersedes: str | None = None,
    any_type: bool = True,
    offer_paraphrases: bool = False,
) -> "LearnResult":
    """Add `new_learning` to the log, as `learn` does; with `any_type`, whatever its type's spelling.

    What hooks take in names no paraphrases.
    """
    from roamkb.log.learn import learn

    log = context.log_to_write(new_learning.content)
    author = context.make_author(agent=agent, session=session)
    return learn(
        log,
        lambda state: context.learning_index(log, state),
        new_learning,
        author,
        supersedes=supersedes,
        any_type=any_type,
        offer_paraphrases=offer_paraphrases,
    )


def keep_refused(context: "ProjectContext", fact: "NodeContent") -> Path | None:
    """Add a fact that the knowledge base may not have to the log; return its file, if any."""
    from roamkb.core.errors import NotDurable
    from roamkb.core.errors import RoamkbError
    from roamkb.log.new_learning import NewLearning

    text = f"{fact.title}\n\n{fact.body}" if fact.body.strip() else fact.title
    new_learning = NewLearning(content=text, tags=fact.tags, provenance=fact.source)
    try:
        return take_learning(context, new_learning, agent=fact.by).path
    except NotDurable as error:
        return error.path
    except RoamkbError:
        return None


def learn(context: "ProjectContext", request: "requests.LearnRequest") -> "LearnResult | ProposalOutcomes":
    """Add one learning to the project's log, or count one more occurrence of a known one.

    A type that nobody used yet and that looks like a slip of the pen is taken with `anyway` only.
    `proposals`, a JSON list instead of `text`, each with its evidence, go through the gate at once.

    Raises:
        NoLog: the project has none. Refused: this session is stricter than the project.
        UsageError, SecretFound, NotFound, Ambiguous, DiskError: nothing was written.
        NotDurable: it was written, and the disk would not promise to keep it.
    """
    if (request.text is None) == (request.proposals is None):
        raise UsageError("learn what?", hint="roamkb learn TEXT, or roamkb learn --proposals -")
    if request.proposals is not None:
        return _learn_proposals(context, request.proposals, agent=request.agent, session=request.session)
    return add_learning(context, request)


def add_learning(context: "ProjectContext", request: "requests.LearnRequest") -> "LearnResult":
    """Add one learning from its text, as `learn` does."""
    from roamkb.log.new_learning import FIX_APPLIED_FIELD
    from roamkb.log.new_learning import NewLearning

    learning = NewLearning(
        content=request.text or "",
        type=request.type or "learned",
        tags=as_text_tuple(request.tags),
        task=require_name(request.task or "", "the task"),
        category=request.category or "",
        files=tuple(require_name(file, "the pattern") for file in as_text_tuple(request.files)),
        actions=as_text_tuple(request.actions),
        provenance=request.provenance or "observed",
        confidence=parse_hundredths(request.confidence),
        extra={FIX_APPLIED_FIELD: True} if request.fix_applied else {},
    )
    return take_learning(
        context,
        learning,
        agent=request.agent,
        session=request.session,
        supersedes=request.supersedes,
        any_type=request.anyway,
        offer_paraphrases=True,
    )


def _learn_proposals(
    context: "ProjectContext", text: str, *, agent: str | None, session: str | None
) -> "ProposalOutcomes":
    """Add an agent's proposals, and put each through the gate with its evidence."""
    import json

    from roamkb.pipeline.learn_proposals import take_proposals
    from roamkb.pipeline.proposed_learning import parse_proposals

    try:
        proposal_data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("the proposals aren't JSON", hint="roamkb learn --help") from error
    proposals = parse_proposals(proposal_data)
    log = context.log_to_write(proposals[0].claim if proposals else "")
    author = context.make_author(agent=agent, session=session)
    return take_proposals(
        log,
        proposals,
        author,
        learn=lambda new_learning, superseded_key: take_learning(
            context, new_learning, agent=agent, session=session, supersedes=superseded_key
        ),
        verify=lambda id: put_through_gate(context, log, id, author),
    )


def put_through_gate(
    context: "ProjectContext", log: "Log", id: str, author: "Author"
) -> "tuple[LearningState, tuple[str, ...]]":
    """Put one learning through the gate by its evidence; return its new state and the failed checks."""
    from roamkb.pipeline import verify as verifying
    from roamkb.pipeline.gate.checks import failed_checks

    state = log.read_contents().replay_state()
    gate = verifying.Gate(state, judge_context(context, log))
    judged = tuple(verifying.verify(log, gate, [state.standings[id]], author))
    why = tuple(check.why for judged_learning in judged for check in failed_checks(judged_learning.checks))
    return log.read_contents().replay_state().standings[id], why


def verify_session(context: "ProjectContext", log: "Log", session: str, author: "Author") -> None:
    """Put a session's learnings through the gate, if its transcript is here as evidence."""
    from roamkb.pipeline import verify as verifying
    from roamkb.pipeline.store.transcripts import find_transcript

    if not find_transcript(session, home=context.environment.home, environment=context.environment.variables):
        return
    state = log.read_contents().replay_state()
    to_judge = [
        learning_state
        for learning_state in state.learnings_with("session", session)
        if verifying.needs_judging(learning_state)
    ]
    if to_judge:
        list(verifying.verify(log, verifying.Gate(state, judge_context(context, log)), to_judge, author))


def judge_context(
    context: "ProjectContext",
    log: "Log",
    judge: "Callable[[Sequence[LearningState]], Iterable[Judgement]] | None" = None,
    *,
    judge_name: str = "",
    prompt: str = "",
) -> "JudgeContext":
    """Return the context of a judge; without one the evidence judges."""
    from roamkb.log.store.receipts import read_receipts
    from roamkb.pipeline import verify as verifying
    from roamkb.pipeline.gate.hazards import hazard_of
    from roamkb.pipeline.gate.judges import EVIDENCE_JUDGE
    from roamkb.pipeline.gate.judges import evidence_judge
    from roamkb.pipeline.store.boot_files import boot_lines
    from roamkb.pipeline.store.own_addresses import OwnAddresses
    from roamkb.text.store.lexicons import lexicon

    shown_by_session: dict[str, list[str]] = {}
    for receipt in read_receipts(log.local_folder):
        shown_by_session.setdefault(receipt.session, []).extend(receipt.shown)
    witnesses, own_addresses = session_witnesses(context, log), OwnAddresses(log.root)
    return verifying.JudgeContext(
        name=judge_name if judge else EVIDENCE_JUDGE,
        judge=judge or evidence_judge(witnesses.find_attestation),
        attestation=witnesses.find_attestation,
        hazard=lambda learning_state: hazard_of(
            learning_state.learning.content, acts=lexicon("acts"), is_own=own_addresses.has_address
        ),
        missing_anchors=_missing_file_finder(log),
        boot_lines=boot_lines(log.root, context.environment.home),
        shown_by_session=shown_by_session,
        prompt=prompt,
    )


def retracted_learnings(context: "ProjectContext", state: "LogState", session: str) -> dict[str, str]:
    """Return the session's learnings that its own work retracted since, and how, by id."""
    from roamkb.pipeline.contest import contestable_learnings

    witnesses = session_witnesses(context, context.log_to_read())
    attested = (
        (learning_state.id, witnesses.find_attestation(learning_state))
        for learning_state in contestable_learnings(state, session)
    )
    return {
        id: attestation.taken_back for id, attestation in attested if attestation is not None and attestation.taken_back
    }


def session_witnesses(context: "ProjectContext", log: "Log") -> "SessionWitnesses":
    """Return the transcripts that can witness what sessions of this log did."""
    from roamkb.pipeline.gate.witnesses import SessionWitnesses

    return SessionWitnesses(log.root, home=context.environment.home, environment=context.environment.variables)


def _missing_file_finder(log: "Log") -> "Callable[[LearningState], Sequence[str]]":
    """Return a function that names a learning's missing files, as far as they speak against it."""
    from roamkb.curation.audit import judge_files
    from roamkb.curation.audit import missing_files
    from roamkb.pipeline.store.references_on_disk import ProjectReferences

    references = ProjectReferences(log.root)
    return lambda learning_state: missing_files(judge_files(learning_state.learning.content, references))
