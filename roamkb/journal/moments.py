"""Values of the journal: entries, moments, changes, and plans that bring a moment back.

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
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.timestamps import format_local_iso
from roamkb.journal.names import UNREADABLE
from roamkb.journal.names import is_closed

#: Days for which the journal keeps what isn't in the notes' folder any more.
RETENTION_DAYS: Final = 30
#: Days within which nothing of it goes, however much there is: what was just destroyed is only here.
MIN_RETENTION_DAYS: Final = 7
#: Compressed bytes above which the oldest of it goes earlier: a year's edits of ten thousand notes.
MAX_STORED_BYTES: Final = 512 * 1024**2
#: Compressed bytes at which nothing more is taken in, and `doctor` says so.
REFUSAL_BYTES: Final = 2048 * 1024**2


class EntryForm(StrEnum):
    """The form of an entry."""

    FILE = "file"
    LINK = "link"
    FOLDER = "folder"
    OTHER = "other"

    @staticmethod
    def from_mode(mode: int) -> "EntryForm":
        """Return the form of an entry with that `st_mode`."""
        return _FORMS.get(stat.S_IFMT(mode), EntryForm.OTHER)


_FORMS: Final = {stat.S_IFREG: EntryForm.FILE, stat.S_IFLNK: EntryForm.LINK, stat.S_IFDIR: EntryForm.FOLDER}


class ChangeKind(StrEnum):
    """The kind of an entry's change between two moments."""

    ADDED = "added"
    CHANGED = "changed"
    VANISHED = "vanished"
    MOVED = "moved"
    MODE = "mode"


class ChangeMaker(StrEnum):
    """The maker of a change, as far as it is known."""

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
EXPLAINED_MAKERS: Final = frozenset(
    {
        ChangeMaker.EMACS,
        ChangeMaker.VIM,
        ChangeMaker.SYNCTHING,
        ChangeMaker.ROAMKB,
        ChangeMaker.RESTORE,
        ChangeMaker.IDLE,
    }
)


def describe_maker(maker: ChangeMaker) -> str:
    """Return a phrase for a change's maker; empty where it is unknown."""
    if maker is ChangeMaker.UNKNOWN:
        return ""
    return "while no session was at work" if maker is ChangeMaker.IDLE else f"by {maker}"


def describe_later_edit(maker: ChangeMaker) -> str:
    """Return a phrase for a later edit of an entry with an unexplained change."""
    return f"edited since{',' * (maker is ChangeMaker.IDLE)} {describe_maker(maker)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """An entry of the notes' folder, in its state from one moment on."""

    JSON = "form mode size sha256=digest unkept=why"
    path: bytes
    form: EntryForm
    mode: Annotated[int, "{:04o}".format]
    size: int = 0
    #: When it was written in nanoseconds, as its writer says; 0 where that is forgotten.
    mtime: int = 0
    #: Of the file that it is; 0 where that is forgotten.
    inode: int = field(default=0, compare=False)
    #: SHA-256 of a file's content or of a link's target; None where the journal has none.
    digest: Annotated[bytes | None, bytes.hex] = None
    #: Why it has none; empty where it will be read at the next look.
    why: OrNull = ""
    #: The moment from which on it was so.
    since: int = 0

    @property
    def is_unread(self) -> bool:
        """Whether it could not be read yet, and is tried again at each look."""
        return self.digest is None and self.why in ("", UNREADABLE) and self.form in (EntryForm.FILE, EntryForm.LINK)

    def is_same_state(self, other_entry: "FolderEntry") -> bool:
        """Say whether the two are alike in all that can be restored."""
        return self.has_same_content(other_entry) and self.mode == other_entry.mode

    def has_same_content(self, other_entry: "FolderEntry") -> bool:
        """Say whether the two have the same content."""
        if self.form is EntryForm.FILE and self.digest is None:
            return other_entry.digest is None and self.since == other_entry.since
        return self.form is other_entry.form and self.digest == other_entry.digest


