"""Put the rule and what belongs to it in place, or take it away again.

A plan is made from what is there, and only then carried out; `--dry-run` shows the plan.
What isn't ours is reported and left alone.
"""

import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from roamkb.boundary.policy import is_loosened
from roamkb.boundary.policy import permit
from roamkb.boundary.policy import strictest
from roamkb.boundary.rule_copy import RuleCopy
from roamkb.boundary.rule_copy import parse_own_copy
from roamkb.boundary.rule_copy import render_own_copy
from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.rule_file import render_rule
from roamkb.boundary.store.folder_evidence import CallOrigin
from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.folder_evidence import find_rule
from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.boundary.store.folder_evidence import session_project
from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.gitignore import is_under
from roamkb.core.gitignore import literal
from roamkb.core.gitignore import literal_path
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.request import option
from roamkb.core.request import options
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import shown
from roamkb.fs.marked_block import BadMarks
from roamkb.fs.marked_block import has_block
from roamkb.fs.marked_block import with_block
from roamkb.install.harness_settings import approved
from roamkb.install.harness_settings import harness_steps
from roamkb.install.install_prompt import parse_answer
from roamkb.install.install_prompt import render_question
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import FolderOnDisk
from roamkb.install.plan import Found
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import MakeFolder
from roamkb.install.plan import MakeLink
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import left_alone
from roamkb.install.plan import unchanged
from roamkb.install.snippets import EMACS_NAME
from roamkb.install.snippets import EMACS_SETTING
from roamkb.install.snippets import FIRST_SLUG
from roamkb.install.snippets import MADE_BY
from roamkb.install.snippets import STIGNORE
from roamkb.install.snippets import STIGNORE_NAME
from roamkb.install.snippets import agents_block
from roamkb.install.snippets import first_node
from roamkb.install.store.apply import carry_out
from roamkb.install.store.apply import folders_in
from roamkb.install.store.apply import look
from roamkb.install.store.apply import real_path
from roamkb.install.wall_setup import WallSetup
from roamkb.kb.notes.file_names import note_name
from roamkb.kb.notes.store.walk import kb_fault

