"""What a human lets into the files that every session starts with, and takes out again (D10, D15, D19)."""

from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.app.log.curation import decision_signature
from roamkb.app.log.curation import find_editor
from roamkb.app.log.curation import review_curation
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import shown
from roamkb.core.text import texts_of
from roamkb.kb.notes.file_names import require_name

if TYPE_CHECKING:
    from roamkb.app import requests
    from roamkb.app.log.project_context import ProjectContext
    from roamkb.curation.curate import CurationProposal
    from roamkb.instructions.approve import DecidedProposals
    from roamkb.instructions.propose import ProposeResult
    from roamkb.instructions.queue import ReviewQueue
    from roamkb.instructions.rollback import RolledBack


def propose_lines(context: "ProjectContext", request: "requests.PromoteRequest", to: str) -> "ProposeResult":
    """Propose learnings as lines of the file `to`; without any, return what could be proposed.

    Raises:
        UsageError, NotFound: no such file in the project, or no such section. Ambiguous, NoLog, Refused.
    """
    from roamkb.instructions import propose as proposing
    from roamkb.instructions.store.instruction_files import find_rule_file
    from roamkb.log.known_learnings import called

    require_name(to, "the file")
    log, hand = context.log_to_write(f"a line for {to}"), context.author(session=request.session)
    # a name without a folder is the project's, wherever the session stands in it
    path = Path(to) if Path(to).is_absolute() else _nearest_file(context, log.root, to)
    _require_own(context, path)
    place = proposing.place_in(
        log, find_rule_file(log.root, path), request.section or "", kind=context.project.kind
    )
    state = log.read().state(as_of=context.moment("--as-of", request.as_of))
    found = proposing.rule_candidates(state, place)
    if not request.keys and not request.all:
        return proposing.ProposeResult(
            place=place, candidates=tuple(found), waiting=proposing.waiting(state, place)
        )
    wanted = found if request.all else [called(log, state, key) for key in texts_of(request.keys)]
    return proposing.propose(log, wanted, place, hand, dry_run=request.dry_run)


def _nearest_file(context: "ProjectContext", root: Path, name: str) -> Path:
    """Return the file called `name` from here, or, where there is none, from the project's root."""
    return context.current_folder / name if (context.current_folder / name).exists() else root / name


def _require_own(context: "ProjectContext", path: Path) -> None:
    """Raise where a file is of another project that lies in this one."""
    from roamkb.boundary.classify import classify

    place = classify(
        path.parent, home=context.environment.home, account_home=context.environment.account_home
    )
    if path.exists() and place.root is not None and place.root != context.root:
        raise UsageError(
            f"{shown(str(path))} belongs to {shown(str(place.root))}", hint="promote it in that project"
        )


def review(
    context: "ProjectContext", request: "requests.ReviewRequest"
) -> "CurationProposal | ReviewQueue | DecidedProposals":
    """Return the lines that wait for a human; with `edit` let them decide in an editor.

    With `curate` the editor has what `curate` proposes. With `as_of`, the lines that waited at the end of
    that day, beside the files of today.

    Raises:
        UsageError, SecretFound, ChangedOnDisk: as `approve`, `reject` and `curate`.
    """
    from roamkb.instructions import queue as proposals

    if request.as_of is not None and (request.curate or request.edit):
        raise UsageError("--as-of is for the list", hint="nobody decides about what was")
    if request.curate:
        if request.all or request.edit:
            raise UsageError("--curate goes without --all and --edit")
        return review_curation(context, reason=request.reason, agent=request.agent, session=request.session)
    if not request.edit:
        at = context.moment("--as-of", request.as_of)
        found = proposals.queue(proposals.desk(context.log_to_read(), context.project.kind, as_of=at))
        return found if request.all else replace(found, settled=())
    from roamkb.instructions.review import review_rules

    signature = decision_signature(context, request.reason, agent=request.agent, session=request.session)
    log = context.log_to_write("a review")
    return review_rules(
        log, context.project.kind, signature, human=context.human, editor=find_editor(context)
    )


def approve(context: "ProjectContext", request: "requests.ApproveRequest") -> "DecidedProposals":
    """Put one proposed line, or all, into their files: just the change that `digest` names.

    Raises:
        UsageError: no human said yes at a terminal. ChangedOnDisk: it would be another change by now.
        NotFound, Ambiguous, NoLog, Refused. Nothing was changed in any case.
    """
    from roamkb.instructions.approve import approve

    if request.all == (request.id is not None):
        raise UsageError("approve what?", hint="roamkb approve ID, or --all; `roamkb review` lists them")
    if request.digest is None:
        raise UsageError(
            "approve which change? --digest is missing",
            hint="`roamkb review` shows each change with its digest, and the command that approves it",
        )
    log = context.log_to_write("an approval")
    return approve(
        log,
        context.project.kind,
        decision_signature(context, None, agent=None, session=None),
        request.id,
        request.digest,
        human=context.human,
    )


def reject(context: "ProjectContext", request: "requests.RejectRequest") -> "DecidedProposals":
    """Have a line never proposed again for that file; a human's act, as approving is.

    Raises:
        UsageError, SecretFound, NotFound, Ambiguous, NoLog, Refused: nothing was written.
    """
    from roamkb.instructions.approve import reject

    log = context.log_to_write("a rejection")
    return reject(
        log,
        context.project.kind,
        decision_signature(context, request.reason, agent=None, session=None),
        request.id,
        human=context.human,
    )


def rollback(context: "ProjectContext", request: "requests.RollbackRequest") -> "RolledBack":
    """Take an approved line out of its file again, and nothing else.

    Raises:
        UsageError: no human said yes at a terminal, or somebody changed the line.
        ChangedOnDisk, SecretFound, NotFound, Ambiguous, NoLog, Refused: nothing was changed.
    """
    from roamkb.instructions.rollback import rollback

    log = context.log_to_write("a rollback")
    return rollback(
        log,
        context.project.kind,
        decision_signature(context, request.reason, agent=None, session=None),
        request.id,
        human=context.human,
    )
