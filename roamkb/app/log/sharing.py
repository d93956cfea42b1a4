"""A project's log for other tasks, projects, days and machines: templates, bundles, snapshots, the shared log."""

from os.path import expanduser  # Path's raises where there is no such user
from pathlib import Path

from roamkb.app.log.ingest import require_source
from roamkb.app.log.project_context import ProjectContext
from roamkb.boundary import policy
from roamkb.boundary.store import folder_evidence
from roamkb.boundary.store import knowledge_bases
from roamkb.core.errors import BadRule
from roamkb.core.errors import NoLog
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.core.model import EVERY_KB
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import as_text_tuple
from roamkb.core.text import one_line
from roamkb.kb.notes.file_names import require_name
from roamkb.log import learning
from roamkb.log.share import share as log_share
from roamkb.log.share.store import settings as share_settings
from roamkb.log.store import project_log
from roamkb.sharing import bundle as sharing_bundle
from roamkb.sharing import forget as sharing_forget
from roamkb.sharing import snapshot as sharing_snapshot
from roamkb.sharing import template as sharing_template

#: libpq's own, in the user's home.
_SERVICE_FILE = ".pg_service.conf"


def bundle(
    context: ProjectContext, request: "sharing_bundle.BundleRequest"
) -> "sharing_bundle.CreatedBundle | sharing_bundle.OpenedBundle | sharing_bundle.ImportResult":
    """Write learnings to the new file FILE (`create`), show the bundle in it, or `import` it.

    `create` takes the verified ones, with `all` those that nobody verified too; `import`
    without `yes` only says what it would do.

    Raises:
        Refused: it would take work out of its tree. NoLog: the project has none.
        UsageError, NotFound, DiskError, Busy: nothing was written. NotDurable: it was, perhaps.
    """
    path = context.current_folder / expanduser(require_name(request.file, "the file"))
    if request.action == "create" and not request.yes:
        # what is judged is what is written: a link in the tree may lead out of it
        path = folder_evidence.real_path_of_new(path)
        chosen = sharing_bundle.BundleFilter(
            unverified=request.all,
            type=learning.canonical_type(request.type) if request.type else "",
            tags=(request.tags,) if isinstance(request.tags, str) else tuple(request.tags),
        )
        return sharing_bundle.create_bundle(
            context.log_to_read(),
            path,
            chosen,
            kind=min(context.session_project().kind, context.log_project.kind, key=list(ProjectKind).index),
            now=context.make_author().ts,
            check_location=lambda path, kind: _require_bundle_place(context, path, kind),
        )
    if (
        request.all
        or request.type is not None
        or request.tags
        or request.action not in ("show", "import")
        or (request.yes and request.action == "show")
    ):
        raise UsageError(
            f"that isn't how `bundle {one_line(request.action)}` goes",
            hint="bundle create FILE [--all] [--type T] [--tag T], bundle show FILE, or bundle import FILE [--yes]",
        )
    if request.action == "show":
        return sharing_bundle.open_bundle(path)

    require_source(context, path)
    opened = sharing_bundle.open_bundle(path)
    policy.require_no_work(opened.project_kinds, context.log_project, fact=f"what {path} says")
    log = context.log_to_write(f"what {path} says")
    return sharing_bundle.import_bundle(log, opened, context.make_author(), yes=request.yes)


