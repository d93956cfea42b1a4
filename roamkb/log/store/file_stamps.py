"""Stamps of the log's files: what a file of some stat holds, so that it isn't read to find that out.

A file that changed within two seconds isn't trusted by its stat. What appends under the log's lock knows what
became of the file, and says so. The stamps are derived: without them the files are read.
"""

import contextlib
import json
import time
import zlib
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.typing import Any
from roamkb.core.startup.typing import Final
from roamkb.fs.append import OpenedBytes
from roamkb.fs.files import read_file
from roamkb.fs.untrusted_files import make_private_folder
from roamkb.fs.untrusted_files import replace_file

#: Raise on any change of the form, or of what a block is.
_SCHEMA: Final = 1
#: Nanoseconds after which a file that was written to again has another time for sure.
_SETTLED: Final = 2_000_000_000
#: A shorter file is read as fast.
_LEAST_BYTES: Final = 64 * 1024
#: What the system takes files' times from, and how long it stands still at most.
_FILE_CLOCK: Final = getattr(time, "CLOCK_REALTIME_COARSE", time.CLOCK_REALTIME)
_TICK_SECONDS, _MOST_TICKS = 0.001, 20
_STAMPS_FILE: Final = "stamps.json"
#: Of three files of a gigabyte.
_LONGEST_FILE: Final = 1024 * 1024


class FileStamps:
    """The stamps of one log's files, in a folder of their own."""

    def __init__(self, folder: Path, *, least: int = _LEAST_BYTES, clock: Callable[[], int] = time.time_ns) -> None:
        self._path = folder / _STAMPS_FILE
        self._least = least
        self._clock = clock

    def find_blocks(self, name: str, stat: Sequence[int]) -> tuple[bytes, ...] | None:
        """Return the digests of a file's blocks if it has that stat for certain; None where it has to be read."""
        if not stat or stat[0] < self._least:
            return None
        try:
            stamp = self._read_stamps()[name]
            is_known = stamp["stat"] == list(stat) and stamp["settled"]
            return tuple(map(bytes.fromhex, stamp["blocks"])) if is_known else None
        except (ValueError, TypeError, KeyError):
            # there is none, or whoever wrote that
            return None

    def outlasts_tick(self, data: OpenedBytes) -> bool:
        """Wait until whoever changes the file now gives it another time; say whether nobody did before.

        On systems of coarse times, or that never tell, a file isn't trusted.
        """
        for _ in range(_MOST_TICKS):
            if time.clock_gettime_ns(_FILE_CLOCK) > data.stat[-1]:
                return data.is_unchanged()
            time.sleep(_TICK_SECONDS)
        return False

    def save_blocks(self, name: str, stat: Sequence[int], blocks: Sequence[bytes], *, is_settled: bool = False) -> None:
        """Save what a file of that stat holds; where that fails, it is read again."""
        if stat[0] < self._least:
            return
        is_settled = is_settled or abs(self._clock() - stat[-1]) > _SETTLED
        stamp = {"stat": list(stat), "settled": is_settled, "blocks": [block.hex() for block in blocks]}
        stamps = self._read_stamps()
        if stamps.get(name) == stamp:
            return
        content = json.dumps({**stamps, name: stamp})
        with contextlib.suppress(OSError, DiskError):
            # none of them has to outlast a power cut
            for folder in reversed([folder for folder in self._path.parents[:3] if not folder.exists()]):
                make_private_folder(folder)
            replace_file(self._path, json.dumps([_SCHEMA, zlib.crc32(content.encode()), content]).encode())

    def _read_stamps(self) -> dict[str, Any]:
        written = read_file(self._path, limit=_LONGEST_FILE)
        if isinstance(written, UnreadableFile):
            return {}
        try:
            schema, checksum, content = json.loads(written)
            if schema != _SCHEMA or checksum != zlib.crc32(content.encode()):
                return {}
            stamps: dict[str, Any] = json.loads(content)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return {}
        return stamps if isinstance(stamps, dict) else {}
