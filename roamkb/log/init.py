"""`init`: a log for the project, or leave for the one that came with it; a second run changes nothing."""

from collections import Counter
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from pathlib import Path

from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clipped
from roamkb.core.text import counted
from roamkb.core.text import shown
from roamkb.fs.append import ARCHIVE
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_lines
from roamkb.fs.files import TEMPORARY
from roamkb.fs.files import create
from roamkb.fs.files import make_folder
from roamkb.fs.git_ignore import git_folder
from roamkb.fs.git_ignore import ignored_by
from roamkb.fs.user_dirs import make_key
from roamkb.log.learning import MUST_CHECK
from roamkb.log.state.adoption import OWN
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.adoption import adopting
from roamkb.log.state.confidence import ADOPTED
from roamkb.log.state.confidence import DURABLE
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.store.project_log import FOLDER
from roamkb.log.store.project_log import LOCAL
from roamkb.log.store.project_log import Log

#: Of those who wrote a log, and of a name's letters.
_NAMED = 3
_NAME = 40
#: Of statements, and of each one's characters.
_SHOWN = 20
_STATEMENT = 160
#: Syncthing's marker of a folder that it shares.
_SHARED = ".stfolder"

_FILES = {
    KNOWLEDGE: b"",
    LEDGER: b"",
    ".gitattributes": "".join(f"{name} merge=union\n" for name in (KNOWLEDGE, ARCHIVE, LEDGER)).encode(),
    ".gitignore": f"/{LOCAL}/\n/{TEMPORARY}*\n".encode(),
}


