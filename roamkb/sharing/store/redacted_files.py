"""Files of a log that hold a forgotten text: found, and rewritten beside and swapped, one by one.

The log itself comes last, so that a run that was interrupted finds the line again, and what else tells of it.
"""

import contextlib
import os
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from roamkb.core.errors import DiskError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.append import read_bytes
from roamkb.fs.append import replace_content
from roamkb.fs.files import as_disk_error
from roamkb.fs.files import is_missing
from roamkb.fs.git_index import tracked_files_below
from roamkb.fs.untrusted_files import remove_file
from roamkb.fs.worktrees import linked_worktrees
from roamkb.log.redaction import RedactedBytes
from roamkb.log.redaction import Redaction
from roamkb.log.store.observations import restate_consolidated
from roamkb.log.store.project_log import LOG_FOLDER
from roamkb.log.store.project_log import Log
from roamkb.log.trust.vouched_lines import LogLines
from roamkb.sharing.store import snapshot_archive

#: How the kinds of files are called.
LOG_LINES: Final = "lines"
SNAPSHOT: Final = "snapshot"
RECORDS: Final = "records"
LOCAL_FILE: Final = "local file"
CACHE: Final = "cache"
_SNAPSHOTS_FOLDER: Final = "snapshots"
#: Folders of indexes, which are built anew from the lines.
_CACHE_FOLDERS: Final = ("index", "standings", "part")
_LOCK_SUFFIX: Final = ".lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedPlace:
    """A file that holds what is forgotten, and what becomes of it."""

    path: Path
    #: Lines or records that are taken out or blanked, a snapshot with some, a cache or local file that is removed.
    kind: str
    #: The lines concerned; 0 where the whole file goes.
    lines: int


def find_places(log: Log, redaction: Redaction) -> Iterator[RedactedPlace]:
    """Yield the files to be redacted, in the order in which that is done.

    Raises:
        DiskError: one of them can't be read.
    """
    for path in dict.fromkeys((*_local_files(log.ignored), *_local_files(log.cache_folder))):
        yield from _find_local_place(path, redaction)
    for path, redact in _log_files(log, redaction):
        if lines := redact(read_bytes(path)).lines:
            yield RedactedPlace(path=path, kind=LOG_LINES, lines=lines)


def redact_place(log: Log, place: RedactedPlace, redaction: Redaction) -> None:
    """Redact one file; the log's lock is held.

    Raises:
        DiskError, ChangedOnDisk: it is as it was. NotDurable: it was redacted, and the disk may not keep that.
    """
    with as_disk_error(place.path):
        if place.kind == SNAPSHOT:
            snapshot = snapshot_archive.get_snapshot(place.path.parent, place.path.stem)
            members = snapshot_archive.read_members(snapshot)
            redacted = {name: _redact_member(name, data, redaction).data for name, data in members.items()}
            snapshot_archive.replace_members(snapshot, redacted)
        elif place.kind == LOG_LINES:
            redact = dict(_log_files(log, redaction))[place.path]
            seen_part = log.seen_part(read_bytes(place.path), place.path.name)
            # a line that loses some of its words isn't the line that was vouched for
            seen, redacted_seen = set(seen_part.split(b"\n")), set(redact(seen_part).data.split(b"\n"))
            is_ledger = place.path == log.ledger
            log.add_own_lines(
                _lines_of_file(redacted_seen - seen, is_ledger=is_ledger),
                in_place_of=_lines_of_file(seen - redacted_seen, is_ledger=is_ledger),
            )
            replace_content(place.path, lambda data: redact(data).data)
        elif place.kind == RECORDS:
            size = place.path.lstat().st_size
            replace_content(place.path, lambda data: redaction.redact_records(data).data)
            restate_consolidated(place.path, old_size=size)
        else:
            remove_file(place.path)


