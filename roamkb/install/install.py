"""Installation of the rule and its companions, planned from the present state and then applied.

A plan is made from what is there, and only then carried out; `--dry-run` shows the plan.
What isn't ours is reported and left alone.
"""

import shlex
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.boundary.store.knowledge_bases import lies_in_notes
from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.fs.locks import StateFolders
from roamkb.fs.marked_block import BadMarks
from roamkb.fs.marked_block import has_block
from roamkb.fs.marked_block import with_block
from roamkb.install.harness_settings import ask_approval
from roamkb.install.harness_settings import harness_steps
from roamkb.install.harness_settings import sessions_steps
from roamkb.install.install_permit import FIRST_NOTE_STEP
from roamkb.install.install_permit import KB_STEP
from roamkb.install.install_permit import require_fit
from roamkb.install.install_permit import require_install_permit
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import FolderOnDisk
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import MakeFolder
from roamkb.install.plan import PathState
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import left_alone_step
from roamkb.install.plan import unchanged_step
from roamkb.install.rule_steps import RULE_NAME
from roamkb.install.rule_steps import customized_copy
from roamkb.install.rule_steps import kb_spellings
from roamkb.install.rule_steps import planned_rule
from roamkb.install.rule_steps import rule_copies_folder
from roamkb.install.rule_steps import rule_path
from roamkb.install.rule_steps import rule_steps
from roamkb.install.rule_steps import shorten_path
from roamkb.install.setup_dialog import AskFunction
from roamkb.install.snippets import EMACS_NAME
from roamkb.install.snippets import EMACS_SETTING
from roamkb.install.snippets import FIRST_SLUG
from roamkb.install.snippets import OWNERSHIP_MARK
from roamkb.install.snippets import STIGNORE_NAME
from roamkb.install.snippets import STIGNORE_TEXT
from roamkb.install.snippets import agents_block
from roamkb.install.snippets import first_node
from roamkb.install.store.apply import apply_steps
from roamkb.install.store.apply import read_path_state
from roamkb.install.store.apply import real_path
from roamkb.install.store.discovery import find_notes
from roamkb.install.wall_setup import WallSetup
from roamkb.kb.notes.file_names import note_name
from roamkb.kb.notes.store.walk import kb_fault

