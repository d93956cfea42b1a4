"""`init`: creates the project's log, or adopts one that came with it; a second run changes nothing."""

from collections import Counter
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.core.errors import LostLines
from roamkb.core.errors import UsageError
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.fs.append import ARCHIVE
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
from roamkb.fs.files import TEMPORARY_PREFIX
from roamkb.fs.files import create_file
from roamkb.fs.files import make_folder
from roamkb.fs.git_ignore import exclude_from_git
from roamkb.fs.git_ignore import find_ignoring_file
from roamkb.fs.worktrees import is_unlisted_workspace
from roamkb.fs.worktrees import linked_worktrees
from roamkb.log.learning import MUST_CHECK
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.adoption import adopted_lines_of
from roamkb.log.state.confidence import ADOPTED
from roamkb.log.state.confidence import DURABLE
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.store.adoptions import LogAdoption
from roamkb.log.store.project_log import LOCAL_FOLDER
from roamkb.log.store.project_log import LOG_FOLDER
from roamkb.log.store.project_log import Log

#: Of those who wrote a log, and of a name's letters.
_MOST_AGENTS = 3
_LONGEST_AGENT = 40
#: Of statements, and of each one's characters.
_MOST_STATEMENTS = 20
_LONGEST_STATEMENT = 160
#: Syncthing's marker of a folder that it shares.
_SYNCTHING_MARKER = ".stfolder"

#: The files of a new log, before anything is learned.
INITIAL_FILES = {
    KNOWLEDGE: b"",
    LEDGER: b"",
    ".gitattributes": "".join(f"{name} merge=union\n" for name in (KNOWLEDGE, ARCHIVE, LEDGER)).encode(),
    ".gitignore": f"/{LOCAL_FOLDER}/\n/{TEMPORARY_PREFIX}*\n".encode(),
}


