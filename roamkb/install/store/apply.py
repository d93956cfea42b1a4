"""Links and files outside of the knowledge base, examined and changed by `install`."""

import contextlib
import os
import shutil
import stat
from importlib import resources
from pathlib import Path

from roamkb.boundary.store.kb_paths import KEPT_NAMES_FILE
from roamkb.boundary.store.server_ports import PORTS
from roamkb.boundary.store.server_ports import TOKEN
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import TEMPORARY_PREFIX
from roamkb.fs.files import as_disk_error
from roamkb.fs.files import content_digest
from roamkb.fs.files import create_file
from roamkb.fs.files import disk_error
from roamkb.fs.files import random_token
from roamkb.fs.files import read_file
from roamkb.fs.files import swap_file
from roamkb.fs.locks import LOCKS
from roamkb.fs.locks import SETUP_RECEIPT
from roamkb.fs.locks import SHOWN
from roamkb.fs.locks import SNAPSHOTS
from roamkb.fs.locks import TRASH
from roamkb.fs.locks import UNLOGGED
from roamkb.fs.user_dirs import ADOPTIONS_FOLDER
from roamkb.fs.user_dirs import BROKERS
from roamkb.fs.user_dirs import CACHE_FOLDER
from roamkb.fs.user_dirs import LOG_CACHES
from roamkb.fs.user_dirs import MACHINE_KEY
from roamkb.fs.user_dirs import SANDBOX_CALLS
from roamkb.fs.user_dirs import SESSION_FOLDERS
from roamkb.fs.user_dirs import SHARED_FOLDER
from roamkb.fs.user_dirs import TRUST_FOLDER
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import FolderOnDisk
from roamkb.install.plan import InstallStep
from roamkb.install.plan import MakeFolder
from roamkb.install.plan import MakeLink
from roamkb.install.plan import PathChange
from roamkb.install.plan import PathState
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import RemoveAll
from roamkb.install.plan import RemoveEmptyFolder
from roamkb.install.plan import RemovePath
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import UnreadablePath
from roamkb.log.store.adoptions import APPENDED_FOLDER
from roamkb.log.trust.store.git_objects import EMPTY_REPOSITORY

#: What belongs to one knowledge base in the cache folder.
_KB_FOLDER_NAME = lazily(r"[0-9a-f]{16}")


def read_path_state(path: Path) -> PathState:
    """Return the state of `path`, without following it if it is a link."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return _link_state(path)
        if stat.S_ISDIR(mode):
            return FolderOnDisk(names=tuple(sorted(child.name for child in path.iterdir())))
    except (FileNotFoundError, NotADirectoryError):
        return AbsentPath()
    except OSError as error:
        raise disk_error(path, error) from error
    data = read_file(path)
    return UnreadablePath(reason=data.reason) if isinstance(data, UnreadableFile) else RegularFile(data=data)


def _link_state(path: Path) -> SymbolicLink:
    target = str(path.readlink())
    if not path.exists():
        return SymbolicLink(target=target, data=None, dangles=True)
    data = read_file(path)
    return SymbolicLink(target=target, data=None if isinstance(data, UnreadableFile) else data, dangles=False)


def real_path(path: Path) -> Path:
    """Return `path` with every link followed, as far as it exists."""
    return Path(os.path.realpath(path))


def shipped_rules() -> dict[Path, bytes]:
    """Return the rule files that came with this roamkb, by path."""
    package = Path(str(resources.files("roamkb")))
    # in a wheel the rules are inside the package, in a checkout beside it
    for folder in (package / "rules", package.parent / "rules"):
        if folder.is_dir():
            return {path: _read_required(path) for path in sorted(folder.glob("*.md"))}
    raise DiskError(package / "rules", "the rules are missing", hint="install roamkb again")


def _read_required(path: Path) -> bytes:
    data = read_file(path)
    if isinstance(data, UnreadableFile):
        raise DiskError(path, data.reason)
    return data


def folders_in(parent: Path) -> tuple[Path, ...]:
    """Return the folders in `parent`, sorted; none where it can't be listed."""
    try:
        return tuple(sorted(path for path in parent.iterdir() if path.is_dir() and path.name[0] != "."))
    except OSError:
        return ()


