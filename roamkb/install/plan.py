"""Installing as values: what is there, what is wished for, and the steps between them."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from roamkb.core.json_form import name_of
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentPath:
    """Nothing goes by that path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegularFile:
    """A regular file and its bytes."""

    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolicLink:
    """A symbolic link, and what is at its end."""

    target: str
    #: None where the link dangles, or ends at what isn't a readable file.
    data: bytes | None
    dangles: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderOnDisk:
    """A folder, and the names in it."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadablePath:
    """Something that can't be read or isn't a file, and why."""

    reason: str


Found = AbsentPath | RegularFile | SymbolicLink | FolderOnDisk | UnreadablePath


class StepOutcome(StrEnum):
    """What became of a step, or, in a dry run, would."""

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
    """Link the path to `target`."""

    target: Path
    was: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class PutFile:
    """Make `data` the path's content."""

    data: bytes
    was: Found
    #: Of a new file.
    mode: int = 0o644


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeFolder:
    """Make the path a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovePath:
    """Remove what is at the path, and then so many folders above it as nothing else is in."""

    was: Found
    folders: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveAll:
    """Remove what goes by these names in the folder, whole, and then the folder if nothing else is in it."""

    names: tuple[str, ...]


Change = MakeLink | PutFile | MakeFolder | RemovePath | RemoveAll


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallStep:
    """One thing that was, or wasn't, put in place or taken away."""

    JSON = "what path outcome why diff"
    #: `rule`, `copy of the rule`, `knowledge base`, `first note`, `agents block`, `Emacs setting`,
    #: `.stignore lines`, `Claude Code hooks`, `Codex hooks`, `Codex MCP server`; of `uninstall` also `notes`,
    #: `project's log`, `index`, `state`, `trash` and `program`.
    what: str
    path: Path | None
    outcome: Annotated[StepOutcome, name_of]
    #: One clause.
    why: str
    change: Change | None = None
    #: How the file changes, line by line, for files that others write to as well.
    diff: str = ""
    #: Whether it takes away, or replaces, what keeps agents out of the knowledge base.
    is_loosening: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallReport:
    """What `install` or `uninstall` did, in order."""

    JSON = "dry_run steps warnings work_roots project_parents"
    steps: tuple[InstallStep, ...]
    dry_run: bool = False
    #: What to look at, one sentence each.
    warnings: tuple[str, ...] = ()
    #: The rule that counts from now on; None after `uninstall`.
    rule: Rule | None = None

    @property
    def work_roots(self) -> tuple[str, ...]:
        """What counts as work from now on."""
        return self.rule.work_roots if self.rule else ()

    @property
    def project_parents(self) -> tuple[str, ...]:
        """What counts as personal from now on."""
        return self.rule.project_parents if self.rule else ()

    @property
    def exit_code(self) -> int:
        """2 where something of somebody else's is in the way, or nobody said yes."""
        undone = (StepOutcome.LEFT_ALONE, StepOutcome.SHOWN)
        return 2 if any(step.outcome in undone for step in self.steps) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallOptions:
    """What the user asks of `install`; every path is absolute."""

    kb: Path | None = None
    work_roots: tuple[Path, ...] = ()
    project_parents: tuple[Path, ...] = ()
    agents_md: Path | None = None
    snippets: Path | None = None
    create_kb: bool = False
    dry_run: bool = False
    #: Whether what roamkb keeps for itself is to go as well.
    purge: bool = False
    claude: bool = False
    codex: bool = False
    #: Whether settings that others write to are changed without asking.
    yes: bool = False
    #: The command that hooks are to run; None where there is none.
    program: Path | None = None
    #: Whether `roamkb mcp` would start.
    has_mcp: bool = False

    @property
    def own_copy(self) -> bool:
        """Whether the rule has to differ from the one that everybody gets."""
        return bool(self.kb or self.work_roots or self.project_parents)


def unchanged(what: str, path: Path, why: str) -> InstallStep:
    """Return the step that has nothing to do."""
    return InstallStep(what=what, path=path, outcome=StepOutcome.UNCHANGED, why=why)


def kept(what: str, path: Path | None, why: str) -> InstallStep:
    """Return the step that only names what stays."""
    return InstallStep(what=what, path=path, outcome=StepOutcome.KEPT, why=why)


def left_alone(what: str, path: Path, why: str) -> InstallStep:
    """Return the step that doesn't touch what is somebody else's."""
    return InstallStep(what=what, path=path, outcome=StepOutcome.LEFT_ALONE, why=why)
