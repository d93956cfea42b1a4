"""Take away what `install` made, name what stays, and purge what roamkb keeps for itself."""

import sys
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path

from roamkb.boundary.rule_copy import RuleCopy
from roamkb.boundary.store.folder_evidence import CallOrigin
from roamkb.boundary.store.folder_evidence import find_rule
from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.core.errors import BadRule
from roamkb.core.gitignore import literal_path
from roamkb.core.model import Rule
from roamkb.core.request import option
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import counted
from roamkb.fs.locks import TRASH
from roamkb.fs.locks import StateFolders
from roamkb.fs.marked_block import BadMarks
from roamkb.fs.marked_block import without_block
from roamkb.fs.package_manager import how_to_remove
from roamkb.fs.user_dirs import JOURNAL
from roamkb.install.doctor_report import listed
from roamkb.install.harness_settings import harness_removals
from roamkb.install.install import COPY
from roamkb.install.install import SNIPPETS
from roamkb.install.install import check_leave
from roamkb.install.install import copies_in
from roamkb.install.install import is_our_link
from roamkb.install.install import own_copy
from roamkb.install.install import rule_place
from roamkb.install.install import short_path
from roamkb.install.install import wished_files
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import FolderOnDisk
from roamkb.install.plan import Found
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import RemoveAll
from roamkb.install.plan import RemovePath
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import kept
from roamkb.install.plan import left_alone
from roamkb.install.plan import unchanged
from roamkb.install.store.apply import carry_out
from roamkb.install.store.apply import folders_in
from roamkb.install.store.apply import look
from roamkb.install.store.apply import own_names
from roamkb.install.store.apply import real_path
from roamkb.install.wall_setup import LAUNCHER
from roamkb.install.wall_setup import WallSetup
from roamkb.kb.notes.store.trash import trashed_notes
from roamkb.log.store.project_log import FOLDER as LOG_FOLDER

_PURGE = "`--purge` takes it"


@dataclass(frozen=True, slots=True)
class UninstallRequest:
    """What `uninstall` takes."""

    _: KW_ONLY
    agents_md: str | None = option("--agents-md", "Take the block out of this file.", metavar="FILE")
    snippets: str | None = option(
        "--snippets", "Take the Emacs setting and .stignore lines out of here.", metavar="DIR"
    )
    claude: bool = switch("--claude", "Take the hooks and rules out of Claude Code's settings as well.")
    codex: bool = switch("--codex", "Take the hooks and the MCP server out of Codex's settings as well.")
    purge: bool = switch(
        "--purge", "Take roamkb's cache, state and data too; never notes nor projects' logs."
    )
    dry_run: bool = switch("--dry-run", "Say what would be done; do nothing.")


def uninstall(
    wishes: InstallOptions,
    *,
    home: Path,
    data: Path,
    state: StateFolders,
    account_home: Path,
    session: CallOrigin,
    rules: Mapping[Path, bytes],
    wall: WallSetup,
) -> InstallReport:
    """Take away the rules, and the block and the snippets in the places that `wishes` name.

    The knowledge base stays, whoever made it; so does what somebody edited since, and what roamkb keeps for
    itself: a purge takes that. What stays is named.

    Raises:
        Refused: a session at work would take away the rule, or one that isn't personal a file in the KB.
    """
    if wishes.agents_md:
        wishes = replace(wishes, agents_md=real_path(wishes.agents_md))
    steps: tuple[InstallStep, ...] = ()
    for path, shipped in rules.items():
        place, copy = rule_place(home).with_name(path.name), copies_in(data) / path.name
        steps += _rule_steps(place, copy, shipped, purge=wishes.purge)
    steps += plan_uninstall(wishes, found={path: look(path) for path in wished_files(wishes)})
    # where nobody says where the knowledge base is, the rules about it can't be told from the user's
    counts = find_rule(home, account_home=account_home)
    kb = short_path(counts.kb, home) if isinstance(counts, Rule) else None
    steps += harness_removals(wishes, home=home, kb=kb, wall=wall)
    steps += _own_steps(wishes, state, kb=counts.kb if isinstance(counts, Rule) else None)
    steps += _staying(wishes, counts, home=home, data=data, wall=wall)
    check_leave("uninstall", steps, rule=None, home=home, account_home=account_home, session=session)
    if not wishes.dry_run:
        carry_out(steps)
    return InstallReport(steps=steps, dry_run=wishes.dry_run)


