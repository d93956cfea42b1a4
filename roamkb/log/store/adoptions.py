"""Adoptions of logs on this machine, in the user's state folder.

A log's local folder says that it was adopted, and may be deleted or left behind by a move. So each
adoption is put down here as well, by the place and by a file of the log that nothing rewrites: its inode,
and when that was changed last, which no program sets. A copy or a new clone in its place is another file.
What of a log counts by a trusted digest or key alone is put down here, too, line by line. The wall keeps these
records from an agent's commands; what such a command appends to the log is recorded beside them.
"""

import contextlib
import json
import os
import stat
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.files import MissingFile
from roamkb.fs.files import as_disk_error
from roamkb.fs.files import content_digest
from roamkb.fs.files import create_file
from roamkb.fs.files import read_file
from roamkb.fs.files import swap_file
from roamkb.fs.locks import LOCKS
from roamkb.fs.locks import hold_lock
from roamkb.fs.locks import make_private_folder
from roamkb.fs.user_dirs import ADOPTIONS_FOLDER
from roamkb.fs.user_dirs import is_adoption_recorded
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.trust import vouched_lines

#: `init` makes it, or finds it; nobody has a reason to write to it again.
IDENTITY_FILE = ".gitignore"
#: The lines that this machine appended to logs that count by their vouchers; an agent's commands write it.
APPENDED_FOLDER = "appended"
_VERSION = b"1"
#: Of a log of which only vouched lines are seen; an older roamkb reads none of it.
_VOUCHED_VERSION = b"3"
#: An earlier form, which didn't tell learnings from events: of it this machine's own lines count, and the others
#: once their vouchers are looked for again.
_UNTOLD_VERSION = b"2"
#: Of a log that has lines from a service, which an older roamkb would take for this machine's own.
_RECEIVING_VERSION = b"4"
_ADOPTED_LOCK = "adopted.lock"
_LOCK_SECONDS = 10.0
#: Marks of some ten million lines.
_MOST_RECORD_BYTES = 256 * 1024 * 1024
#: Bytes of a log's identity.
_LONGEST_IDENTITY = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAdoption:
    """One log as it was adopted."""

    #: Which one it is, as `log_identity` says it.
    log: str
    adopted: AdoptedLines
    #: All that is seen of it, where no human adopted it; None where everything is.
    vouched: "vouched_lines.VouchedLines | None" = None
    #: The signed commits by which it counts.
    commits: tuple[str, ...] = ()
    #: What the last search for vouchers looked at, and how many lines that they stand for it missed.
    looked: str = ""
    missing: int = 0
    #: Size and digest of the beginning of each file, if its lines are all those of the vouchers above.
    seen_whole: tuple[tuple[int, str], ...] = ()


def log_identity(folder: Path) -> str:
    """Return an identity of the log in `folder`, unique on this machine; empty where it has none."""
    try:
        file_status = (folder / IDENTITY_FILE).lstat()
    except OSError:
        return ""
    # a second name of the file would give another log the same identity
    is_alone = stat.S_ISREG(file_status.st_mode) and file_status.st_nlink == 1
    return f"{file_status.st_ino}:{file_status.st_ctime_ns}" if is_alone else ""


def find_adoption(state: Path, name: str) -> LogAdoption | None:
    """Return the recorded adoption of the log whose local folder is called `name`.

    Raises:
        DiskError: it is there and can't be read, so that nobody knows whose word the log is.
    """
    path = state / ADOPTIONS_FOLDER / name
    data = read_file(path, limit=_MOST_RECORD_BYTES)
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
    return _with_appended(state, name, adoption)


def is_recorded(state: Path, name: str) -> bool:
    """Say whether the log whose local folder is called `name` was adopted, or made, on this machine.

    Raises:
        DiskError: that can't be known.
    """
    with as_disk_error(state / ADOPTIONS_FOLDER / name):
        return is_adoption_recorded(str(state), name)


