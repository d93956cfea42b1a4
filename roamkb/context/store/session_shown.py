"""Ids shown to sessions of projects without a log: digests in the user's state folder.

What a session at work is shown says what it asked for, and nothing of that may lie outside its own tree. So
each session's file has a name and lines that are digests, keyed by the session's id, which only its harness
knows. Whoever reads them learns that some session was shown something. After some days they are gone.
"""

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from roamkb.core.startup.digests import blake2b
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_lines
from roamkb.fs.locks import make_private_folder

#: Days after which no session goes on that nobody spoke to.
_RETENTION_DAYS: Final = 2


class SessionShown:
    """The ids that one session was shown, kept as keyed digests."""

    def __init__(self, folder: Path, session: str) -> None:
        """Look into `folder`, which is the user's own.

        Raises:
            DiskError: what lies there can't be read.
        """
        self._key = blake2b(session.encode("utf-8", "surrogatepass")).digest()
        self._path = folder / self._keyed_digest("")
        self._known = set(read_lines(self._path))

    def __contains__(self, id: object) -> bool:
        """Say whether the session was shown that id."""
        return self._keyed_digest(str(id)).encode() in self._known

    def add_ids(self, ids: Iterable[str]) -> None:
        """Record the ids that the session is shown now.

        Raises:
            DiskError: it can't be kept.
        """
        new_digests = [
            digest for digest in (self._keyed_digest(id).encode() for id in ids) if digest not in self._known
        ]
        if new_digests:
            make_private_folder(self._path.parent)
            _remove_old_files(self._path.parent)
            append_lines(self._path, new_digests, mode=0o600, is_durable=False)
            self._known.update(new_digests)

    def forget_all(self) -> None:
        """Forget all ids, as the session does after a compaction."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        self._known = set()

    def _keyed_digest(self, id: str) -> str:
        encoded = id.encode("utf-8", "surrogatepass")
        return blake2b(encoded, key=self._key, digest_size=16).hexdigest()


def _remove_old_files(folder: Path) -> None:
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _RETENTION_DAYS * 86400:
                path.unlink()