@dataclass(frozen=True, slots=True)
class InitRequest:
    """What `init` takes."""

    _: KW_ONLY
    untracked: bool = switch("--untracked", "Keep the log out of git on this machine.")
    yes: bool = switch("--yes", "Take the log that came with the project without being asked.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignLog:
    """What a log says that came with the project: somebody else's word."""

    learnings: int
    #: Of which the log itself calls so many verified, sure enough to last, or promoted.
    verified: int
    durable: int
    promoted: int
    #: Set by what calls itself a human's word.
    overridden: int
    #: By whom, the most frequent first.
    agents: tuple[str, ...]
    #: What agents would be told, fit for a terminal: the latest first, and no more than anybody reads.
    statements: tuple[str, ...]
    #: What marks all of it as that.
    adopted: AdoptedLines

    def __str__(self) -> str:
        told = ((self.verified, "verified"), (self.durable, "0.80 sure or more"), (self.promoted, "promoted"))
        counts = [f"{number} {what}" for number, what in told if number]
        counts += [f"{self.overridden} as sure as a human is said to have set"] if self.overridden else []
        who = f" by {', '.join(self.agents)}" if self.agents else ""
        return f"{counted(self.learnings, 'learning')}{who}" + (f": {', '.join(counts)}" if counts else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialisedLog:
    """A project's log, and what there is to know about it."""

    JSON = "root log=folder made is_adopted statements ignored_by"
    root: Path
    folder: Path
    #: What was made; nothing the second time.
    made: tuple[Path, ...]
    #: The ignore file by which git leaves the log out.
    ignored_by: Path | None
    #: The log that came with the project and was adopted, if one was.
    adopted: ForeignLog | None
    #: Whether it lies in a git repository, and so travels with it.
    is_in_git: bool

    @property
    def is_adopted(self) -> bool:
        """Whether a log came with the project and was adopted."""
        return self.adopted is not None

    @property
    def statements(self) -> tuple[str, ...]:
        """What agents are told of it from now on."""
        return self.adopted.statements if self.adopted else ()


def init(
    root: Path,
    *,
    home: Path,
    kb: Path | None,
    state: Path,
    untracked: bool = False,
    yes: bool = False,
    led_by: str = "",
    ask: Callable[[str], str] | None = None,
) -> InitialisedLog:
    """Make the log of the project at `root`, as far as it is missing.

    What a log says that came with the project is put before agents from then on (docs/architecture.md), as
    somebody else's word (D25). So no agent takes it, `led_by` saying by what one is known to run this; and
    who sits at a terminal is asked by `ask`, unless they said `yes`. A script without either is its owner's.

    Raises:
        UsageError: no log can be kept there, or nobody wants the one that came with the project.
        DiskError: it couldn't be made.
    """
    _check(root, home, kb)
    make_key(state)
    log = Log(root, state)
    log.check_folders()
    brought = None
    if log.is_there:
        # also where only the local folder is gone
        log.require()
    elif brought := _brought(log):
        _confirm(root, brought, ask, yes=yes, led_by=led_by)
        if _brought(log) != brought:
            raise UsageError("the log changed meanwhile; nothing was made", hint="call `roamkb init` again")
    is_in_git = (root / ".git").exists()
    made = list(_make(log, brought.adopted if brought else OWN))
    if untracked and is_in_git:
        made += _exclude(root)
    return InitialisedLog(
        root=root,
        folder=log.folder,
        made=tuple(made),
        ignored_by=ignored_by(log.knowledge, root, home=home) if is_in_git else None,
        adopted=brought,
        is_in_git=is_in_git,
    )


def _check(root: Path, home: Path, kb: Path | None) -> None:
    if home.is_relative_to(root):
        raise UsageError(
            f"{shown(str(root))} is no project: it holds your home",
            hint="change into the project, or name it with --project DIR",
        )
    if kb is not None and (lies_within(root, kb) or lies_within(kb, root)):
        raise UsageError(
            f"{shown(str(root))} holds or is in the knowledge base, which has no log",
            hint="change into a project of its own",
        )
    shared = next((folder for folder in (root, *root.parents) if (folder / _SHARED).exists()), None)
    if shared is not None:
        raise UsageError(
            f"{shown(str(shared))} is shared by Syncthing, which doesn't merge what two machines append: "
            "one side's lines would be lost",
            hint="keep the project's log in git, outside of the shared folder",
        )


def _brought(log: Log) -> ForeignLog | None:
    """Return what the log says that is there already; None where it says nothing."""
    contents = log.read()
    state = contents.state()
    known = state.standings.values()
    if not known and not state.events:
        return None
    agents = Counter(shown(one.learning.agent) for one in known if one.learning.agent)
    return ForeignLog(
        learnings=len(known),
        verified=sum(one.verdict == "verified" for one in known),
        durable=sum(one.confidence >= DURABLE for one in known),
        promoted=sum(bool(one.node) for one in known),
        overridden=sum(one.is_overridden for one in known),
        agents=tuple(clipped(agent, _NAME) for agent, _ in agents.most_common(_NAMED)),
        statements=tuple(_statements(known)),
        adopted=adopting(
            [one.id for one in (*contents.learnings, *contents.archived)]
            + [one.id for one in contents.events]
        ),
    )


def _statements(known: Collection[LearningState]) -> Iterator[str]:
    """Yield what agents would be told, the latest first."""
    current = [one.learning for one in known if one.status != SUPERSEDED]
    latest = sorted(current, key=lambda one: (one.canonical_type == MUST_CHECK, one.ts, one.id), reverse=True)
    for learning in latest[:_SHOWN]:
        yield f"[{shown(learning.canonical_type).upper()}] {clipped(shown(learning.content), _STATEMENT)}"
    if len(latest) > _SHOWN:
        yield f"and {len(latest) - _SHOWN:,} more, in {FOLDER}/{KNOWLEDGE}"


def _confirm(
    root: Path, brought: ForeignLog, ask: Callable[[str], str] | None, *, yes: bool, led_by: str
) -> None:
    """Raise unless a human takes somebody else's word."""
    what = f"the log in {shown(str(root))} came with the project and isn't this machine's: {brought}"
    if led_by:
        raise UsageError(
            f"{what}; an agent runs this ({led_by}), and only a human takes it; nothing was made",
            hint="agents would be told so from then on: your human looks at .roamkb/knowledge.jsonl, "
            "and calls `roamkb init` in a terminal of their own",
        )
    if yes or ask is None:
        return
    says = "".join(f"\n  {statement}" for statement in brought.statements)
    question = (
        f"{what}.\nAgents will be told, as nobody's verified word and at most {ADOPTED / 100:.2f} sure:{says}"
        "\nTake it? [y/N]"
    )
    if ask(question).strip().lower() not in ("y", "yes"):
        raise UsageError("the log wasn't adopted; nothing was made")


def _make(log: Log, adopted: AdoptedLines) -> Iterator[Path]:
    for folder in (log.folder, log.ignored):
        if not folder.is_dir():
            yield make_folder(folder)
    for name, data in _FILES.items():
        if not (log.folder / name).exists():
            yield create(log.folder, name, data)
    if not log.is_there:
        # the last: its being there says that all is
        yield log.adopt(adopted)


def _exclude(root: Path) -> Iterator[Path]:
    """Keep the log out of git, on this machine alone."""
    folder = git_folder(root) / "info"
    line = f"/{FOLDER}/".encode()
    exclude = folder / "exclude"
    if line in read_lines(exclude):
        return
    if not folder.parent.is_dir():
        raise DiskError(folder.parent, "isn't a git folder", hint="leave --untracked out")
    make_folder(folder)
    append_lines(exclude, [line])
    yield exclude