@dataclass(frozen=True, slots=True)
class InitRequest:
    """Parameters of `init`."""

    _: KW_ONLY
    untracked: bool = flag_option("--untracked", "Keep the log out of git on this machine.")
    yes: bool = flag_option("--yes", "Take the log that came with the project without being asked.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignLog:
    """Summary of a log that came with the project, written on another machine."""

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
        counts_and_labels = (
            (self.verified, "verified"),
            (self.durable, "0.80 sure or more"),
            (self.promoted, "promoted"),
        )
        counts = [f"{number} {label}" for number, label in counts_and_labels if number]
        counts += [f"{self.overridden} as sure as a human is said to have set"] if self.overridden else []
        authors = f" by {', '.join(self.agents)}" if self.agents else ""
        return f"{count_phrase(self.learnings, 'learning')}{authors}" + (f": {', '.join(counts)}" if counts else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialisedLog:
    """A project's log after `init`, with its files and its state in git."""

    JSON = "root log=folder made is_adopted statements ignored_by worktrees"
    #: The main checkout, also where a worktree was asked for.
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
    #: The linked worktrees, which share it.
    worktrees: tuple[Path, ...]
    #: Whether it lies in a jj workspace whose repository doesn't list it, so that the main one's isn't shared.
    is_unlisted_workspace: bool = False

    @property
    def is_adopted(self) -> bool:
        """Whether a log came with the project and was adopted."""
        return self.adopted is not None

    @property
    def statements(self) -> tuple[str, ...]:
        """The adopted statements that agents are shown from now on."""
        return self.adopted.statements if self.adopted else ()


def init(
    log: Log,
    *,
    home: Path,
    kbs: Sequence[Path],
    untracked: bool = False,
    yes: bool = False,
    led_by: str = "",
    ask: Callable[[str], str] | None = None,
) -> InitialisedLog:
    """Create the project's log, as far as it is missing.

    What a log says that came with the project is put before agents from then on (docs/architecture.md), as
    somebody else's word (D25). So no agent takes it, `led_by` saying by what one is known to run this, and no
    script: who sits at a terminal is asked by `ask`, unless they said `yes`. What a trusted digest or key
    vouches for counts without anybody, and the rest of such a log is adopted likewise.

    Raises:
        UsageError: no log can be kept there, or nobody wants the one that came with the project.
        LostLines: it isn't what was signed, and nobody can be asked.
        DiskError: it couldn't be made.
    """
    _check_location(log.home, home, kbs)
    log.create_machine_key()
    log.check_folders()
    is_counted = _is_counted(log, is_human=ask is not None and not led_by)
    # what came since is left unseen where nobody can be asked
    foreign_log = None if is_counted and (ask is None or led_by) else _foreign_log(log)
    if foreign_log:
        _confirm_adoption(log.home, foreign_log, ask, yes=yes, led_by=led_by)
        if _foreign_log(log) != foreign_log:
            raise UsageError("the log changed meanwhile; nothing was made", hint="call `roamkb init` again")
    is_in_git = (log.home / ".git").exists()
    created = list(_create_files(log))
    if foreign_log or not is_counted:
        # the last: its being there says that all is
        adopted = foreign_log.adopted if foreign_log else NONE_ADOPTED
        local_folder = log.record_adoption(LogAdoption(log="", adopted=adopted))
        created += [] if is_counted else [local_folder]
    if untracked and is_in_git:
        created += filter(None, (exclude_from_git(log.home, f"/{LOG_FOLDER}/".encode()),))
    return InitialisedLog(
        root=log.home,
        folder=log.folder,
        made=tuple(created),
        ignored_by=find_ignoring_file(log.knowledge, log.home, home=home) if is_in_git else None,
        adopted=foreign_log,
        is_in_git=is_in_git,
        worktrees=tuple(map(Path, linked_worktrees(str(log.home)))),
        is_unlisted_workspace=is_unlisted_workspace(str(log.home)),
    )


def _is_counted(log: Log, *, is_human: bool) -> bool:
    """Say whether the log counts on this machine; one that isn't what was signed a human may take as any other.

    Raises:
        LostLines: it isn't, and nobody can be asked.
    """
    try:
        if log.is_adopted or log.find_vouchers():
            # also where only the local folder is gone
            log.require_adopted().require_files()
            return True
    except LostLines:
        if not is_human:
            raise
    return False


def _check_location(root: Path, home: Path, kbs: Sequence[Path]) -> None:
    if home.is_relative_to(root):
        raise UsageError(
            f"{one_line(str(root))} is no project: it holds your home",
            hint="change into the project, or name it with --project DIR",
        )
    if any(lies_within(root, kb) or lies_within(kb, root) for kb in kbs):
        raise UsageError(
            f"{one_line(str(root))} holds or is in the knowledge base, which has no log",
            hint="change into a project of its own",
        )
    shared = next((folder for folder in (root, *root.parents) if (folder / _SYNCTHING_MARKER).exists()), None)
    if shared is not None:
        raise UsageError(
            f"{one_line(str(shared))} is shared by Syncthing, which doesn't merge what two machines append: "
            "one side's lines would be lost",
            hint="keep the project's log in git, outside of the shared folder",
        )


def _foreign_log(log: Log) -> ForeignLog | None:
    """Return a summary of what came with the project and isn't shown; None where there is nothing."""
    contents = log.unseen_contents()
    state = contents.replay_state()
    standings = state.standings.values()
    if not standings and not state.events:
        return None
    agents = Counter(one_line(entry.learning.agent) for entry in standings if entry.learning.agent)
    return ForeignLog(
        learnings=len(standings),
        verified=sum(entry.verdict == "verified" for entry in standings),
        durable=sum(entry.confidence >= DURABLE for entry in standings),
        promoted=sum(bool(entry.node) for entry in standings),
        overridden=sum(entry.is_overridden for entry in standings),
        agents=tuple(clip_text(agent, _LONGEST_AGENT) for agent, _ in agents.most_common(_MOST_AGENTS)),
        statements=tuple(statement_previews(standings)),
        adopted=adopted_lines_of(
            [entry.id for entry in (*contents.learnings, *contents.archived_learnings)]
            + [entry.id for entry in contents.events]
        ),
    )


def statement_previews(standings: Collection[LearningState]) -> Iterator[str]:
    """Yield the statements that agents would be shown, the latest first."""
    current = [entry.learning for entry in standings if entry.status != SUPERSEDED]
    latest = sorted(current, key=lambda entry: (entry.canonical_type == MUST_CHECK, entry.ts, entry.id), reverse=True)
    for learning in latest[:_MOST_STATEMENTS]:
        yield (
            f"[{one_line(learning.canonical_type).upper()}] {clip_text(one_line(learning.content), _LONGEST_STATEMENT)}"
        )
    if len(latest) > _MOST_STATEMENTS:
        yield f"and {len(latest) - _MOST_STATEMENTS:,} more, in {LOG_FOLDER}/{KNOWLEDGE}"


def _confirm_adoption(
    root: Path, foreign_log: ForeignLog, ask: Callable[[str], str] | None, *, yes: bool, led_by: str
) -> None:
    """Raise unless a human adopts the foreign log."""
    description = f"the log in {one_line(str(root))} came with the project and isn't this machine's: {foreign_log}"
    if led_by:
        raise UsageError(
            f"{description}; an agent runs this ({led_by}), and only a human takes it; nothing was made",
            hint="agents would be told so from then on: your human looks at .roamkb/knowledge.jsonl, "
            "and calls `roamkb init` in a terminal of their own",
        )
    if ask is None:
        raise UsageError(
            f"{description}; only a human at a terminal takes it; nothing was made",
            hint="call `roamkb init` in a terminal, or have the machine trust its digest or its signer's key: "
            "`roamkb trust --help`",
        )
    if yes:
        return
    previews = "".join(f"\n  {statement}" for statement in foreign_log.statements)
    question = (
        f"{description}.\nAgents will be told, as nobody's verified word and at most {ADOPTED / 100:.2f}"
        f" sure:{previews}\nTake it? [y/N]"
    )
    if ask(question).strip().lower() not in ("y", "yes"):
        raise UsageError("the log wasn't adopted; nothing was made")


def _create_files(log: Log) -> Iterator[Path]:
    for folder in (log.folder, log.ignored):
        if not folder.is_dir():
            yield make_folder(folder)
    for name, data in INITIAL_FILES.items():
        if not (log.folder / name).exists():
            yield create_file(log.folder, name, data)
