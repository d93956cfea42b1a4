"""What Codex's configuration says of its own sandbox, which keeps commands in the project."""

import posixpath
import tomllib

#: Where nothing else is said; outside of the project's folder and /tmp nothing is writable.
USUAL = "workspace-write"
#: No sandbox at all.
NONE = "danger-full-access"


def sandbox_mode(config: bytes) -> str:
    """Return the mode that the configuration asks for; a profile that is chosen there comes first.

    Raises:
        ValueError: it can't be read.
    """
    told = _told(config)
    mode = told.get("sandbox_mode", USUAL)
    return mode if isinstance(mode, str) else USUAL


def writable_above(config: bytes, path: str, home: str) -> str:
    """Return which of the folders that its sandbox lets be written has `path` in it; empty for none.

    Raises:
        ValueError: it can't be read.
    """
    workspace = _told(config).get("sandbox_workspace_write")
    roots = workspace.get("writable_roots") if isinstance(workspace, dict) else None
    for root in roots if isinstance(roots, list) else ():
        full = posixpath.normpath(posixpath.join(home, str(root).removeprefix("~/")))
        if path == full or path.startswith(f"{full.rstrip('/')}/"):
            return str(root)
    return ""


def _told(config: bytes) -> dict[str, object]:
    told: dict[str, object] = tomllib.loads(config.decode())
    profiles, name = told.get("profiles"), told.get("profile")
    chosen = profiles.get(name) if isinstance(profiles, dict) and isinstance(name, str) else None
    return {**told, **chosen} if isinstance(chosen, dict) else told
