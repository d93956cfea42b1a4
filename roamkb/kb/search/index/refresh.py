"""What has changed in the knowledge base since the index saw it, and the index brought up to date.

Changed means different, not newer: syncers set times back and clocks do, too. A file that
was written to in the last moments may change again under the same stat, and one that is
missing or empty may be half-way through a save (docs/architecture.md).
"""

import math
import sqlite3
import time
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.fs import files as disk
from roamkb.kb.notes.store.notes import LARGEST
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.walk import NoteFile
from roamkb.kb.notes.store.walk import NotesWalk
from roamkb.kb.notes.store.walk import walk
from roamkb.kb.search.index.schema import SeenFile
from roamkb.kb.search.index.schema import add_note
from roamkb.kb.search.index.schema import digest
from roamkb.kb.search.index.schema import remove_notes
from roamkb.kb.search.index.schema import summarise
from roamkb.kb.search.index.schema import transaction
from roamkb.org.coding import decode_note

#: Nanoseconds in which a file may be written to twice and keep its time, on the coarsest file systems.
_UNSETTLED = 2_000_000_000
#: Seconds that a syncer's or an editor's save takes at most, by far: it was measured at 9 ms.
_SAVE = 0.15
#: Notes a transaction: what a rollback journal holds.
_BATCH = 500

#: Told how many of how many notes are read.
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class IndexChanges:
    """What the index has to take in before it answers."""

    walk: NotesWalk
    to_read: list[NoteFile] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    #: Files whose content is as it was, and whose stat is now another or can be trusted.
    same: list[SeenFile] = field(default_factory=list)
    #: How many notes were read so far.
    have_read: int = 0
    #: Whether there was no need to look: nothing changed since there was nothing.
    were_none: bool = False

    @property
    def are_few(self) -> bool:
        """Whether they are taken in by one transaction, in a moment."""
        return len(self.to_read) <= _BATCH

    @property
    def are_none(self) -> bool:
        """Whether the index is as it should be."""
        return not (self.to_read or self.gone or self.same)


def find_changes(
    db: sqlite3.Connection, notes: Notes, *, clock: Callable[[], int], seal: str | None = None
) -> IndexChanges:
    """Return how the knowledge base differs from what the index has seen.

    `seal` names the state of the index that `db` shows. What agreed with it once agrees
    with it again, as long as a walk finds each file as it was.
    """
    changes = IndexChanges(walk=notes.walk)
    stale = _with_other_setups(db, notes)
    if seal and not stale and _AGREED.get(seal) is changes.walk.files:
        changes.were_none = True
        return changes
    suspects, missing = _suspects(db, changes.walk)
    if missing:
        # a syncer unlinks a note before it renames the new one into place
        time.sleep(_SAVE)
        changes.walk = walk(notes.kb)
        suspects, missing = _suspects(db, changes.walk)
    changes.gone = missing
    for file, before in suspects:
        if file.file not in stale:
            _compare(file, before, changes, clock)
    if stale:
        changes.to_read += [file for file in changes.walk.files if file.file in stale]
    return changes


def remember(seal: str, changes: IndexChanges) -> None:
    """Keep that an index in the state `seal` knows all that was found as it is."""
    _AGREED.clear()
    _AGREED[seal] = changes.walk.files


#: The notes that a walk found and the index knew, each as it is; by the index's seal. The last one only.
_AGREED: dict[str, tuple[NoteFile, ...]] = {}


def _suspects(
    db: sqlite3.Connection, found: NotesWalk
) -> tuple[list[tuple[NoteFile, bytes | None]], list[str]]:
    """Return the notes not known by their stat, each with the digest that it had; and the missing files."""
    # a stat that can't be trusted is none
    rows = db.execute("SELECT file, CASE WHEN settled THEN stat END, digest FROM note")
    known: dict[str, tuple[str | None, bytes]] = {file: (stat, content) for file, stat, content in rows}
    suspects = []
    for file in found.files:
        stat, content = known.pop(file.file, (None, None))
        if stat != _STAT % file.stat:
            suspects.append((file, content))
    return suspects, list(known)


