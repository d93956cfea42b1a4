"""`setup --undo`: takes back what setup did, as far as nobody used it since; what stays is named."""

from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from roamkb.boundary.store.installed_rule import find_rule
from roamkb.boundary.store.kb_paths import KEPT_NAMES_FILE
from roamkb.core.errors import UsageError
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
from roamkb.fs.files import TEMPORARY_PREFIX
from roamkb.fs.locks import LOCKS
from roamkb.fs.locks import SETUP_RECEIPT
from roamkb.fs.user_dirs import ADOPTIONS_FOLDER
from roamkb.fs.user_dirs import BROKERS
from roamkb.fs.user_dirs import CACHE_FOLDER
from roamkb.fs.user_dirs import MACHINE_KEY
from roamkb.fs.user_dirs import SANDBOX_CALLS
from roamkb.fs.user_dirs import SESSION_FOLDERS
from roamkb.fs.user_dirs import SHARED_FOLDER
from roamkb.fs.user_dirs import TRUST_FOLDER
from roamkb.harnesses.registry import get_harness
from roamkb.install.companion_files import plan_uninstall
from roamkb.install.harness_settings import harness_removals
from roamkb.install.harness_settings import sessions_steps
from roamkb.install.install import requested_files
from roamkb.install.install_permit import FIRST_NOTE_STEP
from roamkb.install.install_permit import require_install_permit
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import FolderOnDisk
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import RegularFile
from roamkb.install.plan import RemoveAll
from roamkb.install.plan import RemoveEmptyFolder
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import kept_step
from roamkb.install.plan import removal_step
from roamkb.install.rule_steps import kb_spellings
from roamkb.install.rule_steps import rule_path
from roamkb.install.setup import INDEX_STEP
from roamkb.install.setup import LOG_STEP
from roamkb.install.setup import SetupContext
from roamkb.install.setup_dialog import AskFunction
from roamkb.install.snippets import is_first_node
from roamkb.install.store.apply import apply_steps
from roamkb.install.store.apply import read_path_state
from roamkb.install.store.apply import real_path
from roamkb.install.store.receipt import SetupReceipt
from roamkb.install.store.receipt import read_receipt
from roamkb.install.uninstall import purge_folder_steps
from roamkb.install.uninstall import remaining_steps
from roamkb.install.uninstall import rule_removals
from roamkb.log.init import INITIAL_FILES
from roamkb.log.store.project_log import LOCAL_FOLDER
from roamkb.log.store.project_log import LOG_FOLDER
from roamkb.log.store.project_log import Log

STATE_STEP = "state"
#: What the state folder of somebody holds who did nothing but setup.
_UNUSED_STATE = frozenset(
    (MACHINE_KEY, LOCKS, KEPT_NAMES_FILE, BROKERS, CACHE_FOLDER, SANDBOX_CALLS, SESSION_FOLDERS, SETUP_RECEIPT)
)
#: What a log's local folder holds before anything happened in the project.
_UNUSED_LOCAL = frozenset(("log.lock",))


