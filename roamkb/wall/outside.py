"""Folders of a command's parents, passed to it since they can't be seen from inside a wall.

The same parents count as in `boundary/store/processes`, for which a launcher has no time.
"""

import os

#: What tells a command's children in which folders the parents of the wall run, one a line. It can only deny.
OUTSIDE_VARIABLE = "ROAMKB_OUTSIDE"
#: As far as it is looked up; more than anybody has.
_MAX_PARENTS = 64


def folders_outside() -> str:
    """Return the folders of this process and its parents, without daemons, one a line."""
    folders = dict.fromkeys(os.environ.get(OUTSIDE_VARIABLE, "").split("\n"))
    pid = os.getpid()
    for _ in range(_MAX_PARENTS):
        try:
            fields = _read_kernel_file(f"/proc/{pid}/stat").rpartition(b")")[2].split()
            parent, session, terminal = int(fields[1]), int(fields[3]), int(fields[4])
            if pid == os.getpid() or not _is_daemon(pid, parent, session, terminal):
                folders[os.readlink(f"/proc/{pid}/cwd")] = None
        except (OSError, ValueError, IndexError):
            break
        pid = parent
    return "\n".join(folder for folder in folders if os.path.isabs(folder))


def _read_kernel_file(path: str) -> bytes:
    """Return the content of a small file of the kernel's."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


def _is_daemon(pid: int, parent: int, session: int, terminal: int) -> bool:
    if terminal or session != pid or parent == 0:
        return False
    return parent == 1 or os.readlink(f"/proc/{pid}/fd/0") == os.devnull
