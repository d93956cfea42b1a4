"""Adoptions of logs on this machine, in the user's state folder.

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
from roamkb.fs.files import content_digest
from roamkb.fs.files import create_file
from roamkb.fs.files import read_file
from roamkb.fs.files import swap_file
from roamkb.fs.locks import make_private_folder
from roamkb.log.state.adoption import AdoptedLines

#: `init` makes it, or finds it; nobody has a reason to write to it again.
IDENTITY_FILE = ".gitignore"
ADOPTIONS_FOLDER = "adopted"
_VERSION = b"1"
#: Bytes of a log's identity.
_LONGEST_IDENTITY = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAdoption:
    """One log as it was adopted."""

    #: Which one it is, as `log_identity` says it.
    log: str
    adopted: AdoptedLines


def log_identity(folder: Path) -> str:
    """Return an identity of the log in `folder`, unique on this machine; empty where it has none."""
    try:
        file_status = (folder / IDENTITY_FILE).lstat()
    except OSError:
        return ""
    return f"{file_status.st_ino}:{file_status.st_ctime_ns}" if stat.S_ISREG(file_status.st_mode) else ""


def find_adoption(state: Path, name: str) -> LogAdoption | None:
    """Return the recorded adoption of the log whose local folder is called `name`.

    Raises:
        DiskError: it is there and can't be read, so that nobody knows whose word the log is.
    """
    path = state / ADOPTIONS_FOLDER / name
    data = read_file(path)
    if isinstance(data, MissingFile):
        return None
    adoption = None if isinstance(data, UnreadableFile) else _parse_adoption(data)
    if adoption is None:
        reason = data.reason if isinstance(data, UnreadableFile) else "isn't what roamkb wrote"
        raise DiskError(
            path,
            reason,
            hint="remove it together with the project's .roamkb/local: `roamkb init` then asks anew",
        )
    return adoption


def find_moved_log(state: Path, log: str) -> LogAdoption | None:
    """Return the recorded adoption of a log that was elsewhere then."""
    return next((adoption for adoption in _recorded_adoptions(state) if log and adoption.log == log), None)


def _recorded_adoptions(state: Path) -> Iterator[LogAdoption]:
    with contextlib.suppress(OSError), os.scandir(state / ADOPTIONS_FOLDER) as entries:
        for entry in entries:
            data = read_file(Path(entry.path))
            if not isinstance(data, UnreadableFile) and (adoption := _parse_adoption(data)):
                yield adoption


def _parse_adoption(data: bytes) -> LogAdoption | None:
    version, _, remainder = data.partition(b" ")
    log, end, _ = remainder[: _LONGEST_IDENTITY + 1].partition(b"\n")
    if version != _VERSION or not end:
        return None
    return LogAdoption(log=log.decode("ascii", "replace"), adopted=AdoptedLines(marks=remainder[len(log) + 1 :]))


def save_adoption(state: Path, name: str, adoption: LogAdoption) -> None:
    """Record that a log was adopted, whose local folder is called `name`.

    Raises:
        DiskError: it can't be kept.
    """
    folder = make_private_folder(state / ADOPTIONS_FOLDER)
    data = b"%s %s\n%s" % (_VERSION, adoption.log.encode(), adoption.adopted.marks)
    recorded = read_file(folder / name)
    if isinstance(recorded, MissingFile):
        # another init of the same log may be faster
        with contextlib.suppress(NameTaken):
            create_file(folder, name, data, mode=0o600)
    elif isinstance(recorded, UnreadableFile):
        raise DiskError(folder / name, recorded.reason)
    elif recorded != data:
        swap_file(folder / name, data, expected_digest=content_digest(recorded), lock=contextlib.nullcontext())
