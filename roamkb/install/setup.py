"""`setup`: the way from nothing to the first search, by questions at a terminal or by options."""

import shlex
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_yes
from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.core.errors import Interrupted
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import Unanswered
from roamkb.core.errors import UsageError
from roamkb.core.gitignore import escape_path
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.fs.user_dirs import JOURNAL
from roamkb.harnesses.registry import all_harnesses
from roamkb.harnesses.registry import get_harness
from roamkb.harnesses.settings_json import own_handlers
from roamkb.install.harness_settings import harness_steps
from roamkb.install.install import InstallContext
from roamkb.install.install import install
from roamkb.install.install_permit import FIRST_NOTE_STEP
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import PutFile
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import left_alone_step
from roamkb.install.plan import unchanged_step
from roamkb.install.rule_steps import RULE_NAME
from roamkb.install.rule_steps import entry_folder
from roamkb.install.rule_steps import kb_spellings
from roamkb.install.rule_steps import own_copy
from roamkb.install.rule_steps import preview_rule
from roamkb.install.rule_steps import rule_copies_folder
from roamkb.install.rule_steps import rule_path
from roamkb.install.rule_steps import shorten_entries
from roamkb.install.rule_steps import shorten_path
from roamkb.install.setup_dialog import MAX_ANSWERS
from roamkb.install.setup_dialog import AskFunction
from roamkb.install.setup_dialog import SetupDialog
from roamkb.install.store.apply import read_path_state
from roamkb.install.store.apply import real_path
from roamkb.install.store.discovery import USUAL_FOLDERS
from roamkb.install.store.discovery import find_harnesses
from roamkb.install.store.discovery import find_notes
from roamkb.install.store.discovery import find_projects
from roamkb.install.store.discovery import find_unwritable
from roamkb.install.store.discovery import is_repository
from roamkb.install.store.discovery import missing_folders
from roamkb.install.store.receipt import SetupReceipt
from roamkb.install.store.receipt import save_receipt
from roamkb.install.wall_setup import LAUNCHER_STEP
from roamkb.kb.index_admin import IndexState
from roamkb.kb.notes.store.walk import kb_fault
from roamkb.log.init import InitialisedLog
from roamkb.log.store.project_log import LOG_FOLDER

LOG_STEP = "project's log"
INDEX_STEP = "index"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupOptions:
    """The answers that were given as options; every path is absolute."""

    wishes: InstallOptions
    no_work: bool = False
    no_hooks: bool = False
    logs: tuple[Path, ...] = ()
    no_logs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupContext(InstallContext):
    """This machine, and what `setup` calls of the rest of the program."""

    begin_log: Callable[[Path], InitialisedLog]
    #: Says whether the log of a project counts on this machine.
    is_log_adopted: Callable[[Path], bool]
    #: Builds the search index by the rule that counts now.
    build_index: Callable[[], IndexState]
    #: Returns the title that most notes link to; empty without one.
    most_linked_title: Callable[[], str]
    #: At a terminal of a login; None where nobody is.
    human: HumanAtTerminal | None = None


def setup(options: SetupOptions, context: SetupContext) -> InstallReport:
    """Ask what isn't given, install it, begin the logs and build the index; a second call adds to the first.

    Raises:
        UsageError: an answer is missing and nobody can be asked, or can't be used; nothing was changed.
        Refused: as `install` does.
    """
    if is_first(context):
        options = replace(options, wishes=replace(options.wishes, omits_absent=True))
    _require_folders(options.logs)
    if not options.wishes.dry_run:
        _require_writable(rule_path(context.home), context.state.state, context.state.cache)
    try:
        options = _answered(options, context, context.ask) if context.ask else _complete(options, context)
    except KeyboardInterrupt:
        raise Interrupted("nothing was changed", hint="`roamkb setup` begins again") from None
    except Unanswered as error:
        raise UsageError(f"{error}; nothing was changed", hint="`roamkb setup` begins again") from None
    plan = install(replace(options.wishes, dry_run=True), context)
    _check_work(options.wishes, plan.rule)
    planned_logs = tuple(_planned_log(root) for root in options.logs)
    if options.wishes.dry_run:
        return replace(plan, steps=(*plan.steps, *planned_logs))
    _keep_receipt(options, plan, context)
    try:
        return _set_up(options, context)
    except KeyboardInterrupt:
        hint = "`roamkb setup` goes on from there; `roamkb setup --undo` takes back what was made"
        raise Interrupted("a part is set up", hint=hint) from None