RULE_NAME = "knowledge-base.md"
#: Puts a question to the human at the terminal and returns the line that they type.
Ask = Callable[[str], str]
_KB = "knowledge base"
_FIRST_NOTE = "first note"
COPY = "copy of the rule"
_IN_PLACE = (StepOutcome.WRITTEN, StepOutcome.UNCHANGED)
#: Who answers nonsense three times doesn't want to be asked.
_TRIES = 3


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """What `install` takes."""

    _: KW_ONLY
    kb: str | None = option("--kb", "Your knowledge base.", metavar="DIR")
    work_roots: Sequence[str] = options(
        "--work-root", "A folder under which everything is work.", metavar="DIR"
    )
    project_parents: Sequence[str] = options(
        "--project-parent", "A folder of personal projects.", metavar="DIR"
    )
    agents_md: str | None = option(
        "--agents-md", "Keep a block with the rule's gist in this file.", metavar="FILE"
    )
    create_kb: bool = switch("--create-kb", "Make the folder and a first node that documents it.")
    snippets: str | None = option(
        "--snippets", "Write the Emacs setting and the .stignore lines here.", metavar="DIR"
    )
    claude: bool = switch(
        "--claude", "Put hooks, and rules that deny, into Claude Code's settings; asks first."
    )
    codex: bool = switch("--codex", "Put hooks, and the MCP server, into Codex's settings; asks first.")
    yes: bool = switch("--yes", "Write those settings without asking.")
    dry_run: bool = switch("--dry-run", "Say what would be done; do nothing.")


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
    ask: Ask | None = None,
) -> InstallReport:
    """Put the rules and whatever else is wished for in place; a second call changes nothing.

    `ask` is given on a terminal only. It is called before there is a rule, since the work roots of
    the rule that everybody gets are one person's, and before a harness's settings are written. Below `data`
    lie copies of the rules that came with the program: an upgrade of Python takes away where it is installed.

    Raises:
        UsageError: there is no knowledge base, or no work root, where one was named; nothing was done.
        Refused: a session at work would change the rule, or one that isn't personal the knowledge base.
    """
    place, copies, named = rule_place(home), copies_in(data), wishes.work_roots
    fault = kb_fault(wishes.kb) if wishes.kb and not wishes.create_kb else ""
    if ask and not fault and not wishes.work_roots and isinstance(look(place), AbsentPath):
        wishes = _asked(wishes, ask, home=home, rules=rules)
    if wishes.agents_md:
        real = real_path(wishes.agents_md)
        if not isinstance(look(real.parent), FolderOnDisk):
            raise UsageError(f"no folder {real.parent}", hint="--agents-md names a file in a folder")
        wishes = replace(wishes, agents_md=real)
    places = [folder / path.name for path in rules for folder in (place.parent, copies)]
    found = {path: look(path) for path in (*places, *wished_files(wishes))}
    old = _changed_copy(found[place], found[copies / RULE_NAME])
    rule = _rule_to_be(wishes, old, home=home, rules=rules)
    if lies_within(copies, rule.kb):
        raise DiskError(
            copies,
            "roamkb's own files may not lie in the knowledge base",
            hint="XDG_DATA_HOME, or a link in its place, leads there: name another folder",
        )
    found[rule.kb] = look(real_path(rule.kb))
    steps = _rule_steps(wishes, old, home=home, copies=copies, rules=rules, found=found)
    steps += plan_install(wishes, home=home, rule=rule, found=found, now=now, new_id=new_id)
    there = find_rule(home, account_home=home)
    stays = any(step.path == place and step.change is None for step in steps)
    kb = there.kb if stays and isinstance(there, Rule) else rule.kb
    steps += harness_steps(wishes, home=home, kb=short_path(kb, home), wall=wall)
    check_leave("install", steps, rule=rule, home=home, account_home=account_home, session=session)
    if missing := [path for path in named if not isinstance(look(path.resolve()), FolderOnDisk)]:
        raise UsageError(
            f"{shown(str(missing[0]))} is no folder here: is the work root spelt right? nothing was changed",
            hint="all beside it would be personal; make the folder first if it is to come",
        )
    if fault:
        raise UsageError(
            f"no knowledge base at {wishes.kb}: {fault}; nothing was installed",
            hint="mount it or name another; --create-kb begins one there, with a first note",
        )
    warnings = _slips(wishes, kb)
    if not wishes.dry_run:
        steps = approved(steps, yes=wishes.yes, ask=ask)
        carry_out(steps)
        if any(step.path == wall.launcher and step.outcome in _IN_PLACE for step in steps):
            wall.plan()
        counts = find_rule(home, account_home=home)
        warnings += (str(counts),) if isinstance(counts, BadRule) else ()
    return InstallReport(steps=steps, dry_run=wishes.dry_run, warnings=warnings, rule=rule)


