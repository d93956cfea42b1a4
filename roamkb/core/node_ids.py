"""Ids of new nodes: ULIDs in UUID form, made by python-ulid.

`ids` makes those of the log's lines, since a hook has no time for a library; a test holds the two equal.
"""

from datetime import datetime

# in a module of its own: whoever writes no node never pays for it
from ulid import ULID


def new_node_id(now: datetime) -> str:
    """Return a ULID in UUID form: sortable by time, valid for org-id and `[[id:…]]` (D2)."""
    return str(ULID.from_datetime(now).to_uuid())
