"""The processes above a process, the folders that they run in, and whether all of them can be seen.

An agent that was started in a work project and runs `cd elsewhere && roamkb write` is at
work still; its process says so, as long as it lives and is a parent of ours. A process that
was left behind (`setsid`, `nohup … &` in a shell that has ended) or that another service
started for us has lost that trace; `boundary/process_ancestry` says which have.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from roamkb.boundary.process_ancestry import AncestorProcess
from roamkb.boundary.process_ancestry import ProcessAncestry
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily

#: More parents than any session has; who has more hides something, and is told so.
_MOST = 512
#: What Codex's background server is called by, and its program.
_SERVER = "app-server"
_CODEX = "codex"
#: The machine's own namespace of processes, by the number that Linux gives it.
_MACHINE = "pid:[4026531836]"
#: What the root of a container's files is, or where its makers keep it.
_LAYERED = frozenset("overlay aufs fuse.fuse-overlayfs 9p virtiofs".split())
_KEPT_BY_MAKERS = "/var/lib/"
#: What stays in a process table as its first process where it made it for a command.
_SANDBOXES = frozenset("bwrap firejail".split())
#: A line of the mount table whose place is a process's.
_OVER_A_PROCESS = lazily(r"(?:\S+ ){4}/proc/(?:\d|self|thread-self)")
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
    """There are more parents than were looked at."""

    seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProcessStatus:
    name: str
    parent: int
    session: int
    terminal: int
    start: int


def parents_of(pid: int, proc: Path) -> Iterator[ParentProcess | TooManyParents]:
    """Yield the parents of `pid`, the nearest first, without daemons; `TooManyParents` ends too long a line.

    A parent of another user can't be looked into and is passed over, as is everything
    where there is no process table: parents only ever add a denial. Codex's background server
    runs for all sessions, and the one whose screen began it is none of the others' parent.
    """
    status = _status(_number(pid, proc), proc)
    for _ in range(_MOST):
        if status is None or status.parent == 0:
            return
        pid = status.parent
        status = _status(pid, proc)
        if status is None:
            continue
        if _is_daemon(pid, status, proc):
            if status.name.startswith(_CODEX) and _SERVER in _words(pid, proc)[1:2]:
                return
            continue
        try:
            folder = str((proc / str(pid) / "cwd").readlink())
        except OSError:
            continue
        yield ParentProcess(pid=pid, name=status.name, folder=folder.removesuffix(" (deleted)"))
    yield TooManyParents(seen=_MOST)


def commands_of_parents(pid: int, proc: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each parent of `pid`, the nearest first, daemons too: its number, its name, its command's words.

    With the number stands when it began, in the system's ticks, since numbers come again. What can't be
    looked into is passed over; where there is no process table there is nothing to tell.
    """
    status = _status(_number(pid, proc), proc)
    for _ in range(_MOST):
        if status is None or status.parent == 0:
            return
        pid = status.parent
        status = _status(pid, proc)
        if status is not None:
            yield f"{pid}.{status.start}", (status.name, *_words(pid, proc))


def lineage_of(pid: int, proc: Path) -> ProcessAncestry:
    """Return `pid` and its parents with all that tells who began it; nothing where there is no table."""
    pid = _number(pid, proc)
    found: list[AncestorProcess] = []
    for _ in range(_MOST):
        relative = _relative(pid, proc)
        if relative is None:
            break
        found.append(relative)
        pid = relative.parent
        if pid == 0:
            break
    mounts = _mounts(proc)
    doubt = "its parents can't be seen" if not found and sys.platform == "linux" else ""
    if found and pid and len(found) < _MOST and _is_ours_to_ask(pid):
        doubt = f"the parent process {pid} can't be seen"
    if any(_OVER_A_PROCESS.match(line) for line in mounts):
        doubt = "something is mounted over a process in the table"
    first = _relative(1, proc)
    return ProcessAncestry(
        relatives=tuple(found), first=first, is_shut_off=_is_shut_off(first, mounts, proc), doubt=doubt
    )


def _number(pid: int, proc: Path) -> int:
    """Return by which number the table has `pid`: in a namespace of ours it may still be the outer one."""
    with suppress(OSError, ValueError):
        if pid == os.getpid():
            return int(str((proc / "self").readlink()))
    return pid


def _relative(pid: int, proc: Path) -> AncestorProcess | None:
    status = _status(pid, proc)
    if status is None:
        return None
    program = ""
    with suppress(OSError):
        program = (proc / str(pid) / "exe").readlink().name.removesuffix(" (deleted)")
    return AncestorProcess(
        pid=pid,
        name=status.name,
        words=tuple(_words(pid, proc)),
        program=program,
        parent=status.parent,
        session=status.session,
        terminal=status.terminal,
        is_ours=_owner(pid, proc) in (None, os.getuid()),
    )


def _owner(pid: int, proc: Path) -> int | None:
    """Return whose process it is; its folder is root's where a program let nobody look into it."""
    with suppress(OSError, ValueError, IndexError):
        told = (proc / str(pid) / "status").read_bytes()
        return int(told.partition(b"\nUid:")[2].split(None, 1)[0])
    return None


def _is_ours_to_ask(pid: int) -> bool:
    """Say whether a process is there and no other user's, whose processes a table may leave out."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _is_shut_off(first: AncestorProcess | None, mounts: list[str], proc: Path) -> bool:
    """Say whether the table is neither the machine's nor a container's, but made for a command.

    A container has files of its own; a namespace that a command was put into has the machine's.
    """
    if first is None or not first.is_ours or _MACHINE in (_namespace(proc, "self"), _namespace(proc, "1")):
        return False
    if not _namespace(proc, "self") or (_is_outer(proc) and not _namespace(proc, "1")):
        return False
    # id, parent, device, what of it, where, options, …, "-", kind
    root = next((fields for line in reversed(mounts) if (fields := line.split())[4:5] == ["/"]), [])
    is_layered = "-" in root and root[root.index("-") + 1] in _LAYERED
    is_container = is_layered or "".join(root[3:4]).startswith(_KEPT_BY_MAKERS)
    return first.name in _SANDBOXES or not is_container


def _namespace(proc: Path, process: str) -> str:
    with suppress(OSError):
        return str((proc / process / "ns" / "pid").readlink())
    return ""


def _is_outer(proc: Path) -> bool:
    """Say whether the table is that of a namespace around ours, which has a number of its own for us."""
    with suppress(OSError):
        for line in (proc / "self" / "status").read_text("utf-8", "replace").splitlines():
            if line.startswith("NSpid:"):
                return len(line.split()) > 2
    return False


def _mounts(proc: Path) -> list[str]:
    try:
        return (proc / "self" / "mountinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


def _words(pid: int, proc: Path) -> list[str]:
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


def _status(pid: int, proc: Path) -> _ProcessStatus | None:
    """Return what `/proc/PID/stat` says; the name in it may hold blanks and brackets."""
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
