"""Facts about this machine for `doctor`, read only."""

import os
import re
import sqlite3
from collections.abc import Callable
from collections.abc import Iterator
from datetime import datetime
from os.path import lexists
from os.path import realpath
from pathlib import Path
from shutil import which

from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.model import Project
from roamkb.core.model import Rule
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import TEMPORARY_PREFIX
from roamkb.fs.files import MissingFile
from roamkb.fs.files import read_file
from roamkb.fs.locks import StateFolders
from roamkb.kb.notes.file_names import is_note_folder
from roamkb.kb.notes.file_names import is_seen_in_emacs_alone
from roamkb.log.store.project_log import Log

#: A write takes milliseconds: what is older than an hour was left behind.
LEFTOVER_AGE = 3600.0

_EMACS_LOCK_TEXT = lazily(r"(?:.*@)?(?P<host>[^@]*)\.(?P<pid>\d+)(?::\d+)?")
#: How deep `#include` lines of .stignore are followed.
_MAX_INCLUDE_DEPTH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class EmacsLock:
    """A link `.#note.org` that marks unsaved changes in an Emacs."""

    path: Path
    #: As that Emacs calls its machine; empty where the link doesn't say.
    host: str
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftoverFiles:
    """Lock links and unfinished files that programs left among the notes."""

    locks: tuple[EmacsLock, ...]
    #: Unfinished files of roamkb's that nobody is writing any more.
    leftovers: tuple[Path, ...]


def find_leftovers(folder: Path, *, now: float) -> LeftoverFiles:
    """Return the lock links and leftovers in `folder` and the folders of notes below it."""
    locks: list[EmacsLock] = []
    leftovers: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(filter(is_note_folder, folders))
        for name in sorted(names):
            path = Path(place, name)
            if name.startswith(".#"):
                locks.append(_read_emacs_lock(path))
            elif name.startswith(TEMPORARY_PREFIX) and _file_age(path, now) > LEFTOVER_AGE:
                leftovers.append(path)
    return LeftoverFiles(locks=tuple(locks), leftovers=tuple(leftovers))


def find_unread(kb: Path) -> Iterator[str]:
    """Yield the files, relative to `kb`, that org-roam treats as notes and roamkb doesn't."""
    for place, folders, names in os.walk(kb):
        folders[:] = sorted(name for name in folders if name != ".git")
        paths = (Path(place, name) for name in sorted(names))
        yield from (
            relative
            for path in paths
            if is_seen_in_emacs_alone(relative := path.relative_to(kb).as_posix()) and path.is_file()
        )


def find_unpaired_trash(trash: Path) -> tuple[Path, ...]:
    """Return the files in the trash that lost their counterpart in a crash."""
    paired_suffix = {".org": ".json", ".json": ".org"}
    try:
        paths = sorted(path for path in trash.iterdir() if path.suffix in paired_suffix)
    except FileNotFoundError:
        return ()
    return tuple(path for path in paths if path.with_suffix(paired_suffix[path.suffix]) not in paths)


def is_emacs(pid: int, *, proc: Path = Path("/proc")) -> bool:
    """Say whether process `pid` is an Emacs, or, where its name is unknown, whether it runs at all."""
    if (proc / "self").exists():
        try:
            return "emacs" in (proc / str(pid) / "comm").read_text(errors="replace").lower()
        except OSError:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorContext:
    """Input of `doctor`; `app` alone knows the environment and the clock."""

    rule: Rule | BadRule
    project: Project
    #: roamkb's own.
    version: str
    home: Path
    #: $PATH
    search_path: str
    #: What this machine calls itself.
    host: str
    state: StateFolders
    #: Local time, naive.
    now: datetime
    #: Whether an Emacs runs under a number on this machine.
    is_emacs: Callable[[int], bool] = is_emacs
    #: The log of the project, whether it has one or not; None where there is no telling which project.
    log: Log | None = None
    #: Of the account, whose list of what is trusted counts; None for root's list alone.
    account_home: Path | None = None


def find_syncthing_root(kb: Path) -> Path | None:
    """Return the Syncthing folder that contains `kb`."""
    return _find_marked_parent(kb, ".stfolder")


