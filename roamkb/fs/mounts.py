"""Alternative paths of a folder that come from file systems mounted more than once.

A bind mount makes `~/code/x` of `~/projects/work/x`, and neither the path, the real path
nor a link tells. The mount table does: it names for each mount the device and the folder
of it that shows there.
"""

# pathlib alone takes as long to import as Python to start, and hooks ask for this
# ruff: noqa: PTH116, PTH118, PTH123

import os
import re
import sys
from collections.abc import Iterator

_OCTAL_ESCAPE = rb"\\([0-7]{3})"
#: File systems that only this kernel writes to, so that it knows of every change.
_LOCAL = frozenset("bcachefs btrfs ext2 ext3 ext4 f2fs jfs reiserfs tmpfs xfs zfs".split())
#: They have other device numbers than the mount table says.
_WITH_SUBVOLUMES = frozenset(("bcachefs", "btrfs"))


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


class MountedFolder:
    """The folder that a path names, and the mounts by which it does: another one has other events."""

    __slots__ = ("_identity", "_mounts", "_real")

    def __init__(self, folder: "str | os.PathLike[str]") -> None:
        """Read them; raise `OSError` where the folder or the mount table can't be read."""
        with open("/proc/self/mountinfo", "rb") as file:
            table = file.read()
        self._real = real = os.path.realpath(folder)
        # what is mounted elsewhere changes nothing here
        self._mounts = [
            mount
            for mount in parse_mounts(table)
            if path_below(real, mount.point) is not None or path_below(mount.point, real)
        ]
        places = [(mount.number, mount.device, mount.inside, mount.point) for mount in self._mounts]
        status = os.stat(folder)
        self._identity = (real, status.st_dev, status.st_ino, places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MountedFolder) and self._identity == other._identity

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_local(self) -> bool:
        """Whether the kernel hears of all changes in the folder: one file system, which others can't change."""
        if not self._mounts or any(path_below(mount.point, self._real) for mount in self._mounts):
            return False
        # of the same point the last one shows
        mount = max(enumerate(self._mounts), key=lambda place: (len(place[1].point), place[0]))[1]
        device = f"{os.major(self._identity[1])}:{os.minor(self._identity[1])}"
        return mount.file_system in _LOCAL and (mount.file_system in _WITH_SUBVOLUMES or mount.device == device)


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
