"""Creation of a project's log."""

from typing import TYPE_CHECKING

from roamkb.core.errors import BadRule

if TYPE_CHECKING:
    from roamkb.app import requests
    from roamkb.app.log.project_context import ProjectContext
    from roamkb.log.init import InitialisedLog


def init(context: "ProjectContext", request: "requests.InitRequest") -> "InitialisedLog":
    """Make the project's log; a second call changes nothing.

    What came with the project counts once a human at the terminal takes it, or said `yes`.

    Raises:
        UsageError: no log can be kept there, or nobody took the one that came with the project.
    """
    from roamkb.boundary.store.folder_evidence import find_rule
    from roamkb.log.init import init

    rule = find_rule(context.environment.home, account_home=context.environment.account_home)
    kb = None if isinstance(rule, BadRule) else rule.kb
    state = context.kb.state_folders
    if kb is not None:
        # who syncs the knowledge base would sync the machine's secret
        state.lock_file(kb)
    return init(
        context.project_root,
        home=context.environment.home,
        kb=kb,
        state=state.state,
        untracked=request.untracked,
        yes=request.yes,
        led_by=context.agent_suspicion,
        ask=context.ask,
    )
