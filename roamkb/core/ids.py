"""Names that nobody else comes up with."""

import hashlib
import re
from collections.abc import Callable
from datetime import datetime

_FORM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LAST_MOMENT = "ffffffff-ffff"
_RANDOM_BITS = 80


def new_id(now: datetime) -> str:
    """Return a ULID in UUID form: sortable by time, valid for org-id and `[[id:…]]` (D2)."""
    from secrets import token_hex

    # 48 bits of milliseconds and 80 of chance; a package for that takes as long to import as a hook may
    value = f"{int(now.timestamp() * 1000):012x}{token_hex(_RANDOM_BITS // 8)}"
    return f"{value[:8]}-{value[8:12]}-{value[12:16]}-{value[16:20]}-{value[20:]}"


def is_id(text: str) -> bool:
    """Say whether `text` is such an id, with room for later ones; other programs have other forms."""
    return _FORM.fullmatch(text) is not None and not text.startswith(_LAST_MOMENT)


def next_id(after: str, new_id: Callable[[], str]) -> str:
    """Return a new id that is later than `after`, whatever the clock says; `after` may be none of ours."""
    found = new_id()
    if found > after or not is_id(after):
        return found
    # a ULID's first 48 bits are its time; the others stay random, since two machines may do the same
    moment = (int(after.replace("-", ""), 16) >> _RANDOM_BITS) + 1
    return _uuid((moment << _RANDOM_BITS) | int(found.replace("-", ""), 16) % (1 << _RANDOM_BITS))


def derived_id(told: str) -> str:
    """Return an id that anybody makes of `told`, wherever and whenever."""
    return _uuid(int.from_bytes(hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest()[:16]))


def _uuid(value: int) -> str:
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
