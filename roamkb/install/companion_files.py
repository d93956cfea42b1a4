"""Blocks in files for agents, and snippets, where `install` is wont to put them or setup did."""

from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.gitignore import literal_path
from roamkb.core.model import Rule
from roamkb.fs.marked_block import BadMarks
from roamkb.fs.marked_block import without_block
from roamkb.harnesses.registry import all_harnesses
from roamkb.install.install import SNIPPETS
from roamkb.install.install import requested_files
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallStep
from roamkb.install.plan import PathState
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import kept_step
from roamkb.install.plan import left_alone_step
from roamkb.install.plan import removal_step
from roamkb.install.plan import unchanged_step
from roamkb.install.store.apply import folders_in
from roamkb.install.store.apply import read_path_state
from roamkb.install.store.apply import real_path
from roamkb.install.store.receipt import SetupReceipt
from roamkb.install.store.receipt import read_receipt
from roamkb.kb.notes.store.init_files import INIT_FOLDERS

#: What agents read of a folder.
_AGENT_FILE: Final = "AGENTS.md"


def project_folders(rule: Rule | BadRule) -> tuple[Path, ...]:
    """Return the folders that the rule names, and those right below, each once."""
    if not isinstance(rule, Rule):
        return ()
    entries = (*rule.project_parents, *rule.work_roots)
    named = [Path(path) for entry in entries if not entry.startswith("!") and (path := literal_path(entry))]
    return tuple(dict.fromkeys(folder for top in named for folder in (top, *folders_in(top))))


def plan_uninstall(wishes: InstallOptions, *, path_states: Mapping[Path, PathState]) -> tuple[InstallStep, ...]:
    """Return the steps of `uninstall` beside the rules', from the present state of the paths."""
    steps = []
    if wishes.agents_md:
        steps.append(_block_step(wishes.agents_md, path_states[wishes.agents_md]))
    if wishes.snippets:
        steps += [
            _snippet_step(path, path_states[path], step_name, text)
            for name, step_name, text in SNIPPETS
            for path in [wishes.snippets / name]
        ]
    return tuple(steps)


def _block_step(path: Path, path_state: PathState) -> InstallStep:
    step_name = "agents block"
    if not isinstance(path_state, RegularFile):
        return unchanged_step(step_name, path, "isn't there")
    try:
        data = without_block(path_state.data)
    except BadMarks as error:
        return left_alone_step(step_name, path, f"{error}; take the block out by hand")
    if data is None:
        return removal_step(step_name, path, "the file held nothing else", path_state)
    if data == path_state.data:
        return unchanged_step(step_name, path, "has no block of roamkb's")
    change = PutFile(data=data, was=path_state)
    return InstallStep(
        what=step_name,
        path=path,
        outcome=StepOutcome.REMOVED,
        why="the block; every other byte stays",
        change=change,
    )


def _snippet_step(path: Path, path_state: PathState, step_name: str, text: str) -> InstallStep:
    match path_state:
        case AbsentPath():
            return unchanged_step(step_name, path, "isn't there")
        case RegularFile(data=data) if data == text.encode():
            return removal_step(step_name, path, "as it was written", path_state)
    return left_alone_step(
        step_name, path, "was edited, or isn't roamkb's, and stays; remove it by hand if it is to go"
    )


def companions_kept(wishes: InstallOptions, rule: Rule | BadRule, *, home: Path, state: Path) -> Iterator[InstallStep]:
    """Yield steps that name the blocks and snippets which `wishes` don't, as they would be found or setup put them."""
    receipt = None
    with suppress(DiskError):
        receipt = read_receipt(state)
    receipt = receipt or SetupReceipt()
    # where agents look for what holds everywhere
    settings = (home / file.path for harness in all_harnesses() for file in harness.settings_files)
    folders = (home, *(path.parent for path in settings), *project_folders(rule))
    files = (*receipt.agents_md, *(real_path(folder / _AGENT_FILE) for folder in folders))
    snippets = (*receipt.snippets, *(home / name for name in INIT_FOLDERS), *_folders_of(rule))
    places = [InstallOptions(agents_md=path) for path in dict.fromkeys(files) if path != wishes.agents_md]
    places += [InstallOptions(snippets=path) for path in dict.fromkeys(snippets) if path != wishes.snippets]
    for place in places:
        option = f"--agents-md {place.agents_md}" if place.agents_md else f"--snippets {place.snippets}"
        for step in plan_uninstall(place, path_states={path: read_path_state(path) for path in requested_files(place)}):
            if step.change:
                yield kept_step(step.what, step.path, f"`roamkb uninstall {option}` takes it out")


def _folders_of(rule: Rule | BadRule) -> tuple[Path, ...]:
    return rule.all_folders if isinstance(rule, Rule) else ()
