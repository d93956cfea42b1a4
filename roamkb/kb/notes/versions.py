"""Two versions of a note beside each other: a conflict copy and its original, or two notes with one id.

What is chosen of both becomes the text of a new note; neither version is ever written.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from roamkb.core.change_plan import plan_digest
from roamkb.core.errors import DiskError
from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.model import Node
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.kb.notes.store.conflict_copies import NoteContent
from roamkb.kb.notes.store.conflict_copies import original_place
from roamkb.kb.notes.store.conflict_copies import read_content
from roamkb.kb.notes.store.notes import Notes
from roamkb.org.body import body_of
from roamkb.text.line_diff import align_lines

FIRST: Final = "first"
SECOND: Final = "second"
BOTH: Final = "both"
#: What may be taken of a place where two versions differ.
CHOICES: Final = (FIRST, SECOND, BOTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteVersion:
    """One of two versions of a note."""

    #: Below the knowledge base.
    file: str
    path: Path
    node: Node
    #: Its text below the head of drawer and keywords.
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionComparison:
    """Two versions of a note, and where they differ."""

    first: NoteVersion
    second: NoteVersion
    #: Runs of lines of both, alike and different by turns, as `align_lines` gives them.
    runs: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    #: Names the two contents.
    digest: str

    @property
    def differences(self) -> int:
        """The number of places where they differ."""
        return len(self.runs) // 2

    def merge(self, choices: Sequence[str]) -> str:
        """Return the text that takes at each difference what `choices` says, one of `CHOICES` for each.

        Raises:
            UsageError: there is another number of choices, or one that isn't any.
        """
        if len(choices) != self.differences or not set(choices) <= set(CHOICES):
            raise UsageError(
                f"{len(choices)} choices for {self.differences} places where the versions differ",
                hint=f"choose {FIRST}, {SECOND} or {BOTH} at each",
            )
        lines: list[str] = []
        for number, (first, second) in enumerate(self.runs):
            choice = choices[number // 2] if number % 2 else FIRST
            lines += first if choice != SECOND else ()
            lines += second if choice != FIRST else ()
        return "\n".join(lines)


def compare_versions(notes: Notes, first: str, second: str) -> VersionComparison:
    """Return two versions of a note side by side, by their paths below the knowledge base.

    Raises:
        NotFound: one is neither a note nor a conflict copy. DiskError: one can't be read. UsageError: they aren't
        two, or one has no node.
    """
    if first == second:
        raise UsageError("a note has no other version in itself")
    contents = [_read_version(notes, file) for file in (first, second)]
    ids = [{node.id for node in content.note.nodes} for content in contents]
    versions = [
        _version_of(notes, file, content, ids[0] & ids[1])
        for file, content in zip((first, second), contents, strict=True)
    ]
    return VersionComparison(
        first=versions[0],
        second=versions[1],
        runs=align_lines(versions[0].body, versions[1].body),
        digest=plan_digest((first, second), (content.digest for content in contents)),
    )


def _read_version(notes: Notes, file: str) -> NoteContent:
    # only what the walk found is read: a name may lead anywhere
    walk = notes.kb_walk
    copies = (path for path in walk.conflict_copies if path.relative_to(notes.kb).as_posix() == file)
    path = next((note_file.path for note_file in walk.files if note_file.file == file), None) or next(copies, None)
    if path is None:
        raise NotFound(file, kind="note or conflict copy", hint="`roamkb conflicts` lists the copies")
    content = read_content(notes, path, original_place(path) or path)
    if isinstance(content, UnreadableFile):
        raise DiskError(path, content.reason)
    return content


def _version_of(notes: Notes, file: str, content: NoteContent, common_ids: set[str]) -> NoteVersion:
    nodes = content.note.nodes
    node = next((node for node in nodes if node.id in common_ids), nodes[0] if nodes else None)
    if node is None:
        raise UsageError(f"{one_line(file)} has no node", hint="give it an id in Emacs (org-id-get-create)")
    return NoteVersion(file=file, path=notes.kb / file, node=node, body=body_of(content.note, node))