#: How a stat is kept: as text, since times after 2262 are no integers to SQLite.
_STAT = "%d %d %d %d %d"


def _compare(file: NoteFile, before: bytes | None, changes: IndexChanges, clock: Callable[[], int]) -> None:
    """Sort a file that is new or may have changed by its content; an unreadable one is always read again."""
    now = clock()
    data = disk.read_file(file.path, limit=LARGEST, patience=_SAVE) if before else b""
    if before and not isinstance(data, UnreadableFile) and digest(data) == before:
        changes.same.append(_seen(file, before, now))
    else:
        changes.to_read.append(file)


def _seen(file: NoteFile, content: bytes, now: int) -> SeenFile:
    return SeenFile(
        file=file.file,
        stat=_STAT % file.stat,
        # the clock of the change is the system's own, and may have been set since
        settled=bool(content) and abs(now - file.ctime_ns) > _UNSETTLED,
        digest=content,
    )


def _with_other_setups(db: sqlite3.Connection, notes: Notes) -> set[str]:
    """Return the files whose set-up files say something else now."""
    rows = db.execute(
        "SELECT setup.path, setup.digest, note.file FROM setup JOIN note ON note.id = setup.note"
    )
    return {file for path, before, file in rows if _setup_digest(notes, path) != before}


def _setup_digest(notes: Notes, path: str) -> bytes:
    text = notes.setup_text(path)
    return b"" if text is None else digest(text.encode("utf-8", "surrogatepass"))


def apply_changes(
    db: sqlite3.Connection,
    notes: Notes,
    changes: IndexChanges,
    *,
    clock: Callable[[], int],
    progress: Progress | None = None,
    seconds: float = math.inf,
) -> None:
    """Take the changes into the index, some hundreds of notes a transaction.

    After so many `seconds` what isn't read yet stays among the changes; one note is read at least.
    """
    until = time.monotonic() + seconds
    with transaction(db):
        remove_notes(db, changes.gone)
        for seen in changes.same:
            _confirm(db, seen)
    changes.gone, changes.same = [], []
    while changes.to_read:
        batch = changes.to_read[:_BATCH]
        with transaction(db):
            remove_notes(db, (file.file for file in batch))
            read = _read_all(db, notes, batch, clock, until)
        del changes.to_read[:read]
        changes.have_read += read
        if progress:
            progress(changes.have_read, changes.have_read + len(changes.to_read))
        if time.monotonic() > until:
            break
    with transaction(db):
        summarise(db)


def _read_all(
    db: sqlite3.Connection, notes: Notes, files: Sequence[NoteFile], clock: Callable[[], int], until: float
) -> int:
    """Read one file, and the others as long as the time allows; return how many."""
    for count, file in enumerate(files, start=1):
        _read(db, notes, file, clock)
        if time.monotonic() > until:
            return count
    return len(files)


def _confirm(db: sqlite3.Connection, seen: SeenFile) -> None:
    db.execute("UPDATE note SET stat = ?, settled = ? WHERE file = ?", (seen.stat, seen.settled, seen.file))


def _read(db: sqlite3.Connection, notes: Notes, file: NoteFile, clock: Callable[[], int]) -> None:
    now = clock()
    data = disk.read_file(file.path, limit=LARGEST)
    if isinstance(data, UnreadableFile):
        # no digest: it is read again each time, until it can be
        add_note(db, _seen(file, b"", now), None, trouble=data.reason, setups=())
        return
    text, clean = decode_note(data)
    note = notes.parse(file, text)
    trouble = note.fault or ("" if clean else "not valid UTF-8; read with replacement characters")
    setups = [(path, _setup_digest(notes, path)) for path in note.setupfiles]
    add_note(db, _seen(file, digest(data), now), note, trouble=trouble, setups=setups)


def troubles(db: sqlite3.Connection, kb: Path) -> Iterator[UnreadableFile]:
    """Yield the notes that could not be read, or not as they were meant."""
    for file, reason in db.execute("SELECT file, trouble FROM note WHERE trouble != '' ORDER BY file"):
        yield UnreadableFile(path=kb / file, reason=reason)
