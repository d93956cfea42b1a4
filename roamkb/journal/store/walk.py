"""A walk over the notes' folder for the journal: every name with its stat, contents when read.

Nothing is followed: a link is an entry of its own. Names are bytes, whatever they spell.
"""

# pathlib knows no names that are bytes
# ruff: noqa: PTH115

import os
import stat
import time
from collections.abc import Iterable

from roamkb.journal.names import TOO_LARGE
from roamkb.journal.names import UNREADABLE
from roamkb.journal.names import is_closed
from roamkb.journal.names import is_dropping
from roamkb.journal.names import max_kept_bytes

#: Path, form, mode, size, times of writing and of any change in nanoseconds, inode.
SeenEntry = tuple[bytes, str, int, int, int, int, int]

#: Names beyond which a folder is no knowledge base, and nobody waits for the rest.
_MAX_NAMES = 400_000
#: A save takes milliseconds: a name that is gone, or a file that is empty, is looked at again after these.
_RECHECK_PAUSE = 0.05
#: Texts, as the database has them: a comparison of enumerations takes longer than the walk.
_FORM_NAMES = {stat.S_IFREG: "file", stat.S_IFLNK: "link", stat.S_IFDIR: "folder"}
_OTHER_FORM = "other"


class TooSlow(Exception):
    """The folder is too large to be listed in the given time."""


class FolderListing:
    """The entries of the folder; no dataclass, which takes as long to make as Python to start."""

    __slots__ = ("seen", "unlisted")

    def __init__(self, seen_entries: set[SeenEntry], unlisted: tuple[bytes, ...] = ()) -> None:
        """Take the names with their stats, and the folders that couldn't be listed, each with its `/`."""
        self.seen = seen_entries
        #: What lies in these isn't known.
        self.unlisted = unlisted

    def is_unlisted(self, path: bytes) -> bool:
        """Say whether `path` lies in a folder that couldn't be listed."""
        return path.startswith(self.unlisted) if self.unlisted else False


def list_folder(root: bytes, *, deadline: float | None = None) -> FolderListing:  # noqa: C901 - the hot loop
    """Return every name below `root`.

    Raises:
        TooSlow: it isn't done at the `deadline`. OSError: the folder itself can't be listed.
    """
    listed: set[SeenEntry] = set()
    unlisted: list[bytes] = []
    add = listed.add
    pending = [b""]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(root + b"/" + folder) as entries:
                for entry in entries:
                    name = entry.name
                    if is_dropping(name):
                        continue
                    status = entry.stat(follow_symlinks=False)
                    mode = status.st_mode
                    form = _FORM_NAMES.get(stat.S_IFMT(mode), _OTHER_FORM)
                    if form == "folder":
                        # its times change with what is in it, which is listed by itself
                        add((folder + name, form, stat.S_IMODE(mode), 0, 0, 0, 0))
                        if not is_closed(name):
                            pending.append(folder + name + b"/")
                    else:
                        add(
                            (
                                folder + name,
                                form,
                                stat.S_IMODE(mode),
                                status.st_size,
                                status.st_mtime_ns,
                                status.st_ctime_ns,
                                status.st_ino,
                            )
                        )
        except FileNotFoundError:
            if not folder:
                raise
        except OSError:
            if not folder:
                raise
            unlisted.append(folder)
        if len(listed) > _MAX_NAMES or (deadline is not None and time.monotonic() > deadline):
            raise TooSlow
    return FolderListing(listed, tuple(unlisted))


def recheck_names(root: bytes, listing: FolderListing, doubtful: Iterable[bytes]) -> FolderListing:
    """Return the listing with each of the `doubtful` names read again a moment later."""
    time.sleep(_RECHECK_PAUSE)
    rechecked = set(doubtful)
    listed = {seen_entry for seen_entry in listing.seen if seen_entry[0] not in rechecked}
    listed.update(rechecked_entry for path in rechecked if (rechecked_entry := _stat_entry(root, path)) is not None)
    return FolderListing(listed, listing.unlisted)


def _stat_entry(root: bytes, path: bytes) -> SeenEntry | None:
    try:
        status = os.lstat(root + b"/" + path)
    except OSError:
        return None
    return _entry_from_stat(path, status)


def _entry_from_stat(path: bytes, status: os.stat_result) -> SeenEntry:
    form = _FORM_NAMES.get(stat.S_IFMT(status.st_mode), _OTHER_FORM)
    mode = stat.S_IMODE(status.st_mode)
    if form == "folder":
        return path, form, mode, 0, 0, 0, 0
    return path, form, mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def read_entry(root: bytes, seen_entry: SeenEntry) -> tuple[SeenEntry, bytes | str]:
    """Return a file or link as it is now with its content, or the reason why there is none."""
    path, form = seen_entry[:2]
    try:
        if form == "link":
            return seen_entry, os.readlink(root + b"/" + path)
        return _read_file(root, seen_entry)
    except PermissionError:
        return seen_entry, UNREADABLE
    except OSError:
        # gone since, a link by now, or a disk that may do better the next time
        return seen_entry, ""


def _read_file(root: bytes, seen_entry: SeenEntry) -> tuple[SeenEntry, bytes | str]:
    path = seen_entry[0]
    fd = os.open(root + b"/" + path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        status = os.fstat(fd)
        entry_now = _entry_from_stat(path, status)
        if not stat.S_ISREG(status.st_mode):
            return entry_now, ""
        if seen_entry[3] and not status.st_size:
            # an editor saves it
            return entry_now, ""
        if status.st_size > max_kept_bytes(path):
            return entry_now, TOO_LARGE
        data = bytearray()
        while chunk := os.read(fd, status.st_size + 1 - len(data)):
            data += chunk
            if len(data) > status.st_size:
                break
        is_steady = len(data) == status.st_size and _entry_from_stat(path, os.fstat(fd)) == entry_now
        return entry_now, bytes(data) if is_steady else ""
    finally:
        try:  # noqa: SIM105 - contextlib is an import as well
            os.close(fd)
        except OSError:
            pass
