"""The times of a heading's planning line."""

import re
from datetime import datetime
from datetime import timedelta

from roamkb.core.startup.lazy_regex import lazily

_TIMESTAMP = lazily(r"[ \t]*[\[<](\d{4}-\d{2}-\d{2}(?: [^\]>\n]*)?)[\]>]", re.ASCII)
_TIME = lazily(r"(\d{4})-(\d{2})-(\d{2})(?: +[^\]+0-9>\r\n -]+)?(?: +(\d{1,2}):(\d{2}))?", re.ASCII)


def planned_time(line: str, keyword: str) -> str | None:
    """Return the time behind the last `keyword:` of a planning line, in ISO 8601 without zone."""
    place = line.upper().rfind(keyword) if line.isascii() else _last_place(line, keyword)
    if place < 0:
        return None
    timestamp = _TIMESTAMP.match(line, place + len(keyword))
    time = _TIME.match(timestamp[1]) if timestamp else None
    return None if time is None else _normalise_time(*(int(part or 0) for part in time.groups()))


def _last_place(line: str, keyword: str) -> int:
    """Return the last place of `keyword` where upper case could move places."""
    place = -1
    for match in re.finditer(keyword, line, re.IGNORECASE):
        place = match.start()
    return place


def _normalise_time(year: int, month: int, day: int, hour: int, minute: int) -> str | None:
    """Return the time that Emacs makes of these numbers: month 13 is next year's January."""
    years, month0 = divmod(month - 1, 12)
    try:
        start = datetime(year + years, month0 + 1, 1)
        return (start + timedelta(days=day - 1, hours=hour, minutes=minute)).isoformat()
    except (ValueError, OverflowError):
        return None
