"""Appending one raw observation, for hooks: the file of `log/store/observations`, with few imports.

This imports nothing that takes time; a test compares what the two write.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH118

import json
import os
import time

from roamkb.fs.untrusted_files import append_file
from roamkb.fs.untrusted_files import make_private_folder


def append_observation(local: str, observation: dict[str, object]) -> None:
    """Append an observation, its credentials masked, to its session's file.

    Raises:
        OSError: it couldn't be written.
    """
    folder = os.path.join(local, "observations")
    record = {"id": _new_id(), "ts": time.time(), **observation}
    line = json.dumps({key: value for key, value in record.items() if value not in ("", None, ())}).encode() + b"\n"
    path = os.path.join(folder, f"{observation['session']}.jsonl")
    try:
        append_file(path, line)
    except FileNotFoundError:
        make_private_folder(folder)
        append_file(path, line)


def _new_id() -> str:
    """Return a ULID in UUID form, as `core/ids` makes them."""
    value = f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"
    return f"{value[:8]}-{value[8:12]}-{value[12:16]}-{value[16:20]}-{value[20:]}"
