"""The command `journal`: the notes at each mark and look, and their restoration by a human (D19)."""

import os
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated
from typing import Final

from roamkb import lazy_module
from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.core.errors import NotWritable
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.json_form import OrNull
from roamkb.core.json_form import Rows
from roamkb.core.request import KbOption
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.request import remaining_arguments
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import sha256
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.fs.files import make_folder
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import Moment
from roamkb.journal.moments import NotRestored
from roamkb.journal.moments import ReadContent
from roamkb.journal.moments import RestorePlan
from roamkb.journal.moments import RestoreStep
from roamkb.journal.moments import describe_later_edit
from roamkb.journal.moments import is_by_plan
from roamkb.journal.moments import mark_undone
from roamkb.journal.moments import plan_rebuilding
from roamkb.journal.moments import plan_restore
from roamkb.journal.moments import require_restore_consent
from roamkb.journal.store import restore as store_restore
from roamkb.journal.store.change_traces import find_change_traces
from roamkb.journal.store.journal import Journal
from roamkb.journal.store.journal import JournalHoldings
from roamkb.kb.notes.store.walk import kb_fault

if TYPE_CHECKING:
    import difflib
else:
    difflib = lazy_module("difflib")

#: Letters of a plan's digest that are typed to confirm it.
_CONFIRMATION_LENGTH: Final = 6
#: Lines of a plan that are shown before the question; `--dry-run` shows all.
_MAX_QUESTION_LINES: Final = 40
#: Lines of one note's difference.
_MAX_DIFF_LINES: Final = 2_000


@dataclass(frozen=True, slots=True)
class JournalRequest:
    """The options of `journal`."""

    action: str | None = optional_argument(
        "show or restore; without it, list the marks and looks.", metavar="ACTION", values=("show", "restore")
    )
    names: Sequence[str] = remaining_arguments(
        "show: a mark or a session, then notes. restore: the notes, or folders of them.",
        metavar="[MARK|SESSION] [PATH]...",
    )
    _: KW_ONLY
    mark: str | None = text_option(
        "--mark",
        "As it was then (the mark of the session in which something changed last that nothing explains).",
        metavar="MARK|SESSION",
    )
    all: bool = flag_option("--all", "restore: all that changed and nothing explains.")
    diff: bool = flag_option("--diff", "show: the texts' differences as well.")
    create_kb: bool = flag_option("--create-kb", "restore: make the notes' folder again where it is gone.")
    dry_run: bool = flag_option("--dry-run", "restore: say what would be done; do nothing.")
    kb: KbOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentList:
    """The moments to which the notes can go back, with the journal's holdings."""

    JSON = "kb moments held=holdings"
    kb: Path
    moments: tuple[Moment, ...]
    holdings: JournalHoldings


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentDiff:
    """The difference of the notes from their state at a moment."""

    JSON = "kb mark chosen changes=told"
    kb: Path
    mark: int
    #: Which moment it is, where nobody named one; else empty.
    chosen: OrNull
    changes: tuple[EntryChange, ...]
    #: By the changes' names, where they were asked for.
    diffs: dict[bytes, tuple[str, ...]]

    @property
    def told(
        self,
    ) -> Annotated[list[tuple[EntryChange, tuple[str, ...] | None]], Rows("change diff"), Keys("*change diff?")]:
        """The changes with their diffs."""
        return [(change, self.diffs.get(change.path)) for change in self.changes]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """The result of a restore, or of its dry run."""

    JSON = "kb plan.mark chosen done is_durable plan.steps plan.left"
    kb: Path
    plan: RestorePlan
    done: bool
    is_durable: bool = True
    #: Whether something that was planned changed meanwhile, and was left.
    is_hindered: bool = False
    #: The moment just before it, to which a restore undoes it; 0 where nothing was done.
    before: int = 0
    #: Which moment the plan goes back to, where nobody named one.
    chosen: OrNull = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalContext:
    """The journal with its surroundings: the human to ask, the locks, the folders."""

    journal: Journal
    lock_file: Path
    folder: Path | None
    #: Where Syncthing's configuration is; None where it isn't asked.
    home: Path | None = None
    human: HumanAtTerminal | None = None
    #: By what an agent is known to run this.
    agent: str = ""
    #: The names of the rule's other knowledge bases, where this is the default one's.
    other_kbs: tuple[str, ...] = ()

    def take_look(self, *, restored: RestorePlan | None = None) -> None:
        """Record all changes since the last look, and their makers; a plan's steps are a restore's."""
        journal = self.journal
        traces = find_change_traces(journal, home=self.home)
        if restored is None:
            journal.take_look(tracer=traces)
            return

        def trace_restore(changes: Sequence[EntryChange], content: ReadContent) -> list[ChangeMaker]:
            others = [change for change in changes if not is_by_plan(restored, change)]
            makers = iter(traces(others, content))
            return [ChangeMaker.RESTORE if is_by_plan(restored, change) else next(makers) for change in changes]

        journal.take_look(look_kind="restore", tracer=trace_restore)

    def entry_path(self, typed_path: str) -> bytes:
        """Return a path as the journal stores it, empty for the whole folder.

        Raises:
            UsageError: it lies elsewhere.
        """
        kb, real = self.journal.kb, Path(os.path.realpath(self.journal.kb))
        path = Path(os.path.expanduser(typed_path))
        for top in (kb, real):
            for candidate in (path, *((self.folder / path,) if self.folder else ())):
                plain = Path(os.path.normpath(candidate))
                if plain.is_absolute() and plain.is_relative_to(top):
                    relative = plain.relative_to(top).as_posix()
                    return b"" if relative == "." else os.fsencode(relative)
        if path.is_absolute() or ".." in path.parts:
            raise UsageError(
                f"{one_line(typed_path)} isn't in {one_line(str(kb))}", hint="name notes as `journal show` does"
            )
        return b"" if typed_path == "." else os.fsencode(path.as_posix())


