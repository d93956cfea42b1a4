"""The pipeline over a project's log: what was observed becomes knowledge, stage by stage (document 002)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from roamkb.app.log.instructions import propose_lines
from roamkb.app.log.learn import judge_context
from roamkb.app.log.learn import session_witnesses
from roamkb.app.log.learn import take_learning
from roamkb.app.log.learn import weigh_session
from roamkb.app.log.models import model_asker
from roamkb.app.log.models import named_model
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.core.text import counted
from roamkb.core.text import shown
from roamkb.core.text import texts_of
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
    """Record one raw observation; or learn what an agent said in a command or a message.

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
        said = (
            captured_from_command(request.text)
            if request.from_command
            else captured_from_message(request.text)
        )
        return observing.learn_said(
            said,
            lambda saying: take_learning(context, saying, agent=request.agent, session=request.session),
            told=_known_texts(
                context, context.author(agent=request.agent, session=request.session).session if said else ""
            ),
            task=request.task or "",
        )
    log, hand = (
        context.log_to_write(request.text),
        context.author(agent=request.agent, session=request.session),
    )
    happened: Iterable[PayloadEvent]
    if request.from_payload:
        happened, hand = observing.from_payload(request.text, hand)
    elif request.from_transcript:
        happened = observing.from_transcript(request.text)
    else:
        happened = observing.stated(
            request.text,
            type=request.type or "insight",
            tool=request.tool or "",
            outcome=request.outcome or "",
        )
    return observing.record(log, happened, hand, task=require_name(request.task or "", "the task"))


def _known_texts(context: "ProjectContext", session: str) -> "KnownTexts":
    """Return what every session starts with, and what this one was shown."""
    from roamkb.log.store.receipts import receipts
    from roamkb.pipeline.consolidation_plan import KnownTexts
    from roamkb.pipeline.store.boot_files import boot_lines

    log = context.log_or_none()
    if log is None:
        return KnownTexts()
    lines = boot_lines(log.root, context.environment.home)
    shown = {id for one in receipts(log.local) if session and one.session == session for id in one.shown}
    if not shown:
        return KnownTexts(lines)
    state = log.read().state()
    known = (held for id in shown if (held := state.standings.get(id)))
    return KnownTexts([*lines, *(one.learning.content for one in (*known, *state.having("node", *shown)))])


def consolidate(
    context: "ProjectContext", request: "requests.ConsolidateRequest"
) -> "tuple[ConsolidateResult, ...]":
    """Turn a session's observations into learnings, an agent's many into few, or lift a task's.

    Without `name`, the stage `session` takes all sessions that said something since the last time.

    Raises:
        UsageError: no such stage, or it needs a name. NoLog, Refused, DiskError.
    """
    from roamkb.pipeline import consolidate as consolidating

    if request.stage not in consolidating.STAGES:
        raise UsageError(f"no stage {shown(request.stage)}", hint="roamkb consolidate session|agent|task ID")
    if request.name is None and request.stage != "session":
        raise UsageError(f"which {request.stage}?", hint=f"roamkb consolidate {request.stage} ID")
    log, hand = context.log_to_write(""), context.author(agent=request.agent)
    if request.stage == "agent" and request.name is not None:
        return (consolidating.consolidate_agent(log, request.name, hand),)
    if request.stage == "task" and request.name is not None:
        return (consolidating.consolidate_task(log, request.name, hand),)
    return tuple(_sessions(context, log, request.name, hand))


def _sessions(
    context: "ProjectContext", log: "Log", name: str | None, hand: "Author"
) -> "Iterator[ConsolidateResult]":
    """Consolidate one session, or each that is open; then sweep what is old."""
    from roamkb.log.store.observations import finish
    from roamkb.log.store.observations import observations
    from roamkb.log.store.observations import open_sessions
    from roamkb.log.store.observations import sweep
    from roamkb.log.store.receipts import receipts
    from roamkb.pipeline.consolidate import ConsolidationMemory
    from roamkb.pipeline.consolidate import consolidate_session
    from roamkb.pipeline.store.boot_files import boot_lines

    sessions = open_sessions(log.ignored) if name is None else [name]
    memory = ConsolidationMemory(boot_lines(log.root, context.environment.home) if sessions else ())
    given = receipts(log.local) if sessions else []
    for session in sessions:
        shown = [id for receipt in given if receipt.session == session for id in receipt.shown]
        done = consolidate_session(
            log, session, observations(log.ignored, session), hand, shown=shown, memory=memory
        )
        if done.created:
            weigh_session(context, log, session, hand)
        finish(log.ignored, session)
        yield done
    sweep(log.ignored, now=hand.ts)


