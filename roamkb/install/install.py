"""Installation of the rule and its companions, planned from the present state and then applied.

A plan is made from what is there, and only then carried out; `--dry-run` shows the plan.
What isn't ours is reported and left alone.
"""

import re
import shlex
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from roamkb.boundary.policy import is_loosened
from roamkb.boundary.policy import require_permit
from roamkb.boundary.policy import strictest_project
from roamkb.boundary.rule_copy import RuleCopy
from roamkb.boundary.rule_copy import parse_own_copy
from roamkb.boundary.rule_copy import render_own_copy
from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.rule_file import render_rule
from roamkb.boundary.rule_file import with_named_kb
from roamkb.boundary.store.folder_evidence import RULE_PATH
from roamkb.boundary.store.folder_evidence import CallOrigin
from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.folder_evidence import find_rule
from roamkb.boundary.store.folder_evidence import lies_in_notes
from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.boundary.store.folder_evidence import require_apart
from roamkb.boundary.store.folder_evidence import select_kb
from roamkb.boundary.store.folder_evidence import session_project
from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.gitignore import escape_path
from roamkb.core.gitignore import is_under
from roamkb.core.gitignore import literal_path
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.fs.marked_block import BadMarks
from roamkb.fs.marked_block import has_block
from roamkb.fs.marked_block import with_block
from roamkb.install.harness_settings import ask_approval
from roamkb.install.harness_settings import harness_steps
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import FolderOnDisk
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import MakeFolder
from roamkb.install.plan import MakeLink
from roamkb.install.plan import PathState
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import RemoveEmptyFolder
from roamkb.install.plan import RemovePath
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import left_alone_step
from roamkb.install.plan import unchanged_step
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

RULE_NAME = "knowledge-base.md"
_KB_STEP = "knowledge base"
FIRST_NOTE_STEP = "first note"
RULE_COPY_STEP = "copy of the rule"
_IN_PLACE = (StepOutcome.WRITTEN, StepOutcome.UNCHANGED)


def install(  # noqa: PLR0913 - facts of this machine, each by name
    wishes: InstallOptions,
    *,
    home: Path,
    data: Path,
    account_home: Path,
    session: CallOrigin,
    rules: Mapping[Path, bytes],
    wall: WallSetup,
    now: datetime,
    new_id: Callable[[], str],
    ask: AskFunction | None = None,
) -> InstallReport:
    """Install the rules and whatever else is requested; a second call changes nothing.

    `ask` is given on a terminal only, and called before a harness's settings are written. Below `data`
    lie copies of the rules that came with the program: an upgrade of Python takes away where it is installed.

    Raises:
        UsageError: there is no knowledge base, or no work root, where one was named; nothing was done.
        Refused: a session at work would change the rule, or one that isn't personal the knowledge base.
    """
    rule_file, copies_folder = rule_path(home), rule_copies_folder(data)
    kb_to_be = wishes.named_kb.folder if wishes.named_kb else wishes.kb
    fault = kb_fault(kb_to_be) if kb_to_be and not wishes.create_kb else ""
    if wishes.agents_md:
        real_file = real_path(wishes.agents_md)
        if not isinstance(read_path_state(real_file.parent), FolderOnDisk):
            raise UsageError(f"no folder {real_file.parent}", hint="--agents-md names a file in a folder")
        wishes = replace(wishes, agents_md=real_file)
    rule_paths = [folder / path.name for path in rules for folder in (rule_file.parent, copies_folder)]
    path_states = {path: read_path_state(path) for path in (*rule_paths, *requested_files(wishes))}
    old_copy = _customized_copy(path_states[rule_file], path_states[copies_folder / RULE_NAME])
    rule = _planned_rule(wishes, old_copy, home=home, rules=rules)
    _require_fit(rule, wishes)
    if lies_in_notes(copies_folder, rule):
        raise DiskError(
            copies_folder,
            "roamkb's own files may not lie in the knowledge base",
            hint="XDG_DATA_HOME, or a link in its place, leads there: name another folder",
        )
    path_states[rule.kb] = read_path_state(real_path(rule.kb))
    steps = _rule_steps(wishes, old_copy, home=home, copies_folder=copies_folder, rules=rules, path_states=path_states)
    steps += plan_install(wishes, home=home, rule=rule, path_states=path_states, now=now, new_id=new_id)
    current_rule = find_rule(home, account_home=home)
    is_rule_kept = any(step.path == rule_file and step.change is None for step in steps)
    rule_to_be = current_rule if is_rule_kept and isinstance(current_rule, Rule) else rule
    steps += harness_steps(wishes, home=home, kbs=kb_spellings(rule_to_be, home), wall=wall)
    require_install_permit("install", steps, rule=rule, home=home, account_home=account_home, session=session)
    if missing := [path for path in wishes.work_roots if not isinstance(read_path_state(path.resolve()), FolderOnDisk)]:
        raise UsageError(
            f"{one_line(str(missing[0]))} is no folder here: is the work root spelt right? nothing was changed",
            hint="all beside it would be personal; make the folder first if it is to come",
        )
    if fault:
        raise UsageError(
            f"no knowledge base at {kb_to_be}: {fault}; nothing was installed",
            hint="mount it or name another; --create-kb begins one there, with a first note",
        )
    if isinstance(path_states[rule_file], AbsentPath) and not wishes.create_kb:
        _refuse_other_notes(rule.kb, home=home)
    warnings = _likely_mistakes(wishes, rule_to_be.kb)
    if not wishes.dry_run:
        steps = ask_approval(steps, assume_yes=wishes.yes, ask=ask)
        apply_steps(steps)
        if any(step.path == wall.launcher_path and step.outcome in _IN_PLACE for step in steps):
            wall.renew_plan_file()
        rule_in_force = find_rule(home, account_home=home)
        warnings += (str(rule_in_force),) if isinstance(rule_in_force, BadRule) else ()
    return InstallReport(steps=steps, dry_run=wishes.dry_run, warnings=warnings, rule=rule)


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
    _require_named_permits(command_name, changes, candidates, session)
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