def list_moments(context: JournalContext) -> MomentList:
    """Take a look at the notes and return the moments."""
    _look_if_there(context)
    journal = context.journal
    holdings = journal.read_holdings()
    if not context.agent:
        journal.save_shown_moment(holdings.last)
    return MomentList(kb=journal.kb, moments=journal.list_moments(), holdings=holdings)


def show(context: JournalContext, names: Sequence[str], *, mark: str | None, diff: bool) -> MomentDiff:
    """Return the changes of the notes, or of the named ones, since a mark.

    Raises:
        NotFound: no such mark or note. UsageError: a name leads elsewhere.
    """
    journal = context.journal
    _look_if_there(context)
    if mark is None and names and (moment := _find_moment(journal, names[0])) is not None:
        names, chosen = names[1:], ""
    else:
        moment, chosen = _chosen_moment(journal, mark)
    if not context.agent:
        journal.save_shown_moment(journal.read_holdings().last)
    is_selected = _selects_names(context, names)
    changes = tuple(
        change
        for change in journal.changes_since(moment)
        if is_selected is None or any(is_selected(entry.path) for entry in (change.was, change.now) if entry)
    )
    _check_names(context, names, moment)
    diffs: dict[bytes, tuple[str, ...]] = {}
    if diff:
        with journal.content_reader() as content:
            diffs = {change.path: tuple(_render_diff(content, change)) for change in changes}
    return MomentDiff(kb=journal.kb, mark=moment, chosen=chosen, changes=changes, diffs=diffs)


def restore(
    context: JournalContext,
    names: Sequence[str],
    *,
    mark: str | None,
    all: bool,
    create_kb: bool,
    dry_run: bool,
) -> RestoreResult:
    """Give notes their content, modes and names at a mark, once a human confirms it.

    Nothing is overwritten that changed since the last look: its human may not have seen it.

    Raises:
        UsageError: nobody said what, or no human said yes; nothing was changed. NotFound: no such mark
            or note.
        NoKnowledgeBase: the folder is gone or not mounted, and nobody said to make it.
    """
    if all == bool(names):
        raise UsageError("restore what?", hint="roamkb journal restore PATH…, or --all for all that nothing explains")
    journal = context.journal
    if not journal.is_there:
        raise NotFound(mark or "", kind="mark", hint="the journal begins with the next session, or `roamkb journal`")
    is_selected = None if all else _selects_names(context, names)
    chosen = ""
    if fault := kb_fault(journal.kb):
        if not create_kb:
            raise NoKnowledgeBase(journal.kb, fault)
        plan = _plan_rebuilding(journal, mark, is_selected)
    else:
        moment_before = journal.read_holdings().last
        context.take_look()
        changed_paths = {
            entry.path for change in journal.changes_since(moment_before) for entry in (change.was, change.now) if entry
        }
        moment, chosen = _chosen_moment(journal, mark)
        _check_names(context, names, moment)
        plan = plan_restore(moment, journal.changes_since(moment), is_selected=is_selected, changed_paths=changed_paths)
    if dry_run or not plan.steps:
        return RestoreResult(kb=journal.kb, plan=plan, done=False, chosen=chosen)
    lines = list(_render_question(journal, plan, chosen=chosen, is_new=bool(fault)))
    word = sha256(repr(plan).encode()).hexdigest()[:_CONFIRMATION_LENGTH]
    consent = require_restore_consent(
        plan, human=context.human, agent=context.agent, question="\n".join(lines), word=word
    )
    if fault:
        make_folder(journal.kb)
    last_moment = journal.read_holdings().last
    outcome = store_restore.run_restore(consent, journal, lock_file=context.lock_file)
    plan = mark_undone(plan, outcome.undone)
    context.take_look(restored=plan)
    return RestoreResult(
        kb=journal.kb,
        plan=plan,
        done=True,
        is_durable=outcome.is_durable,
        is_hindered=bool(outcome.undone),
        before=last_moment,
        chosen=chosen,
    )


