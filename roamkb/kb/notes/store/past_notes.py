"""The knowledge base's notes at a past moment: present files, but for those that differed."""

from collections.abc import Mapping
from functools import cached_property
from os.path import expanduser  # Path's raises where there is no such user
from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.files import MissingFile
from roamkb.kb.notes.passages import creation_time
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.walk import NoteFile
from roamkb.kb.notes.store.walk import NotesWalk
from roamkb.org.reader import parse_note


@dataclass(frozen=True, slots=True, kw_only=True)
class PastFolder:
    """The differences of a knowledge base's files at a past moment; names are relative to it, with `/`."""

    #: What files held that are others now, or are gone.
    versions: Mapping[str, bytes | UnreadableFile]
    #: Present notes that weren't there.
    absent: frozenset[str]
    #: Notes that nobody saw at that moment: of these there were only nodes dated since a minute, local ISO.
    #: An empty one lets all dates pass, and nodes without a date.
    dated: Mapping[str, str]
    #: The moment itself, local ISO.
    until: str


class PastNotes(Notes):
    """A reader of the notes at a past moment; changes nothing."""

    def __init__(self, notes: Notes, past: PastFolder) -> None:
        super().__init__(notes.kb, todo_lines=notes.todo_lines)
        self.past = past
        self._present = notes

    @cached_property
    def kb_walk(self) -> NotesWalk:
        """The files of the present, found once."""
        return self._present.kb_walk

    @cached_property
    def changed_files(self) -> Mapping[str, NoteFile]:
        """The notes of which there is another version, by their names."""
        # nothing compares the stat of what is read for one answer
        return {name: NoteFile(f"{self.kb}/{name}", name, (0, 0, 0, 0, 0)) for name in self.past.versions}

    def read_data(self, place: str, *, patience: float = 0.0) -> bytes | UnreadableFile:
        """Return the bytes that a file held at that moment."""
        name = place.removeprefix(f"{self.kb}/")
        if name in self.past.absent:
            # another note may name it as its set-up file
            return MissingFile(path=Path(place), reason="wasn't there then")
        version = self.past.versions.get(name)
        return super().read_data(place, patience=patience) if version is None else version

    def setup_text(self, written: str) -> str | None:
        """Return the text of a set-up file; None of one that wasn't there then, as far as its own date says."""
        text = super().setup_text(written)
        name = str(self.kb / expanduser(written)).removeprefix(f"{self.kb}/")
        since = self.past.dated.get(name)
        if text is None or since is None:
            return text
        note = parse_note(text, file=name, setup=lambda _: None)
        date = creation_time(note, note.nodes[0] if note.nodes else None)
        is_later = date > self.past.until or date < since[: len(date)] or (not date and bool(since))
        return None if is_later else text
