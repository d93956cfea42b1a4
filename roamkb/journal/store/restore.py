"""Giving the notes their former content, mode and names: a human's deed, one durable step after the other.

Each step compares what is there with what the journal saw, so that nothing that changed since is overwritten.
"""

# links may lead to names that are no text, which pathlib doesn't take
# ruff: noqa: PTH115, PTH211

import hashlib
import os
import stat
from collections.abc import Callable
from collections.abc import Iterable
from pathlib import Path

from roamkb.core.errors import Busy
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.errors import NotDurable
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs import files as disk
from roamkb.fs.locks import lock
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import NotRestored
from roamkb.journal.moments import RestoreConsent
from roamkb.journal.moments import RestoreStep
from roamkb.journal.store.journal import Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOutcome:
    """What became of a plan."""

    #: What was not done, and why.
    undone: tuple[NotRestored, ...]
    #: Whether the disk promised to keep all of it.
    is_durable: bool


def carry_out(leave: RestoreConsent, journal: Journal, *, lock_file: Path) -> RestoreOutcome:
    """Do the steps of a plan; one that can't be done stops no other."""
    with journal.contents() as contents:
        hand = _FolderRestorer(contents, root=Path(os.path.realpath(journal.kb)), lock_file=lock_file)
        return _carried_out(leave.plan.steps, hand)


def _carried_out(steps: Iterable[RestoreStep], hand: "_FolderRestorer") -> RestoreOutcome:
    undone: dict[bytes, NotRestored] = {}
    is_durable = True
    for step in steps:
        path = step.path
        if step.after in undone:
            undone[path] = NotRestored(path=path, why="stays, since its old name could not be filled")
            continue
        try:
            hand.do(step)
        except NotDurable:
            is_durable = False
        except (ChangedOnDisk, NameTaken) as error:
            undone[path] = NotRestored(path=path, why=error.why)
        except DiskError as error:
            undone[path] = NotRestored(path=path, why=error.why, has_failed=True)
        except Busy as error:
            undone[path] = NotRestored(path=path, why=error.message, has_failed=True)
    return RestoreOutcome(undone=tuple(undone.values()), is_durable=is_durable)


class _FolderRestorer:
    """What changes the notes' folder, one step at a time."""

    def __init__(self, contents: Callable[[FolderEntry], bytes], *, root: Path, lock_file: Path) -> None:
        self._contents = contents
        self._lock_file = lock_file
        self._root = root

    def do(self, step: RestoreStep) -> None:
        """Do a step whole, or raise."""
        path = self._path(step.path)
        want, have = step.want, step.have
        # read first: what can't be put back is no reason to take anything away
        data = self._content(want) if want and step.verb != "mode" else b""
        try:
            if want and have and step.verb == "mode":
                self._give_mode(path, want)
            elif want and have and want.form is have.form is EntryForm.FILE:
                self._content(have)
                disk.swap(path, data, was=_hex(have), lock=lock(self._lock_file))
                self._give_mode(path, want)
            else:
                if have:
                    self._content(have)
                    self._remove(path, have)
                if want:
                    self._create(path, want, data)
        except OSError as error:
            raise disk.disk_error(path, error) from error

    def _path(self, relative: bytes) -> Path:
        """Return where an entry lies, unless a link leads elsewhere by now."""
        path = self._root / os.fsdecode(relative)
        if Path(os.path.realpath(path.parent)) != path.parent or ".." in path.parts:
            raise DiskError(path, "a link in its path leads elsewhere")
        return path

    def _content(self, entry: FolderEntry) -> bytes:
        return b"" if entry.form is EntryForm.FOLDER else self._contents(entry)

    @staticmethod
    def _give_mode(path: Path, want: FolderEntry) -> None:
        found = path.lstat()
        if EntryForm.of(found.st_mode) is not want.form:
            raise ChangedOnDisk(path)
        if want.form is not EntryForm.LINK and stat.S_IMODE(found.st_mode) != want.mode:
            path.chmod(want.mode)

    def _remove(self, path: Path, have: FolderEntry) -> None:
        match have.form:
            case EntryForm.FILE:
                disk.remove(path, was=_hex(have), lock=lock(self._lock_file))
            case EntryForm.LINK:
                if hashlib.sha256(os.readlink(os.fsencode(path))).digest() != have.digest:
                    raise ChangedOnDisk(path)
                path.unlink()
                disk.sync_folder(path.parent)
            case _:
                path.rmdir()
                disk.sync_folder(path.parent)

    def _create(self, path: Path, want: FolderEntry, data: bytes) -> None:
        folder = disk.make_folder(path.parent)
        if os.path.lexists(folder / f".#{path.name}"):
            raise ChangedOnDisk(path, "is open with unsaved changes in Emacs (or was, if that crashed)")
        match want.form:
            case EntryForm.FILE:
                disk.create(folder, path.name, data, mode=want.mode)
            case EntryForm.LINK:
                os.symlink(data, os.fsencode(path))
                disk.sync_folder(folder)
            case _:
                disk.make_folder(path)
        self._give_mode(path, want)


def _hex(entry: FolderEntry) -> str:
    return entry.digest.hex() if entry.digest else ""
