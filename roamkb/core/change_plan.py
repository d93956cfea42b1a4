"""What would be changed, for somebody to look at first: its digest stands for all that it was built from.

Who approves names the digest. Applying builds the proposal once more and compares, so that
nothing is done that nobody saw (docs/architecture.md).
"""

from collections.abc import Iterable
from collections.abc import Sequence
from typing import Final

from roamkb.core.ids import is_id
from roamkb.core.startup.digests import sha256

#: Characters of a digest that name it well enough.
SHORTEST: Final = 12
#: Characters that a human types to say yes.
TYPED: Final = 6

_ID_BITS = 128
_TIME_BITS = 48
_NUMBER_BITS = 16


def digest_of(basis: Sequence[str], changes: Iterable[str]) -> str:
    """Return the SHA-256 of what a proposal was built from and of what it would change."""
    made = sha256(len(basis).to_bytes(8, "big"))
    for part in (*basis, *changes):
        data = part.encode("utf-8", "surrogatepass")
        made.update(len(data).to_bytes(8, "big") + data)
    return made.hexdigest()


def is_named(digest: str, name: str) -> bool:
    """Say whether `name` is the digest, or enough of its beginning."""
    given = name.strip().lower()
    return len(given) >= SHORTEST and digest.startswith(given)


def event_id(digest: str, number: int, *, after: str) -> str:
    """Return the id of a proposal's event `number`: the same each time, and later than `after`.

    The time of `after` and a millisecond, the number, and 64 bits of the digest: two machines
    that propose different things after the same event don't make the same ids.
    """
    told = sha256(f"{digest}\0{number}".encode()).digest()
    last = int(after.replace("-", ""), 16) if is_id(after) else 0
    time = (last >> (_ID_BITS - _TIME_BITS)) + 1
    value = time << _NUMBER_BITS | number % (1 << _NUMBER_BITS)
    text = f"{value << 64 | int.from_bytes(told[:8], 'big'):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
