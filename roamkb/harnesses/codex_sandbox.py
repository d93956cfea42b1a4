"""Codex's own sandbox by its configuration, which keeps commands in the project."""

import posixpath
import tomllib

#: Where nothing else is said; outside of the project's folder and /tmp nothing is writable.
DEFAULT_MODE = "workspace-write"
#: No sandbox at all.
NO_SANDBOX = "danger-full-access"


def sandbox_mode(config: bytes) -> str:
    """Return the mode that the configuration asks for; a profile that is chosen there comes first.

    Raises:
        ValueError: it can't be read.
    """
    settings = _parse_config(config)
    mode = settings.get("sandbox_mode", DEFAULT_MODE)
    return mode if isinstance(mode, str) else DEFAULT_MODE


def containing_writable_root(config: bytes, path: str, home: str) -> str:
    """Return the folder that the sandbox lets be written and that holds `path`; empty for none.

    Raises:
        ValueError: it can't be read.
    """
    workspace = _parse_config(config).get("sandbox_workspace_write")
    roots = workspace.get("writable_roots") if isinstance(workspace, dict) else None
    for root in roots if isinstance(roots, list) else ():
        full = posixpath.normpath(posixpath.join(home, str(root).removeprefix("~/")))
        if path == full or path.startswith(f"{full.rstrip('/')}/"):
            return str(root)
    return ""


def _parse_config(config: bytes) -> dict[str, object]:
    settings: dict[str, object] = tomllib.loads(config.decode())
    profiles, name = settings.get("profiles"), settings.get("profile")
    profile_settings = profiles.get(name) if isinstance(profiles, dict) and isinstance(name, str) else None
    return {**settings, **profile_settings} if isinstance(profile_settings, dict) else settings
