"""Checks of `doctor` for what proves a human's yes: approver keys, and the approvals that a log records (D27)."""

from typing import Final

from roamkb.core.model import Rule
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.install.checks.doctor_report import build_check
from roamkb.install.checks.doctor_report import join_first
from roamkb.install.store.machine import DoctorContext
from roamkb.instructions.unproven_lines import find_lapsed_lines
from roamkb.instructions.unproven_lines import find_unproven_lines
from roamkb.log.proof.store.approver_keys import Approvers
from roamkb.log.state.learning_state import UNPROVEN
from roamkb.log.store.project_log import Log

_KEYS_FIX: Final = "`roamkb trust list` shows the keys that count, and `roamkb trust add --approver FILE` adds one"
_LINES_FIX: Final = (
    "look at each: what you want to stay, take out and let an agent propose (`roamkb promote KEY --to FILE`), so that "
    "you can approve it; take out the rest"
)
_LAPSED_FIX: Final = "`roamkb rollback ID` takes out a line whose learning doesn't hold any more, and so does an editor"
_EVENTS_FIX: Final = (
    "nothing follows from such an event; where you signed it on another machine, add that key here, "
    "and where the project's folder has another name by now, sign again"
)


def check_approvers(context: DoctorContext) -> DoctorCheck:
    """Check the list of approver keys, and say since when the first is trusted."""
    approvers = Approvers(context.account_home)
    faults = [one_line(fault) for fault in approvers.faults]
    if isinstance(context.rule, Rule) and context.rule.must_sign and not approvers.keys:
        faults.append("the rule demands a signed yes, and no key counts")
    if not approvers.keys:
        return build_check(
            faults,
            fine="no security key: your yes is a word that you type, which proves nothing of who typed it",
            fix=_KEYS_FIX,
        )
    since = f"root's, {one_line(str(approvers.source))}"
    if approvers.first_use:
        since = f"the first trusted on {one_line(approvers.first_use)} because it was the first"
    fine = f"{count_phrase(len(approvers.keys), 'key')}, {since}"
    return build_check(faults, fine=fine, fix=_KEYS_FIX)


def check_approvals(context: DoctorContext, log: Log) -> DoctorCheck:
    """Check that a human's yes stands for each line that rule files tell agents, and for each event that says so."""
    state = log.read_contents().replay_state()
    must_sign = not isinstance(context.rule, Rule) or context.rule.must_sign
    lines = find_unproven_lines(log, state, must_sign=must_sign)
    unproven = state.events_named(UNPROVEN)
    faults = [f"{one_line(line.target)}: “{one_line(line.text)}” ({line.reason})" for line in lines]
    lapsed = find_lapsed_lines(log, state)
    faults += [f"{one_line(line.target)}: “{one_line(line.text)}” ({line.reason}; `{line.command}`)" for line in lapsed]
    faults = [join_first(faults)] if faults else []
    if unproven:
        faults.append(f"{count_phrase(len(unproven), 'event')} with a signature that can't be verified")
    fixes = [fix for fix, needed in ((_LINES_FIX, lines), (_LAPSED_FIX, lapsed), (_EVENTS_FIX, unproven)) if needed]
    return build_check(faults, fine="each line in a rule file has a human's yes", fix="; ".join(fixes))
