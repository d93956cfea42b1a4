"""One look at the notes' folder for the journal: every name with its stat, and contents as they are read.

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
from roamkb.journal.names import largest

#: Path, form, mode, size, times of writing and of any change in nanoseconds, inode.
Seen = tuple[bytes, str, int, int, int, int, int]

#: Names beyond which a folder is no knowledge base, and nobody waits for the rest.
_MOST_NAMES = 400_000
#: A save takes milliseconds: a name that is gone, or a file that is empty, is looked at again after these.
_SAVE = 0.05
#: Texts, as the database has them: a comparison of enumerations takes longer than the walk.
_FORMS = {stat.S_IFREG: "file", stat.S_IFLNK: "link", stat.S_IFDIR: "folder"}
_OTHER = "other"


class TooSlow(Exception):
    """The folder is too large for a look in the time that there is."""


class FolderListing:
    """What lies in the folder; no dataclass, which takes as long to make as Python to start."""

    __slots__ = ("seen", "unlisted")

    def __init__(self, seen: set[Seen], unlisted: tuple[bytes, ...] = ()) -> None:
        """Take the names with their stats, and the folders that couldn't be listed, each with its `/`."""
        self.seen = seen
        #: What lies in these isn't known.
        self.unlisted = unlisted

    def is_unlisted(self, path: bytes) -> bool:
        """Say whether it isn't known what goes by that path now."""
        return path.startswith(self.unlisted) if self.unlisted else False


def list_folder(root: bytes, *, deadline: float | None = None) -> FolderListing:  # noqa: C901 - the hot loop
    """Return every name below `root`.

    Raises:
        TooSlow: it isn't done at the `deadline`. OSError: the folder itself can't be listed.
    """
    seen: set[Seen] = set()
    unlisted: list[bytes] = []
    add = seen.add
    pending = [b""]
    while pending:
        above = pending.pop()
        try:
            with os.scandir(root + b"/" + above) as entries:
                for entry in entries:
                    name = entry.name
                    if is_dropping(name):
                        continue
                    found = entry.stat(follow_symlinks=False)
                    mode = found.st_mode
                    form = _FORMS.get(stat.S_IFMT(mode), _OTHER)
                    if form == "folder":
                        # its times change with what is in it, which is listed by itself
                        add((above + name, form, stat.S_IMODE(mode), 0, 0, 0, 0))
                        if not is_closed(name):
                            pending.append(above + name + b"/")
                    else:
                        add(
                            (
                                above + name,
                                form,
                                stat.S_IMODE(mode),
                                found.st_size,
                                found.st_mtime_ns,
                                found.st_ctime_ns,
                                found.st_ino,
                            )
                        )
        except FileNotFoundError:
            if not above:
                raise
        except OSError:
            if not above:
                raise
            unlisted.append(above)
        if len(seen) > _MOST_NAMES or (deadline is not None and time.monotonic() > deadline):
            raise TooSlow
    return FolderListing(seen, tuple(unlisted))


def looked_again(root: bytes, listing: FolderListing, doubtful: Iterable[bytes]) -> FolderListing:
    """Return the listing with each of the `doubtful` names as it is a moment later."""
    time.sleep(_SAVE)
    again = set(doubtful)
    seen = {one for one in listing.seen if one[0] not in again}
    seen.update(found for path in again if (found := _seen(root, path)) is not None)
    return FolderListing(seen, listing.unlisted)


def _seen(root: bytes, path: bytes) -> Seen | None:
    try:
        found = os.lstat(root + b"/" + path)
    except OSError:
        return None
    return _seen_of(path, found)


def _seen_of(path: bytes, found: os.stat_result) -> Seen:
    form = _FORMS.get(stat.S_IFMT(found.st_mode), _OTHER)
    mode = stat.S_IMODE(found.st_mode)
    if form == "folder":
        return path, form, mode, 0, 0, 0, 0
    return path, form, mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def read_entry(root: bytes, seen: Seen) -> tuple[Seen, bytes | str]:
    """Return a file or link as it is now and its content, or why it has none; empty where that may change."""
    path, form = seen[:2]
    try:
        if form == "link":
            return seen, os.readlink(root + b"/" + path)
        return _read_file(root, seen)
    except PermissionError:
        return seen, UNREADABLE
    except OSError:
        # gone since, a link by now, or a disk that may do better the next time
        return seen, ""


def _read_file(root: bytes, seen: Seen) -> tuple[Seen, bytes | str]:
    path = seen[0]
    fd = os.open(root + b"/" + path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        found = os.fstat(fd)
        now = _seen_of(path, found)
        if not stat.S_ISREG(found.st_mode):
            return now, ""
        if seen[3] and not found.st_size:
            # an editor saves it
            return now, ""
        if found.st_size > largest(path):
            return now, TOO_LARGE
        data = bytearray()
        while chunk := os.read(fd, found.st_size + 1 - len(data)):
            data += chunk
            if len(data) > found.st_size:
                break
        is_steady = len(data) == found.st_size and _seen_of(path, os.fstat(fd)) == now
        return now, bytes(data) if is_steady else ""
    finally:
        try:  # noqa: SIM105 - contextlib is an import as well
            os.close(fd)
        except OSError:
            pass