def _require_fit(rule: Rule, wishes: InstallOptions) -> None:
    """Raise `UsageError` where the rule to be would be malformed by the folders that it names."""
    try:
        require_apart(rule)
    except BadRule as error:
        raise UsageError(f"the rule to be {error.why}; nothing was changed", hint="name other folders") from error
    folder = wishes.named_kb.folder if wishes.named_kb else None
    if folder and classify_folder(folder, rule).kind is ProjectKind.WORK:
        raise UsageError(f"{folder} is under a work root, and work's notes are work's; nothing was changed")


def _require_named_permits(
    command_name: str, changes: Iterable[InstallStep], rules: Iterable[Rule], session: CallOrigin
) -> None:
    """Raise `Refused` for a step in a knowledge base with a name, unless the session may write to that one."""
    for rule, other in [(candidate, other) for candidate in rules for other in candidate.others]:
        for step in changes:
            if step.path and lies_within(step.path, other.folder):
                project = session_project(session, select_kb(rule, other.name))
                require_permit(project, f"{command_name} {step.what} {step.path}", kb=other.folder)


def _touches_no_note(step: InstallStep, *, is_new: bool) -> bool:
    """Say whether a step in the knowledge base only begins it, or takes back an untouched beginning."""
    # the first note is only removed while it is word for word as it was written
    is_beginning = step.what in (_KB_STEP, FIRST_NOTE_STEP) and (is_new or isinstance(step.change, RemovePath))
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


def rule_path(home: Path) -> Path:
    """Return the path at which agents and roamkb look for the rule."""
    return home / RULE_PATH


def rule_copies_folder(data: Path) -> Path:
    """Return the folder of the copies that rules are linked to."""
    return data / "rules"


def requested_files(wishes: InstallOptions) -> tuple[Path, ...]:
    """Return the files beside the rules that `wishes` name."""
    block_files = (wishes.agents_md,) if wishes.agents_md else ()
    return block_files + (tuple(wishes.snippets / name for name, _, _ in SNIPPETS) if wishes.snippets else ())