def template(
    context: ProjectContext, request: "sharing_template.TemplateRequest"
) -> "sharing_template.TemplateList | sharing_template.TemplateShown":
    """Make a template of verified learnings, look at them, or put one into the scope of a task.

    `action` is create, list, show, use, update or deprecate; `all` lists the deprecated too; `as_of` is
    for list and show.

    Raises:
        NoLog, Refused: as `learn` does.
        UsageError, NotFound, Ambiguous, SecretFound, DiskError: nothing was written.
        NotDurable: it was written, and the disk would not promise to keep it.
    """
    template_scope = sharing_template.TemplateScope(
        name=request.name or "",
        task_types=(request.task_types,) if isinstance(request.task_types, str) else tuple(request.task_types),
        from_task=request.from_task or "",
        learnings=(request.learnings,) if isinstance(request.learnings, str) else tuple(request.learnings),
        reason=request.reason or "",
    )
    as_of = context.parse_moment("--as-of", request.as_of)
    if as_of is not None and request.action not in ("list", "show"):
        raise UsageError("--as-of is for `template list` and `template show`")
    if request.action == "list" and request.name is None:
        state = context.log_to_read().read_contents().replay_state(as_of=as_of)
        return sharing_template.list_templates(state, task_types=template_scope.task_types, deprecated=request.all)
    if (
        request.name is None
        or request.action not in (*sharing_template.WRITING_ACTIONS, "show", "use")
        or (request.action == "use") != (request.task is not None)
    ):
        raise UsageError(
            f"that isn't how `template {one_line(request.action)}` goes",
            hint="template create NAME --task-type T --from-task ID, list, show NAME, "
            "use NAME --task ID, update NAME, or deprecate NAME",
        )
    if request.action == "show":
        return sharing_template.show_template(
            context.log_to_read().read_contents().replay_state(as_of=as_of), request.name
        )
    log, author = context.log_to_write(f"template {request.name}"), context.make_author()
    if request.task is not None:
        return sharing_template.use_template(log, request.name, author, task=request.task)
    return sharing_template.WRITING_ACTIONS[request.action](log, template_scope, author)


def snapshot(
    context: ProjectContext, request: "sharing_snapshot.SnapshotRequest"
) -> "sharing_snapshot.SnapshotsTaken | sharing_snapshot.SnapshotList | sharing_snapshot.RecoverResult":
    """Take a snapshot of the log and, in a personal project, of agents' notes; `list` or `restore` them.

    With `kb` it is about the agents' notes of one knowledge base alone; `all` takes the log and each.

    `daily` makes none where there is one of today; `restore` without `yes` only says what is lost.

    Raises:
        NoLog: there is nothing here to keep. Refused: the project may not write to the one that was named.
        UsageError, NotFound, DiskError, Busy: nothing was done.
        NotDurable: it was, and the disk would not promise to keep it.
    """
    if (
        request.action not in (None, "list", "restore")
        or (request.name is not None and request.action != "restore")
        or (request.yes and request.action != "restore")
        or (request.daily and request.action is not None)
    ):
        raise UsageError(
            f"that isn't how `{one_line(f'snapshot {request.action or str()}').strip()}` goes",
            hint="snapshot [--daily], snapshot list, or snapshot restore [ID] [--yes]",
        )
    if request.kb == EVERY_KB and request.action == "restore":
        raise UsageError("--kb all makes and lists snapshots", hint="restore one of them: --kb NAME")
    kbs, skipped = _snapshot_sources(context, request.kb, f"snapshot {request.action or ''}".strip())
    is_about_log = request.kb in (None, EVERY_KB)
    log = _log_or_none(context, request.action) if is_about_log else None
    if log is None and not kbs:
        raise NoLog(context.project_root)
    if request.action == "list":
        return sharing_snapshot.list_snapshots(log, kbs)
    if request.action == "restore":
        return sharing_snapshot.restore_snapshot(log, next(iter(kbs), None), request.name, yes=request.yes)
    taken = sharing_snapshot.take_snapshot(log, kbs, now=context.environment.now(), daily=request.daily)
    return replace(taken, skipped=(*taken.skipped, *skipped))


def _snapshot_sources(
    context: ProjectContext, kb_name: str | None, fact: str
) -> "tuple[list[sharing_snapshot.KbSnapshotSource], list[tuple[str, str]]]":
    """Return the knowledge bases that a snapshot is about; of all, those that may be kept, and why the others aren't.

    Raises:
        Refused: the project may not write to the one that was named.
    """
    if kb_name is None:
        source = context.kb.find_snapshot_source(fact)
        return [source] if source else [], []
    if kb_name != EVERY_KB:
        return [context.kb.of_kb(kb_name).get_snapshot_source(fact)], []
    sources, skipped = [], []
    try:
        names = context.kb.kb_names
    except BadRule as error:
        return [], [("kb", error.message)]
    for name in names:
        kb = context.kb.of_kb(name)
        try:
            sources.append(kb.get_snapshot_source(fact))
        except (Refused, UsageError) as error:
            skipped.append((f"kb/{name}" if kb.is_named else "kb", error.message))
    return sources, skipped


