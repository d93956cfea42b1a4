"""Errors of hooks, one line each in the log's local folder: an error's name and place."""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH103, PTH118

import json
import os
import time

HOOK_ERRORS_FILE = "hooks.jsonl"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: A hook that fails at every step has said so long before.
_MOST_BYTES = 256 * 1024


def record_hook_error(folder: str, event: str, why: str) -> None:
    """Append a line; where that fails, there is no report."""
    path = os.path.join(folder, HOOK_ERRORS_FILE)
    line = json.dumps({"ts": time.time(), "event": event, "why": why}).encode() + b"\n"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        fd = os.open(path, _FLAGS, 0o600)
        try:
            if os.fstat(fd).st_size < _MOST_BYTES:
                os.write(fd, line)
        finally:
            os.close(fd)
    except OSError:
        return