def plan_install(
    wishes: InstallOptions,
    *,
    home: Path,
    rule: Rule,
    path_states: Mapping[Path, PathState],
    now: datetime,
    new_id: Callable[[], str],
) -> tuple[InstallStep, ...]:
    """Return the steps of `install` beside the rule's, from the present state of the paths."""
    steps: list[InstallStep] = []
    if wishes.create_kb:
        steps += _kb_steps(rule, path_states[rule.kb], now=now, new_id=new_id)
    if wishes.agents_md:
        block = agents_block(kb=shorten_path(rule.kb, home), rule=shorten_path(rule.source, home))
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


# the rule


def _rule_steps(
    wishes: InstallOptions,
    old_copy: RuleCopy | None,
    *,
    home: Path,
    copies_folder: Path,
    rules: Mapping[Path, bytes],
    path_states: Mapping[Path, PathState],
) -> tuple[InstallStep, ...]:
    """Return the steps that place each rule: a link to a copy, or a copy with the user's own settings."""
    steps: list[InstallStep] = []
    for shipped, data in rules.items():
        link_path, copy = rule_path(home).with_name(shipped.name), copies_folder / shipped.name
        if link_path == rule_path(home) and (wishes.own_copy or own_copy(path_states[link_path])):
            steps.append(_own_copy_step(link_path, data, wishes, old_copy, path_states[link_path], home=home))
            continue
        link = _link_step(link_path, copy, data, path_states[link_path])
        if link.outcome is StepOutcome.LEFT_ALONE or isinstance(path_states[link_path], RegularFile):
            steps.append(link)
            continue
        steps.append(_copy_step(copy, shipped, data, path_states[copy]))
        if steps[-1].outcome is not StepOutcome.LEFT_ALONE:
            steps.append(link)
    return tuple(steps)


def _copy_step(copy: Path, shipped: Path, data: bytes, path_state: PathState) -> InstallStep:
    """Return the step that keeps a copy of the shipped rule, which only `uninstall` removes."""
    step_name = RULE_COPY_STEP
    stamped = render_own_copy(RuleCopy(data, pristine=True))
    if isinstance(path_state, RegularFile) and path_state.data == stamped:
        return unchanged_step(step_name, copy, "up to date")
    old_copy = own_copy(path_state)
    if old_copy and not old_copy.pristine:
        return unchanged_step(
            step_name, copy, f"you edited it, so it stays as it is; {shipped} has the one of this roamkb"
        )
    if old_copy is None and not isinstance(path_state, AbsentPath):
        return left_alone_step(step_name, copy, "move it away and install again")
    reason = "renewed" if old_copy else "of the one that came with this roamkb"
    return InstallStep(
        what=step_name, path=copy, outcome=StepOutcome.WRITTEN, why=reason, change=PutFile(data=stamped, was=path_state)
    )


def is_our_link(path_state: PathState, name: str, data: bytes) -> bool:
    """Say whether a link at a rule's path was made by a roamkb: it leads or led to a shipped rule."""
    if not isinstance(path_state, SymbolicLink):
        return False
    folder = "/rules/" if path_state.dangles else "/roamkb/rules/"
    return path_state.data == data or path_state.target.endswith(folder + name)


def _link_step(link_path: Path, copy: Path, data: bytes, path_state: PathState) -> InstallStep:
    link_step = InstallStep(
        what="rule",
        path=link_path,
        outcome=StepOutcome.LINKED,
        why=f"to {copy}",
        change=MakeLink(target=copy, was=path_state),
    )
    match path_state:
        case AbsentPath():
            return link_step
        case SymbolicLink(target=target) if target == str(copy):
            return unchanged_step("rule", link_path, "linked already")
        case SymbolicLink(dangles=True):
            return replace(link_step, why=f"to {copy}; the link there led nowhere")
        case SymbolicLink() if is_our_link(path_state, link_path.name, data):
            return replace(link_step, why=f"to {copy}; the link led to where a roamkb is or was installed")
        case RegularFile(data=held) if held == data:
            return unchanged_step("rule", link_path, "a file with the same text is there")
    return left_alone_step("rule", link_path, "move it away and install again, or keep it and do without this rule")


