"""What is trusted on this machine, and by whom this project's log counts."""

from roamkb.app.log.project_context import ProjectContext
from roamkb.core.errors import NoLog
from roamkb.core.errors import UsageError
from roamkb.core.text import one_line
from roamkb.log.proof import approvers
from roamkb.log.store import project_log
from roamkb.log.trust import trust as log_trust


def trust(context: ProjectContext, request: "log_trust.TrustRequest") -> "log_trust.TrustReport":
    """List what is trusted; `add` or `remove` a log's digest or a public key, which only a human at a terminal can.

    Raises:
        UsageError, NotFound, DiskError, Busy: nothing was written.
    """
    action, text = request.action or "list", " ".join(request.names)
    account_home = context.environment.trust_home
    is_dated = request.until is not None
    if (action in ("add", "remove")) != bool(text) or (is_dated and (action != "add" or request.approver)):
        raise UsageError(
            f"that isn't how `trust {one_line(action)}` goes",
            hint="trust [list], trust add KEY|DIGEST [--until D], trust remove KEY|DIGEST; --approver: a security key",
        )
    log = _log_or_none(context)
    if request.approver and action in ("add", "remove"):
        change = approvers.add_approver if action == "add" else approvers.remove_approver
        change(
            account_home,
            text,
            folder=context.current_folder,
            now=context.environment.now(),
            human=context.human_at_terminal,
        )
        return log_trust.list_trust(log, account_home, done="added" if action == "add" else "removed")
    if action == "add":
        return log_trust.add_trust(log, account_home, text, until=request.until, human=context.human_at_terminal)
    if action == "remove":
        return log_trust.remove_trust(log, account_home, text, human=context.human_at_terminal)
    if action != "list":
        raise UsageError(f"no action {one_line(action)}", hint="list, add or remove")
    return log_trust.list_trust(log, account_home)


def _log_or_none(context: ProjectContext) -> "project_log.Log | None":
    try:
        return context.unchecked_log()
    except NoLog:
        return None
