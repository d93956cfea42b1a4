"""What roamkb itself did to notes, by digests, so that the journal knows its changes from an agent's.

The record lies in the journal's folder, which the wall closes. It is derived and bounded: where it is gone,
nobody knows whose the changes were. A path is kept as its digest, since a name says what a note is about.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import blake2b
from roamkb.fs.files import create
from roamkb.fs.files import random_token
from roamkb.fs.user_dirs import JOURNAL_DB

#: What a path holds where there is nothing.
NOTHING: Final = "-"
_RECORD: Final = "own-writes"
#: Bytes of the record above which its older half goes: some five thousand changes.
_MOST_BYTES: Final = 1024 * 1024
#: The fourth word of a line that takes an equal one back.
_UNDONE: Final = "undone"
_KEY_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWrite:
    """One note's change: SHA-256 before and after, `NOTHING` where there is no file."""

    path: Path
    was: str = NOTHING
    now: str = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWrites:
    """The record of one knowledge base; `folder` is its journal's."""

    kb: Path
    folder: Path

    def read(self) -> "RecordedWrites":
        """Return what is on record; nothing where it can't be read."""
        try:
            lines = (self.folder / _RECORD).read_text("ascii").splitlines()
        except (OSError, UnicodeDecodeError):
            return RecordedWrites(())
        return RecordedWrites(lines)

    def add(self, lines: Iterable[str]) -> None:
        """Put lines on record, where there is a journal; to lose them costs an explanation, and no note."""
        if not (self.folder / JOURNAL_DB).exists():
            return
        with contextlib.suppress(OSError), self._opened() as fd:
            os.write(fd, "".join(f"{line}\n" for line in lines).encode("ascii"))
            if os.fstat(fd).st_size > _MOST_BYTES:
                self._shorten(fd)

    def line(self, deed: OwnWrite) -> str:
        """Return the line for a deed."""
        real = os.path.realpath(deed.path.parent) + "/" + deed.path.name
        relative = os.path.relpath(real, os.path.realpath(self.kb))
        return f"{key_of(os.fsencode(relative))} {deed.was} {deed.now}"

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """Give the descriptor of the record, locked; another process may have put a shorter one there."""
        path = self.folder / _RECORD
        while True:
            flags = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(path, flags, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
                if path.stat().st_ino == os.fstat(fd).st_ino:
                    yield fd
                    return
            finally:
                os.close(fd)

    def _shorten(self, fd: int) -> None:
        data = os.pread(fd, 2 * _MOST_BYTES, 0)
        kept = data[len(data) // 2 :].partition(b"\n")[2]
        beside = create(self.folder, f"{_RECORD}-{random_token()}", kept, mode=0o600)
        beside.rename(self.folder / _RECORD)


class RecordedWrites:
    """What is on record, by path."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._by_key: dict[str, list[tuple[str, str]]] = {}
        for line in lines:
            key, was, now, *rest = [*line.split(), "", "", ""][:4]
            of_path = self._by_key.setdefault(key, [])
            if rest == [_UNDONE]:
                with contextlib.suppress(ValueError):
                    of_path.reverse()
                    of_path.remove((was, now))
                of_path.reverse()
            else:
                of_path.append((was, now))

    def explain(self, path: bytes, was: bytes | None, now: bytes | None) -> bool:
        """Say whether roamkb's deeds, one after the other to the last, lead from `was` to `now`."""
        state = was.hex() if was else NOTHING
        has_begun = False
        for before, after in self._by_key.get(key_of(path), ()):
            if before == state:
                state, has_begun = after, True
        return has_begun and state == (now.hex() if now else NOTHING)


def key_of(path: bytes) -> str:
    """Return what the record calls a path from the knowledge base on."""
    return blake2b(path, digest_size=_KEY_BYTES).hexdigest()


@contextlib.contextmanager
def recorded(own: OwnWrites | None, *deeds: OwnWrite) -> Iterator[None]:
    """Put deeds on record before they are done: who looks in between finds them explained.

    What fails is taken back, unless only its durability isn't known.
    """
    from roamkb.core.errors import NotDurable

    if own is None:
        yield
        return
    lines = [own.line(deed) for deed in deeds]
    own.add(lines)
    try:
        yield
    except NotDurable:
        raise
    except BaseException:
        own.add(f"{line} {_UNDONE}" for line in lines)
        raise