def _with_appended(state: Path, name: str, adoption: LogAdoption) -> LogAdoption:
    """Return an adoption with the lines that this machine appended, as far as they can be read."""
    if adoption.vouched is None:
        return adoption
    data = read_file(state / APPENDED_FOLDER / name, limit=_MOST_RECORD_BYTES)
    appended = None if isinstance(data, UnreadableFile) else _parse_adoption(data)
    if appended is None or appended.vouched is None:
        return adoption
    return replace(adoption, vouched=adoption.vouched.plus(appended.vouched.limit_to(())))


def received_marks(state: Path, name: str) -> bytes:
    """Return the marks of lines that a service brought, as recorded for the local folder called `name`; else none."""
    data = read_file(state / ADOPTIONS_FOLDER / name, limit=_MOST_RECORD_BYTES)
    adoption = None if isinstance(data, UnreadableFile) else _parse_adoption(data)
    return adoption.adopted.received if adoption else b""


def find_moved_log(state: Path, log: str) -> tuple[str, LogAdoption] | None:
    """Return the recorded adoption of a log that was elsewhere then, after the name of its local folder there."""
    return next((found for found in _recorded_adoptions(state) if log and found[1].log == log), None)


def _recorded_adoptions(state: Path) -> Iterator[tuple[str, LogAdoption]]:
    with contextlib.suppress(OSError), os.scandir(state / ADOPTIONS_FOLDER) as entries:
        for entry in entries:
            data = read_file(Path(entry.path), limit=_MOST_RECORD_BYTES)
            if not isinstance(data, UnreadableFile) and (adoption := _parse_adoption(data)):
                yield entry.name, _with_appended(state, entry.name, adoption)


def _parse_adoption(data: bytes) -> LogAdoption | None:
    version, _, remainder = data.partition(b" ")
    log, end, _ = remainder[: _LONGEST_IDENTITY + 1].partition(b"\n")
    name, body = log.decode("ascii", "replace"), remainder[len(log) + 1 :]
    if not end:
        return None
    if version == _VERSION:
        return LogAdoption(log=name, adopted=AdoptedLines(marks=body))
    if version == _RECEIVING_VERSION:
        return _parse_receiving(name, body)
    if version == _UNTOLD_VERSION:
        return _parse_untold(name, body)
    return _parse_vouched(name, body) if version == _VOUCHED_VERSION else None


def _parse_receiving(log: str, body: bytes) -> LogAdoption | None:
    """Return the adoption of a log with lines from a service: the size of the other marks, then all marks."""
    size, end, marks = body.partition(b"\n")
    if not end or not size.isdigit() or int(size) > len(marks):
        return None
    adopted = AdoptedLines(marks=marks[: int(size)], received=marks[int(size) :])
    return LogAdoption(log=log, adopted=adopted)


