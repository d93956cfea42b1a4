"""List every node of the knowledge base with all its fields."""

from pathlib import Path

from roamkb.core.model import Node
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.notes import merged


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeList:
    """All nodes as org-roam's database has them, in the order of paths and lines."""

    kb: Path
    nodes: tuple[Node, ...]
    skipped: tuple[UnreadableFile, ...]


def nodes(notes: Notes) -> NodeList:
    """Return every node; of equal ids the first, with the others' fields added (see `merged`)."""
    contents = notes.read_all()
    return NodeList(kb=notes.kb, nodes=merged(contents), skipped=contents.skipped)
