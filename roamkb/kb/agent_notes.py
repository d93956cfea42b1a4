"""The nodes that roamkb may change: written by agents and not taken over by a human."""

from pathlib import Path

from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.text import shorten_title
from roamkb.fs.files import read_file
from roamkb.kb.notes.store.lookup import get_node
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.walk import NoteFile
from roamkb.org import coding
from roamkb.org.agent_node import is_agent_node

#: In the drawer of an agent node that another one replaced: that one's id.
SUPERSEDED_BY = "SUPERSEDED_BY"


def get_agent_node(notes: Notes, name: str, *, folder: Path | None = None) -> tuple[Note, Node, bytes]:
    """Return the agent node called `name`, with its note and the bytes that both were read from.

    Raises:
        UsageError: it is the human's.
        NotFound, Ambiguous: see `get_node`.
        ChangedOnDisk: it went away while it was looked at.
    """
    listed_note, listed_node = get_node(notes, name, folder=folder)
    file = file_of(notes, listed_note)
    note, data = read_again(notes, file)
    node = next((node for node in note.nodes if (node.id, node.level) == (listed_node.id, listed_node.level)), None)
    if node is None:
        raise ChangedOnDisk(file.path)
    if not is_agent_node(note, node):
        raise UsageError(
            f"{shorten_title(node.title)} is a human note; roamkb never changes those",
            hint="an agent node has the filetag :agent: and an :AGENT: property; link to this one instead",
        )
    return note, node, data


def read_again(notes: Notes, file: NoteFile) -> tuple[Note, bytes]:
    """Return the note as it is now, with the bytes it was parsed from, for a guarded change."""
    data = read_file(file.path)
    if isinstance(data, UnreadableFile):
        raise DiskError(data.path, data.reason)
    return notes.parse_text(file, coding.decode_note(data)[0]), data


def file_of(notes: Notes, note: Note) -> NoteFile:
    """Return the file that `note` was read from."""
    return next(file for file in notes.kb_walk.files if file.file == note.file)
