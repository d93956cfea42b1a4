"""The mark of an agent's node, which roamkb wrote and may change."""

from roamkb.core.model import Node
from roamkb.core.model import Note

#: The filetag that marks a node as an agent's.
AGENT_TAG = "agent"


def is_agent_node(note: Note, node: Node) -> bool:
    """Say whether roamkb wrote `node` and may change it: a whole file, marked twice.

    A note that reads a set-up file may have the tag from there, and none of ours does that.
    """
    marked = AGENT_TAG in node.tags and bool(node.properties.get("AGENT", "").strip())
    return node.level == 0 and marked and not note.setupfiles
