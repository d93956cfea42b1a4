"""`init`: a log for the project, or leave for the one that came with it; a second run changes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.text import shown
from roamkb.storage.disk import TEMPORARY
from roamkb.storage.disk import create
from roamkb.storage.disk import make_folder
from roamkb.storage.ignored import git_folder
from roamkb.storage.ignored import ignored_by
from roamkb.storage.lines import append_lines
from roamkb.storage.lines import read_lines
from roamkb.storage.log import ADOPTED
from roamkb.storage.log import ADOPTED_MODE
from roamkb.storage.log import ARCHIVE
from roamkb.storage.log import FOLDER
from roamkb.storage.log import KNOWLEDGE
from roamkb.storage.log import LEDGER
from roamkb.storage.log import LOCAL
from roamkb.storage.log import Log
from roamkb.storage.places import lies_within

#: Syncthing's marker of a folder that it shares.
_SHARED = ".stfolder"

_FILES = {
    KNOWLEDGE: b"",
    LEDGER: b"",
    ".gitattributes": "".join(f"{name} merge=union\n" for name in (KNOWLEDGE, ARCHIVE, LEDGER)).encode(),
    ".gitignore": f"/{LOCAL}/\n/{TEMPORARY}*\n".encode(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Initialised:
    """A project's log, and what there is to know about it."""

    root: Path
    folder: Path
    #: What was made; nothing the second time.
    made: tuple[Path, ...]
    #: The ignore file by which git leaves the log out.
    ignored_by: Path | None
    #: Whether a log that came with the project was adopted.
    is_adopted: bool
    #: Whether it lies in a git repository, and so travels with it.
    is_in_git: bool


def init(root: Path, *, home: Path, kb: Path | None, untracked: bool = False) -> Initialised:
    """Make the log of the project at `root`, as far as it is missing.

    Raises:
        UsageError: no log can be kept there. DiskError: it couldn't be made.
    """
    _check(root, home, kb)
    log = Log(root)
    log.check_folders()
    _check_local(log)
    is_adopted = not log.is_there and log.has_lines
    is_in_git = (root / ".git").exists()
    made = list(_make(log))
    if untracked and is_in_git:
        made += _exclude(root)
    return Initialised(
        root=root,
        folder=log.folder,
        made=tuple(made),
        ignored_by=ignored_by(log.knowledge, root, home=home) if is_in_git else None,
        is_adopted=is_adopted,
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


def _check_local(log: Log) -> None:
    """Raise where the project brings what should be this machine's own, such as an index of its making."""
    if not log.is_there and (brought := log.kept_locally()):
        raise UsageError(
            f"{shown(str(log.local))} came with the project, and holds {shown(brought[0])}",
            hint="remove that folder, and call `roamkb init` again",
        )


def _make(log: Log) -> Iterator[Path]:
    for folder in (log.folder, log.local):
        if not folder.is_dir():
            yield make_folder(folder)
    for name, data in _FILES.items():
        if not (log.folder / name).exists():
            yield create(log.folder, name, data)
    if not log.is_there:
        yield create(log.local, ADOPTED, b"", mode=ADOPTED_MODE)


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