def _look_if_there(context: JournalContext) -> None:
    """Take a look, unless the folder is gone or a sandbox forbids it: the past can be shown all the same."""
    try:
        context.take_look()
    except (NoKnowledgeBase, NotWritable):
        if not context.journal.is_there:
            raise


def _plan_rebuilding(journal: Journal, mark: str | None, is_selected: Callable[[bytes], bool] | None) -> RestorePlan:
    moment = journal.find_moment(mark) if mark else journal.read_holdings().last
    root = os.fsencode(os.path.realpath(journal.kb))
    entries = (entry for entry in journal.entries_at(moment) if is_selected is None or is_selected(entry.path))
    return plan_rebuilding(moment, entries, is_there=lambda path: os.path.lexists(root + b"/" + path))


def _chosen_moment(journal: Journal, mark: str | None) -> tuple[int, str]:
    return (journal.find_moment(mark), "") if mark else journal.default_moment()


def _find_moment(journal: Journal, name: str) -> int | None:
    try:
        return journal.find_moment(name)
    except NotFound:
        return None


def _selects_names(context: JournalContext, names: Sequence[str]) -> Callable[[bytes], bool] | None:
    """Return a predicate for entries that are named or lie in a named folder; None without names."""
    if not names:
        return None
    tops = tuple(map(context.entry_path, names))
    return lambda path: any(not top or path == top or path.startswith(top + b"/") for top in tops)


def _check_names(context: JournalContext, names: Sequence[str], moment: int) -> None:
    """Raise NotFound for a name that had no entry at a moment and has none now."""
    if not names:
        return
    journal = context.journal
    paths = [
        entry.path
        for recorded_moment in (moment, journal.read_holdings().last)
        for entry in journal.entries_at(recorded_moment)
    ]
    for name in names:
        is_selected = _selects_names(context, (name,))
        if is_selected and context.entry_path(name) and not any(map(is_selected, paths)):
            raise NotFound(
                name,
                kind="mark or note",
                hint=f"nothing had that name at {moment}, nor has it now; `roamkb journal` lists the marks",
            )


def step_line(step: RestoreStep) -> str:
    """Return a step as a line."""
    path = one_line(os.fsdecode(step.path))
    want, have = step.want, step.have
    if step.verb == "mode" and want and have:
        return f"mode    {path}: {have.mode:04o} becomes {want.mode:04o}"
    description = ""
    entry = want or have
    if entry:
        description = f"{entry.size:,} bytes" if entry.form is EntryForm.FILE else f"a {entry.form}"
    note = f"{description}; the journal keeps it" if want is None else description
    if step.edited_since:
        note += f"; it was {describe_later_edit(step.edited_since)}, and that goes as well; the journal keeps it"
    return f"{step.verb:7} {path} ({note})"


def not_restored_line(not_restored: NotRestored) -> str:
    """Return an entry that is not restored, with the reason, as a line."""
    return f"left    {one_line(os.fsdecode(not_restored.path))}: {one_line(not_restored.why)}"


def _render_question(journal: Journal, plan: RestorePlan, *, chosen: str, is_new: bool) -> Iterator[str]:
    """Yield the lines that the human reads before the confirmation."""
    if is_new:
        yield f"{one_line(str(journal.kb))} is gone or not mounted; it is made, and gets what the journal has:"
    else:
        moment_note = f", {one_line(chosen)}" if chosen else ""
        yield f"Back to what {one_line(str(journal.kb))} was at {plan.mark}{moment_note}:"
    yield from map(step_line, plan.steps[:_MAX_QUESTION_LINES])
    if len(plan.steps) > _MAX_QUESTION_LINES:
        yield f"and {count_phrase(len(plan.steps) - _MAX_QUESTION_LINES, 'step')} more: --dry-run shows all"
    yield from map(not_restored_line, plan.left[:_MAX_QUESTION_LINES])
    if len(plan.left) > _MAX_QUESTION_LINES:
        yield f"and {len(plan.left) - _MAX_QUESTION_LINES} more are left"


def _render_diff(content: Callable[[FolderEntry], bytes], change: EntryChange) -> Iterator[str]:
    """Yield the difference of a note's text."""
    old_lines, new_lines = (_text_lines(content, entry) for entry in (change.was, change.now))
    path = one_line(os.fsdecode(change.path))
    lines = difflib.unified_diff(old_lines, new_lines, f"then/{path}", f"now/{path}", lineterm="")
    for number, line in enumerate(lines):
        if number >= _MAX_DIFF_LINES:
            yield "…"
            return
        yield line


def _text_lines(content: Callable[[FolderEntry], bytes], entry: FolderEntry | None) -> list[str]:
    if entry is None or entry.digest is None or entry.form is EntryForm.FOLDER:
        return []
    return content(entry).decode("utf-8", "replace").split("\n")
