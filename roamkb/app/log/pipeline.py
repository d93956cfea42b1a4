"""The pipeline over a project's log: observations become knowledge, stage by stage (document 002)."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.app import knowledge_base
from roamkb.app.log.instructions import propose_lines
from roamkb.app.log.learn import judge_context
from roamkb.app.log.learn import session_witnesses
from roamkb.app.log.learn import take_learning
from roamkb.app.log.learn import verify_session
from roamkb.app.log.models import model_asker
from roamkb.app.log.models import named_model
from roamkb.app.log.project_context import ProjectContext
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.core.progress import counted
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import as_text_tuple
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.instructions import propose
from roamkb.kb.notes.file_names import require_name
from roamkb.log import known_learnings
from roamkb.log import new_learning
from roamkb.log.state import learning_state
from roamkb.log.store import observations
from roamkb.log.store import project_log
from roamkb.log.store import receipts
from roamkb.models import names as models_names
from roamkb.models.store import prompts
from roamkb.pipeline import consolidate as pipeline_consolidate
from roamkb.pipeline import consolidation_plan
from roamkb.pipeline import observe as pipeline_observe
from roamkb.pipeline import promote as pipeline_promote
from roamkb.pipeline import verify as pipeline_verify
from roamkb.pipeline.extract import edited_files
from roamkb.pipeline.extract import markers
from roamkb.pipeline.extract import payloads
from roamkb.pipeline.gate import checks
from roamkb.pipeline.gate import judge_protocol
from roamkb.pipeline.gate import judges
from roamkb.pipeline.store import boot_files
from roamkb.pipeline.store import references_on_disk


def observe(context: ProjectContext, request: "pipeline_observe.ObserveRequest") -> "pipeline_observe.ObserveResult":
    """Record one raw observation, or learn the statements in an agent's command or message.

    `from_payload` and `from_transcript` record what a hook's payload or a transcript tells.

    Raises:
        UsageError: several things at once, or no JSON. NoLog, Refused, DiskError: nothing was recorded.
    """
    if request.from_command + request.from_message + request.from_payload + request.from_transcript > 1:
        raise UsageError("observe one thing at a time", hint="give one of the --from options")
    if request.from_command or request.from_message:
        captured = (
            markers.captured_from_command(request.text)
            if request.from_command
            else markers.captured_from_message(request.text)
        )
        session = context.author_of(request).session if captured else ""
        return pipeline_observe.learn_captured(
            captured,
            lambda new_learning: take_learning(context, new_learning, agent=request.agent, session=request.session),
            shown_texts=_known_texts(context, session),
            edited=_edited_files(context, session),
            task=request.task or "",
        )
    log, author = context.log_to_write(request.text, session=request.session), context.author_of(request)
    events: Iterable[payloads.PayloadEvent]
    if request.from_payload:
        events, author = pipeline_observe.events_from_payload(request.text, author)
    elif request.from_transcript:
        events = pipeline_observe.events_from_transcript(request.text)
    else:
        events = pipeline_observe.events_from_arguments(
            request.text,
            type=request.type or "insight",
            tool=request.tool or "",
            outcome=request.outcome or "",
        )
    return pipeline_observe.record_events(log, events, author, task=require_name(request.task or "", "the task"))


def _edited_files(context: ProjectContext, session: str) -> "edited_files.EditedFiles | None":
    """Return the files that the session's hooks heard of as changed; None without a log or a session."""
    log = context.log_or_none()
    if log is None or not session:
        return None
    edited = edited_files.EditedFiles(str(log.root))
    for observation in observations.read_observations(log.observed, session):
        edited.note_tool(observation.files)
    return edited


def _known_texts(context: ProjectContext, session: str) -> "consolidation_plan.KnownTexts":
    """Return the lines that every session starts with, and the learnings that this one was shown."""
    log = context.log_or_none()
    if log is None:
        return consolidation_plan.KnownTexts()
    lines = boot_files.boot_lines(log.root, context.environment.home)
    shown_ids = {
        id
        for entry in receipts.read_receipts(log.local_folder)
        if session and entry.session == session
        for id in entry.shown
    }
    if not shown_ids:
        return consolidation_plan.KnownTexts(lines)
    state = log.read_contents().replay_state()
    shown_states = (learning_state for id in shown_ids if (learning_state := state.standings.get(id)))
    return consolidation_plan.KnownTexts(
        [*lines, *(entry.learning.content for entry in (*shown_states, *state.learnings_with("node", *shown_ids)))]
    )


