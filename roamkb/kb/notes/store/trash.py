"""Where trashed nodes go: out of the knowledge base, and back.

An entry is two files, the note as it was and a small JSON record beside it. The record is
written first and the note moved to it, so that a crash leaves a record without a note,
which is no entry, and never a note that nothing is known of.
"""

import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.core.errors import RoamkbError
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import asdict
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs import files as disk
from roamkb.fs.locks import lock
from roamkb.fs.locks import private_folder
from roamkb.kb.notes.file_names import is_note
from roamkb.kb.notes.store.own_writes import OwnWrite
from roamkb.kb.notes.store.own_writes import OwnWrites
from roamkb.kb.notes.store.own_writes import recorded


def trashed_notes(folder: Path) -> int:
    """Return how many notes are in the trash of any knowledge base, all of which lie in `folder`."""
    return sum(is_note(path.name) for path in folder.glob("*/*"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashEntry:
    """One note in the trash."""

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
    """The trash of one knowledge base; the clock and the source of unlikely names are passed in."""

    kb: Path
    folder: Path
    lock_file: Path
    now: Callable[[], datetime]
    token: Callable[[], str] = disk.random_token
    #: Where it is recorded what goes and comes back.
    own: OwnWrites | None = None

    def new_run(self) -> str:
        """Return a name for what is trashed in one go."""
        return f"{self.now():%Y%m%d%H%M%S}-{self.token()}"

    def put(self, path: Path, *, was: str, id: str, title: str, run: str = "") -> TrashEntry:
        """Move the note `path`, whose SHA-256 is still `was`, into the trash."""
        self._require_outside()
        private_folder(self.folder)
        entry = self._entry(path, was=was, id=id, title=title, run=run)
        record = disk.create(self.folder, f"{entry.key}.json", _render(entry), mode=0o600)
        try:
            with recorded(self.own, OwnWrite(path=path, was=was)):
                disk.move(path, self._note(entry), was=was, lock=lock(self.lock_file))
        except RoamkbError:
            if disk.is_missing(self._note(entry)):
                disk.discard(record)
            raise
        return entry

    def entries(self) -> tuple[TrashEntry, ...]:
        """Return what is in the trash, the latest first."""
        try:
            records = sorted(self.folder.glob("*.json"), reverse=True)
        except OSError as error:
            raise disk.disk_error(self.folder, error) from error
        found = (_parse(record) for record in records)
        return tuple(entry for entry in found if entry and not disk.is_missing(self._note(entry)))

    def last(self) -> tuple[TrashEntry, ...]:
        """Return what was trashed last: one entry, or all that went with it."""
        entries = self.entries()
        return tuple(e for e in entries if e is entries[0] or (e.run and e.run == entries[0].run))

    def get(self, id: str) -> TrashEntry:
        """Return the latest entry of the node with that id, or else that title; or raise `NotFound`."""
        entries = self.entries()
        for entry in (*(e for e in entries if id in (e.id, e.key)), *(e for e in entries if e.title == id)):
            return entry
        raise NotFound(
            id,
            what="trashed node",
            hint="`roamkb restore` lists what was trashed on this machine, and only that can come back",
        )

    def restore(self, entry: TrashEntry) -> Path:
        """Put the note back where it was, unless there is a file of that name by now."""
        data = disk.read_file(self._note(entry))
        if isinstance(data, UnreadableFile):
            raise DiskError(data.path, data.reason)
        if disk.digest(data) != entry.sha256:
            raise DiskError(
                self._note(entry), "isn't what was trashed", hint="look at it and copy it by hand"
            )
        folder, name = self._old_folder(entry), Path(entry.file).name
        with recorded(self.own, OwnWrite(path=folder / name, now=entry.sha256)):
            path = disk.create(folder, name, data, mode=entry.mode)
        disk.discard(self._note(entry))
        disk.discard(self._record(entry))
        return path

    def _entry(self, path: Path, *, was: str, id: str, title: str, run: str) -> TrashEntry:
        now = self.now()
        file = _place(path, self.kb)
        if file is None or not is_note(file):
            raise DiskError(path, "isn't a note of the knowledge base")
        try:
            mode = path.stat().st_mode & 0o777
        except OSError as error:
            raise disk.disk_error(path, error) from error
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
        if not is_note(entry.file) or _place(path, self.kb) is None:
            raise DiskError(self._record(entry), "names a place where no note can be")
        if disk.is_missing(self.kb):
            raise NoKnowledgeBase(self.kb, "doesn't exist")
        return disk.make_folder(path.parent)

    def _require_outside(self) -> None:
        if _place(self.folder / "any", self.kb) is not None:
            raise DiskError(self.folder, "the trash may not lie in the knowledge base")

    def _note(self, entry: TrashEntry) -> Path:
        return self.folder / f"{entry.key}.org"

    def _record(self, entry: TrashEntry) -> Path:
        return self.folder / f"{entry.key}.json"


def _place(path: Path, kb: Path) -> str | None:
    """Return `path` relative to `kb`, links followed but for its own name; None where it lies elsewhere."""
    # unlike `resolve`, realpath never fails
    real, root = Path(os.path.realpath(path.parent), path.name), os.path.realpath(kb)
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else None


def _render(entry: TrashEntry) -> bytes:
    return (json.dumps(asdict(entry), indent=1) + "\n").encode()


def _parse(record: Path) -> TrashEntry | None:
    """Return the entry that `record` describes; None where it is torn or somebody else's."""
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
