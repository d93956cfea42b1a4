"""Digest of a folder's names and stats, by which a later look knows at once that nothing changed.

A stat of each file is what the system takes; to compare ten thousand of them with a database's rows takes
several times as long. Whoever compared them keeps the digest, and compares again once it differs.
"""

import marshal
import os
import stat
import time
from operator import attrgetter

from roamkb.core.startup import digests

#: How names begin and end that programs leave beside files: neither notes nor kept by the journal.
IGNORED_STARTS = (".#", "#", ".syncthing.")
IGNORED_ENDS = ("~", ".db", ".db-journal", ".db-wal", ".db-shm", ".elc", ".pyc", ".swp", ".swx")
_DIGEST_BYTES = 16
#: Without references to equal objects, so that equal values are equal bytes.
_MARSHAL_VERSION = 2
#: What an index compares of a file; its mode changes with the time of any change.
_FILE_FIELDS = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_dev")
_OTHER_FIELDS = attrgetter("st_mode", "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_dev")


class TreeDigest:
    """The digest of a tree; no dataclass, which takes as long to make as Python to start."""

    __slots__ = ("has_links", "hex")

    def __init__(self, hex_digits: str, *, has_links: bool) -> None:
        """Take the digest, and whether a link leads to what it says nothing about."""
        self.hex = hex_digits
        self.has_links = has_links


def digest_tree(root: str, *, deadline: float | None = None) -> TreeDigest | None:
    """Return the digest of all below `root`, without the content of hidden folders; None where in doubt.

    In doubt is what can't be listed, changes meanwhile, or isn't done at the `deadline` (`time.monotonic`).
    A link is an entry of its own; a folder's times say nothing, since what is in it is looked at.
    """
    total = digests.blake2b(digest_size=_DIGEST_BYTES)
    has_links = False
    pending = [""]
    try:
        while pending:
            prefix = pending.pop()
            names, stats, others = _stat_folder(f"{root}/{prefix}")
            total.update(marshal.dumps((prefix, names, stats, others), _MARSHAL_VERSION))
            for name, values in others:
                has_links |= stat.S_ISLNK(values[0])
                if stat.S_ISDIR(values[0]) and not name.startswith("."):
                    pending.append(f"{prefix}{name}/")
            if deadline is not None and time.monotonic() > deadline:
                return None
    except OSError:
        return None
    return TreeDigest(total.hexdigest(), has_links=has_links)


def _stat_folder(place: str) -> "tuple[str, list[tuple[int, ...]], list[tuple[str, tuple[int, ...]]]]":
    """Return the names of a folder's regular files, the stat of each, and all other entries with theirs."""
    # from its descriptor the system finds each file in one step
    fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with os.scandir(fd) as scanned:
            entries = list(scanned)
        files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        others: list[str] = []
        if len(files) < len(entries):
            others = [entry.name for entry in entries if not entry.is_file(follow_symlinks=False)]
        names = "\0".join(("", *files, ""))
        if names.count(".org\0") < len(files) or "\0#" in names or "\0." in names:
            # few folders hold anything but notes, and to ask each name takes a fifth of the time of its stat
            files = [name for name in files if not (name.startswith(IGNORED_STARTS) or name.endswith(IGNORED_ENDS))]
            names = "\0".join(("", *files, ""))
        stats = [_FILE_FIELDS(os.stat(name, dir_fd=fd, follow_symlinks=False)) for name in files]
        return names, stats, [(name, _other_values(name, fd)) for name in others if not name.startswith(".#")]
    finally:
        os.close(fd)


def _other_values(name: str, fd: int) -> tuple[int, ...]:
    status = os.stat(name, dir_fd=fd, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        return (status.st_mode, status.st_dev)
    values: tuple[int, ...] = _OTHER_FIELDS(status)
    return values
