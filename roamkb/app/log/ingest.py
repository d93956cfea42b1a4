"""Import of other tools' notes on the project into its log."""

from pathlib import Path

from roamkb.app.log.project_context import ProjectContext
from roamkb.boundary import policy
from roamkb.boundary.store import folder_evidence
from roamkb.boundary.store import knowledge_bases
from roamkb.core import model
from roamkb.core.errors import BadRule
from roamkb.core.errors import UsageError
from roamkb.core.text import one_line
from roamkb.kb.notes.file_names import require_name
from roamkb.pipeline.ingest import ingest as pipeline_ingest
from roamkb.pipeline.store import sources


def ingest(context: ProjectContext, request: "pipeline_ingest.IngestRequest") -> "pipeline_ingest.IngestResult":
    """Import the notes that another tool keeps for the project into its log; a second call adds nothing.

    With `memory`, what a harness remembers of the project, or what lies in `folder`; without
    `yes` it is only looked at.

    Raises:
        Refused: the source is a work project's, or says so itself, and this is another's log; this
            comes first.
        NoLog: the project has none. NotFound: the file that was named isn't there.
        UsageError, DiskError, Busy: nothing more was written. NotDurable: it was, perhaps.
    """
    if not request.memory and (request.folder is not None or request.yes):
        raise UsageError("a folder and --yes go with --memory", hint="roamkb ingest --file FILE")
    if request.memory and request.file is not None:
        raise UsageError("--memory takes a folder", hint="roamkb ingest --memory [DIR]")
    folder_found = _memory_folder(context, request.folder) if request.memory else None
    paths = ((folder_found,) if folder_found else ()) if request.memory else ingest_sources(context, request.file)
    kinds = [require_source(context, path) for path in paths]
    if not request.memory:
        for path in paths:
            if request.file is None:
                _require_own_tree(context, path)
            policy.require_no_work(pipeline_ingest.kinds_in_lines(path), context.log_project, fact=f"what {path} says")
    log = context.log_to_write(f"what {paths[0] if paths else 'another tool'} says")
    is_dry_run = request.dry_run or (request.memory and not request.yes)
    if not paths:
        return pipeline_ingest.IngestResult(file=None, is_dry_run=is_dry_run)
    return pipeline_ingest.ingest(
        log,
        pipeline_ingest.memory_lines(paths[0]) if request.memory else pipeline_ingest.knowledge_lines(*paths),
        context.make_author(),
        files=paths,
        kind=min(kinds, key=list(model.ProjectKind).index),
        dry_run=is_dry_run,
        preview=request.memory,
    )


def ingest_sources(context: ProjectContext, file: str | None) -> tuple[Path, ...]:
    """Return the files to take in: `file`, or the ones that are usual in this project."""
    file = None if file is None else require_name(file, "the file")
    return sources.find_sources(
        context.project_root, file=file, environment=context.environment.variables, base=context.current_folder
    )


def _require_own_tree(context: ProjectContext, path: Path) -> None:
    """Raise where an implicitly found file is another project's: this log may be read by anyone."""
    if sources.leads_outside(path, context.project_root, environment=context.environment.variables):
        raise UsageError(
            f"{one_line(str(path))} leads out of the project; nothing was read",
            hint="a link or a setting of the repository says so: if you want it, name it with --file",
        )


def _memory_folder(context: ProjectContext, folder: str | None) -> Path | None:
    if folder is None:
        return sources.find_memory(context.environment.home, context.project_root)
    return context.current_folder / require_name(folder, "the folder")


def require_source(context: ProjectContext, path: Path) -> "model.ProjectKind":
    """Return the kind of the project that owns `path`, where its text may enter this log.

    Raises:
        Refused: it is another's, and work. UsageError: it is the log itself, or in the knowledge base.
    """
    rule = context.kb.find_rule()
    source = sources.owning_project(path, rule, context.checkout_project)
    is_inside = sources.shares_tree(path, source, context.checkout_project, rule)
    policy.require_own_tree(source, context.log_project, is_inside=is_inside, fact=f"what {path} says")
    if path.is_dir() and not isinstance(rule, BadRule) and (below := folder_evidence.find_work_below(path, rule)):
        raise UsageError(f"{one_line(below)}; nothing was read", hint="name the folder of the memory itself")
    if folder_evidence.lies_within(path, context.project_root / ".roamkb"):
        raise UsageError(f"{one_line(str(path))} is of the log itself", hint="name another tool's file")
    if knowledge_bases.lies_in_notes(path, rule):
        raise UsageError(
            f"{one_line(str(path))} lies in the knowledge base, whose notes are no log",
            hint="agents find them there by `roamkb recall WORDS --kb`",
        )
    return source.kind
