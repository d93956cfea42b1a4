"""Programs of the system, found where only root can put them: not by PATH, which anybody sets."""

import os
import stat
from pathlib import Path

#: macOS and most Linux distributions, then NixOS.
_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin")
_UID_MAP = Path("/proc/self/uid_map")
#: A program may give itself a namespace with its own id in it; more ids need root's leave (/etc/subuid).
_MOST_OWN_IDS = 1

#: Where root's lists are looked for, and whose they have to be; tests have a folder of their own.
SYSTEM_ROOT = Path("/")
SYSTEM_OWNER = 0


def find_system_program(name: str) -> str:
    """Return the path of a program that nobody but root can change; empty where there is none."""
    for folder in _FOLDERS:
        path = os.path.realpath(Path(folder, name))
        if is_roots_alone(path) and is_roots_alone(str(Path(path).parent)) and os.access(path, os.X_OK):
            return path
    return ""


def is_roots_alone(path: str) -> bool:
    """Say whether a file or folder is root's, and nobody else may write to it."""
    try:
        status = Path(path).lstat()
    except OSError:
        return False
    return is_owned_alone(status, 0)


def is_owned_alone(status: os.stat_result, owner: int) -> bool:
    """Say whether that is a file or folder of `owner`, and nobody else may write to it."""
    is_plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    return is_plain and status.st_uid == owner and not status.st_mode & 0o022


def is_root_pretended() -> bool:
    """Say whether this runs in a user namespace that anybody can make, where being root's says nothing."""
    try:
        rows = [line.split() for line in _UID_MAP.read_text().splitlines()]
    except FileNotFoundError:
        # a system without such namespaces; on Linux nothing can be told without /proc
        return Path("/proc").is_dir() or os.uname().sysname == "Linux"
    except OSError:
        return True
    return sum(int(row[2]) for row in rows if len(row) == 3) <= _MOST_OWN_IDS