def consolidate(
    context: ProjectContext, request: "pipeline_consolidate.ConsolidateRequest"
) -> "tuple[pipeline_consolidate.ConsolidateResult, ...]":
    """Turn a session's observations into learnings, an agent's many into few, or lift a task's.

    Without `name`, the stage `session` takes all sessions that said something since the last time.

    Raises:
        UsageError: no such stage, or it needs a name. NoLog, Refused, DiskError.
    """
    if request.stage not in pipeline_consolidate.STAGES:
        raise UsageError(f"no stage {one_line(request.stage)}", hint="roamkb consolidate session|agent|task ID")
    if request.name is None and request.stage != "session":
        raise UsageError(f"which {request.stage}?", hint=f"roamkb consolidate {request.stage} ID")
    log, author = context.log_to_write(""), context.make_author(agent=request.agent)
    if request.stage == "agent" and request.name is not None:
        return (pipeline_consolidate.consolidate_agent(log, request.name, author),)
    if request.stage == "task" and request.name is not None:
        return (pipeline_consolidate.consolidate_task(log, request.name, author),)
    return tuple(_consolidate_sessions(context, log, request.name, author))


def _consolidate_sessions(
    context: ProjectContext,
    log: "project_log.Log",
    name: str | None,
    author: "new_learning.Author",
) -> "Iterator[pipeline_consolidate.ConsolidateResult]":
    """Consolidate one session, or each that is open; then sweep old observations."""
    sessions = observations.open_sessions(log.observed) if name is None else [name]
    memory = pipeline_consolidate.ConsolidationMemory(
        boot_files.boot_lines(log.root, context.environment.home) if sessions else ()
    )
    all_receipts = receipts.read_receipts(log.local_folder) if sessions else []
    for session in counted(sessions, "consolidating sessions"):
        shown_ids = [id for receipt in all_receipts if receipt.session == session for id in receipt.shown]
        witnesses = session_witnesses(context, log)
        consolidated = pipeline_consolidate.consolidate_session(
            log,
            session,
            [*map(witnesses.correct_observation, observations.read_observations(log.observed, session))],
            author,
            shown_learnings=shown_ids,
            memory=memory,
        )
        if consolidated.created:
            verify_session(context, log, session, author, witnesses=witnesses)
        observations.mark_consolidated(log.observed, session)
        yield consolidated
    observations.remove_consolidated(log.observed, now=author.ts)


def verify(context: ProjectContext, request: "pipeline_verify.VerifyRequest") -> "pipeline_verify.VerifyResult":
    """Put learnings through the gate: named ones, or with `batch` all that need it.

    The scores come from `judge`, a language model by its name, or from the caller for one learning;
    without either from the evidence: a learning that has none stays unverified.

    Raises:
        UsageError: nothing to verify, scores that are none, or a model that can't or may not be asked.
        NotFound, Ambiguous, NoLog, Refused.
    """
    score_values = (request.accuracy, request.relevance, request.specificity)
    scores = None
    if any(item is not None for item in score_values):
        names = ("accuracy", "relevance", "specificity")
        scores = checks.parse_scores(dict(zip(names, score_values, strict=True)))
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
            if item.status != learning_state.SUPERSEDED
            and (request.task is None or request.task in (item.learning.task, item.learning.bead))
        ]
        to_judge = [item for item in selected if pipeline_verify.needs_judging(item)]
    else:
        selected = to_judge = [known_learnings.get_learning(log, state, key) for key in as_text_tuple(request.keys)]
    if scores:
        judging = judge_context(
            context, log, judges.caller_judge(judge_protocol.Judgement(scores=scores)), judge_name=author.agent
        )
    elif request.judge and request.judge not in judges.EVIDENCE_JUDGE_NAMES and to_judge:
        judging = _model_judge_context(context, log, state, request.judge, count=len(to_judge))
    else:
        judging = judge_context(context, log)
    judged = tuple(pipeline_verify.verify(log, pipeline_verify.Gate(state, judging), to_judge, author))
    return pipeline_verify.VerifyResult(judged=judged, skipped=len(selected) - len(to_judge))


