"""Errors of hooks, one line each in the log's local folder: an error's name and place."""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH118

import json
import os
import time

from roamkb.fs.untrusted_files import append_file
from roamkb.fs.untrusted_files import make_private_folder

HOOK_ERRORS_FILE = "hooks.jsonl"
#: A hook that fails at every step has said so long before.
_MOST_BYTES = 256 * 1024


def record_hook_error(folder: str, event: str, why: str) -> None:
    """Append a line; where that fails, there is no report."""
    path = os.path.join(folder, HOOK_ERRORS_FILE)
    line = json.dumps({"ts": time.time(), "event": event, "why": why}).encode() + b"\n"
    try:
        make_private_folder(folder)
        append_file(path, line, limit=_MOST_BYTES)
    except OSError:
        return
