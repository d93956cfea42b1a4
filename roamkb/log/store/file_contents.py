"""Files of a project's log as they were when they were opened: read in blocks, and parsed when somebody asks.

A log of years is larger than what most questions are about. So a file has a digest of each of its blocks, and
who knows them (`file_stamps`) reads no more of it than the lines that were added.
"""

import contextlib
import gc
import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from roamkb.core.errors import DiskError
from roamkb.core.errors import NotDurable
from roamkb.core.startup.digests import blake2b
from roamkb.core.startup.typing import Final
from roamkb.core.startup.typing import NamedTuple
from roamkb.core.write_count import add_write
from roamkb.fs.append import OpenedBytes
from roamkb.fs.append import append_lines
from roamkb.fs.append import open_bytes
from roamkb.fs.append import path_stat
from roamkb.log import jsonl
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.file_stamps import FileStamps

#: Files of one log.
_MOST_PAGES = 3
#: Bytes that one digest is about: all that is read again of a file that grew.
_BLOCK_BYTES = 1024 * 1024
_DIGEST_BYTES: Final = 16
#: A save takes milliseconds; a file that changes for longer is being written to by something else.
_MOST_ATTEMPTS = 4
_RETRY_PAUSE = 0.05


class ParsedLines(NamedTuple):
    """The readable lines of a file, and the faults of the others."""

    learnings: tuple[Learning, ...] = ()
    events: tuple[LedgerEvent, ...] = ()
    faults: "tuple[jsonl.BadLine, ...]" = ()


class JoinedBytes:
    """The bytes of a file from some place on, followed by those of another, read as they are wanted."""

    def __init__(self, first: "FileVersion", start: int, second: "FileVersion") -> None:
        self._first = first
        self._start = start
        self._second = second

    def __len__(self) -> int:
        return self._first.size - self._start + self._second.size

    def __getitem__(self, part: slice) -> bytes:
        start, end, _ = part.indices(len(self))
        parting = self._first.size - self._start
        data = self._first.bytes_between(self._start + min(start, parting), self._start + min(end, parting))
        return data + self._second.bytes_between(max(start - parting, 0), max(end - parting, 0))

    def is_unchanged(self) -> bool:
        """Say whether both files are what they were when they were opened."""
        return self._first.is_unchanged() and self._second.is_unchanged()


