"""Terms of the product as values (docs/glossary.md and docs/json.md)."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from roamkb.core import text
from roamkb.core.errors import UsageError
from roamkb.core.json_form import OrNull
from roamkb.core.json_form import Rows
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.typing import Annotated
from roamkb.core.startup.typing import Final
from roamkb.core.unreadable_file import UnreadableFile as UnreadableFile

#: Where a statement, or a node's fact, comes from.
PROVENANCES: Final = ("user-stated", "observed", "inferred", "external")


#: What `--kb` calls the knowledge base without a name, and all of them.
DEFAULT_KB: Final = "default"
EVERY_KB: Final = "all"


def require_agent_name(name: str) -> str:
    """Return an agent's name unchanged, or raise where it says that a human did what an agent does."""
    if name.strip().casefold() == "human":
        raise UsageError("human is no name of an agent", hint="leave it out, or give the agent's own")
    return name


class ProjectKind(StrEnum):
    """Kinds of projects, the strictest first."""

    WORK = "work"
    UNKNOWN = "unknown"
    PERSONAL = "personal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project root and how the boundary classifies it."""

    JSON = "kind root reason hint"
    kind: ProjectKind
    #: None where the root could not be resolved.
    root: Path | None
    #: Why it is of that kind, one clause.
    reason: str
    #: What would make it right, one sentence; empty for personal projects.
    hint: str = ""
    #: The variable that alone says whose session it is: its calls wait for a hook, which knows.
    named_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedKb:
    """A knowledge base of the rule, and the projects that may write to it."""

    name: str
    folder: Path
    #: Absolute entries in gitignore syntax, `~` expanded.
    project_parents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The one configuration, as read from `knowledge-base.md`, for one of its knowledge bases."""

    source: Path
    #: The folder of the knowledge base in question; `project_parents` are its own as well.
    kb: Path
    #: Absolute entries in gitignore syntax, `~` expanded.
    work_roots: tuple[str, ...]
    project_parents: tuple[str, ...]
    #: The human's own TODO sequences, each as after `#+todo:`; empty means org's TODO and DONE.
    todo_lines: tuple[str, ...] = ()
    #: Servers, as `https://host:port`, to which what is said at work may be sent.
    model_addresses: tuple[str, ...] = ()
    #: Whether a human's yes has to be signed by a security key.
    must_sign: bool = False
    #: The rule of the account's own home, where HOME names another: it must allow, too, what this one does.
    account: "Rule | None" = None
    #: The folder below which this rule may allow alone: another HOME, with a knowledge base of its own.
    alone_below: Path | None = None
    #: The homes whose configuration of git and ssh says where a remote is: HOME, and the account's own.
    homes: tuple[Path, ...] = ()
    #: The name of the knowledge base in question.
    kb_name: str = DEFAULT_KB
    #: The rule's other knowledge bases: nothing that is allowed for one is allowed for another.
    others: tuple[NamedKb, ...] = ()

    @property
    def all_folders(self) -> tuple[Path, ...]:
        """The folders of all knowledge bases, that of the one in question first."""
        return (self.kb, *(other.folder for other in self.others))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A node's ROAM_REFS entry as org-roam stores it: `https` and `//host/page`."""

    type: str
    ref: str

    def __str__(self) -> str:
        """Return it as it stands in the drawer."""
        return f"@{self.ref}" if self.type == "cite" else f"{self.type}:{self.ref}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link in a node's text as org-roam stores it."""

    JSON = "type dest search line"
    type: str
    dest: str
    search: str | None
    line: int
    #: What the text calls the thing that it links to: a description; empty where the link has none.
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One `@key` of a `[cite:…]` in a node's text."""

    key: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An org-roam node: a file (level 0) or a heading with an `:ID:`."""

    JSON = "id file line level title olp todo priority scheduled deadline tags aliases refs links citations properties"
    #: Empty, and null in JSON, for what is no node.
    id: OrNull
    #: Relative to the knowledge base, with `/`.
    file: str
    #: 1-based line of the heading; 1 for a file node.
    line: int
    #: 1-based character position, as org-roam stores it.
    pos: int
    level: int
    title: str
    olp: tuple[str, ...] = ()
    todo: str | None = None
    #: The letter (or number) of `[#A]`.
    priority: str | None = None
    #: Local ISO 8601 without zone, `2024-03-10T00:00:00`.
    scheduled: str | None = None
    deadline: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    refs: tuple[Ref, ...] = ()
    links: tuple[Link, ...] = ()
    citations: tuple[Citation, ...] = ()
    #: The drawer's entries, keys in upper case.
    properties: Mapping[str, str] = field(default_factory=dict)
    #: Last line of the node's subtree (of the file, for a file node).
    end_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One `.org` file, read."""

    file: str
    text: str
    #: The file's own title, or its path without the ending (org-roam's fallback).
    title: str
    nodes: tuple[Node, ...]
    #: Other notes whose text counts as part of this one (`#+setupfile:`), relative to the KB or absolute.
    setupfiles: tuple[str, ...] = ()
    #: Why org-roam would drop the whole file; its nodes are then none.
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCandidate:
    """A node's id, title and path, by which a reader recognizes it."""

    id: str
    title: str
    path: Path


#: What the line of a node ends with that another one replaced.
REPLACED_MARK = " (superseded)"

#: Stands between a title and those above it, of which so many letters are shown: a title comes behind them.
OUTLINE_STEP = " / "
_SHOWN_OUTLINE = 60


def full_title(outline: str | None, title: str) -> str:
    """Return a title behind those above it, if there are any."""
    return f"{text.clip_text(outline, _SHOWN_OUTLINE)}{OUTLINE_STEP}{title}" if outline else title


def _strip_numbered_lines(lines: tuple[tuple[int, str], ...]) -> list[tuple[int, str]]:
    return [(number, text.strip()) for number, text in lines]


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """A node that replaced another one."""

    id: str
    title: OrNull = ""
    #: Local ISO; empty where nothing says when it was made.
    date: OrNull = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One node that a search found, and the reasons."""

    JSON = "id title outline? path line tags score text why sure date lines project? replaced_by? kb?"
    #: None for text in a file that holds no node around it.
    id: str | None
    title: str
    path: Path
    line: int
    tags: tuple[str, ...]
    score: float
    text: str
    why: tuple[str, ...]
    #: Whether it shares enough telling words with the query to be relied on.
    sure: bool = False
    #: When it was made, local ISO; empty where nothing says so.
    date: OrNull = ""
    #: The lines that answer best, with their numbers.
    lines: Annotated[tuple[tuple[int, str], ...], _strip_numbered_lines, Rows("line text")] = ()
    #: The folder of the project that an agent wrote it in; None for a human's.
    project: str | None = None
    #: What replaced it, and what replaced that, up to now; None in a search of the present.
    replaced_by: tuple[Successor, ...] | None = None
    #: The name of its knowledge base; None where there is one alone.
    kb: str | None = None
    #: The titles above a heading, as they are shown; None for what is no heading.
    outline: str | None = None

    @property
    def full_title(self) -> str:
        """Its title, behind those above it."""
        return full_title(self.outline, self.title)

    @property
    def replaced_mark(self) -> str:
        """The suffix of its line: a mark where another node replaced it, else nothing."""
        if not self.replaced_by:
            return REPLACED_MARK if "superseded" in self.why else ""
        first, last = self.replaced_by[0], self.replaced_by[-1]
        until = f" {first.date[:10]}" if first.date else ""
        return f" (superseded{until}; now: {text.shorten_title(last.title or last.id)})"