def undo(wishes: InstallOptions, context: SetupContext) -> InstallReport:
    """Take back what setup did, the latest answers with the first; notes and learnings always stay.

    Raises:
        UsageError: setup did nothing here.
        Refused: as `uninstall` does.
    """
    receipt = read_receipt(context.state.state)
    if receipt is None:
        raise UsageError(
            "setup did nothing here, so that there is nothing to take back",
            hint="`roamkb uninstall` takes away what `install` made",
        )
    wishes = replace(wishes, harnesses=receipt.harnesses, purge=True)
    rule_in_force = find_rule(context.home, account_home=context.account_home)
    kbs = rule_in_force.all_folders if isinstance(rule_in_force, Rule) else ()
    unused_logs = tuple(root for root in receipt.logs if _is_unused(root, context.state.state))
    taken_back = (
        *_rule_steps(receipt, context),
        *_file_steps(wishes, receipt),
        *harness_removals(wishes, home=context.home, kbs=kb_spellings(rule_in_force, context.home), wall=context.wall),
        *_log_steps(unused_logs),
        *_first_note_steps(receipt),
        *_unfinished_steps(receipt, context.home),
        *purge_folder_steps(INDEX_STEP, context.state.cache, "it can be made again", wishes, kbs=kbs),
        *_state_steps(unused_logs, wishes, context, kbs=kbs),
    )
    steps = (
        *taken_back,
        *_folder_steps(receipt, gone=unused_logs, kept=_kept_paths(taken_back)),
        *remaining_steps(
            replace(wishes, purge=False),
            rule_in_force,
            home=context.home,
            data=context.data,
            wall=context.wall,
            state=context.state.state,
            gone=[*(root / LOG_FOLDER for root in unused_logs), *(step.path for step in taken_back if step.path)],
        ),
    )
    require_install_permit(
        "setup --undo",
        steps,
        rule=None,
        home=context.home,
        account_home=context.account_home,
        session=context.session,
    )
    if not wishes.dry_run:
        if context.ask and not wishes.yes:
            _require_confirmation(taken_back, context.ask)
        apply_steps(steps)
        steps += sessions_steps(steps)
    return InstallReport(steps=steps, dry_run=wishes.dry_run)


def _require_confirmation(steps: Sequence[InstallStep], ask: AskFunction) -> None:
    """Raise unless the human says that what `steps` change is to go."""
    parts = dict.fromkeys(step.what for step in steps if step.change)
    if ask(f"Take back what setup did ({', '.join(parts)})? [y/N]").lower() not in ("y", "yes"):
        raise UsageError("nothing was taken back, as you said", hint="`roamkb setup --undo --dry-run` shows it all")


def _rule_steps(receipt: SetupReceipt, context: SetupContext) -> Iterator[InstallStep]:
    """Yield the steps for the rules; one that was there before setup stays, with what setup added to it."""
    if receipt.had_rule:
        reason = "it was there before setup; `roamkb uninstall` takes it away"
        yield kept_step("rule", rule_path(context.home), reason)
        return
    yield from rule_removals(context.rules, home=context.home, data=context.data)


def _file_steps(wishes: InstallOptions, receipt: SetupReceipt) -> Iterator[InstallStep]:
    """Yield the steps for blocks and snippets in the files that setup was to write."""
    named = [replace(wishes, agents_md=path, snippets=None) for path in receipt.agents_md]
    named += [replace(wishes, agents_md=None, snippets=path) for path in receipt.snippets]
    for wish in named:
        yield from plan_uninstall(wish, path_states={path: read_path_state(path) for path in requested_files(wish)})


def _is_unused(root: Path, state: Path) -> bool:
    """Say whether a log is as setup made it, or was making it when it was killed: nothing learned or observed."""
    folder = root / LOG_FOLDER
    held = read_path_state(folder)
    if not isinstance(held, FolderOnDisk) or set(held.names) - {*INITIAL_FILES, LOCAL_FOLDER}:
        return False
    own_folder = Log(root, state).local_folder
    local = read_path_state(folder / LOCAL_FOLDER)
    local_names = set(local.names) if isinstance(local, FolderOnDisk) else set()
    return (
        all(
            read_path_state(folder / name) in (AbsentPath(), RegularFile(data=data))
            for name, data in INITIAL_FILES.items()
        )
        and isinstance(local, FolderOnDisk | AbsentPath)
        and local_names <= {own_folder.name, *_UNUSED_LOCAL}
        and read_path_state(own_folder) in (AbsentPath(), FolderOnDisk(names=()))
    )


def _log_steps(roots: tuple[Path, ...]) -> Iterator[InstallStep]:
    for folder in (root / LOG_FOLDER for root in roots):
        # what may have come meanwhile stops all that follows
        for path in (folder / name for name in sorted(INITIAL_FILES, key=lambda name: name not in (KNOWLEDGE, LEDGER))):
            if isinstance(path_state := read_path_state(path), RegularFile):
                yield removal_step(LOG_STEP, path, "nothing was learned", path_state)
        yield InstallStep(
            what=LOG_STEP,
            path=folder,
            outcome=StepOutcome.REMOVED,
            why="nothing was learned",
            change=RemoveAll(names=(LOCAL_FOLDER,)),
        )


