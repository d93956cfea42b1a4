"""Count of writes to notes and logs, by which a server tells a request that changed something from a look."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class WriteCount:
    """The number of writes since a block was entered; what roamkb keeps for itself isn't counted."""

    __slots__ = ("total",)

    def __init__(self) -> None:
        self.total = 0


_COUNT: ContextVar[WriteCount | None] = ContextVar("write count", default=None)


@contextmanager
def count_writes() -> Iterator[WriteCount]:
    """Count what is written inside of the block, by its own thread."""
    count = WriteCount()
    token = _COUNT.set(count)
    try:
        yield count
    finally:
        _COUNT.reset(token)


def add_write() -> None:
    """Count one write that was made, where there is a count."""
    count = _COUNT.get()
    if count is not None:
        count.total += 1
