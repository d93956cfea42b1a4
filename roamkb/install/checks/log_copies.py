"""Conflict copies of a log's files: a syncer puts them aside, and no command reads their lines."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.append import read_lines
from roamkb.kb.notes.file_names import conflict_original
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log

SYNCING_FIX: Final = "Syncthing merges no lines: keep the log in git, outside of the shared folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCopy:
    """A conflict copy of a log's file."""

    path: Path
    original: Path
    #: Lines that no file of the log has, but for what was forgotten.
    missing: int

    @property
    def union_command(self) -> str:
        """The command that adds to the file the lines of its copy that it lacks, as git's union merge would."""
        original, path = (shlex.quote(str(file)) for file in (self.original, self.path))
        return f"grep -vxFf {original} {path} >> {original}"


def find_lacking(log: Log) -> Iterator[LogCopy]:
    """Yield each conflict copy that has lines which the log lacks, in the order of names."""
    originals = {path.name: path for path in (log.knowledge, log.archive, log.ledger)}
    for path in sorted(log.folder.iterdir()):
        original = originals.get(conflict_original(path.name) or "")
        missing = _count_missing(log, path, original) if original else 0
        if original and missing:
            yield LogCopy(path=path, original=original, missing=missing)


def _count_missing(log: Log, path: Path, original: Path) -> int:
    """Return how many lines of a copy no file of the log has; what tells of a forgotten learning isn't missed."""
    # a rotation moves learnings from one file to the other
    files = (log.ledger,) if original == log.ledger else (log.knowledge, log.archive)
    known = {line for file in files for line in read_lines(file)}
    missing = [line for line in dict.fromkeys(read_lines(path)) if line.strip() and line not in known]
    tombstones = log.read_contents().tombstones
    if original == log.ledger:
        events = (event for event in read_events(missing) if isinstance(event, LedgerEvent))
        return len(missing) - sum(map(tombstones.covers_event, events))
    learnings = (line.learning for line in read_learnings(missing) if isinstance(line, LearningLine))
    return len(missing) - sum(map(tombstones.covers, learnings))
