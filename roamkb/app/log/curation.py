"""Curation of a project's log: audits against the working tree, and a human's decisions."""

from roamkb.app.log.project_context import ProjectContext
from roamkb.app.log.recall import noise_finder
from roamkb.core.errors import UsageError
from roamkb.curation import audit as curation_audit
from roamkb.curation import curate as curate_verb
from roamkb.curation import refine as curation_refine
from roamkb.curation import review
from roamkb.log import explain as log_explain
from roamkb.log import export as log_export
from roamkb.log import pin as log_pin
from roamkb.log.state.confidence import parse_hundredths
from roamkb.pipeline.store import references_on_disk

#: Where neither VISUAL nor EDITOR says anything (POSIX).
_DEFAULT_EDITOR = "vi"


def audit(context: ProjectContext, request: "curation_audit.AuditRequest") -> "curation_audit.Audit":
    """Judge each learning by the local working tree, and keep the verdicts with reasons in a local file.

    With `as_of` it is about the log at the end of that day, and nothing is kept.

    Raises:
        NoLog: the project has none. DiskError: it couldn't be kept. UsageError: no day.
    """
    log = context.log_to_write("what an audit found") if request.as_of is None else context.log_to_read()
    as_of = context.parse_moment("--as-of", request.as_of)
    return curation_audit.audit(
        log,
        log.read_contents().contents_until(as_of),
        references_on_disk.references_of_checkouts(log.root),
        keep=as_of is None,
    )


def curate(context: ProjectContext, request: "curate_verb.CurateRequest") -> "curate_verb.CurationProposal":
    """Return the events that a review would append to the ledger; with `apply`, a digest, append them.

    With `as_of`, what one would have appended at the end of that day.

    Raises:
        UsageError: no reason, or no human said yes at a terminal. SecretFound: the reason holds one.
        ChangedOnDisk: the proposal would be another by now. Nothing was written in any case.
    """
    signature = decision_signature(context, request.reason, agent=request.agent, session=request.session)
    if request.apply is None:
        log, as_of = context.log_to_read(), context.parse_moment("--as-of", request.as_of)
        return curate_verb.propose_curation(
            log, references_on_disk.references_of_checkouts(log.root), signature, as_of=as_of
        )
    if request.dry_run or request.as_of is not None:
        raise UsageError(f"{'--dry-run' if request.dry_run else '--as-of'} or --apply, not both")
    log = context.log_to_write("a review")
    return curate_verb.apply_curation(
        log,
        references_on_disk.references_of_checkouts(log.root),
        signature,
        request.apply,
        human=context.human_at_terminal,
    )


def review_curation(
    context: ProjectContext,
    *,
    reason: str | None = None,
    agent: str | None = None,
    session: str | None = None,
) -> "curate_verb.CurationProposal":
    """Open the proposals of `curate` in the human's editor, and append those approved there.

    Raises:
        UsageError, SecretFound, ChangedOnDisk: as `curate`.
    """
    log = context.log_to_write("a review")
    signature = decision_signature(context, reason, agent=agent, session=session)
    return review.review(
        log,
        references_on_disk.references_of_checkouts(log.root),
        signature,
        human=context.human_at_terminal,
        editor=editor_command(context),
    )


def editor_command(context: ProjectContext) -> list[str]:
    """Return the command line of the human's editor."""
    import shlex

    environment = context.environment.variables
    return shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or "") or [_DEFAULT_EDITOR]


def refine(context: ProjectContext, request: "curation_refine.RefineRequest") -> "curation_refine.Refinement":
    """Return the learnings of `tasks` (of all without) that an agent should reword."""
    return curation_refine.refine(
        context.log_to_read().read_contents().replay_state(),
        (request.tasks,) if isinstance(request.tasks, str) else tuple(request.tasks),
    )


def explain(context: ProjectContext, request: "log_explain.ExplainRequest") -> "log_explain.Explanation":
    """Return the whole life of one learning, by key or id, up to a day where one is given.

    Raises:
        NoLog, NotFound, Ambiguous.
    """
    log = context.log_to_read()
    state = log.read_contents().replay_state(as_of=context.parse_moment("--as-of", request.as_of))
    return log_explain.explain(log, state, request.key, doubts_of=noise_finder(log), now=context.make_author().ts)


def pin(context: ProjectContext, request: "log_pin.PinRequest") -> "log_pin.MarkedLearning":
    """Exempt a learning from decay; with `off`, no longer.

    Raises:
        NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
    """
    return log_pin.pin(
        context.log_to_write(f"pin {request.key}"),
        request.key,
        context.make_author(agent=request.agent, session=request.session),
        off=request.off,
    )


def override(context: ProjectContext, request: "log_pin.OverrideRequest") -> "log_pin.MarkedLearning":
    """Set a learning's confidence, 0.00 to 1.00, for good; only a human at a terminal can.

    Raises:
        UsageError, NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
    """
    value = parse_hundredths(request.confidence)
    return log_pin.override(
        context.log_to_write(f"override {request.key}"),
        request.key,
        0 if value is None else value,
        context.make_author(agent=request.agent, session=request.session),
        operator=context.environment.login,
        human=context.human_at_terminal,
    )


def export(context: ProjectContext, request: "log_export.ExportRequest") -> "log_export.LearningExport":
    """Return every learning with its present state, or that of a day; with `all`, the archive's as well."""
    state = context.log_to_read().read_contents().replay_state(as_of=context.parse_moment("--as-of", request.as_of))
    return log_export.export(state, archived=request.all)


def decision_signature(
    context: ProjectContext, reason: str | None, *, agent: str | None, session: str | None
) -> "curate_verb.CurationSignature":
    """Return what signs a decision about learnings."""
    return curate_verb.CurationSignature(
        hand=context.make_author(agent=agent, session=session),
        operator=context.environment.login,
        reason=reason or "",
    )
