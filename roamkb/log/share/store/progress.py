"""How far a log and its service know of each other, and the lines that were put aside; in the log's local folder.

Progress is derived: without it all lines are offered and read again, which changes nothing.
"""

import contextlib
import json
import time
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import Final

from roamkb.core.errors import DiskError
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import fields
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_bytes
from roamkb.fs.files import write_private_file
from roamkb.fs.untrusted_files import touch_file
from roamkb.log.store.share_process import PROGRESS_FILE

ASIDE_FILE: Final = "aside.jsonl"
#: A hostile role fills no disk of ours.
_MOST_ASIDE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareProgress:
    """What was exchanged with a service up to a moment."""

    epoch: str = ""
    #: The transaction and the place in it of the last line that was read.
    xid: int = 0
    pos: int = 0
    #: Of each file: the size and digest of its beginning whose lines the service has, or never gets.
    offered: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    #: Lines that came from the service, in all.
    received: int = 0
    #: Lines of this log that don't travel, by the reason.
    withheld: Mapping[str, int] = field(default_factory=dict)
    #: Lines of others that wait until a transaction of the service ends.
    held_back: int = 0


def read_progress(folder: Path) -> ShareProgress:
    """Return the progress; none where it is missing or damaged."""
    with contextlib.suppress(DiskError, ValueError, TypeError, AttributeError):
        progress = ShareProgress(**json.loads(read_bytes(folder / PROGRESS_FILE)))
        if isinstance(progress.xid, int) and isinstance(progress.pos, int) and isinstance(progress.offered, dict):
            return progress
    return ShareProgress()


def save_progress(folder: Path, progress: ShareProgress) -> None:
    """Keep the progress; where that fails, more is exchanged again than need be."""
    values = {field.name: getattr(progress, field.name) for field in fields(ShareProgress)}
    values |= {"offered": dict(progress.offered), "withheld": dict(progress.withheld)}
    with contextlib.suppress(RoamkbError):
        write_private_file(folder / PROGRESS_FILE, json.dumps(values).encode())


def touch_progress(folder: Path) -> None:
    """Record that the service was heard of and had nothing new: the file's time says when."""
    with contextlib.suppress(OSError):
        touch_file(folder / PROGRESS_FILE)


class LinesAside:
    """Lines of the service that aren't taken in, each once with the reason, for a human to look at."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ASIDE_FILE
        self._known = {(record["id"], record["sha256"]) for record in read_aside(folder)}

    def put(self, id: str, sha256: bytes, reason: str, *, line: str | None, is_alarm: bool = False) -> None:
        """Keep a line aside; of one that may hold a secret not its text.

        Raises:
            DiskError: it isn't kept.
        """
        key = (id, sha256.hex())
        if key in self._known:
            return
        self._known.add(key)
        record = {
            "id": id,
            "sha256": sha256.hex(),
            "reason": reason,
            "alarm": is_alarm,
            "at": time.time(),
            "line": line,
        }
        data = json.dumps(record).encode()
        size = self.path.stat().st_size if self.path.exists() else 0
        # what anybody may send leaves room for an alarm
        if size + len(data) < (_MOST_ASIDE_BYTES if is_alarm else _MOST_ASIDE_BYTES // 2):
            # of what a hostile role may send by thousands only an alarm waits for the disk
            append_lines(self.path, [data], mode=0o600, is_durable=is_alarm)


def read_aside(folder: Path) -> list[dict[str, Any]]:
    """Return the records of lines that were put aside, the oldest first.

    Raises:
        DiskError: they can't be read.
    """
    records = []
    for line in read_bytes(folder / ASIDE_FILE).split(b"\n"):
        with contextlib.suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict) and isinstance(record.get("id"), str) and isinstance(record.get("sha256"), str):
                records.append(record)
    return records