def check_leave(
    what: str,
    steps: Iterable[InstallStep],
    *,
    rule: Rule | None,
    home: Path,
    account_home: Path,
    session: CallOrigin,
) -> None:
    """Raise `Refused` where `steps`, after which `rule` counts, aren't this session's to take.

    The rule that counts now decides, or the one to be where there is none. A session at
    work changes nothing about it but to deny more; and what lies in a knowledge base is
    touched from personal sessions only, but for its first note before anybody said what
    is personal.
    """
    counts = find_rule(home, account_home=account_home)
    account = find_rule(account_home, account_home=account_home)
    said = counts if isinstance(counts, Rule) else _said(home)
    judge = next((known for known in (counts, account, rule) if isinstance(known, Rule)), counts)
    project = strictest(session_project(session, known) for known in (judge, said) if known)
    if project.kind is ProjectKind.PERSONAL:
        return
    changes = tuple(step for step in steps if step.path and step.change)
    place = rule_place(home)
    # it may be a link
    rule_files = (place, real_path(place))
    if (
        project.kind is ProjectKind.WORK
        and said
        and any(step.path in rule_files for step in changes)
        and (rule is None or is_loosened(rule, said))
    ):
        hint = f"only your human changes what is denied: outside of work, or in {place}"
        permit(replace(project, hint=hint), f"{what}, which would change the rule", kb=said.kb)
    if project.kind is ProjectKind.WORK and any(step.is_loosening for step in changes):
        kb = next(known.kb for known in (said, judge) if isinstance(known, Rule))
        hint = "only your human changes what keeps agents in bounds: outside of work, or by hand"
        permit(replace(project, hint=hint), f"{what}, which would change hooks", kb=kb)
    kbs = {known.kb for known in (said, account, rule) if isinstance(known, Rule)}
    is_new = said is None or isinstance(look(place), SymbolicLink)
    for step in changes:
        made = step.what in (_KB, _FIRST_NOTE) and is_new and project.kind is not ProjectKind.WORK
        if step.path and step.path != place and not made:
            for kb in kbs:
                if lies_within(step.path, kb):
                    permit(project, f"{what} {step.what} {step.path}", kb=kb)


def _said(home: Path) -> Rule | None:
    """Return what the rule says that is there and doesn't count, because others may write to it."""
    place = rule_place(home)
    try:
        found = look(place)
        data = found.data if isinstance(found, RegularFile | SymbolicLink) else None
        return parse_rule(data.decode("utf-8-sig"), source=place, home=home) if data else None
    except (BadRule, UnicodeDecodeError):
        return None


def rule_place(home: Path) -> Path:
    """Return where agents and roamkb look for the rule."""
    return home / ".claude" / "rules" / RULE_NAME


def copies_in(data: Path) -> Path:
    """Return the folder of the copies that rules are linked to."""
    return data / "rules"


def wished_files(wishes: InstallOptions) -> tuple[Path, ...]:
    """Return the files beside the rules that `wishes` name."""
    block = (wishes.agents_md,) if wishes.agents_md else ()
    return block + (tuple(wishes.snippets / name for name, _, _ in SNIPPETS) if wishes.snippets else ())


def plan_install(
    wishes: InstallOptions,
    *,
    home: Path,
    rule: Rule,
    found: Mapping[Path, Found],
    now: datetime,
    new_id: Callable[[], str],
) -> tuple[InstallStep, ...]:
    """Return what `install` has to do beside `rule`, where `found` is what is there."""
    steps: list[InstallStep] = []
    if wishes.create_kb:
        steps += _kb_steps(rule, found[rule.kb], now=now, new_id=new_id)
    if wishes.agents_md:
        block = agents_block(kb=short_path(rule.kb, home), rule=short_path(rule.source, home))
        steps.append(_block_step(wishes.agents_md, found[wishes.agents_md], block))
    if wishes.snippets:
        steps += [
            _snippet_step(path, found[path], what, text)
            for name, what, text in SNIPPETS
            for path in [wishes.snippets / name]
        ]
    else:
        steps.append(_OFFER)
    return tuple(steps)


# the rule


def _rule_steps(
    wishes: InstallOptions,
    old: RuleCopy | None,
    *,
    home: Path,
    copies: Path,
    rules: Mapping[Path, bytes],
    found: Mapping[Path, Found],
) -> tuple[InstallStep, ...]:
    """Return what puts each rule in place: a link to a copy, or a copy with settings of the user's own."""
    steps: list[InstallStep] = []
    for shipped, data in rules.items():
        place, copy = rule_place(home).with_name(shipped.name), copies / shipped.name
        if place == rule_place(home) and (wishes.own_copy or own_copy(found[place])):
            steps.append(_own_copy_step(place, data, wishes, old, found[place], home=home))
            continue
        link = _link_step(place, copy, data, found[place])
        if link.outcome is StepOutcome.LEFT_ALONE or isinstance(found[place], RegularFile):
            steps.append(link)
            continue
        steps.append(_copy_step(copy, shipped, data, found[copy]))
        if steps[-1].outcome is not StepOutcome.LEFT_ALONE:
            steps.append(link)
    return tuple(steps)


