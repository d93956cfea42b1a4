"""Digest of a folder's names and stats, by which a later look knows at once that nothing changed.

A stat of each file is what the system takes; to compare ten thousand of them with a database's rows takes
several times as long. Whoever compared them keeps the digest, and compares again once it differs.

Where a guess is good enough, the files of a folder that is as it was needn't be asked: what adds, removes, renames or
replaces a file changes its folder. A program that writes into a file as it lies there doesn't, so that the files
written last are asked all the same (docs/architecture.md).
"""

import json
import marshal
import os
import stat
import time
from operator import attrgetter

from roamkb import TYPE_CHECKING
from roamkb.core.startup import digests

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Mapping
    from collections.abc import Sequence

#: How names begin and end that programs leave beside files: neither notes nor kept by the journal.
IGNORED_STARTS = (".#", "#", ".syncthing.")
IGNORED_ENDS = ("~", ".db", ".db-journal", ".db-wal", ".db-shm", ".elc", ".pyc", ".swp", ".swx")
_DIGEST_BYTES = 16
#: Without references to equal objects, so that equal values are equal bytes.
_MARSHAL_VERSION = 2
#: What an index compares of a file; its mode changes with the time of any change.
_FILE_FIELDS = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_dev")
_OTHER_FIELDS = attrgetter("st_mode", "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_dev")


#: By these a folder shows that an entry of it changed, or that it is another one.
_FOLDER_FIELDS = attrgetter("st_mode", "st_dev", "st_ino", "st_mtime_ns", "st_ctime_ns")
#: Nanoseconds after which a folder that changes again has another time for sure.
_SETTLED = 2_000_000_000
#: The files written last, which are asked although their folder is as it was: what is edited is edited again.
_MOST_RECENT = 256
#: Nanoseconds after which all files are asked again.
KNOWN_FOR = 600_000_000_000
#: Raise on any change of what a folder's digest is made of, or of how it is kept.
_FORM = 1


class DigestedFolder:
    """A folder as it was listed: its stamp, None where it may change again under it; its digest and its folders."""

    __slots__ = ("digest", "files", "folders", "has_links", "stamp")

    def __init__(
        self,
        stamp: "Sequence[int] | None",
        digest: str,
        folders: "Sequence[str]",
        *,
        has_links: bool,
        files: "Sequence[tuple[str, tuple[int, ...]]]" = (),
    ) -> None:
        """Take them; `files` are the names with their stats, where these were asked for just now."""
        self.stamp = stamp
        self.digest = digest
        self.folders = folders
        self.has_links = has_links
        self.files = files


class TreeDigest:
    """The digest of a tree; no dataclass, which takes as long to make as Python to start."""

    __slots__ = ("_listings", "_taken_at", "has_links", "hex", "is_complete")

    def __init__(self, listings: "Mapping[str, DigestedFolder]", *, taken_at: int, is_complete: bool) -> None:
        """Take the folders by their names, and when the first was listed, in nanoseconds since 1970."""
        self._listings = listings
        self._taken_at = taken_at
        total = digests.blake2b(digest_size=_DIGEST_BYTES)
        for listing in listings.values():
            total.update(listing.digest.encode())
        self.hex = total.hexdigest()
        #: Whether a link leads to what it says nothing about.
        self.has_links = any(listing.has_links for listing in listings.values())
        #: Whether each file was asked for its stat, and none was taken to be as it was because its folder is.
        self.is_complete = is_complete

    def to_json(self) -> str:
        """Return what `KnownTree.from_json` reads; of a complete digest."""
        recent: dict[str, dict[str, tuple[int, ...]]] = {}
        stats = [
            (values[1], prefix, name) for prefix, listing in self._listings.items() for name, values in listing.files
        ]
        for _, prefix, name in sorted(stats, reverse=True)[:_MOST_RECENT]:
            recent.setdefault(prefix, {})[name] = ()
        for prefix, files in recent.items():
            files.update((name, values) for name, values in self._listings[prefix].files if name in files)
        folders = {
            prefix: (listing.stamp, listing.digest, listing.folders, listing.has_links)
            for prefix, listing in self._listings.items()
        }
        return json.dumps({"form": _FORM, "taken_at": self._taken_at, "folders": folders, "recent": recent})


