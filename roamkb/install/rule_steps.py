"""Steps that put the rule in its place: a link to a copy, or a copy with the user's own settings."""

import re
from collections.abc import Iterable
from collections.abc import Mapping
from pathlib import Path

from roamkb.boundary.rule_copy import RuleCopy
from roamkb.boundary.rule_copy import parse_own_copy
from roamkb.boundary.rule_copy import render_own_copy
from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.rule_file import render_rule
from roamkb.boundary.rule_file import with_named_kb
from roamkb.boundary.store.installed_rule import RULE_PATH
from roamkb.core.errors import BadRule
from roamkb.core.gitignore import escape_path
from roamkb.core.gitignore import is_under
from roamkb.core.gitignore import literal_path
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import FolderOnDisk
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallStep
from roamkb.install.plan import MakeLink
from roamkb.install.plan import PathState
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import left_alone_step
from roamkb.install.plan import unchanged_step
from roamkb.install.store.apply import folders_in
from roamkb.install.store.apply import read_path_state

RULE_NAME = "knowledge-base.md"
RULE_COPY_STEP = "copy of the rule"


def rule_path(home: Path) -> Path:
    """Return the path at which agents and roamkb look for the rule."""
    return home / RULE_PATH


def rule_copies_folder(data: Path) -> Path:
    """Return the folder of the copies that rules are linked to."""
    return data / "rules"


def rule_steps(
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


def customized_copy(at_place: PathState, below_data: PathState) -> RuleCopy | None:
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
    only ever added to, but for what the human takes back in the dialogue. The shipped rule's roots stay as well, where
    the project parents would make them personal. The text follows the shipped rule until the
    user edits it; from then on it is theirs and only the settings change.
    """
    present_rule = parse_rule((old_copy.text if old_copy else shipped).decode(), source=rule_file, home=home)
    added_roots = tuple(shorten_entries((escape_path(str(path)),), home)[0] for path in wishes.work_roots)
    wished_parents = tuple(escape_path(str(path)) for path in wishes.project_parents)
    known_parents = present_rule.project_parents if old_copy or not wished_parents else ()
    known_roots = tuple(root for root in present_rule.work_roots if entry_folder(root) not in wishes.dropped_work)
    if wishes.omits_absent and old_copy is None:
        # the shipped ones are examples; where none is there, they still say what could be
        known_roots = tuple(filter(_is_there, known_roots))
        if present_parents := tuple(filter(_is_there, known_parents)):
            work = (*known_roots, *(escape_path(str(path)) for path in wishes.work_roots))
            known_parents = tuple(parent for parent in present_parents if not _holds_only_work(parent, work))
    known_parents = tuple(parent for parent in known_parents if entry_folder(parent) not in wishes.dropped_parents)
    parents = tuple(dict.fromkeys((*known_parents, *wished_parents)))
    keeps_all = old_copy or not added_roots or wishes.omits_absent
    kept_roots = tuple(root for root in known_roots if keeps_all or _is_below(root, parents))
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


def _holds_only_work(parent: str, work: Iterable[str]) -> bool:
    """Say whether all folders in a parent of projects are work: of a new one beside them nobody said that it isn't."""
    path = literal_path(parent)
    folders = folders_in(Path(path)) if path else ()
    return bool(folders) and all(any(is_under(str(folder), root) for root in work) for folder in folders)


def _is_below(entry: str, parents: Iterable[str]) -> bool:
    """Say whether the folder of an entry would be personal, were it not denied."""
    path = literal_path(entry)
    return path is None or any(is_under(path, parent) for parent in parents)


def shorten_entries(entries: tuple[str, ...], home: Path) -> tuple[str, ...]:
    """Return a rule's entries as people write them: from `~` where possible."""
    home_prefix = re.compile(rf"^(!?){re.escape(escape_path(str(home)))}(?=/|$)")
    return tuple(home_prefix.sub(r"\1~", entry) for entry in entries)


def planned_rule(wishes: InstallOptions, old_copy: RuleCopy | None, *, home: Path, rules: Mapping[Path, bytes]) -> Rule:
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
    return planned_rule(wishes, customized_copy(*states), home=home, rules=rules)


def entry_folder(entry: str) -> Path | None:
    """Return the folder that an entry of the rule names; None for a pattern or a negation."""
    path = None if entry.startswith("!") else literal_path(entry)
    return Path(path) if path else None


def kb_spellings(rule: Rule | BadRule, home: Path) -> tuple[str, ...]:
    """Return the folders of the rule's knowledge bases as people write them; none where no rule names them."""
    return () if isinstance(rule, BadRule) else tuple(shorten_path(folder, home) for folder in rule.all_folders)


def shorten_path(path: Path, home: Path) -> str:
    """Return `path` as people write it: from `~` where it is below it."""
    if path == home:
        return "~"
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