def _model_judge_context(
    context: ProjectContext,
    log: "project_log.Log",
    state: "learning_state.LogState",
    judge: str,
    *,
    count: int,
) -> "pipeline_verify.JudgeContext":
    """Return the judge context of a language model, once its human lets it see so many learnings."""
    model, model_prompt = named_model(context, judge), prompts.read_prompt("judge-1")
    about = f"{count_phrase(count, 'learning')}, with lines of the files that they name,"
    ask = model_asker(context, judge, model_prompt.text, about=about)
    finder, references, witnesses = (
        context.learning_index(log, state),
        references_on_disk.ProjectReferences(log.root),
        session_witnesses(context, log),
    )
    model_judge = judges.ModelJudge(
        ask,
        lambda learning_state: judges.judged_item(
            learning_state, state, finder, references, turn=witnesses.turn_around_quote(learning_state)
        ),
        is_command=model.kind is models_names.ModelKind.COMMAND,
    )
    return judge_context(context, log, model_judge, judge_name=model.label, prompt=model_prompt.label)


def promote(
    context: ProjectContext, request: "pipeline_promote.PromoteRequest"
) -> "pipeline_promote.PromoteResult | propose.ProposeResult":
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
    if request.kb is not None:
        raise UsageError("--kb is about notes", hint="leave --to and --section out")
    if request.to is None:
        raise UsageError("--section goes with --to", hint="roamkb promote KEY --to CLAUDE.md --section S")
    if request.ask:
        raise UsageError("--ask is about the knowledge base", hint="leave --to out")
    return propose_lines(context, request, request.to)


def has_verified(context: ProjectContext) -> bool:
    """Return whether any learning is verified; a cheap test before the rest is imported."""
    return bool(context.log_to_read().read_contents().replay_state().learnings_with("verdict", learning_state.VERIFIED))


def promote_nodes(
    context: ProjectContext, request: "pipeline_promote.PromoteRequest"
) -> "pipeline_promote.PromoteResult":
    """Promote learnings to nodes, or return the candidates: `promote` without a rule file."""
    kb = context.kb.of_kb(request.kb)
    promotion_context = _promotion_context(kb)
    kb_name = promotion_context.kb_name
    log, author = context.log_to_write(""), context.make_author(session=request.session)
    state = log.read_contents().replay_state(as_of=context.parse_moment("--as-of", request.as_of))
    if not request.keys and not request.all:
        consulted = any(
            receipt.session == author.session for receipt in receipts.read_receipts(log.local_folder) if author.session
        )
        candidates = tuple(pipeline_promote.promotion_candidates(state, kb_name=kb_name))
        unpromotable = () if request.ask else _unpromotable_to_explain(state, candidates)
        hindered = pipeline_promote.count_hindrances(unpromotable, kb_name=kb_name)
        return pipeline_promote.PromoteResult(
            candidates=candidates, hindered=hindered, asks=request.ask, consulted=consulted
        )
    if request.all:
        chosen = pipeline_promote.promotion_candidates(state, kb_name=kb_name)
    else:
        chosen = [known_learnings.get_learning(log, state, key) for key in as_text_tuple(request.keys)]
    try:
        for learning_state in chosen[:1]:
            kb.require_write_permit(learning_state.learning.content)
    except Refused as refusal:
        # it stays where it is
        raise Refused(refusal.project, refusal.fact, written_to=log.knowledge) from refusal
    promote_result = pipeline_promote.promote(
        log, promotion_context, chosen, author, dry_run=request.dry_run, careful=request.all
    )
    if not request.all:
        return promote_result
    unpromotable = _unpromotable_to_explain(state, chosen)
    return replace(promote_result, hindered=pipeline_promote.count_hindrances(unpromotable, kb_name=kb_name))


def _promotion_context(kb: "knowledge_base.KnowledgeBase") -> "pipeline_promote.PromotionContext":
    return pipeline_promote.PromotionContext(
        write_node=kb.write_as,
        # a link lasts: what shares one word is no relation
        related_ids=lambda text, limit: [
            hit.id for hit in kb.find_relevant_nodes(text, limit=limit).items if hit.id and not hit.replaced_mark
        ],
        has_node=kb.has_node_id,
        kb_name=kb.kb_name if kb.is_named else "",
    )


def _unpromotable_to_explain(
    state: "learning_state.LogState", candidates: "Sequence[learning_state.LearningState]"
) -> "Iterable[learning_state.LearningState]":
    """Return the learnings whose obstacles to promotion are explained: all where no candidate is."""
    return state.learnings_with("verdict", learning_state.VERIFIED) if candidates else state.standings.values()
