"""Syncers' conflict copies on disk: reading them beside their originals, and renaming them."""

import os
from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import AbstractContextManager
from os.path import expanduser
from os.path import lexists
from os.path import realpath
from pathlib import Path

from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs import files as disk
from roamkb.kb.notes.file_names import conflict_original
from roamkb.kb.notes.file_names import is_encrypted_name
from roamkb.kb.notes.store import copied_notes
from roamkb.kb.notes.store.notes import LARGEST_NOTE
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.own_writes import OwnWrite
from roamkb.kb.notes.store.own_writes import record_own_writes
from roamkb.kb.notes.store.walk import NoteFile
from roamkb.kb.notes.store.walk import stat_of
from roamkb.org.coding import decode_note


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteContent:
    """A file's content parsed as a note, whatever the file's name."""

    note: Note
    #: The SHA-256 of its bytes.
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyOnDisk:
    """A conflict copy and the file that it was made from."""

    path: Path
    content: NoteContent | UnreadableFile
    #: Where its original lies; None where that is gone, or the name doesn't tell.
    original: Path | None
    #: None where there is no original.
    original_content: NoteContent | UnreadableFile | None


def read_copies(notes: Notes) -> Iterator[CopyOnDisk]:
    """Yield each conflict copy of a note, in the order of paths."""
    renamed_copies = copied_notes.CopiedNotes(notes).find_all()
    places: dict[Path, Path | None] = {
        notes.kb / copy: notes.kb / original for copy, original in renamed_copies.items()
    }
    places |= {path: original_place(path) for path in notes.kb_walk.conflict_copies}
    for path, place in sorted(places.items()):
        original = place if place and lexists(place) else None
        yield CopyOnDisk(
            path=path,
            content=read_content(notes, path, place or path),
            original=original,
            original_content=read_content(notes, original, original) if original else None,
        )


def original_place(copy: Path) -> Path | None:
    """Return the path of the original of `copy`, existing or not; None if the name doesn't tell."""
    name = conflict_original(copy.name)
    return copy.with_name(name) if name else None


def meant_places(file: str, folders: Iterable[Path]) -> frozenset[Path]:
    """Return the paths that `file`, as typed in one of `folders`, may mean."""
    return frozenset(real_place(folder / expanduser(file)) for folder in folders)


def real_place(path: Path) -> Path:
    """Return `path` with the links above it followed."""
    return Path(realpath(path.parent), path.name)


def rename_copy(notes: Notes, copy: Path, name: str, *, was: str, lock: AbstractContextManager[object]) -> Path:
    """Give the file `copy`, whose SHA-256 is still `was`, another name in its folder.

    Raises:
        NameTaken: there is a file of that name; nothing is ever overwritten.
        ChangedOnDisk: it changed meanwhile or is open in Emacs.
    """
    to = copy.with_name(name)
    with record_own_writes(notes.own, OwnWrite(path=copy, was=was), OwnWrite(path=to, now=was)):
        disk.move_file(copy, to, expected_digest=was, lock=lock)
    return to


def finish_rename(notes: Notes, copy: Path, renamed: Path, *, was: str, lock: AbstractContextManager[object]) -> bool:
    """Remove the file `copy` that a killed `rename_copy` left beside `renamed`; say whether that is so.

    Both are in one folder and hold the same bytes, with the SHA-256 `was`, which are durable first.

    Raises:
        ChangedOnDisk: the copy changed meanwhile or is open in Emacs.
    """
    data = disk.read_file(renamed, limit=LARGEST_NOTE)
    is_same = not isinstance(data, UnreadableFile) and disk.content_digest(data) == was
    if not is_same or renamed.parent != copy.parent or renamed.is_symlink():
        return False
    with disk.as_disk_error(renamed):
        with renamed.open("rb") as file:
            os.fsync(file.fileno())
        disk.sync_folder(renamed.parent)
    with record_own_writes(notes.own, OwnWrite(path=copy, was=was)):
        disk.remove_file(copy, expected_digest=was, lock=lock)
    return True


def read_content(notes: Notes, path: Path, named_path: Path) -> NoteContent | UnreadableFile:
    """Return the content of `path`, parsed as if its path were `named_path`."""
    if is_encrypted_name(named_path.name):
        return UnreadableFile(path=path, reason="is encrypted")
    if not Path(realpath(path)).is_relative_to(realpath(notes.kb)):
        return UnreadableFile(path=path, reason="links out of the knowledge base")
    data = disk.read_file(path, limit=LARGEST_NOTE)
    if isinstance(data, UnreadableFile):
        return data
    try:
        file = NoteFile(str(path), path.relative_to(notes.kb).as_posix(), stat_of(path.stat()))
    except OSError as error:
        return UnreadableFile(path=path, reason=disk.error_reason(error))
    return NoteContent(note=notes.parse_text(file, decode_note(data)[0]), digest=disk.content_digest(data))
