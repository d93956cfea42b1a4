"""Unique ids: ULIDs in UUID form."""

from collections.abc import Callable
from datetime import datetime

from roamkb.core.startup.digests import sha256
from roamkb.core.startup.lazy_regex import lazily

_ID_FORM = lazily(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LAST_MOMENT = "ffffffff-ffff"
_RANDOM_BITS = 80
#: How far apart ids of one millisecond are: threads that follow the same one still meet on none.
_STEP_BITS = 48
#: The last one of this process.
_last_value = [0]


def new_id(now: datetime) -> str:
    """Return a ULID in UUID form: sortable by time, valid for org-id and `[[id:…]]` (D2).

    Those of a process and a millisecond sort as they were made (the ULID specification, "Monotonicity").
    """
    # a package for that takes as long to import as a hook may
    moment, last_value = int(now.timestamp() * 1000), _last_value[0]
    if moment == last_value >> _RANDOM_BITS:
        value = last_value + 1 + _random_bits(_STEP_BITS)
    else:
        value = moment << _RANDOM_BITS | _random_bits(_RANDOM_BITS)
    _last_value[0] = value
    return _format_uuid(value)


def _random_bits(count: int) -> int:
    """Return random bits as `secrets` does, whose import loads OpenSSL."""
    from random import SystemRandom

    return SystemRandom().getrandbits(count)


def is_id(text: str) -> bool:
    """Return whether `text` is such an id, with room for later ones; other programs have other forms."""
    return _ID_FORM.fullmatch(text) is not None and not text.startswith(_LAST_MOMENT)


def next_id(after: str, new_id: Callable[[], str]) -> str:
    """Return a new id that is later than `after`, whatever the clock says; `after` may be none of ours."""
    candidate = new_id()
    if candidate > after or not is_id(after):
        return candidate
    # a ULID's first 48 bits are its time; the others stay random, since two machines may do the same
    moment = (int(after.replace("-", ""), 16) >> _RANDOM_BITS) + 1
    return _format_uuid((moment << _RANDOM_BITS) | int(candidate.replace("-", ""), 16) % (1 << _RANDOM_BITS))


def derived_id(seed: str) -> str:
    """Return an id that is the same for the same `seed`, on every machine at every time."""
    return _format_uuid(int.from_bytes(sha256(seed.encode("utf-8", "surrogatepass")).digest()[:16]))


def _format_uuid(value: int) -> str:
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