def _copy_step(copy: Path, shipped: Path, data: bytes, found: Found) -> InstallStep:
    """Return the step that keeps a copy of the shipped rule where nothing but `uninstall` takes it away."""
    what = COPY
    stamped = render_own_copy(RuleCopy(data, pristine=True))
    if isinstance(found, RegularFile) and found.data == stamped:
        return unchanged(what, copy, "up to date")
    old = own_copy(found)
    if old and not old.pristine:
        return unchanged(
            what, copy, f"you edited it, so it stays as it is; {shipped} has the one of this roamkb"
        )
    if old is None and not isinstance(found, AbsentPath):
        return left_alone(what, copy, "move it away and install again")
    why = "renewed" if old else "of the one that came with this roamkb"
    return InstallStep(
        what=what, path=copy, outcome=StepOutcome.WRITTEN, why=why, change=PutFile(data=stamped, was=found)
    )


def is_our_link(found: Found, name: str, data: bytes) -> bool:
    """Say whether a link at a rule's place was made by some roamkb: it ends, or ended, at a shipped rule."""
    if not isinstance(found, SymbolicLink):
        return False
    folder = "/rules/" if found.dangles else "/roamkb/rules/"
    return found.data == data or found.target.endswith(folder + name)


def _link_step(place: Path, copy: Path, data: bytes, found: Found) -> InstallStep:
    linked = InstallStep(
        what="rule",
        path=place,
        outcome=StepOutcome.LINKED,
        why=f"to {copy}",
        change=MakeLink(target=copy, was=found),
    )
    match found:
        case AbsentPath():
            return linked
        case SymbolicLink(target=target) if target == str(copy):
            return unchanged("rule", place, "linked already")
        case SymbolicLink(dangles=True):
            return replace(linked, why=f"to {copy}; the link there led nowhere")
        case SymbolicLink() if is_our_link(found, place.name, data):
            return replace(linked, why=f"to {copy}; the link led to where a roamkb is or was installed")
        case RegularFile(data=held) if held == data:
            return unchanged("rule", place, "a file with the same text is there")
    return left_alone("rule", place, "move it away and install again, or keep it and do without this rule")


def own_copy(found: Found) -> RuleCopy | None:
    """Return what is at the rule's place if it is a copy that `install` wrote for this user."""
    return parse_own_copy(found.data) if isinstance(found, RegularFile) else None


def _changed_copy(at_place: Found, below_data: Found) -> RuleCopy | None:
    """Return the copy whose settings count and stay: the user's own one, or ours once they edited it."""
    linked = own_copy(below_data) if isinstance(at_place, SymbolicLink | AbsentPath) else None
    return own_copy(at_place) or (linked if linked and not linked.pristine else None)


def _own_copy_step(
    place: Path, shipped: bytes, wishes: InstallOptions, old: RuleCopy | None, found: Found, *, home: Path
) -> InstallStep:
    """Return the step that writes the user's own copy, or renews it without losing what they changed."""
    ours = is_our_link(found, place.name, shipped) or found in (AbsentPath(), RegularFile(data=shipped))
    if old is None and not ours:
        return left_alone("rule", place, "move it away and install again")
    data = _own_copy_data(place, shipped, wishes, old, home=home)
    if old and isinstance(found, RegularFile) and data == found.data:
        return unchanged("rule", place, "your own copy is up to date")
    return InstallStep(
        what="rule",
        path=place,
        outcome=StepOutcome.WRITTEN,
        why="your own copy" if old is None else "your own copy, renewed",
        change=PutFile(data=data, was=found),
    )


