"""Show one node whole: its fields, where it lies, and its text."""

from dataclasses import dataclass
from pathlib import Path

from roamkb.core.model import Node
from roamkb.formats.org.body import body_of
from roamkb.storage.lookup import get_node
from roamkb.storage.nodes import Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A node with its text; an agent node's is the text as it was given."""

    node: Node
    path: Path
    body: str


def show(notes: Notes, name: str, *, folder: Path | None = None) -> Shown:
    """Return the node called `name` by id, title, alias or path.

    Raises:
        NotFound, Ambiguous: see `get_node`.
    """
    note, node = get_node(notes, name, folder=folder)
    return Shown(node=node, path=notes.path(note), body=body_of(note, node))
