"""What the journal knows of the notes' folder: entries, moments, changes, and what brings a moment back.

The journal is a safety copy: losing it loses no knowledge, only the way back.
"""

import stat
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated
from typing import Final

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_no_agent
from roamkb.boundary.human_consent import require_yes
from roamkb.core.json_form import OrNull
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.timestamps import local_iso
from roamkb.journal.names import UNREADABLE
from roamkb.journal.names import is_closed

#: Days for which the journal keeps what isn't in the notes' folder any more.
KEPT_DAYS: Final = 30
#: Days within which nothing of it goes, however much there is: what was just destroyed is only here.
SAFE_DAYS: Final = 7
#: Compressed bytes above which the oldest of it goes earlier: a year's edits of ten thousand notes.
MOST_BYTES: Final = 512 * 1024**2
#: Compressed bytes at which nothing more is taken in, and `doctor` says so.
FULL_BYTES: Final = 2048 * 1024**2


class EntryForm(StrEnum):
    """What an entry is."""

    FILE = "file"
    LINK = "link"
    FOLDER = "folder"
    OTHER = "other"

    @staticmethod
    def of(mode: int) -> "EntryForm":
        """Return the form of what has that `st_mode`."""
        return _FORMS.get(stat.S_IFMT(mode), EntryForm.OTHER)


_FORMS: Final = {stat.S_IFREG: EntryForm.FILE, stat.S_IFLNK: EntryForm.LINK, stat.S_IFDIR: EntryForm.FOLDER}


class ChangeKind(StrEnum):
    """What happened to an entry between two moments."""

    ADDED = "added"
    CHANGED = "changed"
    VANISHED = "vanished"
    MOVED = "moved"
    MODE = "mode"


class ChangeMaker(StrEnum):
    """What made a change, as far as it can be told; roamkb's word for what can't."""

    EMACS = "Emacs"
    VIM = "vim"
    SYNCTHING = "Syncthing"
    ROAMKB = "roamkb"
    GIT = "git"
    RESTORE = "a restore"
    #: Between the turns of all sessions, when no agent does anything.
    IDLE = "no session"
    UNKNOWN = "unknown"


#: Whose changes nobody is told of, and are taken back only by name; a restore's can be undone as a whole.
EXPLAINED: Final = frozenset(
    {
        ChangeMaker.EMACS,
        ChangeMaker.VIM,
        ChangeMaker.SYNCTHING,
        ChangeMaker.ROAMKB,
        ChangeMaker.RESTORE,
        ChangeMaker.IDLE,
    }
)


def told_maker(by: ChangeMaker) -> str:
    """Return how a change's maker is told to people; empty where nobody knows it."""
    if by is ChangeMaker.UNKNOWN:
        return ""
    return "while no session was at work" if by is ChangeMaker.IDLE else f"by {by}"


def told_edit(by: ChangeMaker) -> str:
    """Return how an edit is told that came after a change which nothing explains."""
    return f"edited since, {told_maker(by)}" if by is ChangeMaker.IDLE else f"edited since {told_maker(by)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """One name in the notes' folder, as it was from one moment on."""

    JSON = "form mode size sha256=digest unkept=why"
    path: bytes
    form: EntryForm
    mode: Annotated[int, "{:04o}".format]
    size: int = 0
    #: When it was written in nanoseconds, as its writer says; 0 where that is forgotten.
    mtime: int = 0
    #: SHA-256 of a file's content or of a link's target; None where the journal has none.
    digest: Annotated[bytes | None, bytes.hex] = None
    #: Why it has none; empty where it will be read at the next look.
    why: OrNull = ""
    #: The moment from which on it was so.
    since: int = 0

    @property
    def is_unread(self) -> bool:
        """Whether it could not be read yet, and is tried again at each look."""
        return (
            self.digest is None
            and self.why in ("", UNREADABLE)
            and self.form in (EntryForm.FILE, EntryForm.LINK)
        )

    def is_as(self, other: "FolderEntry") -> bool:
        """Say whether the two are alike in all that can be brought back."""
        return self.holds(other) and self.mode == other.mode

    def holds(self, other: "FolderEntry") -> bool:
        """Say whether the two have the same content."""
        if self.form is EntryForm.FILE and self.digest is None:
            return other.digest is None and self.since == other.since
        return self.form is other.form and self.digest == other.digest


