"""Leave to install: no session at work loosens the rule, and none writes to notes that it may not write to."""

from collections.abc import Collection
from collections.abc import Iterable
from pathlib import Path

from roamkb.boundary.policy import is_loosened
from roamkb.boundary.policy import require_permit
from roamkb.boundary.policy import strictest_project
from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.boundary.store.knowledge_bases import require_apart
from roamkb.boundary.store.knowledge_bases import select_kb
from roamkb.boundary.store.session_evidence import session_project
from roamkb.core.errors import BadRule
from roamkb.core.errors import UsageError
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallStep
from roamkb.install.plan import RegularFile
from roamkb.install.plan import RemoveEmptyFolder
from roamkb.install.plan import RemovePath
from roamkb.install.plan import SymbolicLink
from roamkb.install.rule_steps import rule_path
from roamkb.install.store.apply import read_path_state
from roamkb.install.store.apply import real_path

KB_STEP = "knowledge base"
FIRST_NOTE_STEP = "first note"


def require_install_permit(
    command_name: str,
    steps: Iterable[InstallStep],
    *,
    rule: Rule | None,
    home: Path,
    account_home: Path,
    session: CallOrigin,
) -> None:
    """Raise `Refused` where this session may not take `steps`, after which `rule` applies.

    The rule that counts now decides, or the one to be where there is none. A session at
    work changes nothing about it but to deny more; and what lies in a knowledge base is
    touched from personal sessions only, but for its first note before anybody said what
    is personal.
    """
    rule_in_force = find_rule(home, account_home=account_home)
    account_rule = find_rule(account_home, account_home=account_home)
    written_rule = rule_in_force if isinstance(rule_in_force, Rule) else _parse_unused_rule(home)
    deciding_rule = next(
        (candidate for candidate in (rule_in_force, account_rule, rule) if isinstance(candidate, Rule)), rule_in_force
    )
    project = strictest_project(
        session_project(session, candidate) for candidate in (deciding_rule, written_rule) if candidate
    )
    changes = tuple(step for step in steps if step.path and step.change)
    candidates = [candidate for candidate in (written_rule, account_rule, rule) if isinstance(candidate, Rule)]
    known_names = {other.name for other in written_rule.others} if written_rule else set()
    _require_named_permits(command_name, changes, candidates, session, known_names=known_names)
    if project.kind is ProjectKind.PERSONAL:
        return
    rule_file = rule_path(home)
    # it may be a link
    rule_files = (rule_file, real_path(rule_file))
    if (
        project.kind is ProjectKind.WORK
        and written_rule
        and any(step.path in rule_files for step in changes)
        and (rule is None or is_loosened(rule, written_rule))
    ):
        hint = f"only your human changes what is denied: outside of work, or in {rule_file}"
        require_permit(replace(project, hint=hint), f"{command_name}, which would change the rule", kb=written_rule.kb)
    if project.kind is ProjectKind.WORK and any(step.is_loosening for step in changes):
        kb = next(candidate.kb for candidate in (written_rule, deciding_rule) if isinstance(candidate, Rule))
        hint = "only your human changes what keeps agents in bounds: outside of work, or by hand"
        require_permit(replace(project, hint=hint), f"{command_name}, which would change hooks", kb=kb)
    kbs = {candidate.kb for candidate in candidates}
    is_new = written_rule is None or isinstance(read_path_state(rule_file), SymbolicLink)
    for step in changes:
        is_free = project.kind is not ProjectKind.WORK and _touches_no_note(step, is_new=is_new)
        if step.path and step.path != rule_file and not is_free:
            for kb in kbs:
                if lies_within(step.path, kb):
                    require_permit(project, f"{command_name} {step.what} {step.path}", kb=kb)


def require_fit(rule: Rule, wishes: InstallOptions) -> None:
    """Raise `UsageError` where the rule to be would be malformed by the folders that it names."""
    try:
        require_apart(rule)
    except BadRule as error:
        raise UsageError(f"the rule to be {error.why}; nothing was changed", hint="name other folders") from error
    folder = wishes.named_kb.folder if wishes.named_kb else None
    if folder and classify_folder(folder, rule).kind is ProjectKind.WORK:
        raise UsageError(f"{folder} is under a work root, and work's notes are work's; nothing was changed")


def _require_named_permits(
    command_name: str,
    changes: Iterable[InstallStep],
    rules: Iterable[Rule],
    session: CallOrigin,
    *,
    known_names: Collection[str],
) -> None:
    """Raise `Refused` for a step in a knowledge base with a name, unless the session may write to that one.

    One that the rule didn't know yet only begins, which no project at work may do.
    """
    for rule, other in [(candidate, other) for candidate in rules for other in candidate.others]:
        for step in changes:
            if step.path and lies_within(step.path, other.folder):
                project = session_project(session, select_kb(rule, other.name))
                is_beginning = _touches_no_note(step, is_new=other.name not in known_names)
                if project.kind is ProjectKind.WORK or not is_beginning:
                    require_permit(project, f"{command_name} {step.what} {step.path}", kb=other.folder)


def _touches_no_note(step: InstallStep, *, is_new: bool) -> bool:
    """Say whether a step in the knowledge base only begins it, or takes back an untouched beginning."""
    # the first note is only removed while it is word for word as it was written
    is_beginning = step.what in (KB_STEP, FIRST_NOTE_STEP) and (is_new or isinstance(step.change, RemovePath))
    return is_beginning or isinstance(step.change, RemoveEmptyFolder)


def _parse_unused_rule(home: Path) -> Rule | None:
    """Return the rule that is present but not in force because others may write to it."""
    rule_file = rule_path(home)
    try:
        path_state = read_path_state(rule_file)
        data = path_state.data if isinstance(path_state, RegularFile | SymbolicLink) else None
        return parse_rule(data.decode("utf-8-sig"), source=rule_file, home=home) if data else None
    except (BadRule, UnicodeDecodeError):
        return None