def is_first(context: InstallContext) -> bool:
    """Say whether nobody answered yet: no rule is there, or the one that came with roamkb, which leads to no notes."""
    rule = find_rule(context.home, account_home=context.account_home)
    if not isinstance(rule, Rule):
        return isinstance(read_path_state(rule_path(context.home)), AbsentPath)
    linked = read_path_state(rule_path(context.home))
    copied = own_copy(read_path_state(rule_copies_folder(context.data) / RULE_NAME))
    is_as_shipped = isinstance(linked, SymbolicLink) and copied is not None and copied.pristine
    return is_as_shipped and bool(kb_fault(rule.kb))


def _require_folders(logs: Sequence[Path]) -> None:
    if missing := [root for root in logs if not root.is_dir()]:
        raise UsageError(
            f"{one_line(str(missing[0]))} is no folder, so no log can begin there; nothing was changed",
            hint="is it spelt right? --log takes the folder of a project",
        )


def _require_writable(*paths: Path) -> None:
    """Raise before anything is asked where it couldn't be written down."""
    if folder := find_unwritable(paths):
        raise UsageError(
            f"{one_line(str(folder))} can't be written to; nothing was changed",
            hint="`roamkb setup` writes there; is the file system mounted read-only?",
        )


def _set_up(options: SetupOptions, context: SetupContext) -> InstallReport:
    report = install(options.wishes, context)
    steps = (*report.steps, *(_begin_log(root, context) for root in options.logs), *_index_steps(report.rule, context))
    if not (options.no_hooks or find_harnesses(context.home, context.search_path)):
        steps += (_hooks_offer(),)
    return replace(report, steps=steps, next_commands=tuple(_next_commands(options, report.rule, context)))


def _hooks_offer() -> InstallStep:
    """Return the step that names what hooks could be put into, where none of it is here."""
    harnesses = all_harnesses()
    titles = " or ".join(harness.title for harness in harnesses)
    options = ", ".join(f"`--{harness.options[0]}`" for harness in harnesses)
    why = f"no {titles} is here; once one is, `roamkb setup` asks, and `roamkb install` adds them by {options}"
    return InstallStep(what="hooks", path=None, outcome=StepOutcome.OFFERED, why=why)


# the answers


def _complete(options: SetupOptions, context: SetupContext) -> SetupOptions:
    """Return the options if they answer what only a human knows.

    Raises:
        UsageError: they don't, and nothing is guessed.
    """
    wishes = options.wishes
    rule = preview_rule(wishes, home=context.home, data=context.data, rules=context.rules)
    is_known = not is_first(context)
    missing, words = [], ["roamkb setup"]
    given = [("--kb", wishes.kb), *(("--work-root", root) for root in wishes.work_roots)]
    words += [f"{option} {shlex.quote(str(folder))}" for option, folder in given if folder]
    if not (wishes.kb or wishes.begins_default_kb) and (not is_known or kb_fault(rule.kb)):
        found = find_notes(context.home, kb=rule.kb)
        place = shlex.quote(str(found[0].path)) if found else "DIR"
        at_hand = ", ".join(f"{notes.count} in {shorten_path(notes.path, context.home)}" for notes in found)
        missing.append(f"where your notes are (--kb DIR{f'; found: {one_line(at_hand)}' if found else ''})")
        words.append(f"--kb {place}")
    if not (wishes.work_roots or options.no_work or is_known):
        missing.append("which projects are work (--work-root DIR, or --no-work)")
        words.append("--work-root DIR")
    if missing:
        raise UsageError(
            f"nobody is at a terminal to say {' and '.join(missing)}; nothing was changed",
            hint=f"{' '.join(words)}; or `roamkb setup` in a terminal, which asks",
        )
    return options


