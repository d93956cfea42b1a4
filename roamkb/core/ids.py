"""Names that nobody else comes up with."""

from collections.abc import Callable
from datetime import datetime


def new_id(now: datetime) -> str:
    """Return a ULID in UUID form: sortable by time, valid for org-id and `[[id:…]]` (D2)."""
    from ulid import ULID

    return str(ULID.from_datetime(now).to_uuid())


def next_id(after: str, new_id: Callable[[], str]) -> str:
    """Return a new id that is later than `after`, whatever the clock says."""
    found = new_id()
    if found > after:
        return found
    # a ULID in UUID form is 128 bits, the time first
    return _uuid(int(after.replace("-", ""), 16) + 1)


def _uuid(value: int) -> str:
    text = f"{value % (1 << 128):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
