"""Images of the knowledge base: regular files inside of it that are pictures by their name and their first bytes."""

import os
import stat
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from roamkb.core.errors import NotFound
from roamkb.core.startup.dataclasses import dataclass

#: A larger one is no illustration, and a server would hold it in memory.
MOST_BYTES: Final = 32 * 2**20


def _riff(kind: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(b"RIFF") and head[8:12] == kind


def _begins(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(starts)


#: By ending: the type that is served, and whether the first bytes are of that type. An SVG is a document with
#: scripts, and isn't here.
_TYPES: Final[Mapping[str, tuple[str, Callable[[bytes], bool]]]] = {
    ".png": ("image/png", _begins(b"\x89PNG\r\n\x1a\n")),
    ".jpg": ("image/jpeg", _begins(b"\xff\xd8\xff")),
    ".jpeg": ("image/jpeg", _begins(b"\xff\xd8\xff")),
    ".gif": ("image/gif", _begins(b"GIF87a", b"GIF89a")),
    ".webp": ("image/webp", _riff(b"WEBP")),
    ".avif": ("image/avif", lambda head: head[4:12] in (b"ftypavif", b"ftypavis")),
    ".bmp": ("image/bmp", _begins(b"BM")),
    ".ico": ("image/x-icon", _begins(b"\0\0\1\0")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """An image, and its media type."""

    data: bytes
    type: str


def find_image(kb: Path, file: str) -> Path | None:
    """Return the path of the image at `file`, relative to the knowledge base; None where there is none.

    What lies elsewhere, in a hidden folder or behind a link out of the knowledge base isn't there.
    """
    root = kb.resolve()
    try:
        path = (root / file).resolve()
        is_there = path.suffix.lower() in _TYPES and path.is_relative_to(root) and path.is_file()
    except (OSError, ValueError, RuntimeError):
        return None
    is_hidden = is_there and any(part.startswith(".") for part in path.relative_to(root).parts)
    return path if is_there and not is_hidden else None


def read_image(kb: Path, file: str) -> ImageFile:
    """Return the image at `file`, relative to the knowledge base.

    Raises:
        NotFound: there is none (see `find_image`), or it is none of its name's type by its first bytes.
    """
    path = find_image(kb, file)
    data = None if path is None else _read_regular(path)
    if path is not None and data is not None:
        media_type, is_of_type = _TYPES[path.suffix.lower()]
        if is_of_type(data[:16]):
            return ImageFile(data=data, type=media_type)
    raise NotFound(file, hint="images are files of the knowledge base: png, jpg, gif, webp, avif, bmp, ico")


def _read_regular(path: Path) -> bytes | None:
    """Return the bytes of a regular file of bounded size; a device or a pipe isn't waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            return None
        return file.read(MOST_BYTES)