def _unfinished_steps(receipt: SetupReceipt, home: Path) -> Iterator[InstallStep]:
    """Yield the steps for files that a killed setup was writing beside settings and the rule."""
    settings = [home / file.path for name in receipt.harnesses for file in get_harness(name).settings_files]
    for folder in sorted({real_path(path).parent for path in (*settings, rule_path(home))}):
        held = read_path_state(folder)
        for name in held.names if isinstance(held, FolderOnDisk) else ():
            if name.startswith(TEMPORARY_PREFIX) and isinstance(file := read_path_state(folder / name), RegularFile):
                yield removal_step("unfinished file", folder / name, "setup was killed", file)


def _first_note_steps(receipt: SetupReceipt) -> Iterator[InstallStep]:
    for path in receipt.notes:
        path_state = read_path_state(path)
        if isinstance(path_state, RegularFile) and is_first_node(path_state.data):
            yield removal_step(FIRST_NOTE_STEP, path, "word for word as it was written", path_state)
        elif isinstance(path_state, RegularFile):
            yield kept_step(FIRST_NOTE_STEP, path, "you edited it, so it is a note of yours")


def _state_steps(
    unused_logs: tuple[Path, ...], wishes: InstallOptions, context: SetupContext, *, kbs: tuple[Path, ...]
) -> Iterator[InstallStep]:
    """Yield the steps for the state folder: all of it, or what setup put there if it is in use."""
    state = context.state.state
    adoptions = [state / ADOPTIONS_FOLDER / Log(root, state).local_folder.name for root in unused_logs]
    adopted, held = read_path_state(state / ADOPTIONS_FOLDER), read_path_state(state)
    others = set(adopted.names) - {path.name for path in adoptions} if isinstance(adopted, FolderOnDisk) else set()
    # the wall makes these folders, so that they can be closed
    made_by_wall = (TRUST_FOLDER, SHARED_FOLDER)
    empty = [name for name in made_by_wall if read_path_state(state / name) == FolderOnDisk(names=())]
    unused = {*_UNUSED_STATE, ADOPTIONS_FOLDER, *empty}
    is_unused = isinstance(held, FolderOnDisk) and set(held.names) <= unused
    if is_unused and not others:
        yield from purge_folder_steps(
            STATE_STEP, state, "as setup made it", wishes, kbs=kbs, exceptions=(CACHE_FOLDER,)
        )
        return
    for path in (*adoptions, state / SETUP_RECEIPT):
        if isinstance(path_state := read_path_state(path), RegularFile):
            yield removal_step(STATE_STEP, path, "as setup made it", path_state)
    reason = "it is in use: logs, snapshots, the journal; `roamkb uninstall --purge` takes it"
    yield kept_step(STATE_STEP, state, reason)


def _kept_paths(steps: Sequence[InstallStep]) -> list[Path]:
    return [step.path for step in steps if step.path and step.outcome is StepOutcome.KEPT]


def _folder_steps(receipt: SetupReceipt, *, gone: tuple[Path, ...], kept: Sequence[Path]) -> Iterator[InstallStep]:
    """Yield the steps for the folders that setup made, but for `gone` logs and what holds something `kept`."""
    logs = {root / LOG_FOLDER for root in gone}
    for folder in receipt.folders:
        is_kept = any(path.is_relative_to(folder) for path in kept)
        if folder not in logs and not is_kept and isinstance(read_path_state(folder), FolderOnDisk):
            yield InstallStep(
                what="folder",
                path=folder,
                outcome=StepOutcome.REMOVED,
                why="if it is empty: setup made it",
                change=RemoveEmptyFolder(),
            )
