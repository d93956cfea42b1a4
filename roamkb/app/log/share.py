"""A project's log shared with other machines, under the boundary."""

from roamkb.app.log import project_context
from roamkb.boundary import policy
from roamkb.core.errors import UsageError
from roamkb.core.model import ProjectKind
from roamkb.core.text import as_text_tuple
from roamkb.core.text import one_line
from roamkb.log.share import share as log_share
from roamkb.log.share.store import settings as share_settings

#: libpq's own, in the user's home.
_SERVICE_FILE = ".pg_service.conf"


def share(context: "project_context.ProjectContext", request: "log_share.ShareRequest") -> "log_share.ShareReport":
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