#: Where `make install`, pipx and uv put the command, from HOME.
USER_PROGRAMS = ".local/bin"
_IN_PLACE = (StepOutcome.WRITTEN, StepOutcome.UNCHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallContext:
    """This machine, and the session that installs on it."""

    home: Path
    account_home: Path
    data: Path
    state: StateFolders
    session: CallOrigin
    #: The rules that came with the program, by where they are.
    rules: Mapping[Path, bytes]
    wall: WallSetup
    now: datetime
    new_id: Callable[[], str]
    #: $PATH
    search_path: str = ""
    #: Asks the human; None where there is none at a terminal.
    ask: AskFunction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _InstallPlan:
    """The steps to take, and what the rule is before and after them."""

    steps: tuple[InstallStep, ...]
    #: The rule by the wishes, and the one that will count: they differ where somebody else's stays.
    rule: Rule
    rule_to_be: Rule
    is_first: bool


def install(wishes: InstallOptions, context: InstallContext) -> InstallReport:
    """Install the rules and whatever else is requested; a second call changes nothing.

    A human is asked before a harness's settings are written. Below `data` lie copies of the rules
    that came with the program: an upgrade of Python takes away where it is installed.

    Raises:
        UsageError: there is no knowledge base, or no work root, where one was named; nothing was done.
        Refused: a session at work would change the rule, or one that isn't personal the knowledge base.
    """
    wishes = _with_real_files(wishes)
    plan = _plan_all(wishes, context)
    require_install_permit(
        "install",
        plan.steps,
        rule=plan.rule,
        home=context.home,
        account_home=context.account_home,
        session=context.session,
    )
    _require_named_folders(wishes)
    if plan.is_first and not wishes.begins_default_kb:
        _require_notes(plan.rule.kb, home=context.home)
    steps, warnings = plan.steps, _likely_mistakes(wishes, plan.rule_to_be.kb)
    if not wishes.dry_run:
        steps = ask_approval(steps, assume_yes=wishes.yes, ask=context.ask)
        apply_steps(steps)
        steps += (*sessions_steps(steps), *_path_steps(context))
        if any(step.path == context.wall.launcher_path and step.outcome in _IN_PLACE for step in steps):
            context.wall.renew_plan_file()
        rule_in_force = find_rule(context.home, account_home=context.account_home)
        warnings += (str(rule_in_force),) if isinstance(rule_in_force, BadRule) else ()
    return InstallReport(steps=steps, dry_run=wishes.dry_run, warnings=warnings, rule=plan.rule)


def _path_steps(context: InstallContext) -> Iterator[InstallStep]:
    """Yield the step that says what a shell needs that doesn't find the command."""
    folder = context.home / USER_PROGRAMS
    if (folder / "roamkb").exists() and str(folder) not in context.search_path.split(":"):
        line = f'export PATH="$HOME/{USER_PROGRAMS}:$PATH"'
        why = f"this shell doesn't find roamkb; type `{line}` now, and add it to ~/.profile or ~/.bashrc for later"
        yield InstallStep(what="PATH", path=None, outcome=StepOutcome.OFFERED, why=why)


def _with_real_files(wishes: InstallOptions) -> InstallOptions:
    """Return the wishes with the file of `--agents-md` itself, not a link to it."""
    if not wishes.agents_md:
        return wishes
    real_file = real_path(wishes.agents_md)
    if not isinstance(read_path_state(real_file.parent), FolderOnDisk):
        raise UsageError(f"no folder {real_file.parent}", hint="--agents-md names a file in a folder")
    return replace(wishes, agents_md=real_file)


def _require_named_folders(wishes: InstallOptions) -> None:
    """Raise `UsageError` unless the work roots and the knowledge base that the wishes name are there."""
    if missing := [path for path in wishes.work_roots if not isinstance(read_path_state(path.resolve()), FolderOnDisk)]:
        raise UsageError(
            f"{one_line(str(missing[0]))} is no folder here: is the work root spelt right? nothing was changed",
            hint="all beside it would be personal; make the folder first if it is to come",
        )
    kb = wishes.named_kb.folder if wishes.named_kb else wishes.kb
    if kb and not wishes.create_kb and (fault := kb_fault(kb)):
        raise UsageError(
            f"no knowledge base at {kb}: {fault}; neither rule nor hooks were written",
            hint="mount it or name another; --create-kb begins one there, with a first note",
        )


def _plan_all(wishes: InstallOptions, context: InstallContext) -> _InstallPlan:
    """Return the steps of `install`, from the present state of all that they would touch."""
    home = context.home
    rule_file, copies_folder = rule_path(home), rule_copies_folder(context.data)
    rule_paths = [folder / path.name for path in context.rules for folder in (rule_file.parent, copies_folder)]
    path_states = {path: read_path_state(path) for path in (*rule_paths, *requested_files(wishes))}
    old_copy = customized_copy(path_states[rule_file], path_states[copies_folder / RULE_NAME])
    rule = planned_rule(wishes, old_copy, home=home, rules=context.rules)
    require_fit(rule, wishes)
    if lies_in_notes(copies_folder, rule):
        raise DiskError(
            copies_folder,
            "roamkb's own files may not lie in the knowledge base",
            hint="XDG_DATA_HOME, or a link in its place, leads there: name another folder",
        )
    steps = rule_steps(
        wishes, old_copy, home=home, copies_folder=copies_folder, rules=context.rules, path_states=path_states
    )
    current_rule = find_rule(home, account_home=context.account_home)
    is_rule_kept = any(step.path == rule_file and step.change is None for step in steps)
    rule_to_be = current_rule if is_rule_kept and isinstance(current_rule, Rule) else rule
    if wishes.create_kb and (kb := _begun_kb(wishes, rule, rule_to_be)):
        steps += _kb_steps(kb, rule=rule, now=context.now, new_id=context.new_id)
    steps += _companion_steps(wishes, rule, path_states, context)
    steps += harness_steps(wishes, home=home, kbs=kb_spellings(rule_to_be, home), wall=context.wall)
    is_first = isinstance(path_states[rule_file], AbsentPath)
    return _InstallPlan(steps=steps, rule=rule, rule_to_be=rule_to_be, is_first=is_first)


def requested_files(wishes: InstallOptions) -> tuple[Path, ...]:
    """Return the files beside the rules that `wishes` name."""
    block_files = (wishes.agents_md,) if wishes.agents_md else ()
    return block_files + (tuple(wishes.snippets / name for name, _, _ in SNIPPETS) if wishes.snippets else ())


def _companion_steps(
    wishes: InstallOptions, rule: Rule, path_states: Mapping[Path, PathState], context: InstallContext
) -> tuple[InstallStep, ...]:
    """Return the steps of `install` beside the rule's and the harnesses'."""
    steps: list[InstallStep] = []
    if wishes.agents_md:
        block = agents_block(kb=shorten_path(rule.kb, context.home), rule=shorten_path(rule.source, context.home))
        steps.append(_block_step(wishes.agents_md, path_states[wishes.agents_md], block))
    if wishes.snippets:
        steps += [
            _snippet_step(path, path_states[path], step_name, text)
            for name, step_name, text in SNIPPETS
            for path in [wishes.snippets / name]
        ]
    else:
        steps.append(_SNIPPETS_OFFER)
    return tuple(steps)


def _require_notes(kb: Path, *, home: Path) -> None:
    """Raise where a first rule would lead to a folder without notes: nobody chose it."""
    if not kb_fault(kb):
        return
    notes = find_notes(home, kb=kb)
    found = ", ".join(f"{count_phrase(place.count, 'note')} in {shorten_path(place.path, home)}" for place in notes)
    named = f"--kb {shlex.quote(str(notes[0].path))}" if notes else "--kb DIR, which --create-kb begins"
    raise UsageError(
        f"the rule would lead to {one_line(shorten_path(kb, home))}, where no notes are"
        f"{f' (found: {one_line(found)})' if found else ''}; neither rule nor hooks were written",
        hint=f"`roamkb setup` in a terminal asks; or name them: roamkb install {named}",
    )


def _likely_mistakes(wishes: InstallOptions, kb: Path) -> tuple[str, ...]:
    """Return warnings about likely mistakes: a knowledge base without notes that was not named."""
    slips = []
    if not (wishes.kb or wishes.begins_default_kb) and kb_fault(kb):
        slips.append(
            f"there are no notes at {kb}: name yours with `roamkb install --kb DIR`, or begin there with --create-kb"
        )
    return tuple(slips)


def _begun_kb(wishes: InstallOptions, rule: Rule, rule_to_be: Rule) -> Path | None:
    """Return the folder that is to begin; None for a further one that the rule will not name.

    A rule of somebody else's stays as it is, and nobody would be kept from what began outside of it.
    """
    if wishes.named_kb is None:
        return rule.kb
    folders = [other.folder for other in rule_to_be.others]
    return wishes.named_kb.folder if wishes.named_kb.folder in folders else None


def _kb_steps(kb: Path, *, rule: Rule, now: datetime, new_id: Callable[[], str]) -> tuple[InstallStep, ...]:
    """Return the steps that create a knowledge base with one note where there is none."""
    path_state = read_path_state(real_path(kb))
    step_name = KB_STEP
    if classify_folder(kb, rule).kind is ProjectKind.WORK:
        return (left_alone_step(step_name, kb, "a knowledge base under a work root would be work's"),)
    match path_state:
        case FolderOnDisk(names=names) if any(not name.startswith(".") for name in names) and not kb_fault(kb):
            return (unchanged_step(step_name, kb, "the folder is there and has notes in it"),)
        case AbsentPath() | FolderOnDisk():
            note = kb / note_name(now, FIRST_SLUG, "")
            folder_step = InstallStep(
                what=step_name, path=kb, outcome=StepOutcome.WRITTEN, why="a new folder", change=MakeFolder()
            )
            note_step = InstallStep(
                what=FIRST_NOTE_STEP,
                path=note,
                outcome=StepOutcome.WRITTEN,
                why="says what this folder is; it is yours",
                change=PutFile(data=first_node(new_id(), now).encode(), was=AbsentPath()),
            )
            return (folder_step, note_step) if isinstance(path_state, AbsentPath) else (note_step,)
    return (left_alone_step(step_name, kb, "isn't a folder"),)


def _block_step(path: Path, path_state: PathState, block: str) -> InstallStep:
    step_name = "agents block"
    match path_state:
        case AbsentPath():
            old = None
        case RegularFile(data=old):
            pass
        case _:
            return left_alone_step(step_name, path, "isn't a file that can be read")
    try:
        data = with_block(old, block)
    except BadMarks as error:
        return left_alone_step(step_name, path, f"{error}; put them right and install again")
    if data == old:
        return unchanged_step(step_name, path, "the block is up to date")
    why = "a new file" if old is None else "renewed" if has_block(old) else "added; every other byte stays"
    return InstallStep(
        what=step_name, path=path, outcome=StepOutcome.WRITTEN, why=why, change=PutFile(data=data, was=path_state)
    )


#: (file name, what it is, its text)
SNIPPETS = (
    (EMACS_NAME, "Emacs setting", EMACS_SETTING),
    (STIGNORE_NAME, ".stignore lines", STIGNORE_TEXT),
)


_SNIPPETS_OFFER = InstallStep(
    what="snippets",
    path=None,
    outcome=StepOutcome.OFFERED,
    why="`roamkb install --snippets DIR` writes the Emacs setting that keeps conflict copies out of "
    "org-roam's index and makes new notes appear, and the lines for Syncthing's .stignore",
)


def _snippet_step(path: Path, path_state: PathState, step_name: str, text: str) -> InstallStep:
    data = text.encode()
    match path_state:
        case RegularFile(data=old) if old == data:
            return unchanged_step(step_name, path, "up to date")
        case AbsentPath():
            reason = "load it from your init file" if step_name == "Emacs setting" else "add them to .stignore"
        case RegularFile(data=old) if OWNERSHIP_MARK.encode() in old:
            reason = "renewed"
        case _:
            return left_alone_step(step_name, path, "move it away and install again, or name another folder")
    return InstallStep(
        what=step_name, path=path, outcome=StepOutcome.WRITTEN, why=reason, change=PutFile(data=data, was=path_state)
    )
