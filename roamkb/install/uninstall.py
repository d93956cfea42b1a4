"""Removal of what `install` made, a list of what remains, and a purge of roamkb's own files."""

import shlex
import sys
from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from roamkb.boundary.rule_copy import RuleCopy
from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.core.errors import BadRule
from roamkb.core.errors import Unanswered
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.fs.locks import TRASH
from roamkb.fs.locks import StateFolders
from roamkb.fs.package_manager import is_installed
from roamkb.fs.package_manager import uninstall_command
from roamkb.fs.user_dirs import CACHE_FOLDER
from roamkb.fs.user_dirs import JOURNAL
from roamkb.harnesses.registry import all_harnesses
from roamkb.install.checks.doctor_report import join_first
from roamkb.install.companion_files import companions_kept
from roamkb.install.companion_files import plan_uninstall
from roamkb.install.companion_files import project_folders
from roamkb.install.harness_settings import harness_removals
from roamkb.install.harness_settings import sessions_steps
from roamkb.install.install import InstallContext
from roamkb.install.install import requested_files
from roamkb.install.install_permit import require_install_permit
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import FolderOnDisk
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import PathState
from roamkb.install.plan import RemoveAll
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import kept_step
from roamkb.install.plan import left_alone_step
from roamkb.install.plan import removal_step
from roamkb.install.plan import unchanged_step
from roamkb.install.rule_steps import RULE_COPY_STEP
from roamkb.install.rule_steps import is_our_link
from roamkb.install.rule_steps import kb_spellings
from roamkb.install.rule_steps import own_copy
from roamkb.install.rule_steps import rule_copies_folder
from roamkb.install.rule_steps import rule_path
from roamkb.install.store.apply import apply_steps
from roamkb.install.store.apply import read_path_state
from roamkb.install.store.apply import real_path
from roamkb.install.store.apply import roamkb_names
from roamkb.install.wall_setup import LAUNCHER_STEP
from roamkb.install.wall_setup import WallSetup
from roamkb.kb.notes.store.trash import trashed_notes
from roamkb.kb.notes.store.walk import kb_fault
from roamkb.log.store.project_log import LOG_FOLDER as LOG_FOLDER

_PURGE_HINT = "`--purge` takes it"
#: The folders above a rule that hold nothing else, where nobody had them before.
_FOLDERS_OF_RULES = 2


def uninstall(wishes: InstallOptions, context: InstallContext) -> InstallReport:
    """Remove the rules, and the block and the snippets from the files that `wishes` name.

    The knowledge base stays, whoever made it; so does what somebody edited since, and what roamkb keeps for
    itself: a purge takes that. What stays is named. A human who can be asked is asked about an edited rule.

    Raises:
        Refused: a session at work would take away the rule, or one that isn't personal a file in the KB.
    """
    if wishes.agents_md:
        wishes = replace(wishes, agents_md=real_path(wishes.agents_md))
    steps = _all_rule_removals(wishes, context)
    steps += plan_uninstall(wishes, path_states={path: read_path_state(path) for path in requested_files(wishes)})
    # where nobody says where the knowledge base is, the rules about it can't be told from the user's
    home, account_home, wall = context.home, context.account_home, context.wall
    rule_in_force = find_rule(home, account_home=account_home)
    steps += harness_removals(wishes, home=home, kbs=kb_spellings(rule_in_force, home), wall=wall)
    kbs = rule_in_force.all_folders if isinstance(rule_in_force, Rule) else ()
    steps += _purge_steps(wishes, context.state, kbs=kbs)
    steps += remaining_steps(wishes, rule_in_force, home=home, data=context.data, wall=wall, state=context.state.state)
    require_install_permit("uninstall", steps, rule=None, home=home, account_home=account_home, session=context.session)
    if not wishes.dry_run:
        apply_steps(steps)
        steps += sessions_steps(steps)
    return InstallReport(steps=steps, dry_run=wishes.dry_run)


def _all_rule_removals(wishes: InstallOptions, context: InstallContext) -> tuple[InstallStep, ...]:
    """Return the steps that take away the rules; whether an edited one goes the human says, who may be asked."""

    def removals(*, purge: bool) -> tuple[InstallStep, ...]:
        return rule_removals(
            context.rules, home=context.home, data=context.data, purge=purge, folders=_FOLDERS_OF_RULES
        )

    steps, with_edited = removals(purge=wishes.purge), removals(purge=True)
    if (
        context.ask
        and not wishes.dry_run
        and _is_edited_rule_meant([step for step in with_edited if step not in steps], context.ask)
    ):
        return with_edited
    return steps


