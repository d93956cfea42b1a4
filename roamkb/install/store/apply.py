"""What roamkb put outside of the knowledge base: links, and files that are its own."""

import contextlib
import os
import shutil
import stat
from importlib import resources
from pathlib import Path

from roamkb.boundary.store.kb_paths import KEPT
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import TEMPORARY
from roamkb.fs.files import create
from roamkb.fs.files import digest
from roamkb.fs.files import disk_error
from roamkb.fs.files import random_token
from roamkb.fs.files import read_file
from roamkb.fs.files import swap
from roamkb.fs.locks import LOCKS
from roamkb.fs.locks import SHOWN
from roamkb.fs.locks import SNAPSHOTS
from roamkb.fs.locks import TRASH
from roamkb.fs.user_dirs import BROKERS
from roamkb.fs.user_dirs import CALLS
from roamkb.fs.user_dirs import KEY
from roamkb.guard.store.server_ports import PORTS
from roamkb.guard.store.server_ports import TOKEN
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import Change
from roamkb.install.plan import FolderOnDisk
from roamkb.install.plan import Found
from roamkb.install.plan import InstallStep
from roamkb.install.plan import MakeFolder
from roamkb.install.plan import MakeLink
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import RemoveAll
from roamkb.install.plan import RemovePath
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import UnreadablePath
from roamkb.log.store.adoptions import ADOPTIONS

#: What belongs to one knowledge base in the cache folder.
_OF_A_KB = lazily(r"[0-9a-f]{16}")


def look(path: Path) -> Found:
    """Return what is at `path`, without following it if it is a link."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return _link(path)
        if stat.S_ISDIR(mode):
            return FolderOnDisk(names=tuple(sorted(child.name for child in path.iterdir())))
    except (FileNotFoundError, NotADirectoryError):
        return AbsentPath()
    except OSError as error:
        raise disk_error(path, error) from error
    data = read_file(path)
    return UnreadablePath(reason=data.reason) if isinstance(data, UnreadableFile) else RegularFile(data=data)


def _link(path: Path) -> SymbolicLink:
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
            return {path: _required(path) for path in sorted(folder.glob("*.md"))}
    raise DiskError(package / "rules", "the rules are missing", hint="install roamkb again")


def _required(path: Path) -> bytes:
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


def make_folder(path: Path) -> None:
    """Make `path` and what is above it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(path, error) from error


def make_link(path: Path, target: Path, *, was: Found) -> None:
    """Make `path` a link to `target`, in place of the link or file `was`, never of anything else."""
    make_folder(path.parent)
    try:
        if isinstance(was, AbsentPath):
            path.symlink_to(target)
            return
        beside = path.with_name(f"{TEMPORARY}{random_token()}.tmp")
        beside.symlink_to(target)
        try:
            _require_same(path, was)
            beside.rename(path)
        finally:
            beside.unlink(missing_ok=True)
    except FileExistsError as error:
        raise ChangedOnDisk(path, "appeared meanwhile") from error
    except OSError as error:
        raise disk_error(path, error) from error


def put_file(path: Path, data: bytes, *, was: Found, mode: int = 0o644) -> None:
    """Make `data` the content of `path`, in place of the link or file `was`, never of anything else."""
    make_folder(path.parent)
    match was:
        case RegularFile(data=old):
            swap(path, data, was=digest(old), lock=contextlib.nullcontext())
        case SymbolicLink():
            remove(path, was=was)
            create(path.parent, path.name, data, mode=mode)
        case _:
            create(path.parent, path.name, data, mode=mode)


def remove(path: Path, *, was: Found) -> None:
    """Remove the link or file at `path`, which is still as it `was`."""
    try:
        _require_same(path, was)
        path.unlink()
    except OSError as error:
        raise disk_error(path, error) from error


def own_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of the names in its state or cache folder roamkb gave: what it knows, it may remove."""
    ours = (ADOPTIONS, BROKERS, CALLS, LOCKS, SHOWN, SNAPSHOTS, TRASH, KEY, KEPT, PORTS, TOKEN)
    return tuple(
        name for name in names if name in ours or _OF_A_KB.fullmatch(name) or name.startswith(TEMPORARY)
    )


def remove_all(folder: Path, names: tuple[str, ...]) -> None:
    """Remove these of `folder`, whole, and it if nothing else is there; no link is followed."""
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


def _require_same(path: Path, was: Found) -> None:
    """Raise `ChangedOnDisk` unless `path` holds what the plan was made for."""
    if look(path) != was:
        raise ChangedOnDisk(path)


def carry_out(steps: tuple[InstallStep, ...]) -> None:
    """Do what `steps` say, in order."""
    for step in steps:
        if step.path and step.change:
            _carry_out(step.path, step.change)


def _carry_out(path: Path, change: Change) -> None:
    match change:
        case MakeLink():
            make_link(path, change.target, was=change.was)
        case PutFile():
            put_file(path, change.data, was=change.was, mode=change.mode)
        case MakeFolder():
            make_folder(path)
        case RemovePath():
            remove(path, was=change.was)
            # whatever else is in one is somebody's
            with contextlib.suppress(OSError):
                for folder in path.parents[: change.folders]:
                    folder.rmdir()
        case RemoveAll():
            remove_all(path, change.names)
