"""Times as JSON has them, in seconds since 1970: numbers, numbers as text, milliseconds, ISO 8601."""

import math
from datetime import UTC
from datetime import datetime

from roamkb.core.json_form import null_if_empty
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Annotated
from roamkb.core.startup.typing import Final

#: Later than the year 5138 in seconds: it is milliseconds, as JavaScript counts.
_MILLISECONDS_FROM: Final = 1e11
_NUMBER_TEXT: Final = lazily(r"\s*[+-]?\d+(?:\.\d+)?\s*")


def parse_timestamp(value: object) -> float:
    """Return a time of any form as seconds since 1970, UTC; 0 where it can't be read."""
    if isinstance(value, str) and _NUMBER_TEXT.fullmatch(value):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _plain_seconds(value)
    if not isinstance(value, str):
        return 0
    try:
        moment = datetime.fromisoformat(value.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0


def format_iso(ts: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC."""
    try:
        return datetime.fromtimestamp(ts, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return "1970-01-01T00:00:00.000Z"


def format_local_iso(ts: float) -> str:
    """Return seconds since 1970 as ISO 8601 in local time, without a zone."""
    return datetime.fromtimestamp(ts).isoformat(timespec="seconds")


def _plain_seconds(value: float) -> float:
    try:
        value = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
        whole = int(value)
    except (ValueError, OverflowError):
        return 0
    if not 0 <= whole < _MILLISECONDS_FROM or not math.isfinite(value):
        return 0
    return whole if whole == value else value


#: Seconds since 1970, which JSON has as ISO 8601; null where they are 0.
Time = Annotated[float, format_iso]
TimeOrNull = Annotated[float, null_if_empty, format_iso]