def _is_edited_rule_meant(edited: Sequence[InstallStep], ask: Callable[[str], str]) -> bool:
    """Ask about a rule that would stay because it was edited; return whether its steps are meant as well."""
    path = next((step.path for step in edited if step.what == "rule"), None)
    question = (
        f"{one_line(str(path))}: you edited this rule, and agents in every project would go on to read that they must "
        "run `roamkb`. Remove it, too? [y/N]"
    )
    # who ends the input says no: the rest was asked for by the command
    with suppress(Unanswered):
        return path is not None and ask(question).lower() in ("y", "yes")
    return False


def rule_removals(
    rules: Mapping[Path, bytes], *, home: Path, data: Path, purge: bool = False, folders: int = 0
) -> tuple[InstallStep, ...]:
    """Return the steps that take away the rules and their copies, but for what the user edited.

    `folders` says how many of the folders above a rule go as well, once they are empty.
    """
    return tuple(
        step
        for path, shipped in rules.items()
        for step in _rule_steps(
            rule_path(home).with_name(path.name),
            rule_copies_folder(data) / path.name,
            shipped,
            purge=purge,
            folders=folders,
        )
    )


def _rule_steps(link_path: Path, copy: Path, shipped: bytes, *, purge: bool, folders: int) -> tuple[InstallStep, ...]:
    """Return the steps for a rule and for the copy that it is linked to."""
    link_state, copy_state = read_path_state(link_path), read_path_state(copy)
    linked_copy, user_copy = own_copy(copy_state), own_copy(link_state)
    is_edited = bool(linked_copy and not linked_copy.pristine)
    if is_edited and not purge and isinstance(link_state, SymbolicLink) and link_state.target == str(copy):
        reason = f"leads to {copy}, which you edited, and stays; {_still_read((link_path, copy))}"
        return (left_alone_step("rule", link_path, reason),)
    steps = [_rule_step(link_path, shipped, link_state, user_copy, purge=purge, folders=folders)]
    if linked_copy and (purge or not is_edited):
        steps.append(
            removal_step(RULE_COPY_STEP, copy, "edited" if is_edited else "as it was written", copy_state, folders=2)
        )
    elif not isinstance(copy_state, AbsentPath):
        steps.append(
            kept_step(RULE_COPY_STEP, copy, f"you edited it; {_PURGE_HINT}" if linked_copy else "isn't roamkb's")
        )
    return tuple(steps)


def _rule_step(
    link_path: Path,
    shipped: bytes,
    path_state: PathState,
    user_copy: RuleCopy | None,
    *,
    purge: bool,
    folders: int,
) -> InstallStep:
    if isinstance(path_state, AbsentPath):
        return unchanged_step("rule", link_path, "isn't there")
    if is_our_link(path_state, link_path.name, shipped):
        return removal_step("rule", link_path, "the link", path_state, folders=folders)
    if user_copy is None:
        return left_alone_step("rule", link_path, "isn't roamkb's, and stays; remove it by hand if it is to go")
    if not user_copy.pristine and not purge:
        return left_alone_step("rule", link_path, f"you edited it, and it stays; {_still_read((link_path,))}")
    return removal_step("rule", link_path, "your own copy", path_state, folders=folders)


def _still_read(paths: Sequence[Path]) -> str:
    """Return what becomes of a rule that stays, in words that are right once no roamkb is there."""
    return f"agents read it in every project until `rm {shlex.join(map(str, paths))}`"


# what roamkb keeps for itself


