"""The nodes that roamkb may change: written by agents and not taken over by a human."""

from pathlib import Path

from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.fs.files import read_file
from roamkb.kb.notes.store.lookup import NodeDirectory
from roamkb.kb.notes.store.lookup import get_node
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.notes import NotesContents
from roamkb.kb.notes.store.walk import NoteFile
from roamkb.org import coding
from roamkb.org.agent_node import is_agent_node
from roamkb.org.agent_node import takeover_reason
from roamkb.org.file_variables import file_variables
from roamkb.org.reader import parse_note
from roamkb.secrets import detector

#: What a file may tell Emacs; any other variable can have it run something.
_HARMLESS_VARIABLES = frozenset(("coding", "mode", "fill-column"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOverNode:
    """A node that an agent wrote and that is its human's now: it was refiled, or its mark taken off."""

    id: str
    title: str
    path: Path
    line: int
    #: Who wrote it.
    agent: str
    #: refiled, untagged, or reads a set-up file.
    why: str


def get_agent_node(directory: NodeDirectory, name: str, *, folder: Path | None = None) -> tuple[Note, Node, bytes]:
    """Return the agent node called `name`, with its note and the bytes that both were read from.

    Raises:
        UsageError: it is the human's.
        NotFound, Ambiguous: see `get_node`.
        ChangedOnDisk: it went away while it was looked at.
    """
    notes = directory.notes
    listed_note, listed_node = get_node(directory, name, folder=folder)
    file = file_of(notes, listed_note)
    note, data = read_again(notes, file)
    node = next((node for node in note.nodes if (node.id, node.level) == (listed_node.id, listed_node.level)), None)
    if node is None:
        raise ChangedOnDisk(file.path)
    if not is_agent_node(note, node):
        why = takeover_reason(note, node)
        place = f"{one_line(str(notes.note_path(note)))}:{node.line}"
        by = f" ({why}: {place})" if why else ""
        raise UsageError(
            f"{shorten_title(node.title)} is a human note{by}; roamkb never changes those",
            hint="an agent node has the filetag :agent: and an :AGENT: property; link to this one instead",
        )
    return note, node, data


def nodes_taken_over(notes: Notes, contents: NotesContents) -> tuple[TakenOverNode, ...]:
    """Return the nodes that agents wrote and a human took over, in the order of paths and lines."""
    return tuple(
        TakenOverNode(
            id=node.id,
            title=node.title,
            path=notes.note_path(note),
            line=node.line,
            agent=node.properties["AGENT"].strip(),
            why=why,
        )
        for note, node in contents.node_pairs()
        if (why := takeover_reason(note, node))
    )


def read_again(notes: Notes, file: NoteFile) -> tuple[Note, bytes]:
    """Return the note as it is now, with the bytes it was parsed from, for a guarded change."""
    data = read_file(file.path)
    if isinstance(data, UnreadableFile):
        raise DiskError(data.path, data.reason)
    return notes.parse_text(file, coding.decode_note(data)[0]), data


def file_of(notes: Notes, note: Note) -> NoteFile:
    """Return the file that `note` was read from; raise `ChangedOnDisk` where it went away since."""
    file = notes.find_note_file(note.file)
    if file is None:
        raise ChangedOnDisk(notes.note_path(note))
    return file


def parse_agent_note(notes: Notes, name: str, data: bytes) -> Note | None:
    """Return the note if all of it is an agent's; else None."""
    # its drawer names the agent
    if b":agent:" not in data.lower():
        return None
    text = coding.decode_note(data)[0]
    note = parse_note(text, file=name, setup=notes.setup_text, todo_lines=notes.todo_lines)
    return note if len(note.nodes) == 1 and is_agent_node(note, note.nodes[0]) else None


def require_restorable(notes: Notes, name: str, data: bytes, id: str) -> None:
    """Raise unless the data is the agent node `id` alone, which `write` could have written as far as it goes.

    Where no wall stands, any program can put something else into the trash.

    Raises:
        UsageError: it is something else, or has Emacs run something. SecretFound: it holds a credential.
    """
    note = parse_agent_note(notes, name, data)
    if note is None or note.nodes[0].id != id:
        reason = "isn't the agent node that the trash says it is"
    elif {variable for variable, _ in file_variables(note.text)} - _HARMLESS_VARIABLES:
        reason = "sets variables of Emacs's, which can run code"
    else:
        detector.refuse_secrets([note.text])
        return
    raise UsageError(
        f"{one_line(name)} in the trash {reason}; it wasn't put back", hint="look at it and copy it by hand"
    )
