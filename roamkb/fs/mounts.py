"""Which other names a folder has because a file system is mounted more than once.

A bind mount makes `~/code/x` of `~/projects/work/x`, and neither the path, the real path
nor a link tells. The mount table does: it names for each mount the device and the folder
of it that shows there.
"""

# pathlib alone takes as long to import as Python to start, and hooks ask for this
# ruff: noqa: PTH118, PTH123

import os
import re
import sys
from collections.abc import Iterator

_OCTAL = rb"\\([0-7]{3})"


class Mount:
    """A folder `inside` a device that shows at `point`."""

    __slots__ = ("device", "inside", "number", "parent", "point")

    def __init__(self, *, point: str, device: str, inside: str, number: int = 0, parent: int = -1) -> None:
        """Take what the mount table says of it; it lies on the mount whose number is `parent`."""
        self.number = number
        self.parent = parent
        self.point = point
        self.device = device
        self.inside = inside


def read_mounts(proc: "str | os.PathLike[str]") -> tuple[Mount, ...]:
    """Return the mount table; raise `OSError` where a Linux doesn't show it."""
    try:
        with open(os.path.join(proc, "self", "mountinfo"), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        if sys.platform == "linux":
            raise
        return ()
    return tuple(_mounts(data))


def other_names(path: str, mounts: tuple[Mount, ...]) -> tuple[str, ...]:
    """Return every other path that shows what `path`, a real path, shows.

    What lies under a mount on the way isn't seen by that name. Where a whole mount is hidden, it is taken
    as if it were seen: that names too many, never too few.
    """
    found: dict[str, None] = {}
    for mount in mounts:
        rest = below(path, mount.point)
        if rest is None:
            continue
        inside = _joined(mount.inside, rest)
        for other in mounts:
            if other.device == mount.device and other is not mount:
                shown = below(inside, other.inside)
                name = _joined(other.point, shown or "")
                if shown is not None and not _is_hidden(name, other, mounts):
                    found[name] = None
    found.pop(path, None)
    return tuple(found)


def _is_hidden(name: str, shown_by: Mount, mounts: tuple[Mount, ...]) -> bool:
    return any(one.parent == shown_by.number and below(name, one.point) is not None for one in mounts)


def points_below(path: str, mounts: tuple[Mount, ...]) -> tuple[str, ...]:
    """Return the folders strictly below `path` where something is mounted."""
    return tuple(mount.point for mount in mounts if below(mount.point, path))


def below(path: str, top: str) -> str | None:
    """Return the rest of `path` below `top`, empty for `top` itself, None for what is elsewhere."""
    if path == top or top == "/":
        return path[len(top) :]
    return path[len(top) + 1 :] if path.startswith(top + "/") else None


def _joined(top: str, rest: str) -> str:
    return f"{top.rstrip('/')}/{rest}".rstrip("/") or "/"


def _mounts(data: bytes) -> Iterator[Mount]:
    """Yield the lines of `mountinfo`: id, parent, device, inside, point, …"""
    for line in data.splitlines():
        fields = line.split(b" ", 5)
        # a deleted folder can stay mounted, and file systems without folders have no path inside
        if len(fields) == 6 and fields[3].startswith(b"/") and fields[4].startswith(b"/"):
            yield Mount(
                point=_plain(fields[4]), device=fields[2].decode(), inside=_plain(fields[3]),
                number=int(fields[0]), parent=int(fields[1]),
            )  # fmt: skip


def _plain(field: bytes) -> str:
    """Return a path of the table with its octal escapes undone."""
    if b"\\" in field:
        field = re.sub(_OCTAL, lambda match: bytes([int(match[1], 8)]), field)
    return field.decode(sys.getfilesystemencoding(), "surrogateescape")
