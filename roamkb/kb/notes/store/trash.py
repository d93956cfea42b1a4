"""The trash for nodes: moving notes out of the knowledge base and back.

An entry is two files, the note as it was and a small JSON record beside it. The record is
written first and the note moved to it, so that a crash leaves a record without a note,
which is no entry, and never a note that nothing is known of.
"""

import json
import os
from collections.abc import Callable
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NotDurable
from roamkb.core.errors import NotFound
from roamkb.core.errors import RoamkbError
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import asdict
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs import files as disk
from roamkb.fs.locks import hold_lock
from roamkb.fs.locks import make_private_folder
from roamkb.kb.notes.file_names import is_note
from roamkb.kb.notes.store.own_writes import OwnWrite
from roamkb.kb.notes.store.own_writes import OwnWrites
from roamkb.kb.notes.store.own_writes import record_own_writes


def trashed_notes(folder: Path) -> int:
    """Return how many notes are in the trash of any knowledge base, all of which lie in `folder`."""
    return sum(is_note(path.name) for path in folder.glob("*/*"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashEntry:
    """A note in the trash."""

    #: The entry's own name; the same node can be trashed again after it was restored.
    key: str
    #: The node's.
    id: str
    title: str
    #: Where it was, relative to the knowledge base.
    file: str
    #: When it was trashed, local ISO 8601 without zone.
    when: str
    sha256: str
    #: Its permission bits.
    mode: int
    #: What was trashed in one go has the same; empty where it was trashed alone.
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trash:
    """The trash of one knowledge base; its clock and its source of random names are passed in."""

    kb: Path
    folder: Path
    lock_file: Path
    now: Callable[[], datetime]
    token: Callable[[], str] = disk.random_token
    #: Where it is recorded what goes and comes back.
    own: OwnWrites | None = None

    def new_run(self) -> str:
        """Return a name for one run, shared by all notes that it trashes."""
        return f"{self.now():%Y%m%d%H%M%S}-{self.token()}"

    def trash_note(
        self, path: Path, *, was: str, id: str, title: str, run: str = "", earlier: Iterable[TrashEntry] = ()
    ) -> TrashEntry:
        """Move the note `path`, whose SHA-256 is still `was`, into the trash.

        Also discard those of the `earlier` entries with the same content, as a killed call leaves one.
        """
        self._require_outside()
        make_private_folder(self.folder)
        entry = self._new_entry(path, was=was, id=id, title=title, run=run)
        record = disk.create_file(self.folder, f"{entry.key}.json", _render_entry(entry), mode=0o600)
        try:
            with record_own_writes(self.own, OwnWrite(path=path, was=was)):
                disk.move_file(path, self._note_path(entry), expected_digest=was, lock=hold_lock(self.lock_file))
        except RoamkbError:
            if disk.is_missing(self._note_path(entry)):
                disk.discard_file(record)
            raise
        # after the move: a killed call's copy may not be durable, and this one is
        for copy in earlier:
            if (copy.id, copy.file, copy.sha256) == (id, entry.file, was):
                self._discard_entry(copy)
        return entry

    def list_entries(self) -> tuple[TrashEntry, ...]:
        """Return the entries of the trash, the latest first."""
        with disk.as_disk_error(self.folder):
            records = sorted(self.folder.glob("*.json"), reverse=True)
        parsed_entries = (_parse_entry(record) for record in records)
        return tuple(entry for entry in parsed_entries if entry and not disk.is_missing(self._note_path(entry)))

    def latest_run(self) -> tuple[TrashEntry, ...]:
        """Return the entries of the latest run, or the single latest entry."""
        entries = self.list_entries()
        return tuple(entry for entry in entries if entry is entries[0] or (entry.run and entry.run == entries[0].run))

    def find_entry(self, id: str) -> TrashEntry | None:
        """Return the latest entry of the node with that id, or else that title; None where there is none."""
        entries = self.list_entries()
        return next(iter((*(e for e in entries if id in (e.id, e.key)), *(e for e in entries if e.title == id))), None)

    def get_entry(self, id: str) -> TrashEntry:
        """Return the latest entry of the node with that id, or else that title; or raise `NotFound`."""
        if entry := self.find_entry(id):
            return entry
        raise NotFound(
            id,
            kind="trashed node",
            hint="`roamkb restore` lists what was trashed on this machine, and only that can come back",
        )

    def read_entry(self, entry: TrashEntry) -> bytes:
        """Return the note's bytes, which are those that were trashed."""
        data = disk.read_file(self._note_path(entry))
        if isinstance(data, UnreadableFile):
            raise DiskError(data.path, data.reason)
        if disk.content_digest(data) != entry.sha256:
            raise DiskError(self._note_path(entry), "isn't what was trashed", hint="look at it and copy it by hand")
        return data

    def restore_entry(self, entry: TrashEntry, data: bytes) -> Path:
        """Put the note with those bytes back where it was, unless there is a file of that name by now."""
        folder, name = self._old_folder(entry), Path(entry.file).name
        with record_own_writes(self.own, OwnWrite(path=folder / name, now=entry.sha256)):
            path = disk.create_file(folder, name, data, mode=entry.mode)
        self._discard_entry(entry)
        return path

    def finish_restore(self, entry: TrashEntry) -> Path | None:
        """Drop the entry of a note that a killed restore put back; None where that isn't there as it was.

        Raises:
            NotDurable: it is back, the disk would not promise to keep it, and the copy stays.
        """
        path = self.kb / entry.file
        data = disk.read_file(path)
        # a link may lead to the very copy that would go
        if isinstance(data, UnreadableFile) or path.is_symlink() or disk.content_digest(data) != entry.sha256:
            return None
        try:
            disk.sync_folder(path.parent)
        except OSError as error:
            raise NotDurable(path, disk.error_reason(error)) from error
        self._discard_entry(entry)
        return path

    def _discard_entry(self, entry: TrashEntry) -> None:
        disk.discard_file(self._note_path(entry))
        disk.discard_file(self._record_path(entry))

    def _new_entry(self, path: Path, *, was: str, id: str, title: str, run: str) -> TrashEntry:
        now = self.now()
        file = _path_in_kb(path, self.kb)
        if file is None or not is_note(file):
            raise DiskError(path, "isn't a note of the knowledge base")
        with disk.as_disk_error(path):
            mode = path.stat().st_mode & 0o777
        return TrashEntry(
            key=f"{now:%Y%m%d%H%M%S}-{self.token()}",
            id=id,
            title=title,
            file=file,
            when=now.isoformat(timespec="seconds"),
            sha256=was,
            mode=mode,
            run=run,
        )

    def _old_folder(self, entry: TrashEntry) -> Path:
        """Return the folder that the note came from, made again if the human has removed it."""
        path = self.kb / entry.file
        if not is_note(entry.file) or _path_in_kb(path, self.kb) is None:
            raise DiskError(self._record_path(entry), "names a place where no note can be")
        if disk.is_missing(self.kb):
            raise NoKnowledgeBase(self.kb, "doesn't exist")
        return disk.make_folder(path.parent)

    def _require_outside(self) -> None:
        if _path_in_kb(self.folder / "any", self.kb) is not None:
            raise DiskError(self.folder, "the trash may not lie in the knowledge base")

    def _note_path(self, entry: TrashEntry) -> Path:
        return self.folder / f"{entry.key}.org"

    def _record_path(self, entry: TrashEntry) -> Path:
        return self.folder / f"{entry.key}.json"


def _path_in_kb(path: Path, kb: Path) -> str | None:
    """Return `path` relative to `kb`, links followed but for its own name; None where it lies elsewhere."""
    # unlike `resolve`, realpath never fails
    real, root = Path(os.path.realpath(path.parent), path.name), os.path.realpath(kb)
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else None


def _render_entry(entry: TrashEntry) -> bytes:
    return (json.dumps(asdict(entry), indent=1) + "\n").encode()


def _parse_entry(record: Path) -> TrashEntry | None:
    """Return the entry that `record` describes; None where it is torn or no record of roamkb's."""
    data = disk.read_file(record)
    if isinstance(data, UnreadableFile):
        return None
    try:
        values = json.loads(data)
        words = {name: str(values[name]) for name in ("id", "title", "file", "when", "sha256")}
        run = str(values.get("run", ""))
        return TrashEntry(key=record.stem, mode=int(values["mode"]) & 0o777, run=run, **words)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
