"""Curation of a project's log: audits against the working tree, and a human's decisions."""

from typing import TYPE_CHECKING

from roamkb.app.log.recall import noise_finder
from roamkb.core.errors import UsageError

if TYPE_CHECKING:
    from roamkb.app import requests
    from roamkb.app.log.project_context import ProjectContext
    from roamkb.curation.audit import Audit
    from roamkb.curation.curate import CurationProposal
    from roamkb.curation.curate import CurationSignature
    from roamkb.curation.refine import Refinement
    from roamkb.log.explain import Explanation
    from roamkb.log.export import LearningExport
    from roamkb.log.pin import MarkedLearning

#: Where neither VISUAL nor EDITOR says anything (POSIX).
_DEFAULT_EDITOR = "vi"


def audit(context: "ProjectContext", request: "requests.AuditRequest") -> "Audit":
    """Judge each learning by the local working tree, and keep the verdicts with reasons in a local file.

    With `as_of` it is about the log at the end of that day, and nothing is kept.

    Raises:
        NoLog: the project has none. DiskError: it couldn't be kept. UsageError: no day.
    """
    from roamkb.curation.audit import audit
    from roamkb.pipeline.store.references_on_disk import ProjectReferences

    log = context.log_to_write("what an audit found") if request.as_of is None else context.log_to_read()
    as_of = context.parse_moment("--as-of", request.as_of)
    return audit(log, log.read_contents().contents_until(as_of), ProjectReferences(log.root), keep=as_of is None)


def curate(context: "ProjectContext", request: "requests.CurateRequest") -> "CurationProposal":
    """Return the events that a review would append to the ledger; with `apply`, a digest, append them.

    With `as_of`, what one would have appended at the end of that day.

    Raises:
        UsageError: no reason, or no human said yes at a terminal. SecretFound: the reason holds one.
        ChangedOnDisk: the proposal would be another by now. Nothing was written in any case.
    """
    from roamkb.curation import curate as curating
    from roamkb.pipeline.store.references_on_disk import ProjectReferences

    signature = decision_signature(context, request.reason, agent=request.agent, session=request.session)
    if request.apply is None:
        log, as_of = context.log_to_read(), context.parse_moment("--as-of", request.as_of)
        return curating.propose_curation(log, ProjectReferences(log.root), signature, as_of=as_of)
    if request.dry_run or request.as_of is not None:
        raise UsageError(f"{'--dry-run' if request.dry_run else '--as-of'} or --apply, not both")
    log = context.log_to_write("a review")
    return curating.apply_curation(
        log, ProjectReferences(log.root), signature, request.apply, human=context.human_at_terminal
    )


def review_curation(
    context: "ProjectContext",
    *,
    reason: str | None = None,
    agent: str | None = None,
    session: str | None = None,
) -> "CurationProposal":
    """Open the proposals of `curate` in the human's editor, and append those approved there.

    Raises:
        UsageError, SecretFound, ChangedOnDisk: as `curate`.
    """
    from roamkb.curation.review import review
    from roamkb.pipeline.store.references_on_disk import ProjectReferences

    log = context.log_to_write("a review")
    signature = decision_signature(context, reason, agent=agent, session=session)
    return review(
        log, ProjectReferences(log.root), signature, human=context.human_at_terminal, editor=editor_command(context)
    )


def editor_command(context: "ProjectContext") -> list[str]:
    """Return the command line of the human's editor."""
    import shlex

    environment = context.environment.variables
    return shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or "") or [_DEFAULT_EDITOR]


def refine(context: "ProjectContext", request: "requests.RefineRequest") -> "Refinement":
    """Return the learnings of `tasks` (of all without) that an agent should reword."""
    from roamkb.curation.refine import refine

    return refine(
        context.log_to_read().read_contents().replay_state(),
        (request.tasks,) if isinstance(request.tasks, str) else tuple(request.tasks),
    )


def explain(context: "ProjectContext", request: "requests.ExplainRequest") -> "Explanation":
    """Return the whole life of one learning, by key or id, up to a day where one is given.

    Raises:
        NoLog, NotFound, Ambiguous.
    """
    from roamkb.log.explain import explain

    log = context.log_to_read()
    state = log.read_contents().replay_state(as_of=context.parse_moment("--as-of", request.as_of))
    return explain(log, state, request.key, doubts_of=noise_finder(log), now=context.make_author().ts)


def pin(context: "ProjectContext", request: "requests.PinRequest") -> "MarkedLearning":
    """Exempt a learning from decay; with `off`, no longer.

    Raises:
        NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
    """
    from roamkb.log.pin import pin

    return pin(
        context.log_to_write(f"pin {request.key}"),
        request.key,
        context.make_author(agent=request.agent, session=request.session),
        off=request.off,
    )


def override(context: "ProjectContext", request: "requests.OverrideRequest") -> "MarkedLearning":
    """Set a learning's confidence, 0.00 to 1.00, for good; only a human at a terminal can.

    Raises:
        UsageError, NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
    """
    from roamkb.log.pin import override
    from roamkb.log.state.confidence import parse_hundredths

    value = parse_hundredths(request.confidence)
    return override(
        context.log_to_write(f"override {request.key}"),
        request.key,
        0 if value is None else value,
        context.make_author(agent=request.agent, session=request.session),
        operator=context.environment.login,
        human=context.human_at_terminal,
    )


def export(context: "ProjectContext", request: "requests.ExportRequest") -> "LearningExport":
    """Return every learning with its present state, or that of a day; with `all`, the archive's as well."""
    from roamkb.log.export import export

    state = context.log_to_read().read_contents().replay_state(as_of=context.parse_moment("--as-of", request.as_of))
    return export(state, archived=request.all)


def decision_signature(
    context: "ProjectContext", reason: str | None, *, agent: str | None, session: str | None
) -> "CurationSignature":
    """Return what signs a decision about learnings."""
    from roamkb.curation.curate import CurationSignature

    return CurationSignature(
        hand=context.make_author(agent=agent, session=session),
        operator=context.environment.login,
        reason=reason or "",
    )
