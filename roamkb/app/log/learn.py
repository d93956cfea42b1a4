"""Learnings stated on purpose, and the gate that judges them by their evidence (D6, D21)."""

import json
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from pathlib import Path

from roamkb.app.log.project_context import ProjectContext
from roamkb.core.errors import NotDurable
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.text import as_text_tuple
from roamkb.curation import audit
from roamkb.kb import write
from roamkb.kb.notes.file_names import require_name
from roamkb.log import learn as log_learn
from roamkb.log import new_learning
from roamkb.log.state import learning_state
from roamkb.log.state.confidence import parse_hundredths
from roamkb.log.store import project_log
from roamkb.log.store import receipts
from roamkb.pipeline import contest
from roamkb.pipeline import learn_proposals
from roamkb.pipeline import proposed_learning
from roamkb.pipeline import verify
from roamkb.pipeline.gate import checks
from roamkb.pipeline.gate import hazards
from roamkb.pipeline.gate import judge_protocol
from roamkb.pipeline.gate import judges
from roamkb.pipeline.gate import witnesses as gate_witnesses
from roamkb.pipeline.store import boot_files
from roamkb.pipeline.store import own_addresses as pipeline_own_addresses
from roamkb.pipeline.store import references_on_disk
from roamkb.pipeline.store import transcripts
from roamkb.secrets import detector
from roamkb.text.store import lexicons


def take_learning(
    context: ProjectContext,
    new_learning: "new_learning.NewLearning",
    *,
    agent: str | None = None,
    session: str | None = None,
    supersedes: str | None = None,
    any_type: bool = True,
    offer_paraphrases: bool = False,
    counts_repetition: bool = True,
) -> "log_learn.LearnResult":
    """Add `new_learning` to the log, as `learn` does; with `any_type`, whatever its type's spelling.

    What hooks take in names no paraphrases.
    """
    log = context.log_to_write(new_learning.content, session=session)
    author = context.make_author(agent=agent, session=session)
    return log_learn.learn(
        log,
        lambda state: context.learning_index(log, state),
        new_learning,
        author,
        supersedes=supersedes,
        any_type=any_type,
        offer_paraphrases=offer_paraphrases,
        counts_repetition=counts_repetition,
    )


def keep_refused(context: ProjectContext, fact: "write.NodeContent") -> Path | None:
    """Add a fact that the knowledge base may not have to the log; return its file, if any.

    Nobody asked for it to be kept there, so what reads like a password isn't, and what is there already is no
    surer by it.
    """
    text = f"{fact.title}\n\n{fact.body}" if fact.body.strip() else fact.title
    if detector.names_a_secret(text):
        return None
    saying = new_learning.NewLearning(content=text, tags=fact.tags, provenance=fact.source)
    try:
        return take_learning(context, saying, agent=fact.by, counts_repetition=False).path
    except NotDurable as error:
        return error.path
    except RoamkbError:
        return None


def learn(
    context: ProjectContext, request: "log_learn.LearnRequest"
) -> "log_learn.LearnResult | learn_proposals.ProposalOutcomes":
    """Add one learning to the project's log, or count one more occurrence of a known one.

    A type that nobody used yet and that looks like a slip of the pen is taken with `anyway` only.
    `proposals`, a JSON list instead of `text`, each with its evidence, go through the gate at once.

    Raises:
        NoLog: the project has none. Refused: this session is stricter than the project.
        UsageError, SecretFound, NotFound, Ambiguous, DiskError: nothing was written.
        NotDurable: it was written, and the disk would not promise to keep it.
    """
    if (request.text is None) == (request.proposals is None):
        question = "learn what?" if request.text is None else "TEXT or --proposals? one of the two"
        raise UsageError(question, hint="roamkb learn TEXT, or roamkb learn --proposals -")
    if request.proposals is not None:
        return _learn_proposals(context, request.proposals, agent=request.agent, session=request.session)
    return add_learning(context, request)


