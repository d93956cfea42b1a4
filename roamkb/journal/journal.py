"""`journal`: what the notes were at each mark and look, and the way back, which is a human's deed (D19)."""

import difflib
import hashlib
import os
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from typing import Final

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.core.errors import NotWritable
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.json_form import OrNull
from roamkb.core.json_form import Rows
from roamkb.core.request import argument
from roamkb.core.request import option
from roamkb.core.request import rest
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import counted
from roamkb.core.text import shown
from roamkb.fs.files import make_folder
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.moments import Content
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import Moment
from roamkb.journal.moments import NotRestored
from roamkb.journal.moments import RestorePlan
from roamkb.journal.moments import RestoreStep
from roamkb.journal.moments import carried_out
from roamkb.journal.moments import is_by_plan
from roamkb.journal.moments import leave_to_restore
from roamkb.journal.moments import plan_rebuilding
from roamkb.journal.moments import plan_restore
from roamkb.journal.moments import told_edit
from roamkb.journal.store.change_traces import traces_of
from roamkb.journal.store.journal import Journal
from roamkb.journal.store.journal import JournalHoldings
from roamkb.journal.store.restore import carry_out
from roamkb.kb.notes.store.walk import kb_fault

#: Letters of a plan's digest that are typed to confirm it.
_TYPED: Final = 6
#: Lines of a plan that are shown before the question; `--dry-run` shows all.
_MOST_LINES: Final = 40
#: Lines of one note's difference.
_MOST_DIFF: Final = 2_000


@dataclass(frozen=True, slots=True)
class JournalRequest:
    """What `journal` takes."""

    action: str | None = argument("show or restore; without it, list the marks and looks.", metavar="ACTION")
    names: Sequence[str] = rest(
        "show: a mark or a session, then notes. restore: the notes, or folders of them.",
        metavar="[MARK|SESSION] [PATH]...",
    )
    _: KW_ONLY
    mark: str | None = option(
        "--mark",
        "As it was then (the mark of the session in which something changed last that nothing explains).",
        metavar="MARK|SESSION",
    )
    all: bool = switch("--all", "restore: all that changed and nothing explains.")
    diff: bool = switch("--diff", "show: the texts' differences as well.")
    create_kb: bool = switch("--create-kb", "restore: make the notes' folder again where it is gone.")
    dry_run: bool = switch("--dry-run", "restore: say what would be done; do nothing.")


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentList:
    """The moments to which the notes can go back, and what the journal holds."""

    JSON = "kb moments held=holdings"
    kb: Path
    moments: tuple[Moment, ...]
    holdings: JournalHoldings


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentDiff:
    """How the notes differ from what they were at a moment."""

    JSON = "kb mark chosen changes=told"
    kb: Path
    mark: int
    #: Which moment it is, where nobody named one; else empty.
    chosen: OrNull
    changes: tuple[EntryChange, ...]
    #: By the changes' names, where they were asked for.
    diffs: dict[bytes, tuple[str, ...]]

    @property
    def told(self) -> Annotated[list[tuple[object, ...]], Rows("change diff"), Keys("*change diff?")]:
        """The changes with their diffs."""
        return [(change, self.diffs.get(change.path)) for change in self.changes]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """What a restore did, or would do."""

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
    """The journal, with what is around it: who may be asked, where the locks are."""

    journal: Journal
    lock_file: Path
    folder: Path | None
    #: Where Syncthing's configuration is; None where it isn't asked.
    home: Path | None = None
    human: HumanAtTerminal | None = None
    #: By what an agent is known to run this.
    agent: str = ""

    def look(self, *, restored: RestorePlan | None = None) -> None:
        """Take in all that changed since the last look, and by what; a plan's steps were a restore's."""
        journal = self.journal
        traces = traces_of(journal, home=self.home)
        if restored is None:
            journal.look(tracer=traces)
            return

        def tracer(changes: Sequence[EntryChange], content: Content) -> list[ChangeMaker]:
            others = [change for change in changes if not is_by_plan(restored, change)]
            makers = iter(traces(others, content))
            return [
                ChangeMaker.RESTORE if is_by_plan(restored, change) else next(makers) for change in changes
            ]

        journal.look(what="restore", tracer=tracer)

    def name(self, given: str) -> bytes:
        """Return a path as the journal has it, empty for the whole folder.

        Raises:
            UsageError: it lies elsewhere.
        """
        kb, real = self.journal.kb, Path(os.path.realpath(self.journal.kb))
        path = Path(os.path.expanduser(given))
        for top in (kb, real):
            for one in (path, *((self.folder / path,) if self.folder else ())):
                plain = Path(os.path.normpath(one))
                if plain.is_absolute() and plain.is_relative_to(top):
                    relative = plain.relative_to(top).as_posix()
                    return b"" if relative == "." else os.fsencode(relative)
        if path.is_absolute() or ".." in path.parts:
            raise UsageError(
                f"{shown(given)} isn't in {shown(str(kb))}", hint="name notes as `journal show` does"
            )
        return b"" if given == "." else os.fsencode(path.as_posix())


