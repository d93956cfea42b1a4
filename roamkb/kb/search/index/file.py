"""The file that the index lies in: made beside and renamed in, and believed only as it was left.

SQLite notices little of what happens to its file. So each change leaves a seal: the file's
stat and its digest. An index that isn't the one that was sealed is built again, whatever
made it another: a bad disk, a crash, a copy, a program that writes where it likes.
"""

import contextlib
import json
import os
import sqlite3
import stat
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import random_token
from roamkb.fs.files import read_file
from roamkb.fs.locks import lock
from roamkb.fs.locks import private_folder

#: Nanoseconds after which a file that was written to again has another time for sure.
_SETTLED = 2_000_000_000
#: Seconds that a search waits for another process that builds the same index, or is stopped while it does.
A_MOMENT = 2.0
#: Seconds for who asks for the index itself.
PATIENCE = 120.0
#: No seal is longer than some hundred bytes.
_LONGEST_SEAL = 4096
#: What SQLite calls its journals.
_ENDINGS = ("-journal", "-wal", "-shm")
#: What follows the two kinds of temporary names of ours: a token, and SQLite's own endings.
_LEFTOVER = lazily(rf"(?:build|seal)\.[0-9a-f]{{16}}\.tmp(?:{'|'.join(_ENDINGS)})?")


class IndexFile:
    """One index in its folder."""

    def __init__(self, folder: Path, *, clock: Callable[[], int]) -> None:
        self.folder = folder
        self.path = folder / "index.db"
        self._seal = folder / "index.seal"
        self._clock = clock

    @contextlib.contextmanager
    def locked(self, *, wait: float) -> Iterator[None]:
        """Hold the leave to change the index, or raise `Busy` after `wait` seconds."""
        private_folder(self.folder)
        with lock(self.folder / "index.lock", wait=wait):
            self._sweep()
            yield

    def is_sealed(self) -> bool:
        """Say whether the file is the one that was left here."""
        return self.state() is not None

    def state(self) -> str | None:
        """Return the digest of the file, if it is the one that was left here."""
        written = read_file(self._seal, limit=_LONGEST_SEAL)
        if isinstance(written, UnreadableFile) or any(map(os.path.lexists, self._beside())):
            return None
        try:
            seal = json.loads(written)
            seen, digest = _stat(self.path), str(seal["digest"])
            if seal["stat"] == seen and seal["settled"]:
                return digest
            if digest != _digest(self.path):
                return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        with contextlib.suppress(OSError):
            self._write_seal(seen, digest)
        return digest

    def seal(self) -> None:
        """Remember the file as it is now; the lock is held."""
        seen = _stat(self.path)
        self._write_seal(seen, _digest(self.path))

    def break_seal(self) -> None:
        """Forget what the file was, before it is changed."""
        self._seal.unlink(missing_ok=True)

    def _write_seal(self, seen: list[int], digest: str) -> None:
        settled = bool(seen) and abs(self._clock() - seen[-1]) > _SETTLED
        beside = self.folder / f"seal.{random_token()}.tmp"
        try:
            beside.write_text(json.dumps({"stat": seen, "settled": settled, "digest": digest}))
            beside.replace(self._seal)
        finally:
            beside.unlink(missing_ok=True)

    def open(self, *, writing: bool = False, shared: bool = False) -> sqlite3.Connection:
        """Return a connection to the index that is there; one that is `shared`, threads take in turns."""
        mode = "rw" if writing else "ro"
        db = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=A_MOMENT,
            isolation_level=None,
            check_same_thread=not shared,
        )
        return hardened(db, writing=writing)

    @contextlib.contextmanager
    def rebuilt(self, *, goes_on: bool = False) -> Iterator[sqlite3.Connection]:
        """Give an index to fill, empty or where the old one `goes_on`; then it takes the old one's place.

        Until then everybody has the old one, and keeps it where this is broken off. The lock is held.
        """
        beside = self.folder / f"build.{random_token()}.tmp"
        try:
            if goes_on:
                import shutil  # with three compressors, and most looks read only

                shutil.copyfile(self.path, beside)
            db = sqlite3.connect(beside, isolation_level=None)
            try:
                # nobody else sees the file, and one that isn't finished is thrown away
                db.executescript(
                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768"
                )
                yield hardened(db, writing=True)
            finally:
                db.close()
            _sync(beside)
            digest = _digest(beside)
            # a kill between these two costs the index, and a kill before or after them does not
            self._write_seal([], digest)
            beside.replace(self.path)
            for leftover in self._beside():
                leftover.unlink(missing_ok=True)
            self._write_seal(_stat(self.path), digest)
        finally:
            beside.unlink(missing_ok=True)

    def _beside(self) -> Iterator[Path]:
        """Yield what SQLite would mix into the index, and what is never there when it is sealed."""
        for ending in _ENDINGS:
            yield self.folder / f"{self.path.name}{ending}"

    def _sweep(self) -> None:
        """Remove what a killed build left behind."""
        for leftover in self.folder.glob("*.tmp*"):
            if _LEFTOVER.fullmatch(leftover.name):
                leftover.unlink(missing_ok=True)


def in_memory() -> sqlite3.Connection:
    """Return an empty database that no cache is needed for."""
    return hardened(sqlite3.connect(":memory:", isolation_level=None), writing=True)


def hardened(db: sqlite3.Connection, *, writing: bool) -> sqlite3.Connection:
    """Return `db`, told to trust nothing that its file says."""
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY"):
        db.execute(f"PRAGMA {pragma}")
    if not writing:
        db.execute("PRAGMA query_only = ON")
    return db


def _stat(path: Path) -> list[int]:
    seen = path.lstat()
    if not stat.S_ISREG(seen.st_mode):
        # a FIFO would be waited for, and a link may lead to anything
        raise OSError(f"{path} isn't a regular file")
    return [seen.st_size, seen.st_ino, seen.st_dev, seen.st_mtime_ns, seen.st_ctime_ns]


def _digest(path: Path) -> str:
    import hashlib  # of a whole index by OpenSSL, which most searches do without

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