def own_copy(path_state: PathState) -> RuleCopy | None:
    """Return the copy at the rule's path if `install` wrote it for this user."""
    return parse_own_copy(path_state.data) if isinstance(path_state, RegularFile) else None


def _customized_copy(at_place: PathState, below_data: PathState) -> RuleCopy | None:
    """Return the copy whose settings stay in force: the user's own, or ours once they edited it."""
    linked = own_copy(below_data) if isinstance(at_place, SymbolicLink | AbsentPath) else None
    return own_copy(at_place) or (linked if linked and not linked.pristine else None)


def _own_copy_step(
    rule_file: Path,
    shipped: bytes,
    wishes: InstallOptions,
    old_copy: RuleCopy | None,
    path_state: PathState,
    *,
    home: Path,
) -> InstallStep:
    """Return the step that writes the user's own copy, or renews it without losing their changes."""
    is_ours = is_our_link(path_state, rule_file.name, shipped) or path_state in (
        AbsentPath(),
        RegularFile(data=shipped),
    )
    if old_copy is None and not is_ours:
        return left_alone_step("rule", rule_file, "move it away and install again")
    data = _own_copy_data(rule_file, shipped, wishes, old_copy, home=home)
    if old_copy and isinstance(path_state, RegularFile) and data == path_state.data:
        return unchanged_step("rule", rule_file, "your own copy is up to date")
    return InstallStep(
        what="rule",
        path=rule_file,
        outcome=StepOutcome.WRITTEN,
        why="your own copy" if old_copy is None else "your own copy, renewed",
        change=PutFile(data=data, was=path_state),
    )


def _own_copy_data(
    rule_file: Path, shipped: bytes, wishes: InstallOptions, old_copy: RuleCopy | None, *, home: Path
) -> bytes:
    """Return the bytes of the user's own copy with its mark.

    Settings that aren't wished for stay as they are. The work roots and project parents of a copy are
    only ever added to: to take one away takes an editor. The shipped rule's roots stay as well, where
    the project parents would make them personal. The text follows the shipped rule until the
    user edits it; from then on it is theirs and only the settings change.
    """
    present_rule = parse_rule((old_copy.text if old_copy else shipped).decode(), source=rule_file, home=home)
    added_roots = tuple(_rule_entry(path, home) for path in wishes.work_roots)
    wished_parents = tuple(escape_path(str(path)) for path in wishes.project_parents)
    known_parents = present_rule.project_parents if old_copy or not wished_parents else ()
    known_roots = present_rule.work_roots
    if wishes.omits_absent and old_copy is None:
        # the shipped ones are examples; where none is there, they still say what could be
        known_parents = tuple(filter(_is_there, known_parents)) or known_parents
        known_roots = tuple(filter(_is_there, known_roots))
    parents = tuple(dict.fromkeys((*known_parents, *wished_parents)))
    kept_roots = tuple(root for root in known_roots if old_copy or not added_roots or _is_below(root, parents))
    work_roots = (*shorten_entries(kept_roots, home), *added_roots)
    text = render_rule(
        (shipped if old_copy is None or old_copy.pristine else old_copy.text).decode(),
        kb=shorten_path(wishes.kb or present_rule.kb, home),
        work_roots=tuple(dict.fromkeys(work_roots)),
        project_parents=shorten_entries(parents, home),
    )
    named = {other.name: other for other in present_rule.others if old_copy and old_copy.pristine}
    if new := wishes.named_kb:
        known = next((other.project_parents for other in present_rule.others if other.name == new.name), ())
        named[new.name] = replace(new, project_parents=tuple(dict.fromkeys((*known, *new.project_parents))))
    for other in named.values():
        parents = shorten_entries(other.project_parents, home)
        text = with_named_kb(text, other.name, kb=shorten_path(other.folder, home), project_parents=parents)
    return render_own_copy(RuleCopy(text.encode(), pristine=old_copy is None or old_copy.pristine))