def plan_uninstall(wishes: InstallOptions, *, found: Mapping[Path, Found]) -> tuple[InstallStep, ...]:
    """Return what `uninstall` has to do beside the rules, where `found` is what is there."""
    steps = []
    if wishes.agents_md:
        steps.append(_block_step(wishes.agents_md, found[wishes.agents_md]))
    if wishes.snippets:
        steps += [
            _snippet_step(path, found[path], what, text)
            for name, what, text in SNIPPETS
            for path in [wishes.snippets / name]
        ]
    return tuple(steps)


def _rule_steps(place: Path, copy: Path, shipped: bytes, *, purge: bool) -> tuple[InstallStep, ...]:
    """Return what becomes of a rule and of the copy that it is linked to."""
    at_place, below_data = look(place), look(copy)
    linked, own = own_copy(below_data), own_copy(at_place)
    is_edited = bool(linked and not linked.pristine)
    if is_edited and not purge and isinstance(at_place, SymbolicLink) and at_place.target == str(copy):
        return (left_alone("rule", place, f"leads to {copy}, which you edited, and stays; {_PURGE}"),)
    steps = [_rule_step(place, shipped, at_place, own, purge=purge)]
    if linked and (purge or not is_edited):
        steps.append(
            _removed(COPY, copy, "edited" if is_edited else "as it was written", below_data, folders=2)
        )
    elif not isinstance(below_data, AbsentPath):
        steps.append(kept(COPY, copy, f"you edited it; {_PURGE}" if linked else "isn't roamkb's"))
    return tuple(steps)


def _rule_step(
    place: Path, shipped: bytes, found: Found, own: RuleCopy | None, *, purge: bool
) -> InstallStep:
    if isinstance(found, AbsentPath):
        return unchanged("rule", place, "isn't there")
    if is_our_link(found, place.name, shipped):
        return _removed("rule", place, "the link", found)
    if own is None:
        return left_alone("rule", place, "isn't roamkb's, and stays; remove it by hand if it is to go")
    if not own.pristine and not purge:
        return left_alone(
            "rule", place, f"was edited, and stays; it counts until it is removed, and {_PURGE}"
        )
    return _removed("rule", place, "your own copy", found)


# what roamkb keeps for itself


def _own_steps(wishes: InstallOptions, state: StateFolders, *, kb: Path | None) -> tuple[InstallStep, ...]:
    """Return what becomes of the index and of the state; a note in the trash is a note, and never goes.

    Nor does the journal: it may have the only copy of a note that was destroyed.
    """
    trashed = trashed_notes(state.state / TRASH)
    journal = state.state / JOURNAL
    has_journal = not isinstance(look(journal), AbsentPath)
    but = (*((JOURNAL,) if has_journal else ()), *((TRASH,) if trashed else ()))
    why = "which projects' logs count here, snapshots, locks"
    steps = [
        *_own_step("index", state.cache, "it can be made again", wishes, kb=kb),
        *_own_step("state", state.state, why, wishes, kb=kb, but=but),
    ]
    if trashed:
        why = f"{counted(trashed, 'note')}, thrown away and kept: no purge takes a note"
        steps.append(kept("trash", state.state / TRASH, why))
    if has_journal:
        why = (
            "copies of your notes, of lost ones too: no purge takes a note; delete the folder to be rid of it"
        )
        steps.append(kept("journal", journal, why))
    return tuple(steps)