def _parse_vouched(log: str, body: bytes) -> LogAdoption | None:
    """Return the adoption of a log whose vouched lines alone are seen: a summary, then the marks of each voucher."""
    summary, end, data = body.partition(b"\n")
    try:
        fields = json.loads(summary)
        vouchers = [(str(name), int(learnings), int(events)) for name, learnings, events in fields["vouchers"]]
        adoption = LogAdoption(
            log=log,
            adopted=NONE_ADOPTED,
            commits=tuple(map(str, fields["commits"])),
            looked=str(fields["looked"]),
            missing=int(fields["missing"]),
            seen_whole=tuple((int(size), str(digest)) for size, digest in fields["seen_whole"]),
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    marks = list(_split_marks(data, [count for _, *counts in vouchers for count in counts]))
    if not end or sum(map(len, marks)) * vouched_lines.MARK_BYTES != len(data):
        return None
    vouchings = (
        vouched_lines.Vouching(by=name, learnings=learnings, events=events)
        for (name, *_), learnings, events in zip(vouchers, marks[::2], marks[1::2], strict=True)
    )
    return replace(adoption, vouched=vouched_lines.VouchedLines(vouchings=tuple(vouchings)))


def _split_marks(data: bytes, counts: Iterable[int]) -> "Iterator[vouched_lines.LineMarks]":
    start = 0
    for count in counts:
        end = start + vouched_lines.MARK_BYTES * count
        yield vouched_lines.LineMarks(data[start:end])
        start = end


def _parse_untold(log: str, body: bytes) -> LogAdoption | None:
    summary, end, data = body.partition(b"\n")
    try:
        vouchers = [(str(name), int(count)) for name, count in json.loads(summary)["vouchers"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    parts = zip(vouchers, _split_marks(data, [count for _, count in vouchers]), strict=True)
    own = tuple(
        vouched_lines.Vouching(by=vouched_lines.OWN, learnings=marks, events=marks)
        for (name, _), marks in parts
        if name == vouched_lines.OWN
    )
    return (
        LogAdoption(log=log, adopted=NONE_ADOPTED, vouched=vouched_lines.VouchedLines(vouchings=own)) if end else None
    )


def _render_adoption(adoption: LogAdoption) -> bytes:
    if adoption.vouched is None and adoption.adopted.received:
        marks, received = adoption.adopted.marks, adoption.adopted.received
        return b"%s %s\n%d\n%s%s" % (_RECEIVING_VERSION, adoption.log.encode(), len(marks), marks, received)
    if adoption.vouched is None:
        return b"%s %s\n%s" % (_VERSION, adoption.log.encode(), adoption.adopted.marks)
    vouchings = adoption.vouched.vouchings
    summary = {
        "vouchers": [[vouching.by, len(vouching.learnings), len(vouching.events)] for vouching in vouchings],
        "commits": adoption.commits,
        "looked": adoption.looked,
        "missing": adoption.missing,
        "seen_whole": adoption.seen_whole,
    }
    marks = b"".join(vouching.learnings.data + vouching.events.data for vouching in vouchings)
    head = b"%s %s\n%s\n" % (_VOUCHED_VERSION, adoption.log.encode(), json.dumps(summary).encode())
    return head + marks


def change_adoption(state: Path, name: str, change: Callable[[LogAdoption], LogAdoption]) -> None:
    """Change what is recorded of the log whose local folder is called `name`.

    Raises:
        DiskError, Busy: it is as it was.
    """
    with hold_lock(state / LOCKS / _ADOPTED_LOCK, wait=_LOCK_SECONDS):
        adoption = find_adoption(state, name)
        if adoption is None:
            raise DiskError(state / ADOPTIONS_FOLDER / name, "was removed", hint="call `roamkb init`")
        save_adoption(state, name, change(adoption))


def save_adoption(state: Path, name: str, adoption: LogAdoption) -> None:
    """Record that a log was adopted, whose local folder is called `name`.

    Raises:
        DiskError: it can't be kept.
    """
    own, vouched = vouched_lines.VouchedLines(), adoption.vouched
    if vouched is not None:
        own = vouched.limit_to(())
        vouched = vouched_lines.VouchedLines(
            vouchings=tuple(one for one in vouched.vouchings if one.by != vouched_lines.OWN)
        )
    _save_record(state / ADOPTIONS_FOLDER, name, replace(adoption, vouched=vouched))
    if own:
        _save_record(state / APPENDED_FOLDER, name, LogAdoption(log="", adopted=NONE_ADOPTED, vouched=own))


def _save_record(folder: Path, name: str, adoption: LogAdoption) -> None:
    """Write a record unless it is there already, as behind the wall."""
    data = _render_adoption(adoption)
    recorded = read_file(folder / name, limit=_MOST_RECORD_BYTES)
    if isinstance(recorded, MissingFile):
        # another init of the same log may be faster
        with contextlib.suppress(NameTaken):
            create_file(make_private_folder(folder), name, data, mode=0o600)
    elif isinstance(recorded, UnreadableFile):
        raise DiskError(folder / name, recorded.reason)
    elif recorded != data:
        swap_file(folder / name, data, expected_digest=content_digest(recorded), lock=contextlib.nullcontext())
