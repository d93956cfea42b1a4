"""The files of a project's log as they were read: their bytes, and what they say once anybody asks."""

import contextlib
import gc
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from roamkb.core.startup.digests import blake2b
from roamkb.fs.append import read_bytes
from roamkb.log.jsonl import BadLine
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent

#: Files of one log.
_MOST_PAGES = 3
#: A larger file isn't kept in memory beside what it says.
_MOST_KEPT = 64 * 1024 * 1024

_Read = Callable[..., Iterable[LearningLine | LedgerEvent | BadLine]]


class ParsedLines(NamedTuple):
    """What lines say, as far as they are readable."""

    learnings: tuple[Learning, ...] = ()
    events: tuple[LedgerEvent, ...] = ()
    faults: tuple[BadLine, ...] = ()


class FileVersion:
    """One file, and what it grew from, as far as this process knows."""

    def __init__(
        self, path: Path, data: bytes, *, is_ledger: bool, before: "FileVersion | None" = None
    ) -> None:
        self.path = path
        self.data = data
        self._read: _Read = read_events if is_ledger else read_learnings
        self._hash: blake2b = before._hash.copy() if before else blake2b(digest_size=16)  # noqa: SLF001
        self._hash.update(memoryview(data)[len(before.data) if before else 0 :])
        #: One thing for all pages that grew out of one another.
        self.strain: object = before.strain if before else object()
        # the latest of them that was read
        self._base: FileVersion | None = before if before is None or before._is_read else before._base  # noqa: SLF001

    @property
    def digest(self) -> str:
        """What stands for the bytes."""
        return self._hash.hexdigest()

    @cached_property
    def told(self) -> ParsedLines:
        """What the lines say, in order."""
        base = self._base
        if base is None:
            return self._said_from(0, first=1)
        new = self._said_from(len(base.data), first=1 + base.data.count(b"\n"))
        self._base = None
        known = base.told
        return ParsedLines(
            known.learnings + new.learnings, known.events + new.events, known.faults + new.faults
        )

    @property
    def _is_read(self) -> bool:
        # as cached_property keeps it
        return "told" in vars(self)

    def after(self, size: int) -> ParsedLines:
        """Return what the lines behind the first `size` bytes say; lines end there."""
        return self._said_from(size, first=1) if size < len(self.data) else ParsedLines()

    def begins_with(self, size: int, digest: str) -> bool:
        """Say whether the first `size` bytes are those that `digest` stands for, and lines end there."""
        if size >= len(self.data):
            return size == len(self.data) and digest == self.digest
        if size and self.data[size - 1 : size] != b"\n":
            return False
        return digest == blake2b(memoryview(self.data)[:size], digest_size=16).hexdigest()

    def _said_from(self, start: int, *, first: int) -> ParsedLines:
        with uncollected():
            said = list(self._read(self.data[start:].split(b"\n"), first=first))
            return ParsedLines(
                tuple(one.learning for one in said if isinstance(one, LearningLine)),
                tuple(one for one in said if isinstance(one, LedgerEvent)),
                tuple(one for one in said if isinstance(one, BadLine)),
            )


class _FileMemory:
    """The last files that this process read; only ever replaced as a whole, since several threads may ask."""

    pages: Mapping[Path, FileVersion] = MappingProxyType({})


def read_page(path: Path, *, is_ledger: bool) -> FileVersion:
    """Return a file; one that only grew since this process read it is known as that.

    Raises:
        DiskError: it can't be read.
    """
    data = read_bytes(path)
    known = _FileMemory.pages.get(path)
    if known is not None and data == known.data:
        return known
    if known is not None and not (data.startswith(known.data) and known.data[-1:] in (b"", b"\n")):
        known = None
    page = FileVersion(path, data, is_ledger=is_ledger, before=known)
    if len(data) <= _MOST_KEPT:
        others = [one for one in _FileMemory.pages.values() if one.path != path]
        _FileMemory.pages = {one.path: one for one in (*others, page)[-_MOST_PAGES:]}
    return page


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Make many small things that stay without Python looking among them for garbage again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
