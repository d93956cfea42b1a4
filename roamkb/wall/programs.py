"""Two walls that other programs raise: bubblewrap's arguments, a profile for macOS's `sandbox-exec`."""

import os

from roamkb.wall.plan import WallPaths

#: What root could undo a mount with, or reach around it; others have no rights to give up.
_DROPPED_CAPABILITIES = (
    "CAP_DAC_READ_SEARCH CAP_SYS_MODULE CAP_SYS_RAWIO CAP_SYS_PTRACE CAP_SYS_ADMIN CAP_MKNOD".split()
)


def bubblewrap_words(program: str, paths: WallPaths, cwd: str, status: int) -> list[str]:
    """Return the words that run a command with the closed paths read-only and the pinned ones fixed.

    The descriptor `status` hears how they ended.

    Processes, network and terminal stay those of outside. No `--die-with-parent`: bubblewrap's own process
    would die of a signal to the group at once, and take the command with it that handles it.
    """
    # it would mount what a link leads to, and let that be written
    folders = [path for path in paths.pinned if not os.path.islink(path)]
    option_by_path = dict.fromkeys(folders, "--bind-try") | dict.fromkeys(paths.closed, "--ro-bind-try")
    option_by_path |= dict.fromkeys(paths.opened, "--bind-try")
    binds = [word for path in sorted(option_by_path) for word in (option_by_path[path], path, path)]
    dropped = [word for name in _DROPPED_CAPABILITIES for word in ("--cap-drop", name)] if os.getuid() == 0 else []
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


def seatbelt_profile(paths: WallPaths) -> str:
    """Return the profile that denies each way to write closed paths, and to move the folders above.

    The last rule that fits a call decides.
    """
    rules = ["(version 1)", "(allow default)"]
    rules += _render_rule("deny file-write* file-link", "subpath", paths.closed)
    rules += _render_rule("allow file-write* file-link", "subpath", paths.opened)
    rules += _render_rule("deny file-write-unlink", "literal", paths.pinned)
    return "\n".join(rules) + "\n"


def _render_rule(action: str, kind: str, paths: list[str]) -> list[str]:
    """Return a rule about paths; one without any would be about all."""
    path_clauses = "".join(f"\n  ({kind} {_quote_path(path)})" for path in sorted(paths))
    return [f"({action}{path_clauses})"] if path_clauses else []


def _quote_path(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
