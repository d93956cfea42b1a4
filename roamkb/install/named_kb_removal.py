"""Removal of a knowledge base with a name from the rule; its notes stay, and nothing protects them any more."""

from pathlib import Path

from roamkb.boundary.rule_copy import RuleCopy
from roamkb.boundary.rule_copy import render_own_copy
from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.rule_file import without_named_kb
from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.knowledge_bases import select_kb
from roamkb.core.errors import UsageError
from roamkb.core.model import DEFAULT_KB
from roamkb.install.install_permit import require_install_permit
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import PutFile
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import kept_step
from roamkb.install.plan import left_alone_step
from roamkb.install.rule_steps import own_copy
from roamkb.install.rule_steps import rule_path
from roamkb.install.store.apply import apply_steps
from roamkb.install.store.apply import read_path_state


def remove_named_kb(name: str, *, dry_run: bool, home: Path, account_home: Path, session: CallOrigin) -> InstallReport:
    """Take the blocks of the knowledge base `name` out of the user's own copy of the rule.

    Raises:
        UsageError: the rule names none like that. BadRule: it is broken. Refused: a session at work would do it.
    """
    rule_file = rule_path(home)
    path_state = read_path_state(rule_file)
    copy = own_copy(path_state)
    if copy is None:
        step = left_alone_step("rule", rule_file, "isn't a copy that install wrote; take the blocks out in an editor")
        return InstallReport(steps=(step,), dry_run=dry_run)
    rule = parse_rule(copy.text.decode(), source=rule_file, home=home)
    if name == DEFAULT_KB:
        raise UsageError("the rule keeps its knowledge base without a name", hint="roamkb uninstall")
    kb = select_kb(rule, name).kb
    text = without_named_kb(copy.text.decode(), name)
    data = render_own_copy(RuleCopy(text.encode(), pristine=copy.pristine))
    step = InstallStep(
        what="rule",
        path=rule_file,
        outcome=StepOutcome.REMOVED,
        why=f"the knowledge base {name}",
        change=PutFile(data=data, was=path_state),
        is_loosening=True,
    )
    steps = (
        step,
        kept_step("notes", kb, "yours, and what agents wrote there; nothing keeps agents from changing them"),
    )
    new_rule = parse_rule(text, source=rule_file, home=home)
    require_install_permit("uninstall", steps, rule=new_rule, home=home, account_home=account_home, session=session)
    if not dry_run:
        apply_steps(steps)
    return InstallReport(steps=steps, dry_run=dry_run, rule=new_rule)
