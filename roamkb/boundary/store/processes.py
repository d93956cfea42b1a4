"""The parents of a process, the folders that they run in, and whether all of them are visible.

An agent that was started in a work project and runs `cd elsewhere && roamkb write` is at
work still; its process says so, as long as it lives and is a parent of ours. A process that
was left behind (`setsid`, `nohup … &` in a shell that has ended) or that another service
started for us has lost that trace; `boundary/process_ancestry` says which have.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from roamkb.boundary.process_ancestry import AncestorProcess
from roamkb.boundary.process_ancestry import ProcessAncestry
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily

#: More parents than any session has; who has more hides something, and is told so.
_MAX_PARENTS = 512
#: The machine's own namespace of processes, by the number that Linux gives it.
_MACHINE_NAMESPACE = "pid:[4026531836]"
#: What the root of a container's files is, or where its makers keep it.
_CONTAINER_FILE_SYSTEMS = frozenset("overlay aufs fuse.fuse-overlayfs 9p virtiofs".split())
_CONTAINER_FOLDER = "/var/lib/"
#: What stays in a process table as its first process where it made it for a command.
_SANDBOX_PROGRAMS = frozenset("bwrap firejail".split())
#: A line of the mount table whose place is a process's.
_PROCESS_MOUNT = lazily(r"(?:\S+ ){4}/proc/(?:\d|self|thread-self)")
#: Bytes of a command that are looked at; its beginning says what it is.
_LONGEST_COMMAND = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentProcess:
    """A parent process and the folder that it runs in."""

    pid: int
    name: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyParents:
    """A line of more parents than were examined."""

    seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProcessStatus:
    name: str
    parent: int
    session: int
    terminal: int
    start: int


def parent_processes(pid: int, proc: Path) -> Iterator[ParentProcess | TooManyParents]:
    """Yield the parents of `pid`, the nearest first, without daemons; `TooManyParents` ends too long a line.

    A parent of another user can't be looked into and is passed over, as is everything
    where there is no process table: parents only ever add a denial. A harness's background server
    runs for all sessions, and the one whose screen began it is none of the others' parent.
    """
    for number, (parent, status) in enumerate(_statuses_above(pid, proc)):
        if number == _MAX_PARENTS:
            yield TooManyParents(seen=_MAX_PARENTS)
            return
        if _is_daemon(parent, status, proc):
            daemon = _read_process(parent, proc)
            if daemon and daemon.is_server:
                return
            if not (daemon and daemon.is_harness):
                continue
        try:
            folder = str((proc / str(parent) / "cwd").readlink())
        except OSError:
            continue
        yield ParentProcess(pid=parent, name=status.name, folder=folder.removesuffix(" (deleted)"))


def parent_commands(pid: int, proc: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each parent of `pid`, the nearest first, daemons too: number, name, command's words.

    With the number stands when it began, in the system's ticks, since numbers come again. What can't be
    looked into is passed over; where there is no process table there is nothing to tell.
    """
    for parent, status in islice(_statuses_above(pid, proc), _MAX_PARENTS):
        yield f"{parent}.{status.start}", (status.name, *_command_words(parent, proc))


def _statuses_above(pid: int, proc: Path) -> Iterator[tuple[int, _ProcessStatus]]:
    """Yield each parent of `pid` that can be looked into, the nearest first."""
    status = _read_status(_pid_in_table(pid, proc), proc)
    while status and status.parent and (above := _read_status(status.parent, proc)):
        yield status.parent, above
        status = above


def read_ancestry(pid: int, proc: Path) -> ProcessAncestry:
    """Return `pid` and its parents with the evidence of their origin; empty without a process table."""
    # from inside of a wall, those outside have other mounts as well
    own_mounts = "" if pid == os.getpid() else _namespace(proc, "self", "mnt")
    pid = _pid_in_table(pid, proc)
    ancestors: list[AncestorProcess] = []
    for _ in range(_MAX_PARENTS):
        relative = _read_process(pid, proc, own_mounts)
        if relative is None:
            break
        ancestors.append(relative)
        pid = relative.parent
        if pid == 0:
            break
    mounts = _mount_lines(proc)
    doubt = "its parents can't be seen" if not ancestors and sys.platform == "linux" else ""
    if ancestors and pid and len(ancestors) < _MAX_PARENTS and _may_signal(pid):
        doubt = f"the parent process {pid} can't be seen"
    if any(_PROCESS_MOUNT.match(line) for line in mounts):
        doubt = "something is mounted over a process in the table"
    root_process = _read_process(1, proc)
    return ProcessAncestry(
        processes=tuple(ancestors),
        root_process=root_process,
        is_shut_off=_is_command_table(root_process, mounts, proc),
        doubt=doubt,
    )


def _pid_in_table(pid: int, proc: Path) -> int:
    """Return the number of `pid` in the table: in a namespace of ours it may be the outer one."""
    with suppress(OSError, ValueError):
        if pid == os.getpid():
            return int(str((proc / "self").readlink()))
    return pid


