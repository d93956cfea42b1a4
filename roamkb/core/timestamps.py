"""Times as JSON has them, in seconds since 1970: numbers, numbers as text, milliseconds, ISO 8601."""

import math
from datetime import UTC
from datetime import datetime
from typing import Annotated
from typing import Final

from roamkb.core.json_form import or_null
from roamkb.core.startup.lazy_regex import lazily

#: Later than the year 5138 in seconds: it is milliseconds, as JavaScript counts.
_MILLISECONDS: Final = 1e11
_TS: Final = lazily(r"\s*[+-]?\d+(?:\.\d+)?\s*")


def seconds(value: object) -> float:
    """Return a time of any form as seconds since 1970, UTC; 0 where it says nothing."""
    if isinstance(value, str) and _TS.fullmatch(value):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _plain_seconds(value)
    if not isinstance(value, str):
        return 0
    try:
        at = datetime.fromisoformat(value.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0


def iso(ts: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC."""
    try:
        return datetime.fromtimestamp(ts, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return "1970-01-01T00:00:00.000Z"


def local_iso(ts: float) -> str:
    """Return seconds since 1970 as ISO 8601 in local time, without a zone."""
    return datetime.fromtimestamp(ts).isoformat(timespec="seconds")


def _plain_seconds(value: float) -> float:
    try:
        value = value / 1000 if abs(value) >= _MILLISECONDS else value
        whole = int(value)
    except (ValueError, OverflowError):
        return 0
    if not 0 <= whole < _MILLISECONDS or not math.isfinite(value):
        return 0
    return whole if whole == value else value


#: Seconds since 1970, which JSON has as ISO 8601; null where they are 0.
Time = Annotated[float, iso]
TimeOrNull = Annotated[float, or_null, iso]
