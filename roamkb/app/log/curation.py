"""Curation of a project's log: audits against the working tree, and a human's decisions."""

from roamkb.app.log.project_context import ProjectContext
from roamkb.app.log.recall import noise_finder
from roamkb.core.errors import UsageError
from roamkb.curation import audit as curation_audit
from roamkb.curation import curate as curate_verb
from roamkb.curation import refine as curation_refine
from roamkb.curation import review
from roamkb.instructions import review as instructions_review
from roamkb.log import explain as log_explain
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
    signature = curate_verb.sign_decision(context, request.reason, request)
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
    context: ProjectContext, request: "instructions_review.ReviewRequest"
) -> "curate_verb.CurationProposal":
    """Open the proposals of `curate` in the human's editor, and append those approved there.

    Raises:
        UsageError, SecretFound, ChangedOnDisk: as `curate`.
    """
    log = context.log_to_write("a review")
    return review.review(
        log,
        references_on_disk.references_of_checkouts(log.root),
        curate_verb.sign_decision(context, request.reason, request),
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
    return log_explain.explain(
        log, state, request.key, doubts_of=noise_finder(log, state), now=context.make_author().ts
    )