def find_git_root(kb: Path) -> Path | None:
    """Return the top of the git work tree that contains `kb`."""
    return _find_marked_parent(kb, ".git")


def syncthing_patterns(root: Path) -> frozenset[str]:
    """Return the patterns of .stignore in `root`, without prefixes, included files followed."""
    return frozenset(_read_stignore(root, ".stignore", _MAX_INCLUDE_DEPTH))


def fts5_version() -> str | None:
    """Return the version of SQLite; None if it lacks full-text search."""
    try:
        with sqlite3.connect(":memory:") as database:
            database.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
    except sqlite3.Error:
        return None
    return sqlite3.sqlite_version


def find_commands(name: str, search_path: str) -> tuple[Path, ...]:
    """Return the programs of that name on this PATH, in its order, each once however often it is linked."""
    programs = filter(None, (which(name, path=place) for place in search_path.split(os.pathsep) if place))
    first_names: dict[str, Path] = {}
    for program in programs:
        first_names.setdefault(realpath(program), Path(program))
    return tuple(first_names.values())


def environment_of(program: Path) -> Path:
    """Return the environment that a program was installed into: the folder above its own."""
    return Path(realpath(program)).parent.parent


def is_on_path(folder: Path, search_path: str) -> bool:
    """Say whether `folder` is on this PATH."""
    return realpath(folder) in (realpath(place) for place in search_path.split(os.pathsep) if place)


def path_exists(path: Path) -> bool:
    """Say whether `path` exists, a broken link included."""
    return lexists(path)


def folder_fault(folder: Path) -> str | None:
    """Return the obstacle to keeping private files in `folder`; None without one."""
    top = _present_part(folder)
    if not top.is_dir():
        return f"{top} isn't a folder"
    if fault := write_fault(top):
        return fault
    if top == folder and folder.stat().st_mode & 0o077:
        return f"{folder} can be read by others"
    return None


def is_mounted_read_only(folder: Path) -> bool:
    """Say whether a folder, or what is there of it, lies on a file system that is read-only here."""
    return bool(os.statvfs(_present_part(folder)).f_flag & os.ST_RDONLY)


def _present_part(folder: Path) -> Path:
    return next(part for part in (folder, *folder.parents) if lexists(part))


def write_fault(folder: Path) -> str | None:
    """Return why no file can be created in `folder`; None where one can."""
    if os.access(folder, os.W_OK | os.X_OK):
        return None
    where = "on a file system that is read-only here" if is_mounted_read_only(folder) else "read-only for you"
    return f"{folder} is {where}"


def _read_emacs_lock(path: Path) -> EmacsLock:
    """Return the lock's owner from a link's target, or from a file where links can't be made."""
    try:
        text = str(path.readlink()) if path.is_symlink() else _first_line(path)
    except OSError:
        text = ""
    match = _EMACS_LOCK_TEXT.fullmatch(text)
    # more digits than any system's process ids
    pid = int(match["pid"][:10]) if match else 0
    return EmacsLock(path=path, host=match["host"] if match else "", pid=pid)


def _first_line(path: Path) -> str:
    data = read_file(path)
    return "" if isinstance(data, UnreadableFile) else data.split(b"\n")[0].decode(errors="replace").strip()


def _file_age(path: Path, now: float) -> float:
    try:
        return now - path.lstat().st_mtime
    except OSError:
        return 0.0


def _find_marked_parent(kb: Path, marker: str) -> Path | None:
    real = Path(realpath(kb))
    return next((folder for folder in (real, *real.parents) if lexists(folder / marker)), None)


def _read_stignore(folder: Path, name: str, depth: int) -> Iterator[str]:
    data = read_file(folder / name)
    if isinstance(data, MissingFile):
        return
    if isinstance(data, UnreadableFile):
        raise DiskError(data.path, data.reason)
    for line in data.decode(errors="replace").splitlines():
        pattern = line.strip()
        if pattern.startswith("#include") and depth:
            yield from _read_stignore(folder, pattern.removeprefix("#include").strip(), depth - 1)
        elif pattern and not pattern.startswith("//"):
            bare = re.sub(r"^(?:\(\?[id]\))+", "", pattern)
            yield bare.removeprefix("**/")