def _own_step(
    what: str, folder: Path, why: str, wishes: InstallOptions, *, kb: Path | None, but: tuple[str, ...] = ()
) -> Iterator[InstallStep]:
    """Yield what becomes of a folder of roamkb's, in which others may have put something."""
    found = look(folder)
    if isinstance(found, AbsentPath) or found == FolderOnDisk(names=but):
        return
    if not wishes.purge:
        yield kept(what, folder, f"{why}; {_PURGE}")
    elif not isinstance(found, FolderOnDisk):
        yield left_alone(what, folder, "isn't a folder of its own, and stays; remove it by hand")
    elif kb and (lies_within(kb, folder) or lies_within(folder, kb)):
        yield left_alone(what, folder, "lies with the knowledge base, and stays; remove it by hand")
    else:
        names = tuple(name for name in own_names(found.names) if name not in but)
        # without it no log counts, and no name of the knowledge base is known where the rule is broken
        change = RemoveAll(names=names)
        yield InstallStep(
            what=what, path=folder, outcome=StepOutcome.REMOVED, why=why, change=change, is_loosening=True
        )
        if rest := sorted({*found.names} - {*names, *but}):
            yield kept(what, folder, f"holds what isn't roamkb's: {listed(rest)}")


def _staying(
    wishes: InstallOptions, counts: Rule | BadRule, *, home: Path, data: Path, wall: WallSetup
) -> tuple[InstallStep, ...]:
    """Return what nothing here takes: notes, logs, hooks that weren't named, the program."""
    steps: list[InstallStep] = []
    if isinstance(counts, Rule):
        steps.append(kept("notes", counts.kb, "yours, and what agents wrote there"))
        for entry in dict.fromkeys((*counts.project_parents, *counts.work_roots)):
            parent = literal_path(entry) if not entry.startswith("!") else None
            folders = (Path(parent), *folders_in(Path(parent))) if parent else ()
            logs = (folder / LOG_FOLDER for folder in folders)
            steps += (
                kept("project's log", log, "the project's")
                for log in logs
                if isinstance(look(log), FolderOnDisk)
            )
    rest = replace(wishes, claude=not wishes.claude, codex=not wishes.codex)
    for step in harness_removals(rest, home=home, kb=None, wall=wall):
        if step.change and step.what != LAUNCHER:
            option = "--claude" if step.what.startswith("Claude") else "--codex"
            steps.append(kept(step.what, step.path, f"`roamkb uninstall {option}` takes them out"))
    if not real_path(Path(sys.prefix)).is_relative_to(real_path(data)):
        steps.append(kept("program", Path(sys.prefix), f"`{how_to_remove()}` takes it away"))
    return tuple(steps)


def _block_step(path: Path, found: Found) -> InstallStep:
    what = "agents block"
    if not isinstance(found, RegularFile):
        return unchanged(what, path, "isn't there")
    try:
        data = without_block(found.data)
    except BadMarks as error:
        return left_alone(what, path, f"{error}; take the block out by hand")
    if data is None:
        return _removed(what, path, "the file held nothing else", found)
    if data == found.data:
        return unchanged(what, path, "has no block of roamkb's")
    change = PutFile(data=data, was=found)
    return InstallStep(
        what=what,
        path=path,
        outcome=StepOutcome.REMOVED,
        why="the block; every other byte stays",
        change=change,
    )


def _snippet_step(path: Path, found: Found, what: str, text: str) -> InstallStep:
    match found:
        case AbsentPath():
            return unchanged(what, path, "isn't there")
        case RegularFile(data=data) if data == text.encode():
            return _removed(what, path, "as it was written", found)
    return left_alone(
        what, path, "was edited, or isn't roamkb's, and stays; remove it by hand if it is to go"
    )


def _removed(what: str, path: Path, why: str, found: Found, *, folders: int = 0) -> InstallStep:
    change = RemovePath(was=found, folders=folders)
    return InstallStep(what=what, path=path, outcome=StepOutcome.REMOVED, why=why, change=change)