class KnownTree:
    """The folders of a complete digest, and the files of it that were written last."""

    __slots__ = ("_folders", "_recent")

    def __init__(
        self,
        folders: "Mapping[str, tuple[Sequence[int] | None, str, Sequence[str], bool]]",
        recent: "Mapping[str, Mapping[str, Sequence[int]]]",
    ) -> None:
        """Take both by the folders' names, as `TreeDigest.to_json` writes them."""
        self._folders = folders
        self._recent = recent

    @classmethod
    def from_json(cls, data: bytes, *, clock: "Callable[[], int]" = time.time_ns) -> "KnownTree | None":
        """Return the tree of a digest made lately; None where `data` isn't that."""
        try:
            known = json.loads(data)
            is_recent = 0 <= clock() - known["taken_at"] < KNOWN_FOR
            return cls(known["folders"], known["recent"]) if is_recent and known["form"] == _FORM else None
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def find_unchanged(self, root: str, prefix: str) -> DigestedFolder | None:
        """Return a folder if it and those of its files that were written last are as they were; raise `OSError`."""
        if prefix not in self._folders:
            return None
        stamp, digest, folders, has_links = self._folders[prefix]
        place = f"{root}/{prefix}"
        if stamp is None or tuple(stamp) != _FOLDER_FIELDS(os.lstat(place)):
            return None
        for name, values in self._recent.get(prefix, {}).items():
            if tuple(values) != _FILE_FIELDS(os.lstat(place + name)):
                return None
        return DigestedFolder(stamp, digest, folders, has_links=has_links)


def digest_tree(
    root: str,
    *,
    deadline: float | None = None,
    known: KnownTree | None = None,
    clock: "Callable[[], int]" = time.time_ns,
) -> TreeDigest | None:
    """Return the digest of all below `root`, without the content of hidden folders; None where in doubt.

    In doubt is what can't be listed, changes meanwhile, or isn't done at the `deadline` (`time.monotonic`).
    A link is an entry of its own; a folder's times say nothing, since what is in it is looked at.

    Of a folder that is as it was when `known` was made, only the files written last are asked. So a file that a
    program wrote into as it lay there, in a folder in which no name changed since, may go unnoticed. `clock` tells the
    time of files in nanoseconds.
    """
    taken_at = clock()
    listings: dict[str, DigestedFolder] = {}
    pending = [""]
    try:
        while pending:
            prefix = pending.pop()
            listing = known.find_unchanged(root, prefix) if known else None
            listings[prefix] = listing = listing or _list_folder(root, prefix, taken_at)
            pending += (f"{prefix}{name}/" for name in listing.folders)
            if deadline is not None and time.monotonic() > deadline:
                return None
    except (OSError, TypeError, ValueError, AttributeError):
        # it changes, or another program wrote what is `known`
        return None
    return TreeDigest(listings, taken_at=taken_at, is_complete=known is None)


def _list_folder(root: str, prefix: str, now: int) -> DigestedFolder:
    """Return a folder with the stat of each file; the look began at `now`."""
    # from its descriptor the system finds each file in one step
    fd = os.open(f"{root}/{prefix}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        stamp = _FOLDER_FIELDS(os.fstat(fd))
        with os.scandir(fd) as scanned:
            entries = list(scanned)
        files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        other_names: list[str] = []
        if len(files) < len(entries):
            other_names = [entry.name for entry in entries if not entry.is_file(follow_symlinks=False)]
        names = "\0".join(("", *files, ""))
        if names.count(".org\0") < len(files) or "\0#" in names or "\0." in names:
            # few folders hold anything but notes, and to ask each name takes a fifth of the time of its stat
            files = [name for name in files if not (name.startswith(IGNORED_STARTS) or name.endswith(IGNORED_ENDS))]
            names = "\0".join(("", *files, ""))
        stats = [_FILE_FIELDS(os.stat(name, dir_fd=fd, follow_symlinks=False)) for name in files]
        others = [(name, _other_values(name, fd)) for name in other_names if not name.startswith(".#")]
    finally:
        os.close(fd)
    content = marshal.dumps((prefix, stamp[:2], names, stats, others), _MARSHAL_VERSION)
    return DigestedFolder(
        # one that changed in the last moments, or has a time to come, may change and keep it
        stamp if max(stamp[3:]) < now - _SETTLED else None,
        digests.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest(),
        [name for name, values in others if stat.S_ISDIR(values[0]) and not name.startswith(".")],
        has_links=any(stat.S_ISLNK(values[0]) for _, values in others),
        files=list(zip(files, stats, strict=True)),
    )


def _other_values(name: str, fd: int) -> tuple[int, ...]:
    status = os.stat(name, dir_fd=fd, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        # one that is listed tells them itself
        return (status.st_mode, status.st_dev) if name.startswith(".") else (stat.S_IFDIR,)
    values: tuple[int, ...] = _OTHER_FIELDS(status)
    return values
