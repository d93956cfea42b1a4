"""Names that nobody else comes up with."""

from datetime import datetime


def new_id(now: datetime) -> str:
    """Return a ULID in UUID form: sortable by time, valid for org-id and `[[id:…]]` (D2)."""
    from ulid import ULID

    return str(ULID.from_datetime(now).to_uuid())
