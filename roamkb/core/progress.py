"""How far work is that lasts: told to whoever listens, most often nobody.

A command that somebody waits for at a terminal listens with a bar; hooks, servers and programs don't.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from roamkb.core.startup.typing import TypeVar

#: Takes what is done ("reading notes"), how much of it is done, and how much there is; None where nobody knows.
Listener = Callable[[str, int, int | None], None]

_T = TypeVar("_T")
_listener: ContextVar[Listener | None] = ContextVar("progress", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Have `listener` told of the work that is done inside."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def report_progress(label: str, done: int, total: int | None) -> None:
    """Say that `done` of `total` are done; the work is at its end where they are equal."""
    listener = _listener.get()
    if listener is not None:
        listener(label, done, total)


def counted(items: Sequence[_T], label: str) -> Iterable[_T]:
    """Return the items, and say of each, when the next one is asked for, that it is done."""
    return items if _listener.get() is None else _counted(items, label)


def _counted(items: Sequence[_T], label: str) -> Iterator[_T]:
    try:
        for done, item in enumerate(items):
            report_progress(label, done, len(items))
            yield item
    finally:
        report_progress(label, len(items), len(items))


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """Say that somebody else is waited for, and nobody knows how long."""
    report_progress(label, 0, None)
    try:
        yield
    finally:
        report_progress(label, 0, 0)