def list_moments(keeper: JournalContext) -> MomentList:
    """Return the moments, once the notes were looked at."""
    _look_if_there(keeper)
    journal = keeper.journal
    holdings = journal.holdings()
    if not keeper.agent:
        journal.keep_shown(holdings.last)
    return MomentList(kb=journal.kb, moments=journal.moments(), holdings=holdings)


def show(keeper: JournalContext, names: Sequence[str], *, mark: str | None, diff: bool) -> MomentDiff:
    """Return how the notes, or those that are named, differ from what they were at a mark.

    Raises:
        NotFound: no such mark or note. UsageError: a name leads elsewhere.
    """
    journal = keeper.journal
    _look_if_there(keeper)
    if mark is None and names and (moment := _find_moment(journal, names[0])) is not None:
        names, chosen = names[1:], ""
    else:
        moment, chosen = _moment(journal, mark)
    if not keeper.agent:
        journal.keep_shown(journal.holdings().last)
    wanted = _wanted(keeper, names)
    changes = tuple(
        change
        for change in journal.changes_since(moment)
        if wanted is None or any(wanted(entry.path) for entry in (change.was, change.now) if entry)
    )
    _check_names(keeper, names, moment)
    diffs: dict[bytes, tuple[str, ...]] = {}
    if diff:
        with journal.contents() as content:
            diffs = {change.path: tuple(_diff(content, change)) for change in changes}
    return MomentDiff(kb=journal.kb, mark=moment, chosen=chosen, changes=changes, diffs=diffs)


def restore(
    keeper: JournalContext,
    names: Sequence[str],
    *,
    mark: str | None,
    all: bool,
    create_kb: bool,
    dry_run: bool,
) -> RestoreResult:
    """Give notes the content, modes and names that they had at a mark, once a human says so.

    Nothing is overwritten that changed since the last look: its human may not have seen it.

    Raises:
        UsageError: nobody said what, or no human said yes; nothing was changed. NotFound: no such mark
            or note.
        NoKnowledgeBase: the folder is gone or not mounted, and nobody said to make it.
    """
    if all == bool(names):
        raise UsageError(
            "restore what?", hint="roamkb journal restore PATH…, or --all for all that nothing explains"
        )
    journal = keeper.journal
    if not journal.is_there:
        raise NotFound(
            mark or "", what="mark", hint="the journal begins with the next session, or `roamkb journal`"
        )
    wanted = None if all else _wanted(keeper, names)
    chosen = ""
    if fault := kb_fault(journal.kb):
        if not create_kb:
            raise NoKnowledgeBase(journal.kb, fault)
        plan = _rebuilding(journal, mark, wanted)
    else:
        before = journal.holdings().last
        keeper.look()
        since = {
            entry.path
            for change in journal.changes_since(before)
            for entry in (change.was, change.now)
            if entry
        }
        moment, chosen = _moment(journal, mark)
        _check_names(keeper, names, moment)
        plan = plan_restore(moment, journal.changes_since(moment), wanted=wanted, since=since)
    if dry_run or not plan.steps:
        return RestoreResult(kb=journal.kb, plan=plan, done=False, chosen=chosen)
    lines = list(_question(journal, plan, chosen=chosen, is_new=bool(fault)))
    word = hashlib.sha256(repr(plan).encode()).hexdigest()[:_TYPED]
    leave = leave_to_restore(
        plan, human=keeper.human, agent=keeper.agent, question="\n".join(lines), word=word
    )
    if fault:
        make_folder(journal.kb)
    last = journal.holdings().last
    outcome = carry_out(leave, journal, lock_file=keeper.lock_file)
    plan = carried_out(plan, outcome.undone)
    keeper.look(restored=plan)
    return RestoreResult(
        kb=journal.kb,
        plan=plan,
        done=True,
        is_durable=outcome.is_durable,
        is_hindered=bool(outcome.undone),
        before=last,
        chosen=chosen,
    )