def _read_process(pid: int, proc: Path, own_mounts: str = "") -> AncestorProcess | None:
    status = _read_status(pid, proc)
    if status is None:
        return None
    program = ""
    with suppress(OSError):
        program = (proc / str(pid) / "exe").readlink().name.removesuffix(" (deleted)")
    return AncestorProcess(
        pid=pid,
        name=status.name,
        words=tuple(_command_words(pid, proc)),
        program=program,
        parent=status.parent,
        session=status.session,
        terminal=status.terminal,
        is_ours=_owner_id(pid, proc) in (None, os.getuid()),
        is_walled=bool(own_mounts) and _namespace(proc, str(pid), "mnt") not in ("", own_mounts),
    )


def _owner_id(pid: int, proc: Path) -> int | None:
    """Return the user id of a process; its folder is root's where the program forbids a look."""
    with suppress(OSError, ValueError, IndexError):
        status = (proc / str(pid) / "status").read_bytes()
        return int(status.partition(b"\nUid:")[2].split(None, 1)[0])
    return None


def _may_signal(pid: int) -> bool:
    """Say whether a process exists and is no other user's, which a table may leave out."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _is_command_table(root_process: AncestorProcess | None, mounts: list[str], proc: Path) -> bool:
    """Say whether the table is neither the machine's nor a container's, but made for a command.

    A container has files of its own, and several users; a namespace that a command was put into has the machine's
    files, or those that its maker layered over them, and its maker alone.
    """
    if (
        root_process is None
        or not root_process.is_ours
        or _MACHINE_NAMESPACE in (_pid_namespace(proc, "self"), _pid_namespace(proc, "1"))
    ):
        return False
    if not _pid_namespace(proc, "self") or (_is_outer_table(proc) and not _pid_namespace(proc, "1")):
        return False
    # id, parent, device, what of it, where, options, …, "-", kind
    root = next((fields for line in reversed(mounts) if (fields := line.split())[4:5] == ["/"]), [])
    is_layered = "-" in root and root[root.index("-") + 1] in _CONTAINER_FILE_SYSTEMS
    is_container = is_layered or "".join(root[3:4]).startswith(_CONTAINER_FOLDER)
    return root_process.name in _SANDBOX_PROGRAMS or not is_container or _count_users(proc) <= 1


def _count_users(proc: Path) -> int:
    """Return how many users the namespace of the first process has; 0 where that can't be read.

    Who isn't root can put himself alone into one (user_namespaces(7)); what makes a container gives it more.
    """
    try:
        ranges = (proc / "1" / "uid_map").read_text("ascii").splitlines()
        return sum(int(line.split()[2]) for line in ranges)
    except (OSError, ValueError, IndexError):
        return 0


def _pid_namespace(proc: Path, process: str) -> str:
    return _namespace(proc, process, "pid")


def _namespace(proc: Path, process: str, kind: str) -> str:
    """Return the namespace of a process by its number; empty where that can't be looked into."""
    with suppress(OSError):
        return str((proc / process / "ns" / kind).readlink())
    return ""


def _is_outer_table(proc: Path) -> bool:
    """Say whether the table is that of an outer namespace, with another number for this process."""
    with suppress(OSError):
        for line in (proc / "self" / "status").read_text("utf-8", "replace").splitlines():
            if line.startswith("NSpid:"):
                return len(line.split()) > 2
    return False


def _mount_lines(proc: Path) -> list[str]:
    try:
        return (proc / "self" / "mountinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


def _command_words(pid: int, proc: Path) -> list[str]:
    try:
        with (proc / str(pid) / "cmdline").open("rb") as file:
            return file.read(_LONGEST_COMMAND).decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def _is_daemon(pid: int, status: _ProcessStatus, proc: Path) -> bool:
    """Say whether the process is a server without a terminal, such as tmux's or Emacs's.

    Such a server leads a session of its own and was left behind by whoever started it
    (init has adopted it, or it reads from nowhere). An agent that runs over ssh or in a
    container has no terminal either, but somebody who listens to it: that one counts. So
    does the first process of a container.
    """
    if status.terminal or status.session != pid or status.parent == 0:
        return False
    try:
        return status.parent == 1 or (proc / str(pid) / "fd" / "0").readlink() == Path("/dev/null")
    except OSError:
        return False


def _read_status(pid: int, proc: Path) -> _ProcessStatus | None:
    """Return the fields of `/proc/PID/stat`; the name in it may hold blanks and brackets."""
    try:
        line = (proc / str(pid) / "stat").read_bytes().decode("utf-8", "replace")
        head, _, tail = line.rpartition(")")
        fields = tail.split()
        return _ProcessStatus(
            name=head.partition("(")[2],
            parent=int(fields[1]),
            session=int(fields[3]),
            terminal=int(fields[4]),
            # a table of somebody's making may be shorter
            start=int(fields[19]) if len(fields) > 19 else 0,
        )
    except (OSError, ValueError, IndexError):
        return None