def _own_copy_data(
    place: Path, shipped: bytes, wishes: InstallOptions, old: RuleCopy | None, *, home: Path
) -> bytes:
    """Return the own copy with its mark.

    Settings that aren't wished for stay as they are. The work roots and project parents of a copy are
    only ever added to: to take one away takes an editor. The shipped rule's roots stay as well, where
    the project parents would make them personal. The text follows the shipped rule until the
    user edits it; from then on it is theirs and only the settings change.
    """
    present = parse_rule((old.text if old else shipped).decode(), source=place, home=home)
    added = tuple(_entry(path, home) for path in wishes.work_roots)
    wished = tuple(literal(str(path)) for path in wishes.project_parents)
    parents = tuple(dict.fromkeys((*(present.project_parents if old or not wished else ()), *wished)))
    kept = tuple(root for root in present.work_roots if old or not added or _is_below(root, parents))
    work_roots = (*_shortened(kept, home), *added)
    text = render_rule(
        (shipped if old is None or old.pristine else old.text).decode(),
        kb=short_path(wishes.kb or present.kb, home),
        work_roots=tuple(dict.fromkeys(work_roots)),
        project_parents=_shortened(parents, home),
    )
    return render_own_copy(RuleCopy(text.encode(), pristine=old is None or old.pristine))


def _is_below(entry: str, parents: Iterable[str]) -> bool:
    """Say whether what `entry` names would be personal, were it not denied."""
    path = literal_path(entry)
    return path is None or any(is_under(path, parent) for parent in parents)


def _entry(path: Path, home: Path) -> str:
    """Return the rule's line that means `path` alone."""
    return _shortened((literal(str(path)),), home)[0]


def _shortened(entries: tuple[str, ...], home: Path) -> tuple[str, ...]:
    """Return a rule's entries as people write them: from `~` where they are below."""
    above = re.compile(rf"^(!?){re.escape(literal(str(home)))}(?=/|$)")
    return tuple(above.sub(r"\1~", entry) for entry in entries)


def _rule_to_be(
    wishes: InstallOptions, old: RuleCopy | None, *, home: Path, rules: Mapping[Path, bytes]
) -> Rule:
    """Return the rule as it will count when `wishes` have come true; `old` is the copy that counts now."""
    place = rule_place(home)
    shipped = next(data for path, data in rules.items() if path.name == RULE_NAME)
    if wishes.own_copy or old:
        shipped = _own_copy_data(place, shipped, wishes, old, home=home)
    return parse_rule(shipped.decode(), source=place, home=home)


def _asked(wishes: InstallOptions, ask: Ask, *, home: Path, rules: Mapping[Path, bytes]) -> InstallOptions:
    """Return `wishes` with the folders that the user calls work among those that would be personal."""
    rule = _rule_to_be(wishes, None, home=home, rules=rules)
    projects = tuple(
        classify_folder(folder, rule)
        for parent in filter(None, map(_folder, rule.project_parents))
        # a parent that is a repository itself, such as ~/.emacs.d, is the project
        for folder in ([parent] if (parent / ".git").exists() else folders_in(parent))
    )
    work = _answered(projects, ask, home=home) if projects else ()
    if not work:
        return wishes
    kept = filter(None, map(_folder, rule.work_roots))
    return replace(wishes, work_roots=(*kept, *work))


def _answered(projects: tuple[Project, ...], ask: Ask, *, home: Path) -> tuple[Path, ...]:
    """Return the folders that the user calls work."""
    question = render_question(projects, home=home)
    for _ in range(_TRIES):
        chosen = parse_answer(ask(question), projects)
        if chosen is not None:
            return tuple(project.root for project in chosen if project.root)
        question = f"Only numbers from 1 to {len(projects)}, or Enter for none:"
    raise UsageError("no answer that can be used; nothing was installed", hint="say it with --work-root DIR")


