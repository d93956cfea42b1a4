"""What is trusted on this machine, and by whom this project's log counts."""

from roamkb.app.log import project_context
from roamkb.core.errors import NoLog
from roamkb.core.errors import UsageError
from roamkb.core.text import one_line
from roamkb.log.store import project_log
from roamkb.log.trust import trust as log_trust


def trust(context: "project_context.ProjectContext", request: "log_trust.TrustRequest") -> "log_trust.TrustReport":
    """List what is trusted; `add` or `remove` a log's digest or a public key, which only a human at a terminal can.

    Raises:
        UsageError, NotFound, DiskError, Busy: nothing was written.
    """
    action, text = request.action or "list", " ".join(request.names)
    account_home = context.environment.trust_home
    if (action in ("add", "remove")) != bool(text) or (request.until is not None and action != "add"):
        raise UsageError(
            f"that isn't how `trust {one_line(action)}` goes",
            hint="trust [list], trust add KEY|DIGEST [--until D], or trust remove KEY|DIGEST",
        )
    log = _log_or_none(context)
    if action == "add":
        return log_trust.add_trust(log, account_home, text, until=request.until, human=context.human_at_terminal)
    if action == "remove":
        return log_trust.remove_trust(log, account_home, text, human=context.human_at_terminal)
    if action != "list":
        raise UsageError(f"no action {one_line(action)}", hint="list, add or remove")
    return log_trust.list_trust(log, account_home)


def _log_or_none(context: "project_context.ProjectContext") -> "project_log.Log | None":
    try:
        return context.unchecked_log()
    except NoLog:
        return None
