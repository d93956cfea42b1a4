"""Files of a project's log as they were read: their bytes, and their lines once parsed."""

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
_MOST_KEPT_BYTES = 64 * 1024 * 1024

_LineReader = Callable[..., Iterable[LearningLine | LedgerEvent | BadLine]]


class ParsedLines(NamedTuple):
    """The readable lines of a file, and the faults of the others."""

    learnings: tuple[Learning, ...] = ()
    events: tuple[LedgerEvent, ...] = ()
    faults: tuple[BadLine, ...] = ()


class FileVersion:
    """One file, and the version it grew from, as far as this process knows."""

    def __init__(self, path: Path, data: bytes, *, is_ledger: bool, before: "FileVersion | None" = None) -> None:
        self.path = path
        self.data = data
        self._read: _LineReader = read_events if is_ledger else read_learnings
        self._hash: blake2b = before._hash.copy() if before else blake2b(digest_size=16)  # noqa: SLF001
        self._hash.update(memoryview(data)[len(before.data) if before else 0 :])
        #: One thing for all pages that grew out of one another.
        self.strain: object = before.strain if before else object()
        # the latest of them that was read
        self._base: FileVersion | None = before if before is None or before._is_parsed else before._base  # noqa: SLF001

    @property
    def digest(self) -> str:
        """Digest of the bytes."""
        return self._hash.hexdigest()

    @cached_property
    def told(self) -> ParsedLines:
        """The parsed lines, in order."""
        base = self._base
        if base is None:
            return self._parse_from(0, first_number=1)
        new_lines = self._parse_from(len(base.data), first_number=1 + base.data.count(b"\n"))
        self._base = None
        base_lines = base.told
        return ParsedLines(
            base_lines.learnings + new_lines.learnings,
            base_lines.events + new_lines.events,
            base_lines.faults + new_lines.faults,
        )

    @property
    def _is_parsed(self) -> bool:
        # as cached_property keeps it
        return "told" in vars(self)

    def lines_after(self, size: int) -> ParsedLines:
        """Return the parsed lines behind the first `size` bytes; a line ends there."""
        return self._parse_from(size, first_number=1) if size < len(self.data) else ParsedLines()

    def begins_with(self, size: int, digest: str) -> bool:
        """Say whether the first `size` bytes have that digest, and a line ends there."""
        if size >= len(self.data):
            return size == len(self.data) and digest == self.digest
        if size and self.data[size - 1 : size] != b"\n":
            return False
        return digest == blake2b(memoryview(self.data)[:size], digest_size=16).hexdigest()

    def _parse_from(self, start: int, *, first_number: int) -> ParsedLines:
        with gc_paused():
            entries = list(self._read(self.data[start:].split(b"\n"), first=first_number))
            return ParsedLines(
                tuple(entry.learning for entry in entries if isinstance(entry, LearningLine)),
                tuple(entry for entry in entries if isinstance(entry, LedgerEvent)),
                tuple(entry for entry in entries if isinstance(entry, BadLine)),
            )


class _FileMemory:
    """The last files that this process read; replaced only as a whole, for several threads."""

    pages: Mapping[Path, FileVersion] = MappingProxyType({})


def read_file_version(path: Path, *, is_ledger: bool) -> FileVersion:
    """Return a file; one that only grew since this process read it is known as that.

    Raises:
        DiskError: it can't be read.
    """
    data = read_bytes(path)
    remembered = _FileMemory.pages.get(path)
    if remembered is not None and data == remembered.data:
        return remembered
    if remembered is not None and not (data.startswith(remembered.data) and remembered.data[-1:] in (b"", b"\n")):
        remembered = None
    page = FileVersion(path, data, is_ledger=is_ledger, before=remembered)
    if len(data) <= _MOST_KEPT_BYTES:
        other_versions = [version for version in _FileMemory.pages.values() if version.path != path]
        _FileMemory.pages = {version.path: version for version in (*other_versions, page)[-_MOST_PAGES:]}
    return page


@contextlib.contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector while many small lasting objects are made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
