"""Layouts of large graphs, kept by the digest of what they were made from: they take seconds to make.

They are derived and disposable: what can't be read, kept or believed is made again.
"""

import contextlib
import threading
from array import array
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.startup.digests import blake2b
from roamkb.core.unreadable_file import UnreadableFile
from roamkb.fs.files import random_token
from roamkb.fs.files import read_file
from roamkb.fs.locks import make_private_folder
from roamkb.kb.graph.layout import Edge
from roamkb.kb.graph.layout import Places
from roamkb.kb.graph.layout import lay_out

#: Raise on any change of where nodes come to lie.
_LAYOUT = 1
#: Nodes of a graph that is laid out in a moment.
_FEW_NODES = 400
#: Layouts that are kept: all of the notes, before and after a change, and some of their parts.
_MOST_KEPT = 8
_CHECK = 16
#: One layout at a time: who asks again meanwhile gets what the first one made.
_GUARD = threading.Lock()


def place_nodes(folder: Path | None, count: int, edges: Sequence[Edge]) -> Places:
    """Return the coordinates of `count` nodes with these links; those of many are kept in the cache `folder`."""
    if folder is None or count <= _FEW_NODES:
        return lay_out(count, edges)
    content = array("I", (number for edge in edges for number in edge)).tobytes()
    path = folder / "layouts" / f"{blake2b(b'%d %d ' % (_LAYOUT, count) + content, digest_size=16).hexdigest()}.xy"
    with _GUARD:
        places = _read_places(path, count)
        if places is None:
            places = lay_out(count, edges)
            # a full disk costs a reader the time, and no drawing
            with contextlib.suppress(OSError, DiskError):
                _keep_places(path, places)
    return places


def _read_places(path: Path, count: int) -> Places | None:
    data = read_file(path)
    if isinstance(data, UnreadableFile) or len(data) != _CHECK + 2 * 4 * count or _check_of(data) != data[:_CHECK]:
        return None
    values = array("f", data[_CHECK:])
    return values[:count].tolist(), values[count:].tolist()


def _check_of(data: bytes) -> bytes:
    return blake2b(data[_CHECK:], digest_size=_CHECK).digest()


def _keep_places(path: Path, places: Places) -> None:
    data = bytes(_CHECK) + array("f", places[0]).tobytes() + array("f", places[1]).tobytes()
    make_private_folder(path.parent)
    temporary = path.parent / f"{random_token()}.tmp"
    try:
        temporary.write_bytes(_check_of(data) + data[_CHECK:])
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    kept = sorted(path.parent.glob("*.xy"), key=lambda file: file.stat().st_mtime_ns)
    for old in kept[:-_MOST_KEPT]:
        old.unlink(missing_ok=True)
