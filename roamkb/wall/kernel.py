"""Two walls that a process raises around itself, without other programs and without root.

*Namespace*: a mount namespace of its own, in which what is closed is mounted read-only over itself.
*Landlock*: a list of what may be written, which is everything but what is closed. Both go to all children
and can't be taken down by them. Linux only. The C library is called by what `ctypes` is made of: importing
that takes a third of the time that Python takes to start.
"""

import _ctypes
import os
import sys

from roamkb import TYPE_CHECKING
from roamkb.wall import plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Iterable

_O_PATH = 0
if sys.platform == "linux":
    _O_PATH = os.O_PATH

_NEWNS, _NEWUSER = 0x00020000, 0x10000000
_BIND, _REC, _SLAVE = 4096, 16384, 1 << 19
_AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY = -100, 0x8000, 1
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 24, 38
_MOUNT_SETATTR, _LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 442, 444, 445, 446
#: What root could undo a mount with, or reach around it: DAC_READ_SEARCH (opens by handle), SYS_MODULE,
#: SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, MKNOD (the disk itself).
_DROPPED_CAPABILITIES = (2, 16, 17, 19, 21, 27)

_WRITE_FILE, _MAKE_AND_REMOVE, _REFER, _TRUNCATE = 1 << 1, 0x1FF << 4, 1 << 13, 1 << 14
_VERSION_FLAG, _PATH_BENEATH = 1, 1
#: Before it, a file couldn't be renamed from one folder to another in any sandbox.
_OLDEST_ABI = 2