def _answered(options: SetupOptions, context: SetupContext, ask: AskFunction) -> SetupOptions:
    """Return the options with the human's answers to what they leave open."""
    dialog = SetupDialog(ask, context.home)
    wishes = options.wishes
    rule = preview_rule(wishes, home=context.home, data=context.data, rules=context.rules)
    if not (wishes.kb or wishes.begins_default_kb):
        # what the shipped rule says is one person's layout; org-roam's own default is known to more
        usual = context.home / USUAL_FOLDERS[0] if is_first(context) else rule.kb
        kb, is_new = dialog.choose_notes(find_notes(context.home, kb=rule.kb), usual=usual)
        wishes = replace(wishes, kb=None if kb == rule.kb else kb, create_kb=is_new)
    wishes = _with_boundary(replace(options, wishes=wishes), dialog, context)
    if not (options.no_hooks or wishes.harnesses):
        wishes = _with_hooks(wishes, dialog, context)
    logs = options.logs
    if not (options.no_logs or logs):
        projects = [
            project
            for project in _projects(wishes, context)
            if project.root and is_repository(project.root) and not context.is_log_adopted(project.root)
        ]
        present = [project.root for project in projects if project.root and (project.root / LOG_FOLDER).exists()]
        logs = dialog.choose_logs(projects, present) if projects else ()
    return replace(options, wishes=wishes, logs=logs)


def _with_boundary(options: SetupOptions, dialog: SetupDialog, context: SetupContext) -> InstallOptions:
    """Return the wishes with what is work and what is personal, as the human confirmed it."""
    given = options.wishes
    for attempt in range(MAX_ANSWERS):
        wishes = given
        if attempt:
            dialog.say("Then once more: what you said just now of work and of who may write is dropped.")
        projects = _projects(wishes, context)
        if not (given.work_roots or options.no_work):
            answer = dialog.choose_work(projects, _marked_work(wishes, context))
            wishes = replace(wishes, work_roots=answer.work, dropped_work=answer.dropped)
        if not given.project_parents:
            wishes = _with_parents(_with_later_projects(wishes, dialog, context), dialog, context)
        if attempt and not given.project_parents and (named := dialog.choose_personal()):
            wishes = replace(wishes, project_parents=named)
        rule = preview_rule(wishes, home=context.home, data=context.data, rules=context.rules)
        if lies := next((root for root in wishes.work_roots for kb in rule.all_folders if lies_within(kb, root)), None):
            raise UsageError(
                f"your notes are in {one_line(str(lies))}, which you call work, and work's notes are work's; "
                "nothing was changed",
                hint="name the folders of work beside them",
            )
        if dialog.confirm_boundary(
            *(shorten_entries(entries, context.home) for entries in (rule.work_roots, rule.project_parents))
        ):
            _require_unmarking(wishes.dropped_work, dialog, context)
            return wishes
    raise UsageError("what is work wasn't confirmed; nothing was changed", hint="say it with --work-root DIR")


def _marked_work(wishes: InstallOptions, context: SetupContext) -> tuple[Path, ...]:
    """Return the folders that are work by an entry of their own, which can be taken back."""
    rule = preview_rule(wishes, home=context.home, data=context.data, rules=context.rules)
    return tuple(folder for folder in map(entry_folder, rule.work_roots) if folder)


def _require_unmarking(dropped: Sequence[Path], dialog: SetupDialog, context: SetupContext) -> None:
    """Raise unless a human at a terminal of theirs types that what was work is no more."""
    if dropped:
        folders = one_line(", ".join(map(dialog.short, dropped)))
        question = f"{folders}: no longer work. What agents do there, and what they learned, may reach your notes."
        require_yes(context.human, question, word="unmark")