def _is_there(entry: str) -> bool:
    """Say whether the folder of an entry is there; of a pattern nobody knows."""
    path = literal_path(entry)
    return path is None or isinstance(read_path_state(Path(path)), FolderOnDisk | SymbolicLink)


def _is_below(entry: str, parents: Iterable[str]) -> bool:
    """Say whether the folder of an entry would be personal, were it not denied."""
    path = literal_path(entry)
    return path is None or any(is_under(path, parent) for parent in parents)


def _rule_entry(path: Path, home: Path) -> str:
    """Return the rule's entry that matches `path` alone."""
    return shorten_entries((escape_path(str(path)),), home)[0]


def shorten_entries(entries: tuple[str, ...], home: Path) -> tuple[str, ...]:
    """Return a rule's entries as people write them: from `~` where possible."""
    home_prefix = re.compile(rf"^(!?){re.escape(escape_path(str(home)))}(?=/|$)")
    return tuple(home_prefix.sub(r"\1~", entry) for entry in entries)


def _planned_rule(
    wishes: InstallOptions, old_copy: RuleCopy | None, *, home: Path, rules: Mapping[Path, bytes]
) -> Rule:
    """Return the rule that results from `wishes`; `old` is the copy in force now."""
    rule_file = rule_path(home)
    shipped = next(data for path, data in rules.items() if path.name == RULE_NAME)
    if wishes.own_copy or old_copy:
        shipped = _own_copy_data(rule_file, shipped, wishes, old_copy, home=home)
    return parse_rule(shipped.decode(), source=rule_file, home=home)


def preview_rule(wishes: InstallOptions, *, home: Path, data: Path, rules: Mapping[Path, bytes]) -> Rule:
    """Return the rule that `install` would put in place for `wishes`.

    Raises:
        BadRule: the user's own copy is broken.
    """
    states = (read_path_state(folder / RULE_NAME) for folder in (rule_path(home).parent, rule_copies_folder(data)))
    return _planned_rule(wishes, _customized_copy(*states), home=home, rules=rules)


def _refuse_other_notes(kb: Path, *, home: Path) -> None:
    """Raise where a first rule would lead to a folder without notes while there are some elsewhere."""
    if not kb_fault(kb) or not (notes := find_notes(home, kb=kb)):
        return
    found = ", ".join(f"{count_phrase(place.count, 'note')} in {shorten_path(place.path, home)}" for place in notes)
    raise UsageError(
        f"the rule would lead to {one_line(shorten_path(kb, home))}, where no notes are, and there are "
        f"{one_line(found)}; nothing was installed",
        hint=f"`roamkb setup` asks; or name them: roamkb install --kb {shlex.quote(str(notes[0].path))}",
    )


def entry_folder(entry: str) -> Path | None:
    """Return the folder that an entry of the rule names; None for a pattern or a negation."""
    path = None if entry.startswith("!") else literal_path(entry)
    return Path(path) if path else None


def _likely_mistakes(wishes: InstallOptions, kb: Path) -> tuple[str, ...]:
    """Return warnings about likely mistakes: a knowledge base without notes that was not named."""
    slips = []
    if not (wishes.kb or wishes.create_kb) and kb_fault(kb):
        slips.append(
            f"there are no notes at {kb}: name yours with `roamkb install --kb DIR`, or begin there with --create-kb"
        )
    return tuple(slips)


# what else there is


def _kb_steps(
    rule: Rule, path_state: PathState, *, now: datetime, new_id: Callable[[], str]
) -> tuple[InstallStep, ...]:
    """Return the steps that create a knowledge base with one note where there is none."""
    step_name, kb = _KB_STEP, rule.kb
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


def kb_spellings(rule: Rule | BadRule, home: Path) -> tuple[str, ...]:
    """Return the folders of the rule's knowledge bases as people write them; none where no rule names them."""
    return () if isinstance(rule, BadRule) else tuple(shorten_path(folder, home) for folder in rule.all_folders)


def shorten_path(path: Path, home: Path) -> str:
    """Return `path` as people write it: from `~` where it is below it."""
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
