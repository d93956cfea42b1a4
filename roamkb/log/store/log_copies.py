"""Conflict copies of a log's files: a syncer puts them aside, and no other command reads their lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.append import read_lines
from roamkb.fs.untrusted_files import remove_file
from roamkb.kb.notes.file_names import conflict_original
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.tombstones import Tombstones
from roamkb.log.store.project_log import Log

SYNCING_FIX: Final = "Syncthing merges no lines: keep the log in git, outside of the shared folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCopy:
    """A conflict copy of a log's file."""

    path: Path
    original: Path
    #: The lines that no file of the log has, but for what was forgotten.
    lacking: tuple[bytes, ...]


def find_lacking(log: Log) -> Iterator[LogCopy]:
    """Yield each conflict copy that has lines which the log lacks, in the order of names."""
    originals = {path.name: path for path in (log.knowledge, log.archive, log.ledger)}
    for path in sorted(log.folder.iterdir()):
        original = originals.get(conflict_original(path.name) or "")
        lacking = _lacking_lines(log, path, original) if original else ()
        if original and lacking:
            yield LogCopy(path=path, original=original, lacking=lacking)


def merge_copies(log: Log, paths: frozenset[Path] | None = None) -> Iterator[LogCopy]:
    """Add to the log what it lacks of its conflict copies, or of those at `paths`, and remove them; yield each.

    Raises:
        DiskError, NotDurable, Busy: that copy is still there, as are those after it.
    """
    with log.append_lock():
        for copy in find_lacking(log):
            if paths is None or copy.path in paths:
                log.append_merged(copy.original, copy.lacking)
                remove_file(copy.path)
                yield copy


def _lacking_lines(log: Log, path: Path, original: Path) -> tuple[bytes, ...]:
    """Return the lines of a copy that no file of the log has; what tells of a forgotten learning isn't missed."""
    # a rotation moves learnings from one file to the other
    files = (log.ledger,) if original == log.ledger else (log.knowledge, log.archive)
    known = {line for file in files for line in read_lines(file)}
    missing = [line for line in dict.fromkeys(read_lines(path)) if line.strip() and line not in known]
    tombstones = log.read_contents().tombstones
    return tuple(line for line in missing if not _is_forgotten(line, tombstones))


def _is_forgotten(line: bytes, tombstones: Tombstones) -> bool:
    learnings = [read.learning for read in read_learnings([line]) if isinstance(read, LearningLine)]
    events = [read for read in read_events([line]) if isinstance(read, LedgerEvent)]
    return any(map(tombstones.covers, learnings)) or any(map(tombstones.covers_event, events))
