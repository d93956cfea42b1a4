"""The mark of an agent's node, which roamkb wrote and may change."""

from roamkb.core.model import PROVENANCES
from roamkb.core.model import Node
from roamkb.core.model import Note

#: The filetag that marks a node as an agent's.
AGENT_TAG = "agent"
#: In the drawer of an agent node that another one replaced: that one's id.
SUPERSEDED_BY = "SUPERSEDED_BY"


#: Reasons why a node that an agent wrote is its human's by now, who alone does these things.
REFILED, UNTAGGED, SET_UP = "refiled", "untagged", "reads a set-up file"


def takeover_reason(note: Note, node: Node) -> str:
    """Return how a human took over a node that an agent wrote; empty for every other node."""
    properties = node.properties
    if not properties.get("AGENT", "").strip() or properties.get("SOURCE") not in PROVENANCES:
        return ""
    if is_agent_node(note, node):
        return ""
    # an agent writes whole files
    return REFILED if node.level else UNTAGGED if AGENT_TAG not in node.tags else SET_UP


def is_agent_node(note: Note, node: Node) -> bool:
    """Say whether roamkb wrote `node` and may change it: a whole file, marked twice.

    A note that reads a set-up file may have the tag from there, and none of ours does that.
    """
    marked = AGENT_TAG in node.tags and bool(node.properties.get("AGENT", "").strip())
    return node.level == 0 and marked and not note.setupfiles