#: Returns what an entry holds; None where that isn't known.
ReadContent = Callable[[FolderEntry], bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalSession:
    """A harness's session as the journal records it: just enough for its human to recognise it.

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
    at: Annotated[float, format_local_iso]
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
    """The change of one entry between two moments."""

    JSON = "path what moved_to by edited_since was now"
    what: ChangeKind
    was: FolderEntry | None
    now: FolderEntry | None
    by: ChangeMaker = ChangeMaker.UNKNOWN
    #: What made a later change of it that is explained, after one that isn't; None without such.
    edited_since: ChangeMaker | None = None

    @property
    def path(self) -> bytes:
        """The name that the entry had, or has where it is new."""
        entry = self.was or self.now
        return entry.path if entry else b""

    @property
    def is_explained(self) -> bool:
        """Whether its maker is known."""
        return self.by in EXPLAINED_MAKERS

    @property
    def moved_to(self) -> bytes | None:
        """The entry's present name, where the name is all that changed."""
        return self.now.path if self.what is ChangeKind.MOVED and self.now else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCause:
    """The maker of an entry's changes, several of which may be one change by now."""

    by: ChangeMaker = ChangeMaker.UNKNOWN
    edited_since: ChangeMaker | None = None

    def followed_by(self, maker: ChangeMaker) -> "ChangeCause":
        """Return the cause of these changes together with a later one."""
        if self.by in EXPLAINED_MAKERS:
            return ChangeCause(by=maker)
        is_edit = maker in EXPLAINED_MAKERS and maker is not ChangeMaker.RESTORE
        return ChangeCause(by=self.by, edited_since=maker if is_edit else None)

    def merged_with(self, other_cause: "ChangeCause") -> "ChangeCause":
        """Return the cause of two names' changes that are one change."""
        leading_cause = other_cause if self.by in EXPLAINED_MAKERS else self
        return ChangeCause(by=leading_cause.by, edited_since=self.edited_since or other_cause.edited_since)


def changes_between(
    old_entries: Mapping[bytes, FolderEntry],
    new_entries: Mapping[bytes, FolderEntry],
    cause: Callable[[bytes], ChangeCause] = lambda _: ChangeCause(),
) -> tuple[EntryChange, ...]:
    """Return the changes from the old entries to the new ones, in the order of their names."""
    lost = {path: entry for path, entry in old_entries.items() if path not in new_entries}
    added = {path: entry for path, entry in new_entries.items() if path not in old_entries}
    changes: list[EntryChange] = []
    for old_entry, new_entry in list(_pair_moved(lost, added)):
        del lost[old_entry.path], added[new_entry.path]
        changes.append(
            _make_change(
                ChangeKind.MOVED, old_entry, new_entry, cause(old_entry.path).merged_with(cause(new_entry.path))
            )
        )
    changes += (_make_change(ChangeKind.VANISHED, entry, None, cause(path)) for path, entry in lost.items())
    changes += (_make_change(ChangeKind.ADDED, None, entry, cause(path)) for path, entry in added.items())
    for path in old_entries.keys() & new_entries.keys():
        old_entry, new_entry = old_entries[path], new_entries[path]
        if not old_entry.has_same_content(new_entry):
            changes.append(_make_change(ChangeKind.CHANGED, old_entry, new_entry, cause(path)))
        elif old_entry.mode != new_entry.mode:
            changes.append(_make_change(ChangeKind.MODE, old_entry, new_entry, cause(path)))
    return tuple(sorted(changes, key=lambda change: change.path))


def _make_change(
    kind: ChangeKind, old_entry: FolderEntry | None, new_entry: FolderEntry | None, cause: ChangeCause
) -> EntryChange:
    return EntryChange(what=kind, was=old_entry, now=new_entry, by=cause.by, edited_since=cause.edited_since)


def _pair_moved(
    lost: Mapping[bytes, FolderEntry], added: Mapping[bytes, FolderEntry]
) -> Iterator[tuple[FolderEntry, FolderEntry]]:
    """Yield the entries that were renamed; empty files are all alike, so that they prove nothing."""
    entries_by_digest: dict[bytes, list[FolderEntry]] = {}
    for entry in added.values():
        if entry.form is EntryForm.FILE and entry.digest and entry.size:
            entries_by_digest.setdefault(entry.digest, []).append(entry)
    for entry in lost.values():
        if entry.digest and entry.form is EntryForm.FILE and (moved_entries := entries_by_digest.get(entry.digest)):
            yield entry, moved_entries.pop(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreStep:
    """A step of a restore: puts `want` in the place of `have`, or removes an entry."""

    JSON = "do=verb path was=want now=have edited_since"
    want: FolderEntry | None
    have: FolderEntry | None
    #: What must have been put back before: a note that was moved has its old name before it loses the new.
    after: bytes | None = None
    #: Whose later edit goes as well.
    edited_since: ChangeMaker | None = None

    @property
    def form_changes(self) -> bool:
        """Whether an entry of another form is in the way."""
        return self.want is not None and self.have is not None and self.want.form is not self.have.form

    @property
    def path(self) -> bytes:
        """The path that it changes."""
        entry = self.want or self.have
        return entry.path if entry else b""

    @property
    def verb(self) -> str:
        """Its action, in a word."""
        if self.want is None:
            return "remove"
        if self.have is None:
            return "create"
        return "mode" if self.want.has_same_content(self.have) else "replace"


#: Why something is left that nobody has seen yet.
CHANGED_SINCE_LOOK: Final = "changed since the last look"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRestored:
    """An entry that a restore leaves as it is, with the reason."""

    JSON = "path reason=why"
    path: bytes
    why: str
    #: Whether it was to be restored and couldn't be.
    has_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePlan:
    """The steps of a restore, with the entries left out."""

    mark: int
    steps: tuple[RestoreStep, ...]
    left: tuple[NotRestored, ...]


def plan_restore(
    mark: int,
    changes: Iterable[EntryChange],
    *,
    is_selected: Callable[[bytes], bool] | None,
    changed_paths: Collection[bytes],
) -> RestorePlan:
    """Return the steps that undo `changes`: all the unexplained ones, or those selected.

    What changed `since` the last look is left: whoever asks for a restore has not seen it.
    """
    steps: list[RestoreStep] = []
    not_restored: list[NotRestored] = []
    for change in changes:
        names = [entry.path for entry in (change.was, change.now) if entry]
        if is_selected and not any(map(is_selected, names)):
            continue
        why = CHANGED_SINCE_LOOK if any(name in changed_paths for name in names) else ""
        if not why and is_selected is None and (maker := _explain_change(change)):
            why = f"{maker}; name it to restore it all the same"
        if why := why or _restore_obstacle(change):
            not_restored.append(NotRestored(path=change.path, why=why))
        elif change.what is ChangeKind.MOVED:
            steps.append(RestoreStep(want=change.was, have=None, edited_since=change.edited_since))
            steps.append(RestoreStep(want=None, have=change.now, after=change.path))
        else:
            steps.append(RestoreStep(want=change.was, have=change.now, edited_since=change.edited_since))
    return RestorePlan(mark=mark, steps=_order_steps(steps), left=tuple(not_restored))


def _explain_change(change: EntryChange) -> str:
    """Return who is known to have made a change, or to have edited the note since; empty for none."""
    if change.is_explained and change.by is not ChangeMaker.RESTORE:
        return f"changed {describe_maker(change.by)}"
    return describe_later_edit(change.edited_since) if change.edited_since else ""


def plan_rebuilding(mark: int, entries: Iterable[FolderEntry], *, is_there: Callable[[bytes], bool]) -> RestorePlan:
    """Return the steps that put all `entries` into a folder that was lost, except those present."""
    steps: list[RestoreStep] = []
    not_restored: list[NotRestored] = []
    for entry in entries:
        lost = EntryChange(what=ChangeKind.VANISHED, was=entry, now=None)
        if why := "is there" if is_there(entry.path) else _restore_obstacle(lost):
            not_restored.append(NotRestored(path=entry.path, why=why))
        else:
            steps.append(RestoreStep(want=entry, have=None))
    return RestorePlan(mark=mark, steps=_order_steps(steps), left=tuple(not_restored))


def _restore_obstacle(change: EntryChange) -> str:
    """Return why a change can't be undone without losing something; empty where it can."""
    old_entry, new_entry = change.was, change.now
    if old_entry and new_entry and old_entry.has_same_content(new_entry):
        return ""
    for entry, subject in ((old_entry, "what it was"), (new_entry, "what is there now")):
        if entry is None:
            continue
        if entry.form is EntryForm.OTHER:
            return f"{subject} is no file"
        if entry.form is EntryForm.FOLDER and is_closed(entry.path.rpartition(b"/")[2]) and entry.path != b".stfolder":
            return f"{subject} is a folder whose content isn't in the journal"
        if entry.form is not EntryForm.FOLDER and entry.digest is None:
            return f"{subject} isn't in the journal ({entry.why or 'not read in time'})"
    return ""


def _order_steps(steps: Iterable[RestoreStep]) -> tuple[RestoreStep, ...]:
    """Return the steps so that each finds its folder: made accessible and made first, emptied before it goes.

    What nobody wants goes last, so that a full disk takes nothing; what is in the way of others goes first.
    """
    steps = list(steps)
    in_the_way = tuple(step.path + b"/" for step in steps if step.form_changes)

    def step_rank(step: RestoreStep) -> tuple[int, int, bytes]:
        depth = step.path.count(b"/")
        if step.want is None:
            return (1 if step.path.startswith(in_the_way) else 4), -depth, step.path
        if step.want.form is EntryForm.FOLDER:
            return (0 if step.verb == "mode" else 2), depth, step.path
        return 3, depth, step.path

    return tuple(sorted(steps, key=step_rank))


def is_by_plan(plan: RestorePlan, change: EntryChange) -> bool:
    """Say whether a change is exactly the result of a plan's steps."""
    wanted_entries = {step.path: step.want for step in plan.steps}
    wanted_entry = change.now and wanted_entries.get(change.now.path)
    if change.now and not (wanted_entry and wanted_entry.is_same_state(change.now)):
        return False
    vanished_path = change.was.path if change.was and change.what in (ChangeKind.VANISHED, ChangeKind.MOVED) else None
    return vanished_path is None or (vanished_path in wanted_entries and wanted_entries[vanished_path] is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreConsent:
    """A human's yes to one plan; without it the notes can't be given their former content."""

    plan: RestorePlan


def require_restore_consent(
    plan: RestorePlan, *, human: HumanAtTerminal | None, agent: str, question: str, word: str
) -> RestoreConsent:
    """Return consent to carry out `plan`, or raise unless a human at a terminal types `word` (D19).

    `agent` is by what an agent is known to run this.
    """
    require_no_agent(agent)
    require_yes(human, question, word=word)
    return RestoreConsent(plan=plan)


def mark_undone(plan: RestorePlan, undone: Iterable[NotRestored]) -> RestorePlan:
    """Return the plan with the steps that failed moved to those left out."""
    undone = tuple(undone)
    paths = {not_restored.path for not_restored in undone}
    return replace(
        plan,
        steps=tuple(step for step in plan.steps if step.path not in paths),
        left=(*plan.left, *undone),
    )
