"""The changes of the knowledge base since the index read it, and their application to the index.

Changed means different, not newer: syncers set times back and clocks do, too. A file that
was written to in the last moments may change again under the same stat, and one that is
missing or empty may be half-way through a save (docs/architecture.md).
"""

import json
import math
import sqlite3
import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from collections.abc import Set
from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.core.progress import report_progress
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.fs import files as disk
from roamkb.kb.notes.store.notes import LARGEST_NOTE
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.walk import NoteFile
from roamkb.kb.notes.store.walk import NotesWalk
from roamkb.kb.search.index import document_frequency as index_counts
from roamkb.kb.search.index.schema import SeenFile
from roamkb.kb.search.index.schema import add_note
from roamkb.kb.search.index.schema import content_digest
from roamkb.kb.search.index.schema import remove_notes
from roamkb.kb.search.index.schema import set_copies_apart
from roamkb.kb.search.index.schema import store_sums
from roamkb.kb.search.index.schema import transaction
from roamkb.org import coding

#: Seconds that a syncer's or an editor's save takes at most, by far: it was measured at 9 ms.
_SAVE = 0.15
#: Seconds between two looks at a file that is missing: a save takes about as long.
_LOOK_AGAIN = 0.005
#: Notes a transaction: what a rollback journal holds.
_BATCH = 500


@dataclass(slots=True)
class IndexChanges:
    """The changes that the index must apply before it answers."""

    #: The number of the notes, and what else their walk found.
    notes: int
    conflict_copies: int
    unreadable: tuple[UnreadableFile, ...] = ()
    to_read: list[NoteFile] = field(default_factory=list)
    missing_files: list[str] = field(default_factory=list)
    #: Those of `to_read` that had content: they may be missing or empty while they are saved.
    had_content: set[str] = field(default_factory=set)
    #: Files whose content is as it was, and whose stat is now another or can be trusted.
    unchanged_files: list[SeenFile] = field(default_factory=list)
    #: Whether words of what was read earlier aren't counted yet.
    has_uncounted: bool = False
    #: How many notes were read so far.
    read_count: int = 0

    @classmethod
    def all_of(cls, kb_walk: NotesWalk) -> "IndexChanges":
        """Return the changes for an index that has none of the notes."""
        return replace(cls.none_of(kb_walk), to_read=list(kb_walk.files))

    @classmethod
    def none_of(cls, kb_walk: NotesWalk) -> "IndexChanges":
        """Return no changes of the walk's notes."""
        return cls(
            notes=len(kb_walk.files), conflict_copies=len(kb_walk.conflict_copies), unreadable=kb_walk.unreadable
        )

    @property
    def are_few(self) -> bool:
        """Whether one transaction can apply them in a moment."""
        return len(self.to_read) <= _BATCH

    @property
    def are_none(self) -> bool:
        """Whether the index agrees with the notes."""
        return not (self.to_read or self.missing_files or self.unchanged_files or self.has_uncounted)


def find_changes(
    db: sqlite3.Connection,
    notes: Notes,
    *,
    clock: Callable[[], int],
    agreed: tuple[NoteFile, ...] | None = None,
) -> IndexChanges:
    """Return the differences between the knowledge base and the index.

    Of `agreed`, what agreed with this state of the index once, only the files are looked at that are others now.
    """
    kb_walk = notes.kb_walk
    stale = files_with_other_setups(db, notes)
    if agreed is kb_walk.files and not stale:
        return IndexChanges.none_of(kb_walk)
    suspects, missing = _find_suspects(db, kb_walk, agreed)
    gone, until = set(missing), time.monotonic() + _SAVE
    # a syncer unlinks a note before it renames the new one into place
    while missing:
        is_back = _await_any(notes.kb, gone, until)
        kb_walk = notes.walk_again()
        suspects, missing = _find_suspects(db, kb_walk, agreed)
        # what was there at one of the looks is being saved: the next search looks again
        gone.intersection_update(missing)
        if not is_back:
            break
    changes = replace(
        IndexChanges.none_of(kb_walk), missing_files=sorted(gone), has_uncounted=index_counts.has_uncounted(db)
    )
    for file, old_digest in suspects:
        if file.file not in stale:
            _compare_file(file, old_digest, changes, clock)
    if stale:
        changes.to_read += [file for file in kb_walk.files if file.file in stale]
    return changes