def _look_if_there(keeper: JournalContext) -> None:
    """Look, unless the folder is gone or a sandbox forbids it: what it was is worth showing all the same."""
    try:
        keeper.look()
    except (NoKnowledgeBase, NotWritable):
        if not keeper.journal.is_there:
            raise


def _rebuilding(journal: Journal, mark: str | None, wanted: Callable[[bytes], bool] | None) -> RestorePlan:
    moment = journal.find_moment(mark) if mark else journal.holdings().last
    root = os.fsencode(os.path.realpath(journal.kb))
    entries = (one for one in journal.entries_at(moment) if wanted is None or wanted(one.path))
    return plan_rebuilding(moment, entries, is_there=lambda path: os.path.lexists(root + b"/" + path))


def _moment(journal: Journal, mark: str | None) -> tuple[int, str]:
    return (journal.find_moment(mark), "") if mark else journal.usual_moment()


def _find_moment(journal: Journal, name: str) -> int | None:
    try:
        return journal.find_moment(name)
    except NotFound:
        return None


def _wanted(keeper: JournalContext, names: Sequence[str]) -> Callable[[bytes], bool] | None:
    """Return what says whether an entry is one of those named, or lies in one; None where none is."""
    if not names:
        return None
    tops = tuple(map(keeper.name, names))
    return lambda path: any(not top or path == top or path.startswith(top + b"/") for top in tops)


def _check_names(keeper: JournalContext, names: Sequence[str], moment: int) -> None:
    """Raise NotFound where a name was nothing at a moment, and is nothing now."""
    if not names:
        return
    journal = keeper.journal
    paths = [one.path for at in (moment, journal.holdings().last) for one in journal.entries_at(at)]
    for name in names:
        wanted = _wanted(keeper, (name,))
        if wanted and keeper.name(name) and not any(map(wanted, paths)):
            raise NotFound(
                name,
                what="mark or note",
                hint=f"nothing had that name at {moment}, nor has it now; `roamkb journal` lists the marks",
            )


def step_line(step: RestoreStep) -> str:
    """Return what a step does, in a line."""
    path = shown(os.fsdecode(step.path))
    want, have = step.want, step.have
    if step.verb == "mode" and want and have:
        return f"mode    {path}: {have.mode:04o} becomes {want.mode:04o}"
    of = ""
    entry = want or have
    if entry:
        of = f"{entry.size:,} bytes" if entry.form is EntryForm.FILE else f"a {entry.form}"
    note = f"{of}; the journal keeps it" if want is None else of
    if step.edited_since:
        note += f"; it was {told_edit(step.edited_since)}, and that goes as well; the journal keeps it"
    return f"{step.verb:7} {path} ({note})"


def left_line(left: NotRestored) -> str:
    """Return what is left as it is, and why, in a line."""
    return f"left    {shown(os.fsdecode(left.path))}: {shown(left.why)}"


def _question(journal: Journal, plan: RestorePlan, *, chosen: str, is_new: bool) -> Iterator[str]:
    """Yield what the human reads before the question."""
    if is_new:
        yield f"{shown(str(journal.kb))} is gone or not mounted; it is made, and gets what the journal has:"
    else:
        which = f", {shown(chosen)}" if chosen else ""
        yield f"Back to what {shown(str(journal.kb))} was at {plan.mark}{which}:"
    yield from map(step_line, plan.steps[:_MOST_LINES])
    if len(plan.steps) > _MOST_LINES:
        yield f"and {counted(len(plan.steps) - _MOST_LINES, 'step')} more: --dry-run shows all"
    yield from map(left_line, plan.left[:_MOST_LINES])
    if len(plan.left) > _MOST_LINES:
        yield f"and {len(plan.left) - _MOST_LINES} more are left"


def _diff(content: Callable[[FolderEntry], bytes], change: EntryChange) -> Iterator[str]:
    """Yield how a note's text differs."""
    then, now = (_text(content, entry) for entry in (change.was, change.now))
    path = shown(os.fsdecode(change.path))
    lines = difflib.unified_diff(then, now, f"then/{path}", f"now/{path}", lineterm="")
    for number, line in enumerate(lines):
        if number >= _MOST_DIFF:
            yield "…"
            return
        yield line


def _text(content: Callable[[FolderEntry], bytes], entry: FolderEntry | None) -> list[str]:
    if entry is None or entry.digest is None or entry.form is EntryForm.FOLDER:
        return []
    return content(entry).decode("utf-8", "replace").split("\n")