def add_learning(context: ProjectContext, request: "log_learn.LearnRequest") -> "log_learn.LearnResult":
    """Add one learning from its text, as `learn` does."""
    learning = new_learning.NewLearning(
        content=request.text or "",
        type=request.type or "learned",
        is_type_given=request.type is not None,
        tags=as_text_tuple(request.tags),
        task=require_name(request.task or "", "the task"),
        category=request.category or "",
        files=tuple(require_name(file, "the pattern") for file in as_text_tuple(request.files)),
        actions=as_text_tuple(request.actions),
        aliases=as_text_tuple(request.aliases),
        provenance=request.provenance or "observed",
        confidence=parse_hundredths(request.confidence),
        extra={new_learning.FIX_APPLIED_FIELD: True} if request.fix_applied else {},
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
    context: ProjectContext, text: str, *, agent: str | None, session: str | None
) -> "learn_proposals.ProposalOutcomes":
    """Add an agent's proposals, and put each through the gate with its evidence."""
    try:
        proposal_data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            "the proposals aren't JSON", hint="--proposals takes the JSON itself, or - to read it from standard input"
        ) from error
    proposals = proposed_learning.parse_proposals(proposal_data)
    log = context.log_to_write(proposals[0].claim if proposals else "", session=session)
    author = context.make_author(agent=agent, session=session)
    return learn_proposals.take_proposals(
        log,
        proposals,
        author,
        learn=lambda new_learning, superseded_key: take_learning(
            context, new_learning, agent=agent, session=session, supersedes=superseded_key, any_type=False
        ),
        verify=lambda id: put_through_gate(context, log, id, author),
    )


def put_through_gate(
    context: ProjectContext, log: "project_log.Log", id: str, author: "new_learning.Author"
) -> "tuple[learning_state.LearningState, tuple[str, ...]]":
    """Put one learning through the gate by its evidence; return its new state and the failed checks."""
    state = log.read_contents().replay_state()
    gate = verify.Gate(state, judge_context(context, log))
    judged = tuple(verify.verify(log, gate, [state.standings[id]], author))
    why = tuple(check.why for judged_learning in judged for check in checks.failed_checks(judged_learning.checks))
    return log.read_contents().replay_state().standings[id], why


def verify_session(
    context: ProjectContext,
    log: "project_log.Log",
    session: str,
    author: "new_learning.Author",
    *,
    witnesses: "gate_witnesses.SessionWitnesses | None" = None,
) -> None:
    """Put a session's learnings through the gate, if its transcript is here as evidence."""
    if not transcripts.find_transcript(
        session, home=context.environment.home, environment=context.environment.variables
    ):
        return
    state = log.read_contents().replay_state()
    to_judge = [
        learning_state
        for learning_state in state.learnings_with("session", session)
        if verify.needs_judging(learning_state)
    ]
    if to_judge:
        list(verify.verify(log, verify.Gate(state, judge_context(context, log, witnesses=witnesses)), to_judge, author))


def judge_context(
    context: ProjectContext,
    log: "project_log.Log",
    judge: ("Callable[[Sequence[learning_state.LearningState]], Iterable[judge_protocol.Judgement]] | None") = None,
    *,
    judge_name: str = "",
    prompt: str = "",
    witnesses: "gate_witnesses.SessionWitnesses | None" = None,
) -> "verify.JudgeContext":
    """Return the context of a judge; without one the evidence judges."""
    shown_by_session: dict[str, list[str]] = {}
    for receipt in receipts.read_receipts(log.local_folder):
        shown_by_session.setdefault(receipt.session, []).extend(receipt.shown)
    witnesses = witnesses or session_witnesses(context, log)
    own_addresses = pipeline_own_addresses.OwnAddresses(log.root)
    return verify.JudgeContext(
        name=judge_name if judge else judges.EVIDENCE_JUDGE,
        judge=judge or judges.evidence_judge(witnesses.find_attestation),
        attestation=witnesses.find_attestation,
        hazard=lambda learning_state: hazards.hazard_of(
            learning_state.learning.content, acts=lexicons.lexicon("acts"), is_own=own_addresses.has_address
        ),
        missing_anchors=_missing_file_finder(log),
        boot_lines=boot_files.boot_lines(log.root, context.environment.home),
        shown_by_session=shown_by_session,
        prompt=prompt,
    )


def retracted_learnings(context: ProjectContext, state: "learning_state.LogState", session: str) -> dict[str, str]:
    """Return the session's learnings that its own work retracted since, and how, by id."""
    witnesses = session_witnesses(context, context.log_to_read())
    attested = (
        (learning_state.id, witnesses.find_attestation(learning_state))
        for learning_state in contest.contestable_learnings(state, session)
    )
    return {
        id: attestation.taken_back for id, attestation in attested if attestation is not None and attestation.taken_back
    }


def session_witnesses(context: ProjectContext, log: "project_log.Log") -> "gate_witnesses.SessionWitnesses":
    """Return the transcripts that can witness what sessions of this log did."""
    return gate_witnesses.SessionWitnesses(
        log.root, home=context.environment.home, environment=context.environment.variables
    )


def _missing_file_finder(log: "project_log.Log") -> "Callable[[learning_state.LearningState], Sequence[str]]":
    """Return a function that names a learning's missing files, as far as they speak against it."""
    references = references_on_disk.references_of_checkouts(log.root)
    return lambda learning_state: audit.missing_files(audit.judge_files(learning_state.learning.content, references))