def _purge_steps(wishes: InstallOptions, state: StateFolders, *, kbs: tuple[Path, ...]) -> tuple[InstallStep, ...]:
    """Return the steps for the index and the state; a note in the trash is a note, and stays.

    Nor does the journal: it may have the only copy of a note that was destroyed.
    """
    trashed = trashed_notes(state.state / TRASH)
    journal = state.state / JOURNAL
    has_journal = not isinstance(read_path_state(journal), AbsentPath)
    # what others put beside the index stays
    exceptions = (CACHE_FOLDER, *((JOURNAL,) if has_journal else ()), *((TRASH,) if trashed else ()))
    reason = "which projects' logs count here, snapshots, locks"
    steps = [
        *purge_folder_steps("index", state.cache, "it can be made again", wishes, kbs=kbs),
        *purge_folder_steps("state", state.state, reason, wishes, kbs=kbs, exceptions=exceptions),
    ]
    if trashed:
        reason = f"{count_phrase(trashed, 'note')}, thrown away and kept: no purge takes a note"
        steps.append(kept_step("trash", state.state / TRASH, reason))
    if has_journal:
        reason = "copies of your notes, of lost ones too: no purge takes a note; delete the folder to be rid of it"
        steps.append(kept_step("journal", journal, reason))
    return tuple(steps)


def purge_folder_steps(
    step_name: str,
    folder: Path,
    reason: str,
    wishes: InstallOptions,
    *,
    kbs: tuple[Path, ...],
    exceptions: tuple[str, ...] = (),
) -> Iterator[InstallStep]:
    """Yield the steps for a folder of roamkb's, in which others may have put files."""
    path_state = read_path_state(folder)
    present = set(path_state.names) if isinstance(path_state, FolderOnDisk) else {""}
    # of the index alone there is nothing left by then
    if isinstance(path_state, AbsentPath) or (present <= {*exceptions} and present != {CACHE_FOLDER}):
        return
    if not wishes.purge:
        yield kept_step(step_name, folder, f"{reason}; {_PURGE_HINT}")
    elif not isinstance(path_state, FolderOnDisk):
        yield left_alone_step(step_name, folder, "isn't a folder of its own, and stays; remove it by hand")
    elif any(lies_within(kb, folder) or lies_within(folder, kb) for kb in kbs):
        yield left_alone_step(step_name, folder, "lies with the knowledge base, and stays; remove it by hand")
    else:
        names = tuple(name for name in roamkb_names(path_state.names) if name not in exceptions)
        # without it no log counts, and no name of the knowledge base is known where the rule is broken
        change = RemoveAll(names=names)
        yield InstallStep(
            what=step_name, path=folder, outcome=StepOutcome.REMOVED, why=reason, change=change, is_loosening=True
        )
        if foreign_names := sorted({*path_state.names} - {*names, *exceptions}):
            yield kept_step(step_name, folder, f"holds what isn't roamkb's: {join_first(foreign_names)}")


def remaining_steps(
    wishes: InstallOptions,
    rule_in_force: Rule | BadRule,
    *,
    home: Path,
    data: Path,
    wall: WallSetup,
    state: Path,
    gone: Container[Path] = (),
) -> tuple[InstallStep, ...]:
    """Return steps that name what remains: notes, logs, blocks and hooks that weren't named, the program.

    Nothing of `gone` is named.
    """
    steps: list[InstallStep] = []
    if isinstance(rule_in_force, Rule):
        steps += (
            kept_step("notes", kb, "yours, and what agents wrote there")
            for kb in rule_in_force.all_folders
            if not kb_fault(kb)
        )
        # which logs are one's own is known by a key in the state folder
        later = "; without the state a stranger's, until `setup` or `init` asks you about it" if wishes.purge else ""
        steps += (
            kept_step("project's log", log, f"the project's{later}")
            for log in _project_logs(rule_in_force)
            if log not in gone
        )
    steps += (step for step in companions_kept(wishes, rule_in_force, home=home, state=state) if step.path not in gone)
    for harness in all_harnesses():
        others = replace(wishes, harnesses=() if harness.name in wishes.harnesses else (harness.name,))
        for step in harness_removals(others, home=home, kbs=(), wall=wall):
            if step.change and step.what != LAUNCHER_STEP:
                why = f"`roamkb uninstall --{harness.options[0]}` takes them out"
                steps.append(kept_step(step.what, step.path, why))
    if is_installed(Path(sys.prefix)) and not real_path(Path(sys.prefix)).is_relative_to(real_path(data)):
        steps.append(kept_step("program", Path(sys.prefix), f"`{uninstall_command()}` takes it away"))
    return tuple(steps)


def _project_logs(rule: Rule) -> Iterator[Path]:
    """Yield the logs of the projects in the folders that the rule names."""
    logs = (folder / LOG_FOLDER for folder in project_folders(rule))
    yield from (log for log in logs if isinstance(read_path_state(log), FolderOnDisk))