def _with_later_projects(wishes: InstallOptions, dialog: SetupDialog, context: SetupContext) -> InstallOptions:
    """Return the wishes without the parents of what was called work, where the human gives later projects no leave.

    The projects that are personal there now stay so, each by its own folder.
    """
    rule = preview_rule(wishes, home=context.home, data=context.data, rules=context.rules)
    parents = tuple(folder for folder in map(entry_folder, rule.project_parents) if folder and folder.is_dir())
    personal = [project.root for project in _projects(wishes, context) if project.kind is ProjectKind.PERSONAL]
    closed = []
    for parent in parents:
        work = [root for root in wishes.work_roots if root != parent and root.is_relative_to(parent)]
        if work and not dialog.confirm(
            f"{', '.join(map(dialog.short, work))} lies in {dialog.short(parent)}, where agents may write to your "
            "notes. May projects that come there later write, too? Those of now may."
        ):
            closed.append(parent)
    if not closed:
        return wishes
    kept = [root for root in personal if root and any(root.is_relative_to(parent) for parent in closed)]
    others = (parent for parent in parents if parent not in closed)
    return replace(wishes, project_parents=(*others, *kept), dropped_parents=tuple(closed))


def _with_parents(wishes: InstallOptions, dialog: SetupDialog, context: SetupContext) -> InstallOptions:
    """Return the wishes with the folders whose projects no rule names, where the human calls them personal."""
    unknown: dict[Path, list[Project]] = {}
    for project in _projects(wishes, context):
        if project.kind is ProjectKind.UNKNOWN and project.root and is_repository(project.root):
            parent = project.root if project.root.parent == context.home else project.root.parent
            unknown.setdefault(parent, []).append(project)
    chosen = []
    for parent, projects in unknown.items():
        number = count_phrase(len(projects), "project")
        about = f"{number} in {dialog.short(parent)}" if parent != projects[0].root else dialog.short(parent)
        if dialog.confirm(f"{about}: no rule names it. May agents there write to your notes?"):
            chosen.append(parent)
    if not chosen:
        return wishes
    rule = preview_rule(wishes, home=context.home, data=context.data, rules=context.rules)
    known = (folder for folder in map(entry_folder, rule.project_parents) if folder and folder.is_dir())
    return replace(wishes, project_parents=(*known, *chosen))


def _projects(wishes: InstallOptions, context: SetupContext) -> tuple[Project, ...]:
    """Return the projects at hand, as the rule to be would judge them."""
    rule = preview_rule(wishes, home=context.home, data=context.data, rules=context.rules)
    parents = [folder for folder in map(entry_folder, rule.project_parents) if folder]
    folders = find_projects(context.home, parents=parents, kbs=rule.all_folders)
    return tuple(replace(classify_folder(folder, rule), root=folder) for folder in folders)


def _with_hooks(wishes: InstallOptions, dialog: SetupDialog, context: SetupContext) -> InstallOptions:
    """Return the wishes with the harnesses at hand, where the human wants hooks in their settings."""
    names = find_harnesses(context.home, context.search_path)
    if not names or wishes.program is None:
        return wishes
    rule = preview_rule(wishes, home=context.home, data=context.data, rules=context.rules)
    steps_by_name = {
        name: harness_steps(
            replace(wishes, harnesses=(name,)),
            home=context.home,
            kbs=kb_spellings(rule, context.home),
            wall=context.wall,
        )
        for name in names
    }
    steps = tuple(chain(*steps_by_name.values()))
    diff = "\n".join(step.diff for step in steps if step.diff)
    if not diff:
        return wishes
    hooks = ", ".join(f"{get_harness(name).title} ({_hook_count(steps)})" for name, steps in steps_by_name.items())
    wall = next((step for step in steps if step.what == LAUNCHER_STEP), None)
    summary = _hooks_summary(hooks, wall, journal=dialog.short(context.state.state / JOURNAL))
    is_wanted = dialog.choose_hooks(summary, diff)
    return replace(wishes, harnesses=names, yes=True) if is_wanted else wishes


def _hooks_summary(hooks: str, wall: InstallStep | None, *, journal: str) -> tuple[str, ...]:
    """Return what hooks and wall mean for the human, a line each."""
    is_walled = wall is not None and wall.outcome is not StepOutcome.OFFERED
    return (
        f"hooks:  {hooks}: they recall what you know, and ask what was learned",
        f"wall:   {wall.why if wall else 'none of these has one'}",
        *(("sudo:   doesn't work in agents' commands any more",) if is_walled else ()),
        "notes:  agents can no longer edit, move or delete those that you wrote, not even when you ask them to",
        "read:   agents of every project, work ones too, may read your notes, and are shown what fits a prompt; in a",
        "        project, `roamkb inject off` keeps your notes out of its prompts",
        f"copies: of your notes are kept in {journal}, so that what an agent destroys comes back; of encrypted",
        "        ones the encrypted file, which is never read",
    )


