"""Record of roamkb's own changes to notes, by which the journal tells them from an agent's.

The record lies in the journal's folder, which the wall closes. It is derived and bounded: where it is gone,
nobody knows whose the changes were. A path is kept as its digest, since a name says what a note is about.
"""

import contextlib
import os
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import NotDurable
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import blake2b
from roamkb.core.startup.typing import Final
from roamkb.core.write_count import add_write
from roamkb.fs.files import as_disk_error
from roamkb.fs.files import create_file
from roamkb.fs.files import random_token
from roamkb.fs.locks import hold_lock
from roamkb.fs.user_dirs import JOURNAL_DB

#: What a path holds where there is nothing.
NOTHING: Final = "-"
_RECORD: Final = "own-writes"
_LOCK: Final = "own-writes.lock"
#: Bytes of the record above which its older half goes: some five thousand changes.
_MOST_BYTES: Final = 1024 * 1024
#: The fourth word of a line that takes an equal one back.
_UNDONE: Final = "undone"
_KEY_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWrite:
    """A change of one note: SHA-256 before and after, `NOTHING` where there is no file."""

    path: Path
    was: str = NOTHING
    now: str = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWrites:
    """The record of own changes of one knowledge base; `folder` is its journal's."""

    kb: Path
    folder: Path

    def read_record(self) -> "RecordedWrites":
        """Return the recorded changes; none where the record can't be read."""
        try:
            lines = (self.folder / _RECORD).read_text("ascii").splitlines()
        except (OSError, UnicodeDecodeError):
            return RecordedWrites(())
        return RecordedWrites(lines)

    def append_lines(self, lines: Iterable[str]) -> None:
        """Append lines to the record where there is a journal, which would take a change without one for a stranger's.

        Raises:
            Busy: another process holds the record for seconds. DiskError: it can't be written.
        """
        if not (self.folder / JOURNAL_DB).exists():
            return
        with as_disk_error(self.folder / _RECORD), hold_lock(self.folder / _LOCK):
            flags = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(self.folder / _RECORD, flags, 0o600)
            try:
                os.write(fd, "".join(f"{line}\n" for line in lines).encode("ascii"))
                if os.fstat(fd).st_size > _MOST_BYTES:
                    self._drop_older_half(fd)
            finally:
                os.close(fd)

    def record_line(self, deed: OwnWrite) -> str:
        """Return the line of the record for a change."""
        real = os.path.realpath(deed.path.parent) + "/" + deed.path.name
        relative = os.path.relpath(real, os.path.realpath(self.kb))
        return f"{path_key(os.fsencode(relative))} {deed.was} {deed.now}"

    def _drop_older_half(self, fd: int) -> None:
        data = os.pread(fd, 2 * _MOST_BYTES, 0)
        newer_half = data[len(data) // 2 :].partition(b"\n")[2]
        shorter_file = create_file(self.folder, f"{_RECORD}-{random_token()}", newer_half, mode=0o600)
        shorter_file.rename(self.folder / _RECORD)


class RecordedWrites:
    """The recorded changes, by path."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._by_key: dict[str, list[tuple[str, str]]] = {}
        for line in lines:
            key, was, now, *marks = [*line.split(), "", "", ""][:4]
            path_changes = self._by_key.setdefault(key, [])
            if marks == [_UNDONE]:
                with contextlib.suppress(ValueError):
                    path_changes.reverse()
                    path_changes.remove((was, now))
                path_changes.reverse()
            else:
                path_changes.append((was, now))

    def explains_change(self, path: bytes, was: bytes | None, now: bytes | None) -> bool:
        """Say whether roamkb's recorded changes of `path` lead from `was` to `now`."""
        state = was.hex() if was else NOTHING
        has_begun = False
        for before, after in self._by_key.get(path_key(path), ()):
            if before == state:
                state, has_begun = after, True
        return has_begun and state == (now.hex() if now else NOTHING)


def path_key(path: bytes) -> str:
    """Return the digest by which the record names a path relative to the knowledge base."""
    return blake2b(path, digest_size=_KEY_BYTES).hexdigest()


@contextlib.contextmanager
def record_own_writes(own: OwnWrites | None, *deeds: OwnWrite) -> Iterator[None]:
    """Record changes before they are made, so that a reader in between finds them explained.

    What fails is taken back, unless only its durability isn't known.
    """
    lines = [own.record_line(deed) for deed in deeds] if own else []
    if own:
        own.append_lines(lines)
    try:
        yield
    except NotDurable:
        add_write()
        raise
    except BaseException:
        if own:
            with contextlib.suppress(DiskError):
                own.append_lines(f"{line} {_UNDONE}" for line in lines)
        raise
    add_write()
