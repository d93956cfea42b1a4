"""Appending one raw observation, for hooks: the file of `log/store/observations`, with few imports.

This imports nothing that takes time; a test compares what the two write.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH103, PTH114, PTH118

import json
import os
import time

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def append_observation(local: str, observation: dict[str, object]) -> None:
    """Append an observation, its credentials masked, to its session's file.

    Raises:
        OSError: it couldn't be written.
    """
    folder = os.path.join(local, "observations")
    if os.path.islink(folder):
        # a pull can bring one
        raise OSError(f"{folder} is a link")
    record = {"id": _new_id(), "ts": time.time(), **observation}
    line = json.dumps({key: value for key, value in record.items() if value not in ("", None, ())}).encode() + b"\n"
    path = os.path.join(folder, f"{observation['session']}.jsonl")
    try:
        fd = os.open(path, _FLAGS, 0o600)
    except FileNotFoundError:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        fd = os.open(path, _FLAGS, 0o600)
    try:
        os.write(fd, line)
    finally:
        os.close(fd)


def _new_id() -> str:
    """Return a ULID in UUID form, as `core/ids` makes them."""
    value = f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"
    return f"{value[:8]}-{value[8:12]}-{value[12:16]}-{value[16:20]}-{value[20:]}"
