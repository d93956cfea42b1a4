"""Where a command's parents work, which it is told since nobody can look out of a wall.

The same parents count as in `boundary/store/processes`, for which a launcher has no time.
"""

import os

#: What tells a command's children in which folders the parents of the wall run, one a line. It can only deny.
OUTSIDE = "ROAMKB_OUTSIDE"
#: As far as it is looked up; more than anybody has.
_MOST = 64


def folders_outside() -> str:
    """Return the folders of this process and its parents, without daemons, one a line."""
    found = dict.fromkeys(os.environ.get(OUTSIDE, "").split("\n"))
    pid = os.getpid()
    for _ in range(_MOST):
        try:
            fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
            parent, session, terminal = int(fields[1]), int(fields[3]), int(fields[4])
            if pid == os.getpid() or not _is_daemon(pid, parent, session, terminal):
                found[os.readlink(f"/proc/{pid}/cwd")] = None
        except (OSError, ValueError, IndexError):
            break
        pid = parent
    return "\n".join(folder for folder in found if os.path.isabs(folder))


def _read(path: str) -> bytes:
    """Return what a small file of the kernel's holds: each command waits for some."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


def _is_daemon(pid: int, parent: int, session: int, terminal: int) -> bool:
    if terminal or session != pid or parent == 0:
        return False
    return parent == 1 or os.readlink(f"/proc/{pid}/fd/0") == os.devnull