def _hook_count(steps: tuple[InstallStep, ...]) -> str:
    """Return how many hooks the steps of one harness add, as a phrase."""
    added = [step.change.data for step in steps if step.diff and isinstance(step.change, PutFile)]
    handlers = sum(len(own_handlers(data)) for data in added if data.lstrip()[:1] == b"{")
    return count_phrase(handlers, "hook")


def _check_work(wishes: InstallOptions, rule: Rule | None) -> None:
    """Raise unless all that was called work is work by the rule to be."""
    for folder in wishes.work_roots:
        if rule is None or classify_folder(folder, rule).kind is not ProjectKind.WORK:
            raise UsageError(
                f"{one_line(str(folder))} would not be work by the rule; nothing was changed",
                hint=f"write it into the block of work roots by hand; gitignore's syntax: {escape_path(str(folder))}",
            )


# what follows the rule


def _keep_receipt(options: SetupOptions, plan: InstallReport, context: SetupContext) -> None:
    """Keep what is about to be made, before it is."""
    paths = [step.path for step in plan.steps if step.path and step.change]
    new_logs = tuple(root for root in options.logs if not (root / LOG_FOLDER).exists())
    own_folders = (context.state.state / "any", context.state.cache / "any", context.wall.launcher_path)
    receipt = SetupReceipt(
        folders=missing_folders((*paths, *own_folders, rule_path(context.home))),
        logs=new_logs,
        notes=tuple(step.path for step in plan.steps if step.what == FIRST_NOTE_STEP and step.change and step.path),
        agents_md=(real_path(options.wishes.agents_md),) if options.wishes.agents_md else (),
        snippets=(options.wishes.snippets,) if options.wishes.snippets else (),
        harnesses=options.wishes.harnesses,
        had_rule=not isinstance(read_path_state(rule_path(context.home)), AbsentPath),
    )
    save_receipt(context.state.state, receipt)


def _planned_log(root: Path) -> InstallStep:
    return InstallStep(what=LOG_STEP, path=root / LOG_FOLDER, outcome=StepOutcome.WRITTEN, why="a new log")


def _begin_log(root: Path, context: SetupContext) -> InstallStep:
    try:
        made = context.begin_log(root)
    except RoamkbError as error:
        return left_alone_step(LOG_STEP, root / LOG_FOLDER, one_line(str(error)))
    if not made.made:
        return unchanged_step(LOG_STEP, made.folder, "is there already")
    why = "a new log"
    if made.adopted:
        why = f"was there, and counts here from now on: {made.adopted}"
    elif made.is_in_git and not made.ignored_by:
        why += "; commit it, and it travels with the project"
    return InstallStep(what=LOG_STEP, path=made.folder, outcome=StepOutcome.WRITTEN, why=why)


def _index_steps(rule: Rule | None, context: SetupContext) -> Iterator[InstallStep]:
    if rule is None or kb_fault(rule.kb):
        return
    index = context.build_index()
    reason = f"{count_phrase(index.notes, 'note')}, {count_phrase(index.entries, 'node')} to search"
    yield InstallStep(what=INDEX_STEP, path=index.path, outcome=StepOutcome.WRITTEN, why=reason)


def _next_commands(options: SetupOptions, rule: Rule | None, context: SetupContext) -> Iterator[str]:
    """Yield commands to try: a search where a note has links, and two others."""
    if rule and not kb_fault(rule.kb) and (title := context.most_linked_title()):
        yield f"roamkb search {shlex.quote(title)}"
    if options.logs:
        home, folder = shorten_path(options.logs[0], context.home).rpartition("~/")[1:]
        yield f"cd {home}{shlex.quote(folder)} && roamkb brief"
    else:
        yield "roamkb help"
    yield "roamkb doctor"
