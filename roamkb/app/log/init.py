"""Creation of a project's log."""

from roamkb.app.log.project_context import ProjectContext
from roamkb.core.errors import BadRule
from roamkb.log import init as log_init


def init(context: ProjectContext, request: "log_init.InitRequest") -> "log_init.InitialisedLog":
    """Make the project's log; a second call changes nothing.

    What came with the project counts once a human at the terminal takes it, or said `yes`.

    Raises:
        UsageError: no log can be kept there, or nobody took the one that came with the project.
    """
    rule = context.kb.find_rule()
    kbs = () if isinstance(rule, BadRule) else rule.all_folders
    # who syncs a knowledge base would sync the machine's secret
    context.kb.state_folders.require_apart(kbs)
    return log_init.init(
        context.unchecked_log(),
        home=context.environment.home,
        kbs=kbs,
        untracked=request.untracked,
        yes=request.yes,
        led_by=context.agent_suspicion,
        ask=context.ask,
    )
