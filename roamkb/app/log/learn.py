"""What is learned on purpose, and the gate that it passes by its evidence (D6, D21)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.core.errors import UsageError
from roamkb.core.text import texts_of
from roamkb.kb.notes.file_names import require_name
from roamkb.log.state.confidence import hundredths

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
    saying: "NewLearning",
    *,
    agent: str | None = None,
    session: str | None = None,
    supersedes: str | None = None,
    any_type: bool = True,
    offer_paraphrases: bool = False,
) -> "LearnResult":
    """Add `saying` to the log, as `learn` does; where `any_type`, whatever its type's spelling.

    What hooks take in names no paraphrases.
    """
    from roamkb.log.learn import learn

    log = context.log_to_write(saying.content)
    hand = context.author(agent=agent, session=session)
    return learn(
        log,
        lambda state: context.learning_index(log, state),
        saying,
        hand,
        supersedes=supersedes,
        any_type=any_type,
        offer_paraphrases=offer_paraphrases,
    )


def keep_refused(context: "ProjectContext", fact: "NodeContent") -> Path | None:
    """Add to the log a fact that the knowledge base may not have; return where it is now, if anywhere."""
    from roamkb.core.errors import NotDurable
    from roamkb.core.errors import RoamkbError
    from roamkb.log.new_learning import NewLearning

    text = f"{fact.title}\n\n{fact.body}" if fact.body.strip() else fact.title
    saying = NewLearning(content=text, tags=fact.tags, provenance=fact.source)
    try:
        return take_learning(context, saying, agent=fact.by).path
    except NotDurable as error:
        return error.path
    except RoamkbError:
        return None


def learn(context: "ProjectContext", request: "requests.LearnRequest") -> "LearnResult | ProposalOutcomes":
    """Add one learning to the project's log, or one more occurrence of what it knows.

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
        return _propose(context, request.proposals, agent=request.agent, session=request.session)
    return add_learning(context, request)


def add_learning(context: "ProjectContext", request: "requests.LearnRequest") -> "LearnResult":
    """Add one learning from its text, as `learn` does."""
    from roamkb.log.new_learning import FIX_APPLIED
    from roamkb.log.new_learning import NewLearning

    learning = NewLearning(
        content=request.text or "",
        type=request.type or "learned",
        tags=texts_of(request.tags),
        task=require_name(request.task or "", "the task"),
        category=request.category or "",
        files=tuple(require_name(file, "the pattern") for file in texts_of(request.files)),
        actions=texts_of(request.actions),
        provenance=request.provenance or "observed",
        confidence=hundredths(request.confidence),
        extra={FIX_APPLIED: True} if request.fix_applied else {},
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


def _propose(
    context: "ProjectContext", text: str, *, agent: str | None, session: str | None
) -> "ProposalOutcomes":
    """Add what an agent proposes, and put each through the gate with its evidence."""
    import json

    from roamkb.pipeline.learn_proposals import take_proposals
    from roamkb.pipeline.proposed_learning import parse_proposals

    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("the proposals aren't JSON", hint="roamkb learn --help") from error
    proposals = parse_proposals(given)
    log = context.log_to_write(proposals[0].claim if proposals else "")
    hand = context.author(agent=agent, session=session)
    return take_proposals(
        log,
        proposals,
        hand,
        learn=lambda saying, old: take_learning(
            context, saying, agent=agent, session=session, supersedes=old
        ),
        verify=lambda id: put_through_gate(context, log, id, hand),
    )


def put_through_gate(
    context: "ProjectContext", log: "Log", id: str, hand: "Author"
) -> "tuple[LearningState, tuple[str, ...]]":
    """Put one learning through the gate by its evidence; return it as it stands then, and what failed."""
    from roamkb.pipeline import verify as verifying
    from roamkb.pipeline.gate.checks import failed

    state = log.read().state()
    gate = verifying.Gate(state, judge_context(context, log))
    judged = tuple(verifying.verify(log, gate, [state.standings[id]], hand))
    why = tuple(check.why for one in judged for check in failed(one.checks))
    return log.read().state().standings[id], why


def weigh_session(context: "ProjectContext", log: "Log", session: str, hand: "Author") -> None:
    """Put what a session said through the gate, if its transcript is here to bear it out."""
    from roamkb.pipeline import verify as verifying
    from roamkb.pipeline.store.transcripts import find_transcript

    if not find_transcript(session, home=context.environment.home, environment=context.environment.variables):
        return
    state = log.read().state()
    wanted = [one for one in state.having("session", session) if verifying.wants_judging(one)]
    if wanted:
        list(verifying.verify(log, verifying.Gate(state, judge_context(context, log)), wanted, hand))


def judge_context(
    context: "ProjectContext",
    log: "Log",
    judge: "Callable[[Sequence[LearningState]], Iterable[Judgement]] | None" = None,
    *,
    judge_name: str = "",
    prompt: str = "",
) -> "JudgeContext":
    """Return the bench of a judge; without one the evidence judges."""
    from roamkb.log.store.receipts import receipts
    from roamkb.pipeline import verify as verifying
    from roamkb.pipeline.gate.hazards import hazard_of
    from roamkb.pipeline.gate.judges import EVIDENCE
    from roamkb.pipeline.gate.judges import by_evidence
    from roamkb.pipeline.store.boot_files import boot_lines
    from roamkb.pipeline.store.own_addresses import OwnAddresses
    from roamkb.text.store.lexicons import lexicon

    shown: dict[str, list[str]] = {}
    for receipt in receipts(log.local):
        shown.setdefault(receipt.session, []).extend(receipt.shown)
    witnesses, own_addresses = session_witnesses(context, log), OwnAddresses(log.root)
    return verifying.JudgeContext(
        name=judge_name if judge else EVIDENCE,
        judge=judge or by_evidence(witnesses.attestation),
        attestation=witnesses.attestation,
        hazard=lambda standing: hazard_of(
            standing.learning.content, acts=lexicon("acts"), is_own=own_addresses.has
        ),
        missing_anchors=_missing_anchors(log),
        boot=boot_lines(log.root, context.environment.home),
        shown=shown,
        prompt=prompt,
    )


def undone_in(context: "ProjectContext", state: "LogState", session: str) -> dict[str, str]:
    """Return the session's learnings that its own work took back since, and how, by id."""
    from roamkb.pipeline.contest import of_session

    witnesses = session_witnesses(context, context.log_to_read())
    told = ((one.id, witnesses.attestation(one)) for one in of_session(state, session))
    return {id: found.taken_back for id, found in told if found is not None and found.taken_back}


def session_witnesses(context: "ProjectContext", log: "Log") -> "SessionWitnesses":
    """Return the transcripts that can witness what sessions of this log did."""
    from roamkb.pipeline.gate.witnesses import SessionWitnesses

    return SessionWitnesses(
        log.root, home=context.environment.home, environment=context.environment.variables
    )


def _missing_anchors(log: "Log") -> "Callable[[LearningState], Sequence[str]]":
    """Return what says which files a learning names that are gone, as far as that speaks against it."""
    from roamkb.curation.audit import files_verdict
    from roamkb.curation.audit import lost_files
    from roamkb.pipeline.store.references_on_disk import ProjectReferences

    grounds = ProjectReferences(log.root)
    return lambda standing: lost_files(files_verdict(standing.learning.content, grounds))
