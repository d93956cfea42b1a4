"""The file that the index lies in: made beside and renamed in, and believed only as it was left.

SQLite notices little of what happens to its file. So each change leaves a seal: the file's
stat and its digest. An index that isn't the one that was sealed is built again, whatever
made it another: a bad disk, a crash, a copy, a program that writes where it likes.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from roamkb.storage.disk import random_token
from roamkb.storage.state import lock
from roamkb.storage.state import private_folder

#: Nanoseconds after which a file that was written to again has another time for sure.
_SETTLED = 2_000_000_000
#: Seconds to wait for another process that builds the same index.
PATIENCE = 30.0
#: Milliseconds for another process's transaction to end.
_BUSY = 5_000


class IndexFile:
    """One index in its folder."""

    def __init__(self, folder: Path, *, clock: Callable[[], int]) -> None:
        self.folder = folder
        self.path = folder / "index.db"
        self._seal = folder / "index.seal"
        self._clock = clock

    def locked(self) -> AbstractContextManager[None]:
        """Hold the leave to change the index, or raise `Busy`."""
        private_folder(self.folder)
        return lock(self.folder / "index.lock", wait=PATIENCE)

    def is_sealed(self) -> bool:
        """Say whether the file is the one that was left here."""
        try:
            seal = json.loads(self._seal.read_bytes())
            stat = _stat(self.path)
            if seal["stat"] == stat and seal["settled"]:
                return True
            if seal["digest"] != _digest(self.path):
                return False
        except (OSError, ValueError, KeyError, TypeError):
            return False
        with contextlib.suppress(OSError):
            self._write_seal(stat, seal["digest"])
        return True

    def seal(self) -> None:
        """Remember the file as it is now; the lock is held."""
        stat = _stat(self.path)
        self._write_seal(stat, _digest(self.path))

    def break_seal(self) -> None:
        """Forget what the file was, before it is changed."""
        self._seal.unlink(missing_ok=True)

    def _write_seal(self, stat: list[int], digest: str) -> None:
        settled = abs(self._clock() - stat[-1]) > _SETTLED
        beside = self.folder / f"seal.{random_token()}.tmp"
        try:
            beside.write_text(json.dumps({"stat": stat, "settled": settled, "digest": digest}))
            beside.replace(self._seal)
        finally:
            beside.unlink(missing_ok=True)

    def open(self, *, writing: bool = False) -> sqlite3.Connection:
        """Return a connection to the index that is there."""
        mode = "rw" if writing else "ro"
        db = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}", uri=True, timeout=_BUSY / 1000, isolation_level=None
        )
        return hardened(db, writing=writing)

    @contextlib.contextmanager
    def rebuilt(self) -> Iterator[sqlite3.Connection]:
        """Give an empty index to fill; then it takes the place of the old one. The lock is held."""
        self._sweep()
        beside = self.folder / f"build.{random_token()}.tmp"
        try:
            db = sqlite3.connect(beside, isolation_level=None)
            try:
                # nobody else sees the file, and one that isn't finished is thrown away
                db.executescript(
                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536"
                )
                yield hardened(db, writing=True)
            finally:
                db.close()
            _sync(beside)
            self.break_seal()
            beside.replace(self.path)
            self.path.with_name("index.db-journal").unlink(missing_ok=True)
            self.seal()
        finally:
            beside.unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove what a killed build left behind."""
        for leftover in self.folder.glob("*.tmp*"):
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
    stat = path.stat()
    return [stat.st_size, stat.st_ino, stat.st_dev, stat.st_mtime_ns, stat.st_ctime_ns]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
