"""The knowledge base's notes on disk: read forgivingly, written only with a permit."""

import os
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property
from os.path import expanduser  # Path's raises where there is no such user
from pathlib import Path

from roamkb.boundary.policy import WritePermit
from roamkb.core.errors import DiskError
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.progress import counted
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.fs import files as disk
from roamkb.fs.tree_digest import TreeDigest
from roamkb.fs.tree_digest import digest_tree
from roamkb.kb.notes import renamed_copies
from roamkb.kb.notes.file_names import is_note
from roamkb.kb.notes.store.own_writes import OwnWrite
from roamkb.kb.notes.store.own_writes import OwnWrites
from roamkb.kb.notes.store.own_writes import record_own_writes
from roamkb.kb.notes.store.walk import NoteFile
from roamkb.kb.notes.store.walk import NotesWalk
from roamkb.kb.notes.store.walk import check_kb
from roamkb.kb.notes.store.walk import stat_of
from roamkb.kb.notes.store.walk import walk_checked
from roamkb.org import coding
from roamkb.org import reader
from roamkb.secrets import detector

#: A note beyond this is somebody's data, not a note; it is listed as skipped.
LARGEST_NOTE = 64 * 1024 * 1024
#: What is said of a note in another encoding, or in none.
NOT_UTF8 = "not valid UTF-8; read with replacement characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesContents:
    """The notes of a knowledge base, as read once."""

    notes: tuple[Note, ...]
    skipped: tuple[UnreadableFile, ...]
    kb_walk: NotesWalk

    def without_copies(self) -> "NotesContents":
        """Return the contents without the notes that are a syncer's renamed copies of others."""
        copies = renamed_copies.find_renamed_copies({note.file: note.nodes[0].id for note in self.notes if note.nodes})
        return replace(self, notes=tuple(note for note in self.notes if note.file not in copies)) if copies else self

    def node_pairs(self) -> Iterator[tuple[Note, Node]]:
        """Yield each node with its note, in the order of files and lines; equal ids all come."""
        for note in self.notes:
            for node in note.nodes:
                yield note, node


