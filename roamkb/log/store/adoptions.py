"""Which logs were adopted on this machine, and what they said by then: in the user's state folder.

A log's local folder says that it was adopted, and may be deleted or left behind by a move. So each
adoption is put down here as well, by the place and by a file of the log that nothing rewrites: its inode,
and when that was changed last, which no program sets. A copy or a new clone in its place is another file.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.files import MissingFile
from roamkb.fs.files import create
from roamkb.fs.files import digest
from roamkb.fs.files import read_file
from roamkb.fs.files import swap
from roamkb.fs.locks import private_folder
from roamkb.log.state.adoption import AdoptedLines

#: `init` makes it, or finds it; nobody has a reason to write to it again.
LASTING = ".gitignore"
ADOPTIONS = "adopted"
_VERSION = b"1"
#: Bytes of a log's identity.
_LONGEST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAdoption:
    """One log, as it was adopted."""

    #: Which one it is, as `identity_of` says it.
    log: str
    adopted: AdoptedLines


def identity_of(folder: Path) -> str:
    """Return what tells the log in `folder` from any other on this machine; empty where nothing does."""
    try:
        seen = (folder / LASTING).lstat()
    except OSError:
        return ""
    return f"{seen.st_ino}:{seen.st_ctime_ns}" if stat.S_ISREG(seen.st_mode) else ""


def find_adoption(state: Path, name: str) -> LogAdoption | None:
    """Return what was put down of the log whose local folder is called `name`.

    Raises:
        DiskError: it is there and can't be read, so that nobody knows whose word the log is.
    """
    path = state / ADOPTIONS / name
    data = read_file(path)
    if isinstance(data, MissingFile):
        return None
    found = None if isinstance(data, UnreadableFile) else _adoption(data)
    if found is None:
        reason = data.reason if isinstance(data, UnreadableFile) else "isn't what roamkb wrote"
        raise DiskError(
            path,
            reason,
            hint="remove it together with the project's .roamkb/local: `roamkb init` then asks anew",
        )
    return found


def find_moved(state: Path, log: str) -> LogAdoption | None:
    """Return what was put down of a log that was elsewhere then."""
    return next((found for found in _adoptions(state) if log and found.log == log), None)


def _adoptions(state: Path) -> Iterator[LogAdoption]:
    with contextlib.suppress(OSError), os.scandir(state / ADOPTIONS) as entries:
        for entry in entries:
            data = read_file(Path(entry.path))
            if not isinstance(data, UnreadableFile) and (found := _adoption(data)):
                yield found


def _adoption(data: bytes) -> LogAdoption | None:
    version, _, rest = data.partition(b" ")
    log, end, _ = rest[: _LONGEST + 1].partition(b"\n")
    if version != _VERSION or not end:
        return None
    return LogAdoption(log=log.decode("ascii", "replace"), adopted=AdoptedLines(marks=rest[len(log) + 1 :]))


def keep_adoption(state: Path, name: str, adoption: LogAdoption) -> None:
    """Put down that a log was adopted, whose local folder is called `name`.

    Raises:
        DiskError: it can't be kept.
    """
    folder = private_folder(state / ADOPTIONS)
    data = b"%s %s\n%s" % (_VERSION, adoption.log.encode(), adoption.adopted.marks)
    known = read_file(folder / name)
    if isinstance(known, MissingFile):
        # another init of the same log may be faster
        with contextlib.suppress(NameTaken):
            create(folder, name, data, mode=0o600)
    elif isinstance(known, UnreadableFile):
        raise DiskError(folder / name, known.reason)
    elif known != data:
        swap(folder / name, data, was=digest(known), lock=contextlib.nullcontext())
