"""The nodes that roamkb may change: those that agents wrote and no human made their own."""

from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.core.model import Unreadable
from roamkb.core.passages import is_agent_node
from roamkb.core.text import shown
from roamkb.storage.disk import read_file
from roamkb.storage.lookup import get_node
from roamkb.storage.nodes import Notes


def get_agent_node(notes: Notes, name: str, *, folder: Path | None = None) -> tuple[Note, Node, bytes]:
    """Return the agent node called `name`, with its note and the bytes that both were read from.

    Raises:
        UsageError: it is the human's.
        NotFound, Ambiguous: see `get_node`.
    """
    note, node = get_node(notes, name, folder=folder)
    if not is_agent_node(note, node):
        raise UsageError(
            f"{shown(node.title)} is a human note; roamkb never changes those",
            hint="an agent node has the filetag :agent: and an :AGENT: property; link to this one instead",
        )
    data = read_file(notes.path(note))
    if isinstance(data, Unreadable):
        raise DiskError(data.path, data.reason)
    return note, node, data