class Notes:
    """The notes below a folder: opens their files, and caches nothing but the walk and set-up files.

    Opens files only here; keeps nothing between calls but what it read.
    """

    def __init__(
        self,
        kb: Path,
        *,
        todo_lines: Sequence[str] = (),
        own: OwnWrites | None = None,
        tree: TreeDigest | None = None,
        live_walk: Callable[[Path], NotesWalk] | None = None,
        label: str | None = None,
    ) -> None:
        """Take the folder; `tree` is its digest where the process has just made it.

        `live_walk` finds the files in a process that lives on.
        """
        self.kb = kb
        #: What results call it; None where there is no other.
        self.label = label
        self._tree = tree
        self._live_walk = live_walk
        #: Where it is recorded what roamkb does to them; None where nobody looks after that.
        self.own = own
        #: The human's own TODO sequences, from the rule.
        self.todo_lines = tuple(todo_lines)
        self._setups: dict[str, str | None] = {}

    @cached_property
    def kb_walk(self) -> NotesWalk:
        """The files of the knowledge base, found once.

        Raises:
            NoKnowledgeBase: if it isn't there or not mounted.
        """
        return (self._live_walk or walk_checked)(self.kb)

    def walk_again(self) -> NotesWalk:
        """Return the files of the knowledge base as they are now, which `kb_walk` is from then on.

        Raises:
            NoKnowledgeBase: if it isn't there or not mounted.
        """
        vars(self).pop("kb_walk", None)
        return self.kb_walk

    def require_kb(self) -> None:
        """Raise `NoKnowledgeBase` if the folder isn't there or not mounted."""
        if self._live_walk is None:
            check_kb(self.kb)
        else:
            _ = self.kb_walk

    def tree_before_walk(self) -> TreeDigest | None:
        """Return the digest of the folder; None where in doubt, and once the walk is done.

        A digest from after the walk would vouch for what the walk didn't see. A process that lives
        on has none: it knows by the identity of the walk's files which were touched.
        """
        if self._tree is None and self._live_walk is None and "kb_walk" not in vars(self):
            self._tree = digest_tree(os.path.realpath(self.kb))
        return self._tree

    @property
    def trusts_folders(self) -> bool:
        """Whether the digest that it was given leaves out files in folders that are as they were."""
        return self._tree is not None and not self._tree.is_complete

    def ask_each_file(self) -> TreeDigest | None:
        """Return the digest of the folder with each file's stat, in place of one that `trusts_folders`."""
        self._tree = None
        return self.tree_before_walk()

    def find_note_file(self, file: str) -> NoteFile | None:
        """Return the note at `file`, relative to the knowledge base; None where nothing is there."""
        place = str(self.kb / file)
        try:
            return NoteFile(place, file, stat_of(Path(place).stat()))
        except OSError:
            return None

    def read_text(self, file: NoteFile) -> str | UnreadableFile:
        """Return the note's text as Emacs would see it."""
        data = self.read_data(file.place)
        return data if isinstance(data, UnreadableFile) else coding.decode_note(data)[0]

    def read_data(self, place: str, *, patience: float = 0.0) -> bytes | UnreadableFile:
        """Return the bytes of the note or set-up file at the absolute path `place`; `patience` as for `read_file`."""
        return disk.read_file(Path(place), limit=LARGEST_NOTE, patience=patience)

    def parse_text(self, file: NoteFile, text: str) -> Note:
        """Return `text`, read from `file`, as a parsed note."""
        return reader.parse_note(text, file=file.file, setup=self.setup_text, todo_lines=self.todo_lines)

    def read_note(self, file: NoteFile) -> Note | UnreadableFile:
        """Return the note, or the reason why it could not be read."""
        text = self.read_text(file)
        return text if isinstance(text, UnreadableFile) else self.parse_text(file, text)

    def read_all(self) -> NotesContents:
        """Read every note; list the files that could not be read, and never stop for one.

        One bad file never stops the rest; what could not be read is listed.
        """
        notes: list[Note] = []
        skipped = list(self.kb_walk.unreadable)
        for file in counted(self.kb_walk.files, "reading notes"):
            data = self.read_data(file.place)
            if isinstance(data, UnreadableFile):
                skipped.append(data)
                continue
            text, clean = coding.decode_note(data)
            note = self.parse_text(file, text)
            notes.append(note)
            if not clean:
                skipped.append(UnreadableFile(path=file.path, reason=NOT_UTF8))
            if note.fault:
                skipped.append(UnreadableFile(path=file.path, reason=note.fault))
        return NotesContents(notes=tuple(notes), skipped=tuple(skipped), kb_walk=self.kb_walk)

    def setup_text(self, written: str) -> str | None:
        """Return the text of a set-up file by the name that a note gives it; None where it is missing."""
        path = str(self.kb / expanduser(written))
        if path not in self._setups:
            data = self.read_data(path)
            self._setups[path] = None if isinstance(data, UnreadableFile) else coding.decode_note(data)[0]
        return self._setups[path]

    def note_path(self, note: Note) -> Path:
        """Return the absolute path of `note`."""
        return self.kb / note.file

    def create_note(self, permit: WritePermit, names: Iterable[str], text: str) -> Path:
        """Create a note durably under the first free name; return its path.

        Raises:
            DiskError: nothing was written.
            NotDurable: it was written, and the disk would not promise to keep it.
        """
        permit.require_direct(self.kb)
        detector.refuse_secrets(text)
        check_kb(permit.kb)
        data, names = text.encode(), tuple(names)
        new_digest = disk.content_digest(data)
        with record_own_writes(self.own, *(OwnWrite(path=permit.kb / name, now=new_digest) for name in names)):
            return disk.create_unique(permit.kb, names, data)

    def recreate_note(self, permit: WritePermit, file: str, data: bytes) -> Path:
        """Create the note `file`, relative to the knowledge base, as it was; return its path.

        Raises:
            NameTaken: there is a file of that name. DiskError: no note can be there.
            NotDurable: it was written, and the disk would not promise to keep it.
        """
        permit.require_direct(self.kb)
        check_kb(permit.kb)
        path = permit.kb / file
        real, root = Path(os.path.realpath(path.parent)), Path(os.path.realpath(permit.kb))
        if not is_note(file) or ".." in path.parts or not real.is_relative_to(root):
            raise DiskError(path, "is no place of a note")
        folder = disk.make_folder(path.parent)
        with record_own_writes(self.own, OwnWrite(path=path, now=disk.content_digest(data))):
            return disk.create_file(folder, path.name, data)


def merge_equal_ids(contents: NotesContents) -> tuple[Node, ...]:
    """Return the nodes as org-roam's database has them: of equal ids the first in path order wins.

    The loser's tags, aliases, refs, links and citations are added to the winner, as
    org-roam-db does (org-roam-truth 37); `hygiene` reports the pair.
    """
    winners: dict[str, Node] = {}
    for _, node in contents.node_pairs():
        winner = winners.get(node.id)
        winners[node.id] = node if winner is None else _merge_nodes(winner, node)
    return tuple(winners.values())


def _merge_nodes(winner: Node, loser: Node) -> Node:
    return replace(
        winner,
        tags=winner.tags + loser.tags,
        aliases=winner.aliases + loser.aliases,
        refs=winner.refs + loser.refs,
        links=winner.links + loser.links,
        citations=winner.citations + loser.citations,
    )