def has_changed_file(db: sqlite3.Connection, notes: Notes, files: Iterable[str]) -> bool:
    """Say whether any of `files` isn't as the index read it, by its stat."""
    for file in files:
        row = db.execute("SELECT stat FROM note WHERE file = ?", (file,)).fetchone()
        note_file = notes.find_note_file(file)
        if row is None or note_file is None or row[0] != _STAT % note_file.stat:
            return True
    return False


def agreed_files(seal: str) -> tuple[NoteFile, ...] | None:
    """Return the files that an index in the state `seal` agreed with, as this process walked them."""
    return _AGREED.get(seal)


def remember_agreed_files(seal: str, files: tuple[NoteFile, ...]) -> None:
    """Remember that an index in the state `seal` agrees with the `files` of a walk.

    So a stat that isn't settled is remembered of a watched walk alone: another object stands for the file there,
    as soon as it is touched.
    """
    _AGREED.clear()
    _AGREED[seal] = files


#: The notes that a walk found and the index knew, each as it is; by the index's seal. The last one only.
_AGREED: dict[str, tuple[NoteFile, ...]] = {}


def _await_any(kb: Path, files: Set[str], until: float) -> bool:
    """Wait until one of the missing `files` is there; return False where none was until that time."""
    while time.monotonic() < until:
        if any((kb / file).exists() for file in files):
            return True
        time.sleep(_LOOK_AGAIN)
    return False


def _find_suspects(
    db: sqlite3.Connection, kb_walk: NotesWalk, agreed: tuple[NoteFile, ...] | None
) -> tuple[list[tuple[NoteFile, bytes | None]], list[str]]:
    """Return the notes not known by their stat, each with the digest that it had; and the missing files."""
    files: Iterable[NoteFile] = kb_walk.files
    # a stat that can't be trusted is none
    query, names = "SELECT file, CASE WHEN settled THEN stat END, digest FROM note", ""
    if agreed is not None:
        untouched = set(map(id, agreed)).intersection(map(id, files))
        files = [file for file in files if id(file) not in untouched]
        touched = {file.file for file in (*files, *(file for file in agreed if id(file) not in untouched))}
        query, names = f"{query} WHERE file IN (SELECT value FROM json_each(?))", json.dumps(list(touched))
    rows = db.execute(query, (names,) if names else ())
    known_files: dict[str, tuple[str | None, bytes]] = {file: (stat, content) for file, stat, content in rows}
    suspects = []
    for file in files:
        stat, content = known_files.pop(file.file, (None, None))
        if stat != _STAT % file.stat:
            suspects.append((file, content))
    return suspects, list(known_files)


#: How a stat is kept: as text, since times after 2262 are no integers to SQLite.
_STAT = "%d %d %d %d %d"


def _compare_file(file: NoteFile, old_digest: bytes | None, changes: IndexChanges, clock: Callable[[], int]) -> None:
    """Sort a new or suspect file by its content; an unreadable file is always read again."""
    now = clock()
    data = disk.read_file(file.path, limit=LARGEST_NOTE, patience=_SAVE) if old_digest else b""
    if old_digest and not isinstance(data, UnreadableFile) and content_digest(data) == old_digest:
        changes.unchanged_files.append(_seen_file(file, old_digest, now))
    else:
        changes.to_read.append(file)
        if old_digest:
            changes.had_content.add(file.file)


def _seen_file(file: NoteFile, content: bytes, now: int) -> SeenFile:
    return SeenFile(
        file=file.file,
        stat=_STAT % file.stat,
        settled=bool(content) and file.is_settled(now),
        digest=content,
    )


def files_with_other_setups(db: sqlite3.Connection, notes: Notes) -> set[str]:
    """Return the files whose set-up files have other content now."""
    rows = db.execute("SELECT setup.path, setup.digest, note.file FROM setup JOIN note ON note.id = setup.note")
    return {file for path, old_digest, file in rows if _setup_digest(notes, path) != old_digest}


