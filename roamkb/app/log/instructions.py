"""Instructions for every session that a human approves, and can roll back (D10, D15, D19)."""

from pathlib import Path

from roamkb.app.log.curation import editor_command
from roamkb.app.log.curation import review_curation
from roamkb.app.log.project_context import ProjectContext
from roamkb.boundary import classify
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import as_text_tuple
from roamkb.core.text import one_line
from roamkb.curation import curate
from roamkb.instructions import approve as instructions_approve
from roamkb.instructions import propose
from roamkb.instructions import queue
from roamkb.instructions import review as instructions_review
from roamkb.instructions.store import instruction_files
from roamkb.kb.notes.file_names import require_name
from roamkb.log import known_learnings
from roamkb.pipeline import promote


def propose_lines(
    context: ProjectContext, request: "promote.PromoteRequest", target_file: str
) -> "propose.ProposeResult":
    """Propose learnings as lines of the file `target_file`; without any, return the candidates.

    Raises:
        UsageError, NotFound: no such file in the project, or no such section. Ambiguous, NoLog, Refused.
    """
    require_name(target_file, "the file")
    log, author = context.log_to_write(f"a line for {target_file}"), context.make_author(session=request.session)
    # a name without a folder is the project's, wherever the session stands in it
    path = Path(target_file) if Path(target_file).is_absolute() else _nearest_file(context, log.root, target_file)
    _require_own_file(context, path)
    place = propose.find_instruction_place(
        log,
        instruction_files.find_instruction_file(log.root, path),
        request.section or "",
        kind=context.log_project.kind,
    )
    state = log.read_contents().replay_state(as_of=context.parse_moment("--as-of", request.as_of))
    candidates = propose.list_candidates(state, place)
    if not request.keys and not request.all:
        return propose.ProposeResult(
            place=place, candidates=tuple(candidates), waiting=propose.count_waiting(state, place)
        )
    chosen = (
        candidates
        if request.all
        else [known_learnings.get_learning(log, state, key) for key in as_text_tuple(request.keys)]
    )
    return propose.propose_instructions(log, chosen, place, author, dry_run=request.dry_run)


def _nearest_file(context: ProjectContext, root: Path, name: str) -> Path:
    """Return the path of the file `name` from here, or, where there is none, from the project's root."""
    return context.current_folder / name if (context.current_folder / name).exists() else root / name


def _require_own_file(context: ProjectContext, path: Path) -> None:
    """Raise where a file belongs to another project that lies in this one."""
    place = classify.classify(path.parent, home=context.environment.home, account_home=context.environment.account_home)
    if path.exists() and place.root is not None and place.root != context.project_root:
        raise UsageError(
            f"{one_line(str(path))} belongs to {one_line(str(place.root))}", hint="promote it in that project"
        )


def review(
    context: ProjectContext, request: "instructions_review.ReviewRequest"
) -> "curate.CurationProposal | queue.ReviewQueue | instructions_approve.DecidedProposals":
    """Return the proposed lines; with `edit` open them in an editor, in which a human decides.

    With `curate` the editor has what `curate` proposes. With `as_of`, the lines that waited at the end of
    that day, beside the files of today.

    Raises:
        UsageError, SecretFound, ChangedOnDisk: as `approve`, `reject` and `curate`.
    """
    if request.as_of is not None and (request.curate or request.edit):
        raise UsageError("--as-of is for the list", hint="nobody decides about what was")
    if request.curate:
        if request.all or request.edit:
            raise UsageError("--curate goes without --all and --edit")
        return review_curation(context, request)
    if not request.edit:
        as_of = context.parse_moment("--as-of", request.as_of)
        review_queue = queue.build_review_queue(
            queue.read_approval_context(context.log_to_read(), context.log_project.kind, as_of=as_of)
        )
        return review_queue if request.all else replace(review_queue, settled=())

    signature = curate.sign_decision(context, request.reason, request)
    log = context.log_to_write("a review")
    return instructions_review.review_proposals(
        log, context.log_project.kind, signature, human=context.human_at_terminal, editor=editor_command(context)
    )