class _CLong(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001 - as ctypes makes its own
    _type_ = "l"


class _CFunction(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _CLong


#: What this process is linked with.
_c_library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]


def _call_library(name: str, *arguments: int | bytes | None) -> int:
    """Call a function of the C library, whose arguments are as wide as a pointer.

    Raises:
        OSError: it failed.
    """
    function = _CFunction(_ctypes.dlsym(_c_library, name))
    c_arguments = (_CLong(value) if isinstance(value, int) else value for value in arguments)
    result: int = function(*c_arguments)
    if result < 0:
        error_number = _ctypes.get_errno()
        raise OSError(error_number, f"{name}: {os.strerror(error_number)}")
    return result


def _call_prctl(option: int, argument: int) -> None:
    _call_library("prctl", option, argument, 0, 0, 0)


def _pack_fields(*fields: tuple[int, int]) -> bytes:
    """Return the bytes of a structure, each value with its size."""
    return b"".join(value.to_bytes(size, sys.byteorder) for value, size in fields)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent is killed."""
    _call_prctl(_PR_SET_PDEATHSIG, 9)
    if os.getppid() != parent:
        os.kill(os.getpid(), 9)


# Mounts


def enter_namespace(paths: "plan.WallPaths", cwd: str) -> None:
    """Mount the closed paths read-only for this process and its children, and pin the pinned ones.

    Raises:
        OSError: the system doesn't let this user.
    """
    user, group = os.getuid(), os.getgid()
    try:
        _call_library("unshare", _NEWNS)
    except PermissionError:
        _call_library("unshare", _NEWNS | _NEWUSER)
        _write_text("/proc/self/setgroups", "deny")
        _write_text("/proc/self/uid_map", f"{user} {user} 1")
        _write_text("/proc/self/gid_map", f"{group} {group} 1")
    # what is mounted outside later is seen here, and not the other way round
    _mount_over(None, b"/", _REC | _SLAVE)
    attributes_by_path = dict.fromkeys(paths.pinned, (0, 0)) | dict.fromkeys(paths.closed, (_ATTR_RDONLY, 0))
    attributes_by_path |= dict.fromkeys(paths.opened, (0, _ATTR_RDONLY))
    for path in sorted(attributes_by_path):
        path_bytes, (added, removed) = os.fsencode(path), attributes_by_path[path]
        if not added and os.path.islink(path):
            _pin_link(path)
            continue
        try:
            _mount_over(path_bytes, path_bytes, _BIND | _REC)
        except FileNotFoundError:
            continue
        if added or removed:
            attributes = _pack_fields((added, 8), (removed, 8), (0, 8), (0, 8))
            _call_library("syscall", _MOUNT_SETATTR, _AT_FDCWD, path_bytes, _AT_RECURSIVE, attributes, len(attributes))
    # the folder that the process is in would stay the one below the mount; if it is gone, it has a way up
    os.chdir(cwd)
    _give_up_rights()


def _pin_link(path: str) -> None:
    """Mount a link over itself, so that it can't be replaced; not each kernel can."""
    try:
        link = os.open(path, _O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        link_path = b"/proc/self/fd/%d" % link
        _mount_over(link_path, link_path, _BIND)
    except OSError:
        return
    finally:
        os.close(link)


def _give_up_rights() -> None:
    """Prevent this process from gaining rights, and root from undoing the wall."""
    if os.getuid() == 0:
        for capability in _DROPPED_CAPABILITIES:
            _call_prctl(_PR_CAPBSET_DROP, capability)
    _call_prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _write_text(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _mount_over(source: bytes | None, target: bytes, flags: int) -> None:
    _call_library("mount", source, target, None, flags, None)


# Landlock


def landlock_version() -> int:
    """Return the kernel's version of Landlock; 0 for none, or one that is too old."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        version = _call_library("syscall", _LANDLOCK_CREATE, None, 0, _VERSION_FLAG)
    except OSError:
        return 0
    return version if version >= _OLDEST_ABI else 0


def enter_landlock(paths: "plan.WallPaths") -> None:
    """Allow this process and its children to write all but the closed paths and pinned links.

    A folder above what is closed can't be allowed, since that would allow all below it: each other entry
    of it is. So nothing can be made or removed in such a folder itself.

    Raises:
        OSError: the kernel has no Landlock.
    """
    version = landlock_version()
    handled = _WRITE_FILE | _MAKE_AND_REMOVE | _REFER | (_TRUNCATE if version > 2 else 0)
    ruleset = _pack_fields((handled, 8))
    rules = _call_library("syscall", _LANDLOCK_CREATE, ruleset, len(ruleset), 0)
    try:
        protected_paths = [*paths.closed, *filter(os.path.islink, paths.pinned)]
        above = {path[:index] or "/" for path in protected_paths for index, letter in enumerate(path) if letter == "/"}
        exceptions, add_rule = above.union(paths.closed), _rule_adder(rules)
        for folder in sorted(above):
            for entry in _list_entries(folder):
                # a link is what it leads to, and that stands elsewhere
                if entry.path not in exceptions and not entry.is_symlink():
                    is_folder = entry.is_dir(follow_symlinks=False)
                    add_rule(entry.path, handled if is_folder else handled & (_WRITE_FILE | _TRUNCATE))
        for folder in paths.opened:
            add_rule(folder, handled)
        _give_up_rights()
        _call_library("syscall", _LANDLOCK_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _list_entries(folder: str) -> "Iterable[os.DirEntry[str]]":
    try:
        return os.scandir(folder)
    except OSError:
        # what can't be listed can still be closed
        return ()


def _rule_adder(rules: int) -> "Callable[[str, int], None]":
    """Return a function that adds a rule; there are hundreds, so that only the differences are made anew."""
    function = _CFunction(_ctypes.dlsym(_c_library, "syscall"))
    head = (_CLong(_LANDLOCK_ADD), _CLong(rules), _CLong(_PATH_BENEATH))
    none, order, flags = _CLong(0), sys.byteorder, _O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW

    def add_rule(path: str, allowed: int) -> None:
        try:
            descriptor = os.open(path, flags)
        except OSError:
            return
        try:
            rule = allowed.to_bytes(8, order) + descriptor.to_bytes(4, order)
            if function(*head, rule, none) < 0:
                raise OSError(_ctypes.get_errno(), "Landlock takes no rule")
        finally:
            os.close(descriptor)

    return add_rule
