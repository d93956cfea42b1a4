"""Two walls that others' programs raise: bubblewrap's arguments, a profile for macOS's `sandbox-exec`."""

import os

#: What root could undo a mount with, or reach around it; others have no rights to give up.
_DROPPED = "CAP_DAC_READ_SEARCH CAP_SYS_MODULE CAP_SYS_RAWIO CAP_SYS_PTRACE CAP_SYS_ADMIN CAP_MKNOD".split()


def bubblewrap_words(program: str, closed: list[str], pinned: list[str], cwd: str, status: int) -> list[str]:
    """Return what runs the words that follow in a place where `closed` is read-only and `pinned` stays put.

    The descriptor `status` hears how they ended.

    Processes, network and terminal stay those of outside. No `--die-with-parent`: bubblewrap's own process
    would die of a signal to the group at once, and take the command with it that handles it.
    """
    # it would mount what a link leads to, and let that be written
    folders = [path for path in pinned if not os.path.islink(path)]
    how = dict.fromkeys(folders, "--bind-try") | dict.fromkeys(closed, "--ro-bind-try")
    binds = [word for path in sorted(how) for word in (how[path], path, path)]
    dropped = [word for name in _DROPPED for word in ("--cap-drop", name)] if os.getuid() == 0 else []
    return [
        program,
        "--dev-bind",
        "/",
        "/",
        *binds,
        *dropped,
        "--chdir",
        cwd,
        "--json-status-fd",
        str(status),
        "--",
    ]


def seatbelt_profile(closed: list[str], pinned: list[str]) -> str:
    """Return the profile that denies each way to write what is closed, and to move what lies above."""
    below = "".join(f"\n  (subpath {_quoted(path)})" for path in sorted(closed))
    above = "".join(f"\n  (literal {_quoted(path)})" for path in sorted(pinned))
    rules = ["(version 1)", "(allow default)"]
    rules += [f"(deny file-write* file-link{below})"] if closed else []
    rules += [f"(deny file-write-unlink{above})"] if pinned else []
    return "\n".join(rules) + "\n"


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