class FileVersion:
    """One file, and the version it grew from, as far as this process knows."""

    def __init__(
        self,
        path: Path,
        data: bytes | OpenedBytes | JoinedBytes,
        *,
        is_ledger: bool,
        before: "FileVersion | None" = None,
        blocks: Sequence[bytes] | None = None,
    ) -> None:
        """Take the bytes; `blocks` are their digests where they are known.

        Raises:
            DiskError: the file was cut off meanwhile.
        """
        self.path = path
        #: In bytes.
        self.size = len(data)
        self._data = data
        #: The digest of each block.
        self.blocks: tuple[bytes, ...] = tuple(
            block_digests(data, known=before.blocks if before else ()) if blocks is None else blocks
        )
        self._is_ledger = is_ledger
        #: One thing for all pages that grew out of one another.
        self.strain: object = before.strain if before else object()
        # the latest of them that was read
        self._base: FileVersion | None = before if before is None or before._is_parsed else before._base  # noqa: SLF001

    @property
    def _read(self) -> "Callable[..., Iterable[jsonl.LearningLine | LedgerEvent | jsonl.BadLine]]":
        return jsonl.read_events if self._is_ledger else jsonl.read_learnings

    @cached_property
    def digest(self) -> str:
        """Digest of the bytes."""
        return _joined_digest(self.blocks)

    @property
    def stat(self) -> Sequence[int]:
        """The file's stat when it was opened; empty where there is no file."""
        return self._data.stat if isinstance(self._data, OpenedBytes) else ()

    @cached_property
    def told(self) -> ParsedLines:
        """The parsed lines, in order."""
        base = self._base
        if base is None:
            return self._parse_lines(0, first_number=1)
        new_lines = self._parse_lines(base.size, first_number=1 + self._count_newlines(base.size))
        self._base = None
        base_lines = base.told
        return ParsedLines(
            base_lines.learnings + new_lines.learnings,
            base_lines.events + new_lines.events,
            base_lines.faults + new_lines.faults,
        )

    def each_learning(self) -> Iterator[Learning]:
        """Yield the learnings, which aren't kept for that; of a ledger none."""
        if self._is_parsed:
            yield from self.told.learnings
            return
        yield from (
            entry.learning for entry in self._read(self.raw_lines(), first=1) if isinstance(entry, jsonl.LearningLine)
        )

    @property
    def faults(self) -> "tuple[jsonl.BadLine, ...]":
        """The faults of its lines; the others aren't kept for that, which would take most of the memory."""
        if self._is_parsed:
            return self.told.faults
        return tuple(entry for entry in self._read(self.raw_lines(), first=1) if isinstance(entry, jsonl.BadLine))

    @property
    def _is_parsed(self) -> bool:
        # as cached_property keeps it
        return "told" in vars(self)

    def _count_newlines(self, end: int) -> int:
        # not of an earlier file with these bytes, which may be gone
        return sum(block.count(b"\n") for block in self._read_blocks(0, end))

    def reopen(self, page: "FileVersion") -> None:
        """Read from now on what `page` has opened, whose bytes are the same: another file may be in place of ours."""
        self._data = page._data  # noqa: SLF001

    def lines_after(self, size: int) -> ParsedLines:
        """Return the parsed lines behind the first `size` bytes; a line ends there."""
        return self.lines_between(size, self.size)

    def lines_between(self, start: int, end: int) -> ParsedLines:
        """Return the parsed lines between two bytes where lines end."""
        return self._parse_lines(start, end, first_number=1) if start < end else ParsedLines()

    def bytes_between(self, start: int, end: int) -> bytes:
        """Return some of the bytes.

        Raises:
            DiskError: the file changed since it was opened.
        """
        return self._data[start:end]

    def is_unchanged(self) -> bool:
        """Say whether the file is what it was when it was opened, by its stat."""
        return isinstance(self._data, bytes) or self._data.is_unchanged()

    def line_end(self, position: int) -> int:
        """Return where the line of some byte ends, its newline taken in."""
        for offset in range(position, self.size, _BLOCK_BYTES):
            found = self._data[offset : offset + _BLOCK_BYTES].find(b"\n")
            if found >= 0:
                return offset + found + 1
        return self.size

    def begins_with(self, size: int, digest: str) -> bool:
        """Say whether the first `size` bytes have that digest, and a line ends there."""
        if size >= self.size:
            return size == self.size and digest == self.digest
        if size and self._data[size - 1 : size] != b"\n":
            return False
        return digest == self.digest_until(size)

    def digest_until(self, size: int) -> str:
        """Return the digest of the first `size` bytes."""
        whole = size // _BLOCK_BYTES
        rest = self._data[whole * _BLOCK_BYTES : size]
        return _joined_digest((*self.blocks[:whole], *block_digests(rest)))

    def raw_lines(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the lines between two bytes, without their newlines; of a far too long one its beginning.

        Raises:
            DiskError: the file changed since it was opened.
        """
        rest = b""
        for block in self._read_blocks(start, self.size if end is None else end):
            first, *others = block.split(b"\n")
            # who reads it says that it is too long
            rest = rest + first if len(rest) <= jsonl.LONGEST_LINE else rest
            for line in others:
                yield rest
                rest = line
        yield rest

    def _read_blocks(self, start: int, end: int) -> Iterator[bytes]:
        for offset in range(start, end, _BLOCK_BYTES):
            yield self._data[offset : min(offset + _BLOCK_BYTES, end)]
        if not self.is_unchanged() and self.blocks != block_digests(self._data):
            raise DiskError(self.path, "is being written to")

    def _parse_lines(self, start: int, end: int | None = None, *, first_number: int) -> ParsedLines:
        learnings: list[Learning] = []
        events: list[LedgerEvent] = []
        faults: list[jsonl.BadLine] = []
        with gc_paused():
            for entry in self._read(self.raw_lines(start, end), first=first_number):
                match entry:
                    case jsonl.LearningLine():
                        learnings.append(entry.learning)
                    case LedgerEvent():
                        events.append(entry)
                    case jsonl.BadLine():
                        faults.append(entry)
        return ParsedLines(tuple(learnings), tuple(events), tuple(faults))


def block_digests(data: bytes | OpenedBytes | JoinedBytes, *, known: Sequence[bytes] = ()) -> tuple[bytes, ...]:
    """Return the digest of each block; of `known` ones of a shorter version all but the last are the same."""
    return (
        *known[:-1],
        *(
            blake2b(data[offset : offset + _BLOCK_BYTES], digest_size=_DIGEST_BYTES).digest()
            for offset in range(len(known[:-1]) * _BLOCK_BYTES, len(data), _BLOCK_BYTES)
        ),
    )


def _joined_digest(blocks: Iterable[bytes]) -> str:
    return blake2b(b"".join(blocks), digest_size=_DIGEST_BYTES).hexdigest()


class _FileMemory:
    """The last files that this process read; replaced only as a whole, for several threads."""

    pages: Mapping[Path, FileVersion] = MappingProxyType({})


def file_version(path: Path, data: bytes, *, is_ledger: bool) -> FileVersion:
    """Return a file with those bytes, not all of which need be its own; as `read_file_version` otherwise."""
    return _remember(_version_of(path, data, is_ledger=is_ledger, stamps=None))


def read_file_version(path: Path, *, is_ledger: bool, stamps: FileStamps | None = None) -> FileVersion:
    """Return a file; one that only grew since this process read it is known as that.

    What `stamps` know of it isn't read.

    Raises:
        DiskError: it can't be read.
    """
    for attempt in range(_MOST_ATTEMPTS):
        if attempt:
            time.sleep(_RETRY_PAUSE)
        data = open_bytes(path)
        with contextlib.suppress(DiskError):
            return _remember(_version_of(path, data, is_ledger=is_ledger, stamps=stamps))
    raise DiskError(path, "is being written to")


def _version_of(path: Path, data: bytes | OpenedBytes, *, is_ledger: bool, stamps: FileStamps | None) -> FileVersion:
    """Return what was opened; the version that this process knows where it is the same or grew from that."""
    remembered = _FileMemory.pages.get(path)
    blocks = stamps.find_blocks(path.name, data.stat) if stamps and isinstance(data, OpenedBytes) else None
    if blocks is None:
        blocks = block_digests(data)
        if stamps and isinstance(data, OpenedBytes) and data.is_unchanged():
            stamps.save_blocks(path.name, data.stat, blocks)
    page = FileVersion(path, data, is_ledger=is_ledger, blocks=blocks)
    if remembered is None or not page.begins_with(remembered.size, remembered.digest):
        return page
    if page.size == remembered.size:
        remembered.reopen(page)
        return remembered
    return FileVersion(path, data, is_ledger=is_ledger, before=remembered, blocks=blocks)


def append_known(path: Path, lines: Sequence[bytes], stamps: FileStamps | None) -> None:
    """Append lines by `append_lines`, and stamp a file that this process knew; the log's lock is held.

    A file that others wrote to meanwhile is read by who asks next.

    Raises:
        DiskError, NotDurable: as `append_lines` does.
    """
    before = _FileMemory.pages.get(path)
    is_known = stamps is not None and before is not None and before.stat == path_stat(path)
    try:
        append_lines(path, lines)
        add_write()
    except NotDurable:
        add_write()
        raise
    finally:
        if stamps and before and is_known:
            with contextlib.suppress(DiskError):
                _stamp_appended(before, lines, stamps)


def _stamp_appended(before: FileVersion, lines: Sequence[bytes], stamps: FileStamps) -> None:
    data = open_bytes(before.path)
    if isinstance(data, bytes) or data.stat[1:3] != before.stat[1:3]:
        return
    if data[before.size :].removeprefix(b"\n") == b"".join(line + b"\n" for line in lines):
        blocks = block_digests(data, known=before.blocks)
        stamps.save_blocks(before.path.name, data.stat, blocks, is_settled=stamps.outlasts_tick(data))


def _remember(page: FileVersion) -> FileVersion:
    other_versions = [version for version in _FileMemory.pages.values() if version.path != page.path]
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