def make_parents(path: Path) -> None:
    """Create `path` and its missing parents."""
    with as_disk_error(path):
        path.mkdir(parents=True, exist_ok=True)


def make_link(path: Path, target: Path, *, expected_state: PathState) -> None:
    """Make `path` a link to `target`, in place of the given link or file, never of anything else."""
    make_parents(path.parent)
    try:
        if isinstance(expected_state, AbsentPath):
            path.symlink_to(target)
            return
        temporary_link = path.with_name(f"{TEMPORARY_PREFIX}{random_token()}.tmp")
        temporary_link.symlink_to(target)
        try:
            _require_same(path, expected_state)
            temporary_link.rename(path)
        finally:
            temporary_link.unlink(missing_ok=True)
    except FileExistsError as error:
        raise ChangedOnDisk(path, "appeared meanwhile") from error
    except OSError as error:
        raise disk_error(path, error) from error


def put_file(path: Path, data: bytes, *, expected_state: PathState, mode: int = 0o644) -> None:
    """Make `data` the content of `path`, in place of the given link or file, never of anything else."""
    make_parents(path.parent)
    match expected_state:
        case RegularFile(data=old):
            swap_file(path, data, expected_digest=content_digest(old), lock=contextlib.nullcontext())
        case SymbolicLink():
            remove_path(path, expected_state=expected_state)
            create_file(path.parent, path.name, data, mode=mode)
        case _:
            create_file(path.parent, path.name, data, mode=mode)


def remove_path(path: Path, *, expected_state: PathState) -> None:
    """Remove the link or file at `path` if it is still in the given state."""
    with as_disk_error(path):
        _require_same(path, expected_state)
        path.unlink()


def roamkb_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return those names in a state or cache folder that roamkb uses, and so may remove."""
    known_names = (
        ADOPTIONS_FOLDER,
        APPENDED_FOLDER,
        BROKERS,
        CACHE_FOLDER,
        LOG_CACHES,
        SANDBOX_CALLS,
        SESSION_FOLDERS,
        TRUST_FOLDER,
        SHARED_FOLDER,
        EMPTY_REPOSITORY,
        LOCKS,
        SHOWN,
        SNAPSHOTS,
        TRASH,
        UNLOGGED,
        SETUP_RECEIPT,
        MACHINE_KEY,
        KEPT_NAMES_FILE,
        PORTS,
        TOKEN,
    )
    return tuple(
        name
        for name in names
        if name in known_names or _KB_FOLDER_NAME.fullmatch(name) or name.startswith(TEMPORARY_PREFIX)
    )


def remove_all(folder: Path, names: tuple[str, ...]) -> None:
    """Remove these names of `folder`, then the folder if it is empty; no link is followed."""
    try:
        for path in (folder / name for name in names):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
    except OSError as error:
        raise disk_error(Path(error.filename or folder), error) from error


def _require_same(path: Path, expected_state: PathState) -> None:
    """Raise `ChangedOnDisk` unless `path` is still in the state of the plan."""
    if read_path_state(path) != expected_state:
        raise ChangedOnDisk(path)


def apply_steps(steps: tuple[InstallStep, ...]) -> None:
    """Apply `steps`, in order."""
    for step in steps:
        if step.path and step.change:
            _apply_change(step.path, step.change)


def _apply_change(path: Path, change: PathChange) -> None:
    match change:
        case MakeLink():
            make_link(path, change.target, expected_state=change.was)
        case PutFile():
            put_file(path, change.data, expected_state=change.was, mode=change.mode)
        case MakeFolder():
            make_parents(path)
        case RemovePath():
            remove_path(path, expected_state=change.was)
            # whatever else is in one is somebody's
            with contextlib.suppress(OSError):
                for folder in path.parents[: change.folders]:
                    folder.rmdir()
        case RemoveAll():
            remove_all(path, change.names)
        case RemoveEmptyFolder():
            # likewise
            with contextlib.suppress(OSError):
                path.rmdir()
