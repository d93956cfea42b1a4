"""Values of an installation: present state, options, and the steps between them."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from roamkb.core.json_form import member_name
from roamkb.core.model import NamedKb
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentPath:
    """A path at which nothing exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegularFile:
    """A regular file and its bytes."""

    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolicLink:
    """A symbolic link with the content of the file that it leads to."""

    target: str
    #: None where the link dangles, or ends at what isn't a readable file.
    data: bytes | None
    dangles: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOnDisk:
    """A folder with the names in it."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadablePath:
    """A path that can't be read or isn't a file, with the reason."""

    reason: str


PathState = AbsentPath | RegularFile | SymbolicLink | FolderOnDisk | UnreadablePath


class StepOutcome(StrEnum):
    """The outcome of a step, or, in a dry run, the planned one."""

    LINKED = "link"
    WRITTEN = "write"
    REMOVED = "remove"
    #: It stays, and is no fault.
    KEPT = "keep"
    UNCHANGED = "skip"
    LEFT_ALONE = "WARN"
    OFFERED = "offer"
    #: What it would do is shown; nobody said that it should.
    SHOWN = "show"


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeLink:
    """A change that links the path to `target`."""

    target: Path
    was: PathState


@dataclass(frozen=True, slots=True, kw_only=True)
class PutFile:
    """A change that makes `data` the path's content."""

    data: bytes
    was: PathState
    #: Of a new file.
    mode: int = 0o644


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeFolder:
    """A change that makes the path a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovePath:
    """A change that removes the path, and then as many empty parent folders as given."""

    was: PathState
    folders: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveAll:
    """A change that removes these names in the folder, and then the folder if it is empty."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveEmptyFolder:
    """A change that removes the folder if nothing is in it."""


PathChange = MakeLink | PutFile | MakeFolder | RemovePath | RemoveAll | RemoveEmptyFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallStep:
    """A step that was, or wasn't, taken to install or remove a file."""

    JSON = "what path outcome why diff"
    #: `rule`, `copy of the rule`, `knowledge base`, `first note`, `agents block`, `Emacs setting`,
    #: `.stignore lines`, `snippets`, the label of a harness's settings file, `open sessions`, `PATH`;
    #: of `setup` also `hooks`; of `uninstall` also `notes`, `project's log`, `index`, `state`, `trash` and `program`.
    what: str
    path: Path | None
    outcome: Annotated[StepOutcome, member_name]
    #: One clause.
    why: str
    change: PathChange | None = None
    #: How the file changes, line by line, for files that others write to as well.
    diff: str = ""
    #: Whether it takes away, or replaces, what keeps agents out of the knowledge base.
    is_loosening: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallReport:
    """The steps of `install`, `setup` or `uninstall`, in order."""

    JSON = "dry_run steps warnings work_roots project_parents next_commands?"
    steps: tuple[InstallStep, ...]
    dry_run: bool = False
    #: Commands to try next; None but after `setup`.
    next_commands: tuple[str, ...] | None = None
    #: What to look at, one sentence each.
    warnings: tuple[str, ...] = ()
    #: The rule that counts from now on; None after `uninstall`.
    rule: Rule | None = None

    @property
    def work_roots(self) -> tuple[str, ...]:
        """The work roots from now on."""
        return self.rule.work_roots if self.rule else ()

    @property
    def project_parents(self) -> tuple[str, ...]:
        """The parents of personal projects from now on."""
        return self.rule.project_parents if self.rule else ()

    @property
    def exit_code(self) -> int:
        """2 where a file of somebody else is in the way or a change lacks approval, else 0."""
        undone = (StepOutcome.LEFT_ALONE, StepOutcome.SHOWN)
        return 2 if any(step.outcome in undone for step in self.steps) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallOptions:
    """The user's options for `install`; every path is absolute."""

    kb: Path | None = None
    work_roots: tuple[Path, ...] = ()
    #: Folders that are work by entries of their own, and shall not be: only a human at a terminal takes one back.
    dropped_work: tuple[Path, ...] = ()
    project_parents: tuple[Path, ...] = ()
    #: Parents of which only `project_parents` stay: what begins there later is nobody's leave.
    dropped_parents: tuple[Path, ...] = ()
    #: A further knowledge base, which is added to the rule; of `uninstall`, one that is taken out of it by its name.
    named_kb: NamedKb | None = None
    #: Whether the shipped rule's folders that aren't there are left out: the human says which are meant.
    omits_absent: bool = False
    agents_md: Path | None = None
    snippets: Path | None = None
    create_kb: bool = False
    dry_run: bool = False
    #: Whether what roamkb keeps for itself is to go as well.
    purge: bool = False
    #: The names of the harnesses that are meant.
    harnesses: tuple[str, ...] = ()
    #: Whether settings that others write to are changed without asking.
    yes: bool = False
    #: The command that hooks are to run; None where there is none.
    program: Path | None = None
    #: Whether `roamkb mcp` would start.
    has_mcp: bool = False

    @property
    def begins_default_kb(self) -> bool:
        """Whether the default knowledge base is to begin, and not one with a name."""
        return self.create_kb and self.named_kb is None

    @property
    def own_copy(self) -> bool:
        """Whether the rule has to differ from the shipped one."""
        folders = (self.work_roots, self.dropped_work, self.project_parents, self.dropped_parents)
        return bool(self.kb or any(folders) or self.named_kb or self.omits_absent)


def unchanged_step(step_name: str, path: Path, reason: str) -> InstallStep:
    """Return a step that has nothing to do."""
    return InstallStep(what=step_name, path=path, outcome=StepOutcome.UNCHANGED, why=reason)


def removal_step(step_name: str, path: Path, reason: str, path_state: PathState, *, folders: int = 0) -> InstallStep:
    """Return a step that removes a file or link, and then so many of the folders above it that are empty."""
    change = RemovePath(was=path_state, folders=folders)
    return InstallStep(what=step_name, path=path, outcome=StepOutcome.REMOVED, why=reason, change=change)


def kept_step(step_name: str, path: Path | None, reason: str) -> InstallStep:
    """Return a step that only names a file that stays."""
    return InstallStep(what=step_name, path=path, outcome=StepOutcome.KEPT, why=reason)


def left_alone_step(step_name: str, path: Path, reason: str) -> InstallStep:
    """Return a step that leaves a file of somebody else untouched."""
    return InstallStep(what=step_name, path=path, outcome=StepOutcome.LEFT_ALONE, why=reason)