#: Returns what an entry holds; None where that isn't known.
Content = Callable[[FolderEntry], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalSession:
    """A harness's session, as the journal remembers it: no more than its human needs to know it again.

    Nothing of what it works on lies outside its own tree, not even the name (D11).
    """

    #: As `session_key` makes it.
    id: str
    #: Of its project: work, personal or unknown.
    kind: str = ""
    agent: str = ""

    def __str__(self) -> str:
        kind = f"{self.kind} " if self.kind else ""
        agent = f" of {self.agent}" if self.agent else ""
        return f"{kind}session {self.id}{agent}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A state of the folder that can be brought back: a mark, or a look that saw a change."""

    id: int
    #: Seconds since 1970.
    at: Annotated[float, local_iso]
    #: `mark`, `look` or `restore`.
    what: str
    #: Whose hook it was; None for a look of `doctor` or `journal`.
    session: JournalSession | None
    #: Sessions that were at work since the moment before.
    during: tuple[JournalSession, ...] = ()
    changed: int = 0
    #: Of them, those that nothing explains.
    unexplained: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChange:
    """What became of one entry between two moments."""

    JSON = "path what moved_to by edited_since was now"
    what: ChangeKind
    was: FolderEntry | None
    now: FolderEntry | None
    by: ChangeMaker = ChangeMaker.UNKNOWN
    #: What made a later change of it that is explained, after one that isn't; None without such.
    edited_since: ChangeMaker | None = None

    @property
    def path(self) -> bytes:
        """The name that it had, or has where it is new."""
        entry = self.was or self.now
        return entry.path if entry else b""

    @property
    def is_explained(self) -> bool:
        """Whether it is known what made it."""
        return self.by in EXPLAINED

    @property
    def moved_to(self) -> bytes | None:
        """The name that it has now, where that is all that changed."""
        return self.now.path if self.what is ChangeKind.MOVED and self.now else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCause:
    """What made the changes of one entry, several of which may be one change by now."""

    by: ChangeMaker = ChangeMaker.UNKNOWN
    edited_since: ChangeMaker | None = None

    def then(self, by: ChangeMaker) -> "ChangeCause":
        """Return the cause of these changes and a later one."""
        if self.by in EXPLAINED:
            return ChangeCause(by=by)
        is_edit = by in EXPLAINED and by is not ChangeMaker.RESTORE
        return ChangeCause(by=self.by, edited_since=by if is_edit else None)

    def beside(self, other: "ChangeCause") -> "ChangeCause":
        """Return the cause of what became of two names that are one change."""
        first = other if self.by in EXPLAINED else self
        return ChangeCause(by=first.by, edited_since=self.edited_since or other.edited_since)


def changes_between(
    was: Mapping[bytes, FolderEntry],
    now: Mapping[bytes, FolderEntry],
    cause: Callable[[bytes], ChangeCause] = lambda _: ChangeCause(),
) -> tuple[EntryChange, ...]:
    """Return what became of the entries in `was` and which ones are new, in the order of their names."""
    lost = {path: entry for path, entry in was.items() if path not in now}
    new = {path: entry for path, entry in now.items() if path not in was}
    changes: list[EntryChange] = []
    for old, other in list(_moved(lost, new)):
        del lost[old.path], new[other.path]
        changes.append(_change(ChangeKind.MOVED, old, other, cause(old.path).beside(cause(other.path))))
    changes += (_change(ChangeKind.VANISHED, entry, None, cause(path)) for path, entry in lost.items())
    changes += (_change(ChangeKind.ADDED, None, entry, cause(path)) for path, entry in new.items())
    for path in was.keys() & now.keys():
        old, other = was[path], now[path]
        if not old.holds(other):
            changes.append(_change(ChangeKind.CHANGED, old, other, cause(path)))
        elif old.mode != other.mode:
            changes.append(_change(ChangeKind.MODE, old, other, cause(path)))
    return tuple(sorted(changes, key=lambda change: change.path))


def _change(
    what: ChangeKind, was: FolderEntry | None, now: FolderEntry | None, cause: ChangeCause
) -> EntryChange:
    return EntryChange(what=what, was=was, now=now, by=cause.by, edited_since=cause.edited_since)


def _moved(
    lost: Mapping[bytes, FolderEntry], new: Mapping[bytes, FolderEntry]
) -> Iterator[tuple[FolderEntry, FolderEntry]]:
    """Yield what has another name now; empty files are all alike, so that they prove nothing."""
    places: dict[bytes, list[FolderEntry]] = {}
    for entry in new.values():
        if entry.form is EntryForm.FILE and entry.digest and entry.size:
            places.setdefault(entry.digest, []).append(entry)
    for entry in lost.values():
        if entry.digest and entry.form is EntryForm.FILE and (found := places.get(entry.digest)):
            yield entry, found.pop(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreStep:
    """One thing that a restore does: puts `want` where `have` is, or takes away what nobody wants."""

    JSON = "do=verb path was=want now=have edited_since"
    want: FolderEntry | None
    have: FolderEntry | None
    #: What must have been put back before: a note that was moved has its old name before it loses the new.
    after: bytes | None = None
    #: Whose later edit goes as well.
    edited_since: ChangeMaker | None = None

    @property
    def form_changes(self) -> bool:
        """Whether something of another form is in the way."""
        return self.want is not None and self.have is not None and self.want.form is not self.have.form

    @property
    def path(self) -> bytes:
        """Where it does it."""
        entry = self.want or self.have
        return entry.path if entry else b""

    @property
    def verb(self) -> str:
        """What it does, in a word."""
        if self.want is None:
            return "remove"
        if self.have is None:
            return "create"
        return "mode" if self.want.holds(self.have) else "replace"


#: Why something is left that nobody has seen yet.
NEWER: Final = "changed since the last look"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRestored:
    """What a restore leaves as it is, and why."""

    JSON = "path reason=why"
    path: bytes
    why: str
    #: Whether it was to be restored and couldn't be.
    has_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePlan:
    """What a restore would do."""

    mark: int
    steps: tuple[RestoreStep, ...]
    left: tuple[NotRestored, ...]


def plan_restore(
    mark: int,
    changes: Iterable[EntryChange],
    *,
    wanted: Callable[[bytes], bool] | None,
    since: Collection[bytes],
) -> RestorePlan:
    """Return the steps that undo `changes`, all of what nothing explains or those that are `wanted`.

    What changed `since` the last look is left: whoever asks for a restore has not seen it.
    """
    steps: list[RestoreStep] = []
    left: list[NotRestored] = []
    for change in changes:
        names = [entry.path for entry in (change.was, change.now) if entry]
        if wanted and not any(map(wanted, names)):
            continue
        if any(name in since for name in names):
            left.append(NotRestored(path=change.path, why=NEWER))
        elif wanted is None and change.is_explained and change.by is not ChangeMaker.RESTORE:
            left.append(
                NotRestored(
                    path=change.path,
                    why=f"changed {told_maker(change.by)}; name it to restore it all the same",
                )
            )
        elif wanted is None and change.edited_since:
            left.append(
                NotRestored(
                    path=change.path,
                    why=f"{told_edit(change.edited_since)}; name it to restore it all the same",
                )
            )
        elif why := _obstacle(change):
            left.append(NotRestored(path=change.path, why=why))
        elif change.what is ChangeKind.MOVED:
            steps.append(RestoreStep(want=change.was, have=None, edited_since=change.edited_since))
            steps.append(RestoreStep(want=None, have=change.now, after=change.path))
        else:
            steps.append(RestoreStep(want=change.was, have=change.now, edited_since=change.edited_since))
    return RestorePlan(mark=mark, steps=_in_order(steps), left=tuple(left))


def plan_rebuilding(
    mark: int, entries: Iterable[FolderEntry], *, is_there: Callable[[bytes], bool]
) -> RestorePlan:
    """Return the steps that put all `entries` into a folder that was lost, but for what is there."""
    steps: list[RestoreStep] = []
    left: list[NotRestored] = []
    for entry in entries:
        if is_there(entry.path):
            left.append(NotRestored(path=entry.path, why="is there"))
        elif why := _obstacle(EntryChange(what=ChangeKind.VANISHED, was=entry, now=None)):
            left.append(NotRestored(path=entry.path, why=why))
        else:
            steps.append(RestoreStep(want=entry, have=None))
    return RestorePlan(mark=mark, steps=_in_order(steps), left=tuple(left))


def _obstacle(change: EntryChange) -> str:
    """Return why a change can't be undone without losing something; empty where it can."""
    was, now = change.was, change.now
    if was and now and was.holds(now):
        return ""
    for entry, what in ((was, "what it was"), (now, "what is there now")):
        if entry is None:
            continue
        if entry.form is EntryForm.OTHER:
            return f"{what} is no file"
        if (
            entry.form is EntryForm.FOLDER
            and is_closed(entry.path.rpartition(b"/")[2])
            and entry.path != b".stfolder"
        ):
            return f"{what} is a folder whose content isn't in the journal"
        if entry.form is not EntryForm.FOLDER and entry.digest is None:
            return f"{what} isn't in the journal ({entry.why or 'not read in time'})"
    return ""


def _in_order(steps: Iterable[RestoreStep]) -> tuple[RestoreStep, ...]:
    """Return the steps so that each finds its folder: made accessible and made first, emptied before it goes.

    What nobody wants goes last, so that a full disk takes nothing; what is in the way of others goes first.
    """
    steps = list(steps)
    in_the_way = tuple(step.path + b"/" for step in steps if step.form_changes)

    def place(step: RestoreStep) -> tuple[int, int, bytes]:
        depth = step.path.count(b"/")
        if step.want is None:
            return (1 if step.path.startswith(in_the_way) else 4), -depth, step.path
        if step.want.form is EntryForm.FOLDER:
            return (0 if step.verb == "mode" else 2), depth, step.path
        return 3, depth, step.path

    return tuple(sorted(steps, key=place))


def is_by_plan(plan: RestorePlan, change: EntryChange) -> bool:
    """Say whether a change is what a plan's steps made, to the letter."""
    wanted = {step.path: step.want for step in plan.steps}
    want = change.now and wanted.get(change.now.path)
    if change.now and not (want and want.is_as(change.now)):
        return False
    gone = change.was.path if change.was and change.what in (ChangeKind.VANISHED, ChangeKind.MOVED) else None
    return gone is None or (gone in wanted and wanted[gone] is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreConsent:
    """A human's yes to one plan; without it the notes can't be given their former content."""

    plan: RestorePlan


def leave_to_restore(
    plan: RestorePlan, *, human: HumanAtTerminal | None, agent: str, question: str, word: str
) -> RestoreConsent:
    """Return leave to carry out `plan`, or raise unless a human at a terminal types `word` (D19).

    `agent` is by what an agent is known to run this.
    """
    require_no_agent(agent)
    require_yes(human, question, word=word)
    return RestoreConsent(plan=plan)


def carried_out(plan: RestorePlan, undone: Iterable[NotRestored]) -> RestorePlan:
    """Return the plan as it was carried out: what could not be done is left."""
    undone = tuple(undone)
    paths = {left.path for left in undone}
    return replace(
        plan,
        steps=tuple(step for step in plan.steps if step.path not in paths),
        left=(*plan.left, *undone),
    )
