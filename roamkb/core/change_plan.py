"""Digests of planned changes: one digest stands for a proposal and all that it was built from.

Who approves names the digest. Applying builds the proposal once more and compares, so that
nothing is done that nobody saw (docs/architecture.md).
"""

from collections.abc import Iterable
from collections.abc import Sequence
from typing import Final

from roamkb.core.ids import is_id
from roamkb.core.startup.digests import sha256

#: Characters of a digest that name it well enough.
MIN_DIGEST_LENGTH: Final = 12
#: Characters that a human types to say yes.
TYPED_DIGEST_LENGTH: Final = 6

_ID_BITS = 128
_TIME_BITS = 48
_NUMBER_BITS = 16


def plan_digest(basis: Sequence[str], changes: Iterable[str]) -> str:
    """Return the SHA-256 of a proposal's basis and of its changes."""
    hasher = sha256(len(basis).to_bytes(8, "big"))
    for part in (*basis, *changes):
        data = part.encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "big") + data)
    return hasher.hexdigest()


def matches_digest(digest: str, typed_name: str) -> bool:
    """Return whether `typed_name` is the digest, or a long enough prefix of it."""
    prefix = typed_name.strip().lower()
    return len(prefix) >= MIN_DIGEST_LENGTH and digest.startswith(prefix)


def planned_event_id(digest: str, number: int, *, after: str) -> str:
    """Return the id of a proposal's event `number`: the same each time, and later than `after`.

    The time of `after` and a millisecond, the number, and 64 bits of the digest: two machines
    that propose different things after the same event don't make the same ids.
    """
    hash_bytes = sha256(f"{digest}\0{number}".encode()).digest()
    after_number = int(after.replace("-", ""), 16) if is_id(after) else 0
    time = (after_number >> (_ID_BITS - _TIME_BITS)) + 1
    value = time << _NUMBER_BITS | number % (1 << _NUMBER_BITS)
    text = f"{value << 64 | int.from_bytes(hash_bytes[:8], 'big'):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
