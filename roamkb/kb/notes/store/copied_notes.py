"""The notes on disk that are renamed copies of others, found without reading more than notes of such names."""

from collections.abc import Mapping
from functools import cached_property

from roamkb.core.model import Note
from roamkb.kb.notes.renamed_copies import find_renamed_copies
from roamkb.kb.notes.renamed_copies import likely_originals
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.walk import NoteFile


class CopiedNotes:
    """The copies among the notes of a knowledge base, as they are now."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._first_ids: dict[str, str] = {}

    def find_original(self, file: str) -> str | None:
        """Return the note of which the note at `file` is a copy; None where it is none."""
        files = {file, *likely_originals(file, self._files)}
        return (
            find_renamed_copies({name: self._first_id(name) for name in files}).get(file) if files != {file} else None
        )

    def find_all(self) -> Mapping[str, str]:
        """Return the originals of all copies, by the copies' names."""
        originals = ((file, self.find_original(file)) for file in self._files)
        return {file: original for file, original in originals if original is not None}

    @cached_property
    def _files(self) -> Mapping[str, NoteFile]:
        return {file.file: file for file in self._notes.kb_walk.files}

    def _first_id(self, file: str) -> str:
        if file not in self._first_ids:
            note = self._notes.read_note(self._files[file])
            self._first_ids[file] = first_id(note) if isinstance(note, Note) else ""
        return self._first_ids[file]


def first_id(note: Note) -> str:
    """Return the id of a note's first node; empty where it has none."""
    return note.nodes[0].id if note.nodes else ""