def _setup_digest(notes: Notes, path: str) -> bytes:
    text = notes.setup_text(path)
    return b"" if text is None else content_digest(text.encode("utf-8", "surrogatepass"))


def apply_changes(
    db: sqlite3.Connection,
    notes: Notes,
    changes: IndexChanges,
    *,
    clock: Callable[[], int],
    seconds: float = math.inf,
) -> None:
    """Apply the changes to the index, some hundreds of notes a transaction.

    After so many `seconds` what isn't read yet stays among the changes; one note is read at least.
    """
    until = time.monotonic() + seconds
    with transaction(db):
        remove_notes(db, changes.missing_files)
        for seen_file in changes.unchanged_files:
            _confirm_file(db, seen_file)
    changes.missing_files, changes.unchanged_files = [], []
    while changes.to_read:
        batch = changes.to_read[:_BATCH]
        with transaction(db):
            remove_notes(db, (file.file for file in batch))
            batch_count = _read_in_time(db, notes, batch, changes.had_content, clock, until)
        del changes.to_read[:batch_count]
        changes.read_count += batch_count
        report_progress("reading notes", changes.read_count, changes.read_count + len(changes.to_read))
        if time.monotonic() > until:
            break
    with transaction(db):
        if not changes.to_read:
            _settle_copies(db, notes, clock)
        changes.has_uncounted = bool(changes.to_read)
        store_sums(db, is_whole=not changes.has_uncounted)


def _settle_copies(db: sqlite3.Connection, notes: Notes, clock: Callable[[], int]) -> None:
    """Take a syncer's renamed copies out of the index, and read those again whose originals are gone."""
    files = [note_file for file in set_copies_apart(db) if (note_file := notes.find_note_file(file))]
    remove_notes(db, (file.file for file in files))
    for file in files:
        _read_file(db, notes, file, clock, patience=0.0)


def _read_in_time(
    db: sqlite3.Connection,
    notes: Notes,
    files: Sequence[NoteFile],
    had_content: Set[str],
    clock: Callable[[], int],
    until: float,
) -> int:
    """Read one file, and the others as long as the time allows; return their number."""
    for count, file in enumerate(files, start=1):
        _read_file(db, notes, file, clock, patience=_SAVE if file.file in had_content else 0.0)
        if time.monotonic() > until:
            return count
    return len(files)


def _confirm_file(db: sqlite3.Connection, seen_file: SeenFile) -> None:
    db.execute(
        "UPDATE note SET stat = ?, settled = ? WHERE file = ?", (seen_file.stat, seen_file.settled, seen_file.file)
    )


def _read_file(
    db: sqlite3.Connection, notes: Notes, file: NoteFile, clock: Callable[[], int], *, patience: float
) -> None:
    now = clock()
    data = notes.read_data(file.place, patience=patience)
    if isinstance(data, UnreadableFile):
        # no digest: it is read again each time, until it can be
        add_note(db, _seen_file(file, b"", now), None, trouble=data.reason, setups=())
        return
    # what is odd about a note that was read is doctor's to say
    note = notes.parse_text(file, coding.decode_note(data)[0])
    setups = [(path, _setup_digest(notes, path)) for path in note.setupfiles]
    add_note(db, _seen_file(file, content_digest(data), now), note, setups=setups)


def has_unread_notes(db: sqlite3.Connection) -> bool:
    """Say whether a note couldn't be read, which no event need precede once it can."""
    row = db.execute("SELECT EXISTS(SELECT 1 FROM note WHERE trouble != '' AND digest = x'')").fetchone()
    return bool(row[0])


def faulty_notes(db: sqlite3.Connection, kb: Path) -> Iterator[UnreadableFile]:
    """Yield the notes that could not be read, or not to their end."""
    for file, reason in db.execute("SELECT file, trouble FROM note WHERE trouble != '' ORDER BY file"):
        yield UnreadableFile(path=kb / file, reason=reason)