def forget(context: ProjectContext, request: "sharing_forget.ForgetRequest") -> "sharing_forget.ForgetResult":
    """Take a learning out of the log for good; only a human at a terminal can. `dry_run` lists where it is.

    Raises:
        UsageError, NoLog, Refused, NotFound, Ambiguous: nothing was written.
        DiskError, ChangedOnDisk, NotDurable: some of it was done; called again, it goes on.
    """
    return sharing_forget.forget(
        context.log_to_read() if request.dry_run else context.log_to_write(f"forget {request.key}"),
        request.key,
        context.make_author(),
        operator=context.environment.login,
        human=context.human_at_terminal,
        dry_run=request.dry_run,
    )


def _log_or_none(context: ProjectContext, action: str | None) -> "project_log.Log | None":
    """Return the log that snapshots are about; what is lost of it is in the way of new ones alone."""
    try:
        if action is None:
            return context.log_to_write("a snapshot")
        log = context.log_to_restore()
    except NoLog:
        return None
    if action == "restore":
        policy.require_as_strict(context.session_project(), context.log_project, "a snapshot")
    return log


def _require_bundle_place(context: ProjectContext, path: Path, kind: ProjectKind) -> None:
    """Raise where a bundle of that kind may not lie at `path`.

    Raises:
        Refused: it would take out of the tree what isn't a personal project's.
        UsageError: it would lie in the log itself, or in the knowledge base.
    """
    strictest_project = min(
        context.session_project(), context.log_project, key=lambda project: list(ProjectKind).index(project.kind)
    )
    is_inside = folder_evidence.lies_within(path, context.project_root)
    policy.require_in_tree(strictest_project, kind, is_inside=is_inside, fact="a bundle of its log", place=path)
    rule = context.kb.find_rule()
    if knowledge_bases.lies_in_notes(path, rule):
        raise UsageError("a bundle is no note of the knowledge base", hint="name another folder")
    if folder_evidence.lies_within(path, context.project_root / ".roamkb"):
        raise UsageError("a bundle is no file of the log itself", hint="name another folder")


def share(context: ProjectContext, request: "log_share.ShareRequest") -> "log_share.ShareReport":
    """Say how the log is shared; share it by `service`, which only a human at a terminal can, or end that.

    `migrate` prints SQL for the service's administrator.

    Raises:
        NoLog: the project has none. ServiceAway, NotShared: it can't be shared as things stand.
        UsageError, DiskError, Busy: nothing was changed.
    """
    action = request.action or ("on" if request.service else "status")
    if (action == "on") != bool(request.service) or (bool(request.members) and action != "migrate"):
        raise UsageError(
            f"that isn't how `share {one_line(action)}` goes",
            hint="share --service NAME [--class C] [--name P], share [status], share off, or "
            "share migrate [--class C] [--name P] [--member ROLE]",
        )
    if request.kind not in (None, ProjectKind.PERSONAL.value, ProjectKind.WORK.value):
        raise UsageError(f"no class {one_line(request.kind)}", hint="personal or work")
    log = context.log_to_read()
    project = policy.strictest_project((context.session_project(), context.checkout_project, context.log_project))
    match action:
        case "on":
            human = context.human_at_terminal
            log_share.share_by_service(
                log, request, project, service_file=context.environment.home / _SERVICE_FILE, human=human
            )
            log.sync_soon()
        case "off":
            share_settings.drop_settings(log.shared_settings)
        case "migrate":
            return _migration(request, project.kind, log.home.name)
        case "status":
            log.sync_soon()
        case _:
            raise UsageError(f"no action {one_line(action)}", hint=", ".join(log_share.ACTIONS))
    return log_share.share_status(log, done=action)


def _migration(request: "log_share.ShareRequest", kind: ProjectKind, folder: str) -> "log_share.ShareReport":
    if request.kind is None and kind is ProjectKind.UNKNOWN:
        raise UsageError("this project is neither work nor personal", hint="say --class personal or --class work")
    kind = ProjectKind(request.kind) if request.kind else kind
    project = log_share.require_plain_name(request.name or folder, "--name")
    members = [log_share.require_plain_name(role, "--member") for role in as_text_tuple(request.members)]
    sql = log_share.migration_sql(kind, project, members)
    return log_share.ShareReport(done="migrate", kind=kind.value, project=project, sql=sql)
