"""The folders that our parent processes run in.

An agent that was started in a work project and runs `cd elsewhere && roamkb write` is at
work still; its process says so, as long as it lives and is a parent of ours. A process that
was left behind (`setsid`, `nohup … &` in a shell that has ended) or that another service
started for us has lost that trace, and is judged by its folders alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: More parents than any session has; who has more hides something, and is told so.
_MOST = 512
#: What Codex's background server is called by, and its program.
_SERVER = "app-server"
_CODEX = "codex"
#: Bytes of a command that are looked at; its beginning says what it is.
_LONGEST_COMMAND = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A parent process and the folder that it runs in."""

    pid: int
    name: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TooMany:
    """There are more parents than were looked at."""

    seen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Status:
    name: str
    parent: int
    session: int
    terminal: int
    start: int


def parents_of(pid: int, proc: Path) -> Iterator[Process | TooMany]:
    """Yield the parents of `pid`, the nearest first, without daemons; too long a line ends in `TooMany`.

    A parent of another user can't be looked into and is passed over, as is everything
    where there is no process table: parents only ever add a denial. Codex's background server
    runs for all sessions, and the one whose screen began it is none of the others' parent.
    """
    status = _status(pid, proc)
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
        yield Process(pid=pid, name=status.name, folder=folder.removesuffix(" (deleted)"))
    yield TooMany(seen=_MOST)


def commands_of_parents(pid: int, proc: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each parent of `pid`, the nearest first, daemons too: its number, its name, its command's words.

    With the number stands when it began, in the system's ticks, since numbers come again. What can't be
    looked into is passed over; where there is no process table there is nothing to tell.
    """
    status = _status(pid, proc)
    for _ in range(_MOST):
        if status is None or status.parent == 0:
            return
        pid = status.parent
        status = _status(pid, proc)
        if status is not None:
            yield f"{pid}.{status.start}", (status.name, *_words(pid, proc))


def _words(pid: int, proc: Path) -> list[str]:
    try:
        with (proc / str(pid) / "cmdline").open("rb") as file:
            return file.read(_LONGEST_COMMAND).decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def _is_daemon(pid: int, status: _Status, proc: Path) -> bool:
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


def _status(pid: int, proc: Path) -> _Status | None:
    """Return what `/proc/PID/stat` says; the name in it may hold blanks and brackets."""
    try:
        line = (proc / str(pid) / "stat").read_bytes().decode("utf-8", "replace")
        head, _, tail = line.rpartition(")")
        fields = tail.split()
        return _Status(
            name=head.partition("(")[2],
            parent=int(fields[1]),
            session=int(fields[3]),
            terminal=int(fields[4]),
            # a table of somebody's making may be shorter
            start=int(fields[19]) if len(fields) > 19 else 0,
        )
    except (OSError, ValueError, IndexError):
        return None
