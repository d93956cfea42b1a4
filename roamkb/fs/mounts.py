"""Alternative paths of a folder that come from file systems mounted more than once.

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

_OCTAL_ESCAPE = rb"\\([0-7]{3})"


class Mount:
    """A folder `inside` a device that shows at `point`."""

    __slots__ = ("device", "file_system", "inside", "number", "parent", "point")

    def __init__(
        self, *, point: str, device: str, inside: str, number: int = 0, parent: int = -1, file_system: str = ""
    ) -> None:
        """Take the fields of one line of the mount table; `parent` is the number of the mount below it."""
        self.file_system = file_system
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
    return parse_mounts(data)


def other_names(path: str, mounts: tuple[Mount, ...]) -> tuple[str, ...]:
    """Return every other path at which the folder of `path`, a real path, is mounted.

    What lies under a mount on the way isn't seen by that name. Where a whole mount is hidden, it is taken
    as if it were seen: that names too many, never too few.
    """
    names: dict[str, None] = {}
    for mount in mounts:
        relative_path = path_below(path, mount.point)
        if relative_path is None:
            continue
        inside = _join_paths(mount.inside, relative_path)
        for other_mount in mounts:
            if other_mount.device == mount.device and other_mount is not mount:
                relative_shown = path_below(inside, other_mount.inside)
                name = _join_paths(other_mount.point, relative_shown or "")
                if relative_shown is not None and not _is_hidden(name, other_mount, mounts):
                    names[name] = None
    names.pop(path, None)
    return tuple(names)


def _is_hidden(name: str, shown_mount: Mount, mounts: tuple[Mount, ...]) -> bool:
    return any(mount.parent == shown_mount.number and path_below(name, mount.point) is not None for mount in mounts)


def mount_points_below(path: str, mounts: tuple[Mount, ...]) -> tuple[str, ...]:
    """Return the mount points strictly below `path`."""
    return tuple(mount.point for mount in mounts if path_below(mount.point, path))


def path_below(path: str, top: str) -> str | None:
    """Return the part of `path` below `top`: empty for `top` itself, None outside of it."""
    if path == top or top == "/":
        return path[len(top) :]
    return path[len(top) + 1 :] if path.startswith(top + "/") else None


def _join_paths(top: str, relative_path: str) -> str:
    return f"{top.rstrip('/')}/{relative_path}".rstrip("/") or "/"


def parse_mounts(data: bytes) -> tuple[Mount, ...]:
    """Return the mounts in the bytes of `mountinfo`, in its order: the later one hides the earlier one."""
    return tuple(_parse_lines(data))


def _parse_lines(data: bytes) -> Iterator[Mount]:
    """Yield the lines of `mountinfo`: id, parent, device, inside, point, options, …, a dash, file system, …"""
    for line in data.splitlines():
        fields = line.split(b" ", 5)
        # a deleted folder can stay mounted, and file systems without folders have no path inside
        if len(fields) == 6 and fields[3].startswith(b"/") and fields[4].startswith(b"/"):
            yield Mount(
                point=_unescape_field(fields[4]), device=fields[2].decode(), inside=_unescape_field(fields[3]),
                number=int(fields[0]), parent=int(fields[1]),
                file_system=fields[5].partition(b" - ")[2].partition(b" ")[0].decode("ascii", "replace"),
            )  # fmt: skip


def _unescape_field(field: bytes) -> str:
    """Return a path of the mount table with its octal escapes decoded."""
    if b"\\" in field:
        field = re.sub(_OCTAL_ESCAPE, lambda match: bytes([int(match[1], 8)]), field)
    return field.decode(sys.getfilesystemencoding(), "surrogateescape")