def _folder(entry: str) -> Path | None:
    """Return the folder that an entry of the rule names; None for a pattern or a negation."""
    path = None if entry.startswith("!") else literal_path(entry)
    return Path(path) if path else None


def _slips(wishes: InstallOptions, kb: Path) -> tuple[str, ...]:
    """Return what may be a slip of the pen, or a knowledge base that nobody named, where `kb` will count."""
    slips = []
    if not (wishes.kb or wishes.create_kb) and kb_fault(kb):
        slips.append(
            f"there are no notes at {kb}: name yours with `roamkb install --kb DIR`, "
            "or begin there with --create-kb"
        )
    return tuple(slips)


# what else there is


def _kb_steps(
    rule: Rule, found: Found, *, now: datetime, new_id: Callable[[], str]
) -> tuple[InstallStep, ...]:
    """Return the steps that make a knowledge base with one note where there is none."""
    what, kb = _KB, rule.kb
    if classify_folder(kb, rule).kind is ProjectKind.WORK:
        return (left_alone(what, kb, "a knowledge base under a work root would be work's"),)
    match found:
        case FolderOnDisk(names=names) if any(not name.startswith(".") for name in names) and not kb_fault(
            kb
        ):
            return (unchanged(what, kb, "the folder is there and has notes in it"),)
        case AbsentPath() | FolderOnDisk():
            note = kb / note_name(now, FIRST_SLUG, "")
            made = InstallStep(
                what=what, path=kb, outcome=StepOutcome.WRITTEN, why="a new folder", change=MakeFolder()
            )
            first = InstallStep(
                what=_FIRST_NOTE,
                path=note,
                outcome=StepOutcome.WRITTEN,
                why="says what this folder is; it is yours",
                change=PutFile(data=first_node(new_id(), now).encode(), was=AbsentPath()),
            )
            return (made, first) if isinstance(found, AbsentPath) else (first,)
    return (left_alone(what, kb, "isn't a folder"),)


def _block_step(path: Path, found: Found, block: str) -> InstallStep:
    what = "agents block"
    match found:
        case AbsentPath():
            old = None
        case RegularFile(data=old):
            pass
        case _:
            return left_alone(what, path, "isn't a file that can be read")
    try:
        data = with_block(old, block)
    except BadMarks as error:
        return left_alone(what, path, f"{error}; put them right and install again")
    if data == old:
        return unchanged(what, path, "the block is up to date")
    why = "a new file" if old is None else "renewed" if has_block(old) else "added; every other byte stays"
    return InstallStep(
        what=what, path=path, outcome=StepOutcome.WRITTEN, why=why, change=PutFile(data=data, was=found)
    )


#: (file name, what it is, its text)
SNIPPETS = (
    (EMACS_NAME, "Emacs setting", EMACS_SETTING),
    (STIGNORE_NAME, ".stignore lines", STIGNORE),
)
_OFFER = InstallStep(
    what="snippets",
    path=None,
    outcome=StepOutcome.OFFERED,
    why="`roamkb install --snippets DIR` writes the Emacs setting that keeps conflict copies out of "
    "org-roam's index and makes new notes appear, and the lines for Syncthing's .stignore",
)


def _snippet_step(path: Path, found: Found, what: str, text: str) -> InstallStep:
    data = text.encode()
    match found:
        case RegularFile(data=old) if old == data:
            return unchanged(what, path, "up to date")
        case AbsentPath():
            why = "load it from your init file" if what == "Emacs setting" else "add them to .stignore"
        case RegularFile(data=old) if MADE_BY.encode() in old:
            why = "renewed"
        case _:
            return left_alone(what, path, "move it away and install again, or name another folder")
    return InstallStep(
        what=what, path=path, outcome=StepOutcome.WRITTEN, why=why, change=PutFile(data=data, was=found)
    )


def short_path(path: Path, home: Path) -> str:
    """Return `path` as people write it: from `~` where it is below."""
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
