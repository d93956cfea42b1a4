"""What a release wrote is read by every later one to the same, and its lines are written back as they were."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import event_line
from roamkb.log.jsonl import learning_line
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.state.learning_state import LedgerEvent
from tests.formats import frozen

RELEASES = sorted(path for path in frozen.FOLDER.glob("v*") if path.is_dir())


def is_within(old: Any, new: Any) -> bool:
    """Say whether all that was read is still read; a later release may read more fields."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(key in new and is_within(value, new[key]) for key, value in old.items())
    if isinstance(old, list):
        return isinstance(new, list) and len(old) == len(new) and all(map(is_within, old, new))
    return type(old) is type(new) and bool(old == new)


@pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: folder.name)
def test_what_a_release_wrote_is_read_to_the_same(folder: Path) -> None:
    """The log, its ledger and what they amount to, a bundle, a snapshot, a journal's texts."""
    old = json.loads((folder / frozen.CONTENT).read_text())
    assert is_within(old, json.loads(json.dumps(frozen.content(folder))))
    assert all(old.values())


@pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: folder.name)
def test_no_line_of_a_release_is_lost_or_changed(folder: Path) -> None:
    """Each is read, and written back byte for byte."""
    for name in (frozen.KNOWLEDGE, frozen.ARCHIVE):
        read = [*read_learnings(frozen.lines_of(folder / name))]
        assert frozen.lines_of(folder / name) == [
            learning_line(one.learning) for one in read if isinstance(one, LearningLine)
        ]
    events = [*read_events(frozen.lines_of(folder / frozen.LEDGER))]
    assert frozen.lines_of(folder / frozen.LEDGER) == [
        event_line(event) for event in events if isinstance(event, LedgerEvent)
    ]


@pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: folder.name)
def test_each_format_names_its_version(folder: Path) -> None:
    """Each line of a log, a bundle's header, a snapshot's manifest, a journal's file."""
    lines = [
        line for name in (frozen.KNOWLEDGE, frozen.ARCHIVE, frozen.LEDGER) for line in frozen.lines_of(folder / name)
    ]
    assert all(json.loads(line)["v"] >= 1 for line in lines)
    assert json.loads(frozen.lines_of(folder / frozen.BUNDLE)[0])["schema"] >= 1
    with zipfile.ZipFile(folder / f"{frozen.SNAPSHOT}.zip") as archive:
        assert json.loads(archive.read("manifest.json"))["schema"] >= 1
    assert re.search(r"PRAGMA user_version = [1-9]", (folder / frozen.JOURNAL).read_text())


def test_this_release_is_frozen() -> None:
    """Small enough for everybody to keep."""
    assert RELEASES
    for folder in RELEASES:
        assert sum(path.stat().st_size for path in folder.iterdir()) < 64 * 1024


def test_what_is_frozen_is_what_is_written_today(tmp_path: Path) -> None:
    """Otherwise a release has another form, and wants files of its own beside the old ones."""
    frozen.freeze(tmp_path / "now")
    latest = RELEASES[-1]
    for name in (frozen.KNOWLEDGE, frozen.ARCHIVE, frozen.LEDGER, frozen.BUNDLE):
        assert (latest / name).read_bytes() == (tmp_path / "now" / name).read_bytes()
