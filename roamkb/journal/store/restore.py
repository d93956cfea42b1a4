"""Restoration of the notes' former content, modes and names, one durable step after the other.

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
from roamkb.fs.locks import hold_lock
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import FolderEntry
from roamkb.journal.moments import NotRestored
from roamkb.journal.moments import RestoreConsent
from roamkb.journal.moments import RestoreStep
from roamkb.journal.store.journal import Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOutcome:
    """The outcome of a plan."""

    #: What was not done, and why.
    undone: tuple[NotRestored, ...]
    #: Whether the disk promised to keep all of it.
    is_durable: bool


def run_restore(consent: RestoreConsent, journal: Journal, *, lock_file: Path) -> RestoreOutcome:
    """Carry out the steps of a plan; one that fails stops no other."""
    with journal.content_reader() as contents:
        restorer = _FolderRestorer(contents, root=Path(os.path.realpath(journal.kb)), lock_file=lock_file)
        return _run_steps(consent.plan.steps, restorer)


def _run_steps(steps: Iterable[RestoreStep], restorer: "_FolderRestorer") -> RestoreOutcome:
    undone: dict[bytes, NotRestored] = {}
    is_durable = True
    for step in steps:
        path = step.path
        if step.after in undone:
            undone[path] = NotRestored(path=path, why="stays, since its old name could not be filled")
            continue
        try:
            restorer.run_step(step)
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
    """The part of a restore that changes the notes' folder, one step at a time."""

    def __init__(self, contents: Callable[[FolderEntry], bytes], *, root: Path, lock_file: Path) -> None:
        self._contents = contents
        self._lock_file = lock_file
        self._root = root

    def run_step(self, step: RestoreStep) -> None:
        """Carry out a step whole, or raise."""
        path = self._safe_path(step.path)
        wanted_entry, present_entry = step.want, step.have
        # read first: what can't be put back is no reason to take anything away
        data = self._read_content(wanted_entry) if wanted_entry and step.verb != "mode" else b""
        with disk.as_disk_error(path):
            if wanted_entry and present_entry and step.verb == "mode":
                self._set_mode(path, wanted_entry)
            elif wanted_entry and present_entry and wanted_entry.form is present_entry.form is EntryForm.FILE:
                self._read_content(present_entry)
                disk.swap_file(path, data, expected_digest=_digest_hex(present_entry), lock=hold_lock(self._lock_file))
                self._set_mode(path, wanted_entry)
            else:
                if present_entry:
                    self._read_content(present_entry)
                    self._remove_entry(path, present_entry)
                if wanted_entry:
                    self._create_entry(path, wanted_entry, data)

    def _safe_path(self, relative: bytes) -> Path:
        """Return the path of an entry; raise where a link now leads elsewhere."""
        path = self._root / os.fsdecode(relative)
        if Path(os.path.realpath(path.parent)) != path.parent or ".." in path.parts:
            raise DiskError(path, "a link in its path leads elsewhere")
        return path

    def _read_content(self, entry: FolderEntry) -> bytes:
        return b"" if entry.form is EntryForm.FOLDER else self._contents(entry)

    @staticmethod
    def _set_mode(path: Path, wanted_entry: FolderEntry) -> None:
        status = path.lstat()
        if EntryForm.from_mode(status.st_mode) is not wanted_entry.form:
            raise ChangedOnDisk(path)
        if wanted_entry.form is not EntryForm.LINK and stat.S_IMODE(status.st_mode) != wanted_entry.mode:
            path.chmod(wanted_entry.mode)

    def _remove_entry(self, path: Path, present_entry: FolderEntry) -> None:
        match present_entry.form:
            case EntryForm.FILE:
                disk.remove_file(path, expected_digest=_digest_hex(present_entry), lock=hold_lock(self._lock_file))
            case EntryForm.LINK:
                if hashlib.sha256(os.readlink(os.fsencode(path))).digest() != present_entry.digest:
                    raise ChangedOnDisk(path)
                path.unlink()
                disk.sync_folder(path.parent)
            case _:
                path.rmdir()
                disk.sync_folder(path.parent)

    def _create_entry(self, path: Path, wanted_entry: FolderEntry, data: bytes) -> None:
        folder = disk.make_folder(path.parent)
        disk.require_no_unsaved_changes(folder / path.name)
        match wanted_entry.form:
            case EntryForm.FILE:
                disk.create_file(folder, path.name, data, mode=wanted_entry.mode)
            case EntryForm.LINK:
                os.symlink(data, os.fsencode(path))
                disk.sync_folder(folder)
            case _:
                disk.make_folder(path)
        self._set_mode(path, wanted_entry)


def _digest_hex(entry: FolderEntry) -> str:
    return entry.digest.hex() if entry.digest else ""
