"""Which files git has in its index, by the index itself, since git would run what a repository says."""

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.core.model import UnreadableFile
from roamkb.fs.files import read_file

_MOST_BYTES: Final = 256 * 1024 * 1024
_LONGEST_TEXT: Final = 512 * 1024
#: Folders of what was learned, which may say anything.
_OTHERS: Final = frozenset((".roamkb", ".lavra", ".beads", ".oro"))
_HEADER: Final = struct.Struct(">4sLL")
#: Of an entry before its name: times, owner, size; then the object's hash, SHA-1 or SHA-256, and the flags.
_STAT: Final = 40
_HASHES: Final = (20, 32)
_EXTENDED: Final = 0x4000
_WHOLE_NAMES: Final = (2, 3)
_SHORTENED: Final = 4


def tracked_below(folder: Path) -> tuple[str, ...]:
    """Return what git tracks below `folder`, from there on; nothing where no index says."""
    for top in folder.parents:
        if (top / ".git").exists():
            data = read_file(_index(top), limit=_MOST_BYTES)
            below = folder.relative_to(top).as_posix().encode() + b"/"
            # most have none, and to look for the last name takes no time
            if isinstance(data, UnreadableFile) or (
                folder.name.encode() + b"/" not in data and data[7:8] != b"\4"
            ):
                return ()
            return tuple(
                name.removeprefix(below).decode("utf-8", "replace")
                for name, _ in _entries(data)
                if name.startswith(below)
            )
    return ()


def unchanged_texts(root: Path) -> Iterator[str]:
    """Yield the texts of the files below `root` that are as git has them; nothing where that can't be seen.

    What was only written there counts for nothing: whoever asks may have written it.
    """
    top = next((one for one in (root, *root.parents) if (one / ".git").exists()), None)
    data = read_file(_index(top), limit=_MOST_BYTES) if top else None
    if top is None or data is None or isinstance(data, UnreadableFile):
        return
    for name, hash in _entries(data):
        file = top / name.decode("utf-8", "surrogateescape")
        if not file.is_relative_to(root) or not _OTHERS.isdisjoint(file.relative_to(root).parts):
            continue
        text = read_file(file, limit=_LONGEST_TEXT)
        if not isinstance(text, UnreadableFile) and b"\0" not in text[:1024] and _blob(text, hash) == hash:
            yield text.decode("utf-8", "replace")


def _blob(data: bytes, like: bytes) -> bytes:
    """Return the name that git gives a file's content, by the hash that `like` is of."""
    make = hashlib.sha1 if len(like) == _HASHES[0] else hashlib.sha256
    return make(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).digest()


def _index(top: Path) -> Path:
    """Return the index of the repository at `top`; a worktree has one of its own."""
    git = top / ".git"
    if git.is_file():
        text = read_file(git, limit=4096)
        if not isinstance(text, UnreadableFile) and text.startswith(b"gitdir:"):
            return top / text.partition(b":")[2].decode("utf-8", "replace").strip() / "index"
    return git / "index"


def _entries(data: bytes) -> list[tuple[bytes, bytes]]:
    """Return the names in an index and the hashes of what they had; of what is none, or is cut off, none."""
    for size in _HASHES:
        try:
            return list(_read(data, size))
        except (struct.error, IndexError, ValueError):
            continue
    return []


def _read(data: bytes, hash_size: int) -> Iterator[tuple[bytes, bytes]]:
    mark, version, count = _HEADER.unpack_from(data)
    if mark != b"DIRC" or version not in (*_WHOLE_NAMES, _SHORTENED):
        raise ValueError("no index that we read")
    at, name = _HEADER.size, b""
    for _ in range(count):
        start = at
        at += _STAT + hash_size
        (flags,) = struct.unpack_from(">H", data, at)
        at += 4 if flags & _EXTENDED else 2
        kept = 0
        if version == _SHORTENED:
            dropped, at = _number(data, at)
            if dropped > len(name):
                raise ValueError("a name shorter than nothing")
            kept = len(name) - dropped
        end = data.index(b"\0", at)
        name = name[:kept] + data[at:end]
        if not name or flags & 0xFFF != min(len(name), 0xFFF):
            raise ValueError("a name of another length")
        yield name, data[start + _STAT : start + _STAT + hash_size]
        at = end + 1
        if version != _SHORTENED:
            # each entry ends on a multiple of eight
            at = start + -(-(at - start) // 8) * 8


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of git's, seven bits a byte, and where it ends."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1
