"""The list of all nodes of the knowledge base with all their fields."""

from pathlib import Path

from roamkb.core.model import Node
from roamkb.core.model import UnreadableFile
from roamkb.core.request import KbOption
from roamkb.core.startup.dataclasses import dataclass
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.notes import merge_equal_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesRequest:
    """Options of `nodes`."""

    kb: KbOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeList:
    """All nodes as org-roam's database has them, in the order of paths and lines."""

    kb: Path
    nodes: tuple[Node, ...]
    skipped: tuple[UnreadableFile, ...]


def nodes(notes: Notes) -> NodeList:
    """Return every node; of equal ids the first, with the fields of the others (see `merge_equal_ids`)."""
    contents = notes.read_all()
    return NodeList(kb=notes.kb, nodes=merge_equal_ids(contents), skipped=contents.skipped)
