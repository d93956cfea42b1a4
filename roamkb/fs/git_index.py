"""Files in git's index, read from the index itself, since git would run what a repository configures."""

import struct
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.typing import Final
from roamkb.core.startup.typing import NamedTuple
from roamkb.fs.files import read_file
from roamkb.fs.worktrees import pointed_folder

_MAX_INDEX_BYTES: Final = 256 * 1024 * 1024
_MAX_TEXT_BYTES: Final = 512 * 1024
#: Folders of what was learned, which may say anything.
_LEARNING_FOLDERS: Final = frozenset((".roamkb", ".lavra", ".beads", ".oro"))
_HEADER: Final = struct.Struct(">4sLL")
#: Of an entry before its name: mtime (s, ns), mode, size, the object's hash, SHA-1 or SHA-256, and the flags.
_ENTRY_LAYOUT: Final = ">8xII8xI8xI%dsH"
_HASH_SIZES: Final = (20, 32)
_EXTENDED_FLAG: Final = 0x4000
_UNCOMPRESSED_VERSIONS: Final = (2, 3)
_COMPRESSED_VERSION: Final = 4


class IndexEntry(NamedTuple):
    """A file as git last saw it."""

    name: bytes
    blob_hash: bytes
    #: Seconds, and nanoseconds or 0.
    mtime: tuple[int, int]
    mode: int
    size: int


def tracked_files_below(folder: Path) -> tuple[str, ...]:
    """Return the paths that git tracks below `folder`, relative to it; empty without an index."""
    for top in folder.parents:
        if (top / ".git").exists():
            data = read_file(_index_file(top), limit=_MAX_INDEX_BYTES)
            prefix = folder.relative_to(top).as_posix().encode() + b"/"
            # most have none, and to look for the last name takes no time
            if isinstance(data, UnreadableFile) or (folder.name.encode() + b"/" not in data and data[7:8] != b"\4"):
                return ()
            return tuple(
                name.removeprefix(prefix).decode("utf-8", "replace")
                for name, _ in _index_entries(data)
                if name.startswith(prefix)
            )
    return ()


def unchanged_texts(root: Path) -> Iterator[str]:
    """Yield the texts of files below `root` that equal git's version; none without an index.

    What was only written there counts for nothing: whoever asks may have written it.
    """
    top = next((ancestor for ancestor in (root, *root.parents) if (ancestor / ".git").exists()), None)
    data = read_file(_index_file(top), limit=_MAX_INDEX_BYTES) if top else None
    if top is None or data is None or isinstance(data, UnreadableFile):
        return
    for name, blob_hash in _index_entries(data):
        file = top / name.decode("utf-8", "surrogateescape")
        if not file.is_relative_to(root) or not _LEARNING_FOLDERS.isdisjoint(file.relative_to(root).parts):
            continue
        text = read_file(file, limit=_MAX_TEXT_BYTES)
        if (
            not isinstance(text, UnreadableFile)
            and b"\0" not in text[:1024]
            and _git_blob_hash(text, blob_hash) == blob_hash
        ):
            yield text.decode("utf-8", "replace")


def _git_blob_hash(data: bytes, known_hash: bytes) -> bytes:
    """Return the object hash that git gives to a file's content, SHA-1 or SHA-256 as `known_hash` is."""
    import hashlib  # with OpenSSL, which a session's start does without

    hash_function = hashlib.sha1 if len(known_hash) == _HASH_SIZES[0] else hashlib.sha256
    return hash_function(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).digest()


def _index_file(top: Path) -> Path:
    """Return the index file of the repository at `top`; a worktree has one of its own."""
    return Path(pointed_folder(str(top / ".git")) or top / ".git") / "index"


def _index_entries(data: bytes) -> list[tuple[bytes, bytes]]:
    """Return each name in an index with its blob hash; empty if the index can't be parsed."""
    for size in _HASH_SIZES:
        try:
            return [(entry.name, entry.blob_hash) for entry in parse_entries(data, size)]
        except (struct.error, IndexError, ValueError):
            continue
    return []


def parse_entries(data: bytes, hash_size: int = _HASH_SIZES[0]) -> Iterator[IndexEntry]:
    """Yield the entries of an index (gitformat-index, versions 2 to 4), as long as they can be read.

    Raises:
        ValueError, IndexError, struct.error: it is cut off here, or no index of that kind.
    """
    mark, version, count = _HEADER.unpack_from(data)
    layout = struct.Struct(_ENTRY_LAYOUT % hash_size)
    if mark != b"DIRC" or version not in (*_UNCOMPRESSED_VERSIONS, _COMPRESSED_VERSION):
        raise ValueError("no index that we read")
    offset, name = _HEADER.size, b""
    for _ in range(count):
        start = offset
        *mtime, mode, size, blob_hash, flags = layout.unpack_from(data, start)
        offset += layout.size + (2 if flags & _EXTENDED_FLAG else 0)
        prefix_length = 0
        if version == _COMPRESSED_VERSION:
            dropped, offset = _read_varint(data, offset)
            if dropped > len(name):
                raise ValueError("a name shorter than nothing")
            prefix_length = len(name) - dropped
        end = data.index(b"\0", offset)
        name = name[:prefix_length] + data[offset:end]
        if not name or flags & 0xFFF != min(len(name), 0xFFF):
            raise ValueError("a name of another length")
        yield IndexEntry(name, blob_hash, (mtime[0], mtime[1]), mode, size)
        offset = end + 1
        if version != _COMPRESSED_VERSION:
            # each entry ends on a multiple of eight
            offset = start + -(-(offset - start) // 8) * 8


def _read_varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return a variable-length number of git's, seven bits a byte, and the offset after it."""
    value = data[offset] & 0x7F
    while data[offset] & 0x80:
        offset += 1
        value = ((value + 1) << 7) | (data[offset] & 0x7F)
    return value, offset + 1
