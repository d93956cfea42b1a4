"""The index's file: built beside the old one and renamed in, trusted only while its seal holds.

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
from roamkb.core.startup.dataclasses import asdict
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.standard_library import file_uri
from roamkb.fs.files import random_token
from roamkb.fs.files import read_file
from roamkb.fs.locks import hold_lock
from roamkb.fs.locks import make_private_folder

#: Nanoseconds after which a file that was written to again has another time for sure.
_SETTLED = 2_000_000_000
#: Seconds that a search waits for another process that builds the same index, or is stopped while it does.
SHORT_WAIT = 2.0
#: Seconds for who asks for the index itself.
LONG_WAIT = 120.0
#: No seal is longer than some hundred bytes.
_LONGEST_SEAL = 4096
#: What SQLite calls its journals.
_ENDINGS = ("-journal", "-wal", "-shm")
#: What follows the two kinds of temporary names of ours: a token, and SQLite's own endings.
_LEFTOVER = lazily(rf"(?:build|seal)\.[0-9a-f]{{16}}\.tmp(?:{'|'.join(_ENDINGS)})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreedTree:
    """A state of the notes' folder, and the state of the index that had all of it."""

    #: The digests of the index and of the folder's names and stats.
    seal: str
    tree: str
    notes: int
    conflict_copies: int


class IndexFile:
    """The file of one index in its folder, with its seal and its lock."""

    def __init__(self, folder: Path, *, clock: Callable[[], int]) -> None:
        self.folder = folder
        self.path = folder / "index.db"
        self._seal = folder / "index.seal"
        self._agreed_tree = folder / "index.tree"
        self._clock = clock
        #: Of the file as it was sealed under the lock that is held; None where it wasn't.
        self.written_digest: str | None = None

    @contextlib.contextmanager
    def hold_lock(self, *, wait: float) -> Iterator[None]:
        """Hold the lock for changing the index, or raise `Busy` after `wait` seconds."""
        make_private_folder(self.folder)
        with hold_lock(self.folder / "index.lock", wait=wait):
            self._remove_leftovers()
            self.written_digest = None
            yield

    def is_sealed(self) -> bool:
        """Say whether the file is unchanged since it was sealed."""
        return self.sealed_digest() is not None

    def sealed_digest(self) -> str | None:
        """Return the digest of the file if it is unchanged since it was sealed, else None."""
        written = read_file(self._seal, limit=_LONGEST_SEAL)
        if isinstance(written, UnreadableFile) or any(map(os.path.lexists, self._journal_paths())):
            return None
        try:
            seal = json.loads(written)
            file_stat, digest = _stat_values(self.path), str(seal["digest"])
            if seal["stat"] == file_stat and seal["settled"]:
                return digest
            if digest != _file_digest(self.path):
                return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        with contextlib.suppress(OSError):
            self._write_seal(file_stat, digest)
        return digest

    def seal_file(self) -> None:
        """Write the seal of the file as it is now; the lock is held."""
        file_stat = _stat_values(self.path)
        self.written_digest = _file_digest(self.path)
        self._write_seal(file_stat, self.written_digest)

    def break_seal(self) -> None:
        """Remove the seal, before the file is changed."""
        self._seal.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the index; the lock is held, and nothing else that lies in the folder is touched."""
        self.break_seal()
        for path in (self.path, *self._journal_paths()):
            path.unlink(missing_ok=True)

    def _write_seal(self, file_stat: list[int], digest: str) -> None:
        settled = bool(file_stat) and abs(self._clock() - file_stat[-1]) > _SETTLED
        self._replace_json(self._seal, {"stat": file_stat, "settled": settled, "digest": digest})

    def _replace_json(self, path: Path, content: dict[str, object]) -> None:
        temporary = self.folder / f"seal.{random_token()}.tmp"
        try:
            temporary.write_text(json.dumps(content))
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def find_agreed_tree(self) -> "AgreedTree | None":
        """Return the last notes' folder that an index agreed with; None where nothing is known."""
        written = read_file(self._agreed_tree, limit=_LONGEST_SEAL)
        try:
            return None if isinstance(written, UnreadableFile) else AgreedTree(**json.loads(written))
        except (ValueError, TypeError, RecursionError):
            return None

    def save_agreed_tree(self, agreed: "AgreedTree") -> None:
        """Save that the index in the state `agreed.seal` agrees with the notes' folder as it is.

        Raises:
            OSError: the folder can't be written to.
        """
        self._replace_json(self._agreed_tree, asdict(agreed))

    def open_connection(self, *, writing: bool = False, shared: bool = False) -> sqlite3.Connection:
        """Return a connection to the stored index; threads take turns on a `shared` one."""
        mode = "rw" if writing else "ro"
        db = sqlite3.connect(
            f"{file_uri(self.path)}?mode={mode}",
            uri=True,
            timeout=SHORT_WAIT,
            isolation_level=None,
            check_same_thread=not shared,
        )
        return harden_connection(db, writing=writing)

    @contextlib.contextmanager
    def replace_index(self, *, goes_on: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield an index to fill, empty or a copy of the old one (`goes_on`); then replace the old one.

        Until then everybody has the old one, and keeps it where this is broken off. The lock is held.
        """
        temporary = self.folder / f"build.{random_token()}.tmp"
        try:
            if goes_on:
                import shutil  # with three compressors, and most looks read only

                shutil.copyfile(self.path, temporary)
            db = sqlite3.connect(temporary, isolation_level=None)
            try:
                # nobody else sees the file, and one that isn't finished is thrown away
                db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768")
                yield harden_connection(db, writing=True)
            finally:
                db.close()
            _sync_file(temporary)
            digest = _file_digest(temporary)
            # a kill between these two costs the index, and a kill before or after them does not
            self._write_seal([], digest)
            temporary.replace(self.path)
            for leftover in self._journal_paths():
                leftover.unlink(missing_ok=True)
            self._write_seal(_stat_values(self.path), digest)
            self.written_digest = digest
        finally:
            temporary.unlink(missing_ok=True)

    def _journal_paths(self) -> Iterator[Path]:
        """Yield the paths of SQLite's journals, none of which exists beside a sealed index."""
        for ending in _ENDINGS:
            yield self.folder / f"{self.path.name}{ending}"

    def _remove_leftovers(self) -> None:
        """Remove the files that a killed build left behind."""
        for leftover in self.folder.glob("*.tmp*"):
            if _LEFTOVER.fullmatch(leftover.name):
                leftover.unlink(missing_ok=True)


def in_memory() -> sqlite3.Connection:
    """Return an empty database in memory."""
    return harden_connection(sqlite3.connect(":memory:", isolation_level=None), writing=True)


def harden_connection(db: sqlite3.Connection, *, writing: bool) -> sqlite3.Connection:
    """Return `db` with the settings by which SQLite trusts nothing in the file."""
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY"):
        db.execute(f"PRAGMA {pragma}")
    if not writing:
        db.execute("PRAGMA query_only = ON")
    return db


def _stat_values(path: Path) -> list[int]:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        # a FIFO would be waited for, and a link may lead to anything
        raise OSError(f"{path} isn't a regular file")
    return [status.st_size, status.st_ino, status.st_dev, status.st_mtime_ns, status.st_ctime_ns]


def _file_digest(path: Path) -> str:
    import hashlib  # of a whole index by OpenSSL, which most searches do without

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync_file(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