def damaged_snapshots(log: Log) -> Iterator[Path]:
    """Yield the log's snapshots that nobody can look into."""
    for folder in _snapshot_folders(log):
        yield from (found.path for found in snapshot_archive.list_archives(folder) if found.fault)


def worktree_copies(log: Log, redaction: Redaction) -> Iterator[Path]:
    """Yield the files of the log that git put into other worktrees, and that hold the lines."""
    for worktree in linked_worktrees(str(log.home)):
        for path, redact in _log_files(log, redaction):
            copy = Path(worktree) / LOG_FOLDER / path.name
            with contextlib.suppress(DiskError):
                if copy != path and redact(read_bytes(copy)).lines:
                    yield copy


def is_log_tracked(log: Log) -> bool:
    """Say whether git tracks a file of the log, so that its history may hold any line."""
    names = {log.knowledge.name, log.archive.name, log.ledger.name}
    return not names.isdisjoint(tracked_files_below(log.folder))


def snapshot_lines(log: Log) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of the log's files in its snapshots; damaged ones have none."""
    for folder in _snapshot_folders(log):
        for snapshot in snapshot_archive.list_archives(folder):
            if not snapshot.fault:
                yield from snapshot_archive.read_members(snapshot).items()


def _snapshot_folders(log: Log) -> Iterator[Path]:
    """Yield the folders of snapshots of all machines that have this tree."""
    if not is_missing(log.ignored):
        for machine in sorted(log.ignored.iterdir()):
            folder = machine / _SNAPSHOTS_FOLDER
            if not machine.is_symlink() and folder.is_dir() and not folder.is_symlink():
                yield folder


def _log_files(log: Log, redaction: Redaction) -> Iterator[tuple[Path, Callable[[bytes], RedactedBytes]]]:
    """Yield the log's files with what redacts them, the log last."""
    yield log.ledger, redaction.redact_ledger
    yield log.archive, redaction.redact_learnings
    yield log.knowledge, redaction.redact_learnings


def _lines_of_file(lines: Iterable[bytes], *, is_ledger: bool) -> LogLines:
    return LogLines((), tuple(lines)) if is_ledger else LogLines(tuple(lines), ())


def _redact_member(name: str, data: bytes, redaction: Redaction) -> RedactedBytes:
    return redaction.redact_ledger(data) if name.startswith("ledger") else redaction.redact_learnings(data)


def _local_files(folder: Path) -> Iterator[Path]:
    """Yield the regular files below a folder; links, which a pull can bring, aren't followed."""
    for top, folders, names in os.walk(folder):
        folders.sort()
        paths = (Path(top) / name for name in sorted(names) if not name.endswith(_LOCK_SUFFIX))
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _find_local_place(path: Path, redaction: Redaction) -> Iterator[RedactedPlace]:
    if path.parent.name == _SNAPSHOTS_FOLDER and path.suffix == ".zip":
        with contextlib.suppress(DiskError):
            lines = _count_lines(snapshot_archive.read_members(_as_snapshot(path)), redaction)
            if lines:
                yield RedactedPlace(path=path, kind=SNAPSHOT, lines=lines)
        return
    data = read_bytes(path)
    if path.suffix == ".jsonl":
        if lines := redaction.redact_records(data).lines:
            yield RedactedPlace(path=path, kind=RECORDS, lines=lines)
    elif path.parent.name in _CACHE_FOLDERS:
        if redaction.is_in_bytes(data):
            yield RedactedPlace(path=path, kind=CACHE, lines=0)
    elif redaction.tells(data.decode("utf-8", "replace")):
        yield RedactedPlace(path=path, kind=LOCAL_FILE, lines=0)


def _as_snapshot(path: Path) -> snapshot_archive.Snapshot:
    return snapshot_archive.get_snapshot(path.parent, path.stem)


def _count_lines(members: Mapping[str, bytes], redaction: Redaction) -> int:
    return sum(_redact_member(name, data, redaction).lines for name, data in members.items())