def verify(context: "ProjectContext", request: "requests.VerifyRequest") -> "VerifyResult":
    """Put learnings through the gate: named ones, or with `batch` all that want it.

    The scores come from `judge`, a language model by its name, or from the caller for one learning;
    without either from the evidence: a learning that has none stays unverified.

    Raises:
        UsageError: nothing to verify, scores that are none, or a model that can't or may not be asked.
        NotFound, Ambiguous, NoLog, Refused.
    """
    from roamkb.log.known_learnings import called
    from roamkb.log.state.learning_state import SUPERSEDED
    from roamkb.pipeline import verify as verifying
    from roamkb.pipeline.gate.checks import scores_of
    from roamkb.pipeline.gate.judge_protocol import Judgement
    from roamkb.pipeline.gate.judges import BY_EVIDENCE
    from roamkb.pipeline.gate.judges import by_caller

    given = (request.accuracy, request.relevance, request.specificity)
    scores = None
    if any(one is not None for one in given):
        names = ("accuracy", "relevance", "specificity")
        scores = scores_of(dict(zip(names, given, strict=True)))
        if scores is None or request.judge or request.batch or len(texts_of(request.keys)) != 1:
            raise UsageError(
                "scores are three numbers from 0 to 1 for one learning",
                hint="roamkb verify KEY --accuracy 0.9 --relevance 0.7 --specificity 0.8",
            )
    if request.batch == bool(request.keys):
        raise UsageError("verify what?", hint="roamkb verify KEY, or roamkb verify --batch")
    log, hand = context.log_to_write(""), context.author(agent=request.by)
    state = log.read().state()
    if request.batch:
        everything = [
            one
            for one in state.standings.values()
            if one.status != SUPERSEDED
            and (request.task is None or request.task in (one.learning.task, one.learning.bead))
        ]
        wanted = [one for one in everything if verifying.wants_judging(one)]
    else:
        everything = wanted = [called(log, state, key) for key in texts_of(request.keys)]
    if scores:
        bench = judge_context(context, log, by_caller(Judgement(scores=scores)), judge_name=hand.agent)
    elif request.judge and request.judge not in BY_EVIDENCE and wanted:
        bench = _model_bench(context, log, state, request.judge, count=len(wanted))
    else:
        bench = judge_context(context, log)
    judged = tuple(
        verifying.verify(log, verifying.Gate(state, bench), wanted, hand, progress=context.progress)
    )
    return verifying.VerifyResult(judged=judged, skipped=len(everything) - len(wanted))


def _model_bench(
    context: "ProjectContext", log: "Log", state: "LogState", judge: str, *, count: int
) -> "JudgeContext":
    """Return the bench of a language model, once its human lets it see so many learnings."""
    from roamkb.models.names import ModelKind
    from roamkb.models.store.prompts import prompt
    from roamkb.pipeline.gate.judges import ModelJudge
    from roamkb.pipeline.gate.judges import judged_item
    from roamkb.pipeline.store.references_on_disk import ProjectReferences

    model, told = named_model(context, judge), prompt("judge-1")
    about = f"{counted(count, 'learning')}, with lines of the files that they name,"
    ask = model_asker(context, judge, told.text, about=about)
    finder, grounds, witnesses = (
        context.learning_index(log, state),
        ProjectReferences(log.root),
        session_witnesses(context, log),
    )
    says = ModelJudge(
        ask,
        lambda standing: judged_item(standing, state, finder, grounds, turn=witnesses.turn(standing)),
        is_command=model.kind is ModelKind.COMMAND,
    )
    return judge_context(context, log, says, judge_name=model.label, prompt=told.label)


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
    """Whether anything could be promoted at all; asked before the rest is imported."""
    from roamkb.log.state.learning_state import VERIFIED

    return bool(context.log_to_read().read().state().having("verdict", VERIFIED))


def promote_nodes(context: "ProjectContext", request: "requests.PromoteRequest") -> "PromoteResult":
    """Do what `promote` does without a rule file."""
    from roamkb.core.startup.dataclasses import replace
    from roamkb.log.known_learnings import called
    from roamkb.log.store.receipts import receipts
    from roamkb.pipeline import promote as promoting

    log, hand = context.log_to_write(""), context.author(session=request.session)
    state = log.read().state(as_of=context.moment("--as-of", request.as_of))
    if not request.keys and not request.all:
        consulted = any(one.session == hand.session for one in receipts(log.local) if hand.session)
        found = tuple(promoting.candidates(state))
        hindered = {} if request.ask else promoting.hindered(_asked_about(state, found))
        return promoting.PromoteResult(
            candidates=found, hindered=hindered, asks=request.ask, consulted=consulted
        )
    if request.all:
        wanted = promoting.candidates(state)
    else:
        wanted = [called(log, state, key) for key in texts_of(request.keys)]
    try:
        for standing in wanted[:1]:
            context.kb.require_leave(standing.learning.content)
    except Refused as refusal:
        # it stays where it is
        raise Refused(refusal.project, refusal.fact, written_to=log.knowledge) from refusal
    done = promoting.promote(
        log, _promotion_context(context), wanted, hand, dry_run=request.dry_run, careful=request.all
    )
    if not request.all:
        return done
    return replace(done, hindered=promoting.hindered(_asked_about(state, wanted)))


def _promotion_context(context: "ProjectContext") -> "PromotionContext":
    from roamkb.pipeline.promote import PromotionContext

    return PromotionContext(
        write=context.kb.write_as,
        # a link lasts: what shares one word is no relation
        related=lambda text, limit: [
            hit.id for hit in context.kb.offered(text, limit=limit) if hit.id and not hit.mark
        ],
        has=context.kb.has,
    )


def _asked_about(state: "LogState", candidates: "Sequence[LearningState]") -> "Iterable[LearningState]":
    """Return the learnings of which it is said why they can't be promoted: all where none can be."""
    from roamkb.log.state.learning_state import VERIFIED

    return state.having("verdict", VERIFIED) if candidates else state.standings.values()
