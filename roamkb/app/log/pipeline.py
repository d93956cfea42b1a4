"""The pipeline over a project's log: observations become knowledge, stage by stage (document 002)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from roamkb.app.log.instructions import propose_lines
from roamkb.app.log.learn import judge_context
from roamkb.app.log.learn import session_witnesses
from roamkb.app.log.learn import take_learning
from roamkb.app.log.learn import verify_session
from roamkb.app.log.models import model_asker
from roamkb.app.log.models import named_model
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.core.text import as_text_tuple
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.kb.notes.file_names import require_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Iterator

    from roamkb.app import requests
    from roamkb.app.log.project_context import ProjectContext
    from roamkb.instructions.propose import ProposeResult
    from roamkb.log.new_learning import Author
    from roamkb.log.state.learning_state import LearningState
    from roamkb.log.state.learning_state import LogState
    from roamkb.log.store.project_log import Log
    from roamkb.pipeline.consolidate import ConsolidateResult
    from roamkb.pipeline.consolidation_plan import KnownTexts
    from roamkb.pipeline.extract.payloads import PayloadEvent
    from roamkb.pipeline.observe import ObserveResult
    from roamkb.pipeline.promote import PromoteResult
    from roamkb.pipeline.promote import PromotionContext
    from roamkb.pipeline.verify import JudgeContext
    from roamkb.pipeline.verify import VerifyResult


def observe(context: "ProjectContext", request: "requests.ObserveRequest") -> "ObserveResult":
    """Record one raw observation, or learn the statements in an agent's command or message.

    `from_payload` and `from_transcript` record what a hook's payload or a transcript tells.

    Raises:
        UsageError: several things at once, or no JSON. NoLog, Refused, DiskError: nothing was recorded.
    """
    from roamkb.pipeline import observe as observing
    from roamkb.pipeline.extract.markers import captured_from_command
    from roamkb.pipeline.extract.markers import captured_from_message

    if request.from_command + request.from_message + request.from_payload + request.from_transcript > 1:
        raise UsageError("observe one thing at a time", hint="give one of the --from options")
    if request.from_command or request.from_message:
        captured = captured_from_command(request.text) if request.from_command else captured_from_message(request.text)
        return observing.learn_captured(
            captured,
            lambda new_learning: take_learning(context, new_learning, agent=request.agent, session=request.session),
            shown_texts=_known_texts(
                context, context.make_author(agent=request.agent, session=request.session).session if captured else ""
            ),
            task=request.task or "",
        )
    log, author = (
        context.log_to_write(request.text),
        context.make_author(agent=request.agent, session=request.session),
    )
    events: Iterable[PayloadEvent]
    if request.from_payload:
        events, author = observing.events_from_payload(request.text, author)
    elif request.from_transcript:
        events = observing.events_from_transcript(request.text)
    else:
        events = observing.events_from_arguments(
            request.text,
            type=request.type or "insight",
            tool=request.tool or "",
            outcome=request.outcome or "",
        )
    return observing.record_events(log, events, author, task=require_name(request.task or "", "the task"))


def _known_texts(context: "ProjectContext", session: str) -> "KnownTexts":
    """Return the lines that every session starts with, and the learnings that this one was shown."""
    from roamkb.log.store.receipts import read_receipts
    from roamkb.pipeline.consolidation_plan import KnownTexts
    from roamkb.pipeline.store.boot_files import boot_lines

    log = context.log_or_none()
    if log is None:
        return KnownTexts()
    lines = boot_lines(log.root, context.environment.home)
    shown_ids = {
        id for entry in read_receipts(log.local_folder) if session and entry.session == session for id in entry.shown
    }
    if not shown_ids:
        return KnownTexts(lines)
    state = log.read_contents().replay_state()
    shown_states = (learning_state for id in shown_ids if (learning_state := state.standings.get(id)))
    return KnownTexts(
        [*lines, *(entry.learning.content for entry in (*shown_states, *state.learnings_with("node", *shown_ids)))]
    )


def consolidate(context: "ProjectContext", request: "requests.ConsolidateRequest") -> "tuple[ConsolidateResult, ...]":
    """Turn a session's observations into learnings, an agent's many into few, or lift a task's.

    Without `name`, the stage `session` takes all sessions that said something since the last time.

    Raises:
        UsageError: no such stage, or it needs a name. NoLog, Refused, DiskError.
    """
    from roamkb.pipeline import consolidate as consolidating

    if request.stage not in consolidating.STAGES:
        raise UsageError(f"no stage {one_line(request.stage)}", hint="roamkb consolidate session|agent|task ID")
    if request.name is None and request.stage != "session":
        raise UsageError(f"which {request.stage}?", hint=f"roamkb consolidate {request.stage} ID")
    log, author = context.log_to_write(""), context.make_author(agent=request.agent)
    if request.stage == "agent" and request.name is not None:
        return (consolidating.consolidate_agent(log, request.name, author),)
    if request.stage == "task" and request.name is not None:
        return (consolidating.consolidate_task(log, request.name, author),)
    return tuple(_consolidate_sessions(context, log, request.name, author))


def _consolidate_sessions(
    context: "ProjectContext", log: "Log", name: str | None, author: "Author"
) -> "Iterator[ConsolidateResult]":
    """Consolidate one session, or each that is open; then sweep old observations."""
    from roamkb.log.store.observations import mark_consolidated
    from roamkb.log.store.observations import open_sessions
    from roamkb.log.store.observations import read_observations
    from roamkb.log.store.observations import remove_consolidated
    from roamkb.log.store.receipts import read_receipts
    from roamkb.pipeline.consolidate import ConsolidationMemory
    from roamkb.pipeline.consolidate import consolidate_session
    from roamkb.pipeline.store.boot_files import boot_lines

    sessions = open_sessions(log.ignored) if name is None else [name]
    memory = ConsolidationMemory(boot_lines(log.root, context.environment.home) if sessions else ())
    all_receipts = read_receipts(log.local_folder) if sessions else []
    for session in sessions:
        shown_ids = [id for receipt in all_receipts if receipt.session == session for id in receipt.shown]
        consolidated = consolidate_session(
            log, session, read_observations(log.ignored, session), author, shown_learnings=shown_ids, memory=memory
        )
        if consolidated.created:
            verify_session(context, log, session, author)
        mark_consolidated(log.ignored, session)
        yield consolidated
    remove_consolidated(log.ignored, now=author.ts)


def verify(context: "ProjectContext", request: "requests.VerifyRequest") -> "VerifyResult":
    """Put learnings through the gate: named ones, or with `batch` all that need it.

    The scores come from `judge`, a language model by its name, or from the caller for one learning;
    without either from the evidence: a learning that has none stays unverified.

    Raises:
        UsageError: nothing to verify, scores that are none, or a model that can't or may not be asked.
        NotFound, Ambiguous, NoLog, Refused.
    """
    from roamkb.log.known_learnings import get_learning
    from roamkb.log.state.learning_state import SUPERSEDED
    from roamkb.pipeline import verify as verifying
    from roamkb.pipeline.gate.checks import parse_scores
    from roamkb.pipeline.gate.judge_protocol import Judgement
    from roamkb.pipeline.gate.judges import EVIDENCE_JUDGE_NAMES
    from roamkb.pipeline.gate.judges import caller_judge

    score_values = (request.accuracy, request.relevance, request.specificity)
    scores = None
    if any(item is not None for item in score_values):
        names = ("accuracy", "relevance", "specificity")
        scores = parse_scores(dict(zip(names, score_values, strict=True)))
        if scores is None or request.judge or request.batch or len(as_text_tuple(request.keys)) != 1:
            raise UsageError(
                "scores are three numbers from 0 to 1 for one learning",
                hint="roamkb verify KEY --accuracy 0.9 --relevance 0.7 --specificity 0.8",
            )
    if request.batch == bool(request.keys):
        raise UsageError("verify what?", hint="roamkb verify KEY, or roamkb verify --batch")
    log, author = context.log_to_write(""), context.make_author(agent=request.by)
    state = log.read_contents().replay_state()
    if request.batch:
        selected = [
            item
            for item in state.standings.values()
            if item.status != SUPERSEDED
            and (request.task is None or request.task in (item.learning.task, item.learning.bead))
        ]
        to_judge = [item for item in selected if verifying.needs_judging(item)]
    else:
        selected = to_judge = [get_learning(log, state, key) for key in as_text_tuple(request.keys)]
    if scores:
        judging = judge_context(context, log, caller_judge(Judgement(scores=scores)), judge_name=author.agent)
    elif request.judge and request.judge not in EVIDENCE_JUDGE_NAMES and to_judge:
        judging = _model_judge_context(context, log, state, request.judge, count=len(to_judge))
    else:
        judging = judge_context(context, log)
    judged = tuple(verifying.verify(log, verifying.Gate(state, judging), to_judge, author, progress=context.progress))
    return verifying.VerifyResult(judged=judged, skipped=len(selected) - len(to_judge))


def _model_judge_context(
    context: "ProjectContext", log: "Log", state: "LogState", judge: str, *, count: int
) -> "JudgeContext":
    """Return the judge context of a language model, once its human lets it see so many learnings."""
    from roamkb.models.names import ModelKind
    from roamkb.models.store.prompts import read_prompt
    from roamkb.pipeline.gate.judges import ModelJudge
    from roamkb.pipeline.gate.judges import judged_item
    from roamkb.pipeline.store.references_on_disk import ProjectReferences

    model, model_prompt = named_model(context, judge), read_prompt("judge-1")
    about = f"{count_phrase(count, 'learning')}, with lines of the files that they name,"
    ask = model_asker(context, judge, model_prompt.text, about=about)
    finder, references, witnesses = (
        context.learning_index(log, state),
        ProjectReferences(log.root),
        session_witnesses(context, log),
    )
    model_judge = ModelJudge(
        ask,
        lambda learning_state: judged_item(
            learning_state, state, finder, references, turn=witnesses.turn_around_quote(learning_state)
        ),
        is_command=model.kind is ModelKind.COMMAND,
    )
    return judge_context(context, log, model_judge, judge_name=model.label, prompt=model_prompt.label)


def promote(context: "ProjectContext", request: "requests.PromoteRequest") -> "PromoteResult | ProposeResult":
    """Write verified, durable learnings as nodes of the knowledge base; name them, or `all`.

    Without either, the candidates are returned; with `ask`, with the wrap-up's question. With `to`, a
    rule file of the project, they are proposed as lines of it, and a human approves them later. With
    `as_of`, the candidates at the end of that day.

    Raises:
        Refused: the project may not write; the learnings stay. NotFound, Ambiguous, NoLog.
        UsageError: no such file or section.
    """
    if request.all and request.keys:
        raise UsageError("--all or keys, not both")
    if request.as_of is not None and (request.keys or request.all or request.ask):
        raise UsageError("--as-of is for the list of candidates", hint="nothing is promoted in the past")
    if request.to is None and request.section is None:
        return promote_nodes(context, request)
    if request.to is None:
        raise UsageError("--section goes with --to", hint="roamkb promote KEY --to CLAUDE.md --section S")
    if request.ask:
        raise UsageError("--ask is about the knowledge base", hint="leave --to out")
    return propose_lines(context, request, request.to)


def has_verified(context: "ProjectContext") -> bool:
    """Return whether any learning is verified; a cheap test before the rest is imported."""
    from roamkb.log.state.learning_state import VERIFIED

    return bool(context.log_to_read().read_contents().replay_state().learnings_with("verdict", VERIFIED))


def promote_nodes(context: "ProjectContext", request: "requests.PromoteRequest") -> "PromoteResult":
    """Promote learnings to nodes, or return the candidates: `promote` without a rule file."""
    from roamkb.core.startup.dataclasses import replace
    from roamkb.log.known_learnings import get_learning
    from roamkb.log.store.receipts import read_receipts
    from roamkb.pipeline import promote as promoting

    log, author = context.log_to_write(""), context.make_author(session=request.session)
    state = log.read_contents().replay_state(as_of=context.parse_moment("--as-of", request.as_of))
    if not request.keys and not request.all:
        consulted = any(
            receipt.session == author.session for receipt in read_receipts(log.local_folder) if author.session
        )
        candidates = tuple(promoting.promotion_candidates(state))
        hindered = {} if request.ask else promoting.count_hindrances(_unpromotable_to_explain(state, candidates))
        return promoting.PromoteResult(candidates=candidates, hindered=hindered, asks=request.ask, consulted=consulted)
    if request.all:
        chosen = promoting.promotion_candidates(state)
    else:
        chosen = [get_learning(log, state, key) for key in as_text_tuple(request.keys)]
    try:
        for learning_state in chosen[:1]:
            context.kb.require_write_permit(learning_state.learning.content)
    except Refused as refusal:
        # it stays where it is
        raise Refused(refusal.project, refusal.fact, written_to=log.knowledge) from refusal
    promote_result = promoting.promote(
        log, _promotion_context(context), chosen, author, dry_run=request.dry_run, careful=request.all
    )
    if not request.all:
        return promote_result
    return replace(promote_result, hindered=promoting.count_hindrances(_unpromotable_to_explain(state, chosen)))


def _promotion_context(context: "ProjectContext") -> "PromotionContext":
    from roamkb.pipeline.promote import PromotionContext

    return PromotionContext(
        write_node=context.kb.write_as,
        # a link lasts: what shares one word is no relation
        related_ids=lambda text, limit: [
            hit.id for hit in context.kb.find_relevant_nodes(text, limit=limit) if hit.id and not hit.replaced_mark
        ],
        has_node=context.kb.has_node_id,
    )


def _unpromotable_to_explain(state: "LogState", candidates: "Sequence[LearningState]") -> "Iterable[LearningState]":
    """Return the learnings whose obstacles to promotion are explained: all where no candidate is."""
    from roamkb.log.state.learning_state import VERIFIED

    return state.learnings_with("verdict", VERIFIED) if candidates else state.standings.values()
