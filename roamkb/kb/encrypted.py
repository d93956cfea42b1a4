"""Encrypted texts among the notes: whole files, and headings of org-crypt; named, never decrypted."""

from collections.abc import Iterator
from pathlib import Path

from roamkb.core.model import Note
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.notes import NotesContents

_HEADING = lazily(r"\*+ ")
_CRYPT_HEADING = lazily(r"\*+ (?:.*[ \t])?:(?:[^\s:]+:)*crypt:(?:[^\s:]+:)*[ \t]*")
_ARMOUR = lazily(r"[ \t]*-----BEGIN (?:PGP MESSAGE|AGE ENCRYPTED FILE)-----")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptedText:
    """A file that is encrypted, or the line of an encrypted heading in one."""

    path: Path
    #: None for a whole file.
    line: int | None


def find_encrypted(notes: Notes, contents: NotesContents) -> tuple[EncryptedText, ...]:
    """Return the encrypted files, then the encrypted headings, each in the order of paths and lines."""
    files = (EncryptedText(path=path, line=None) for path in contents.kb_walk.encrypted)
    headings = (
        EncryptedText(path=notes.note_path(note), line=line)
        for note in contents.notes
        if "-----BEGIN " in note.text
        for line in _encrypted_headings(note)
    )
    return (*files, *headings)


def _encrypted_headings(note: Note) -> Iterator[int]:
    """Yield the lines of headings tagged `:crypt:` whose own text is encrypted."""
    heading = 0
    for number, line in enumerate(note.text.split("\n"), start=1):
        if _HEADING.match(line):
            heading = number if _CRYPT_HEADING.fullmatch(line) else 0
        elif heading and _ARMOUR.match(line):
            yield heading
            heading = 0
