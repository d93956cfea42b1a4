"""Two machines write to one knowledge base, and Syncthing carries it."""

import itertools
import os
import shutil
import subprocess
import threading
import uuid
from collections.abc import Iterator
from datetime import datetime
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from roamkb.fs import files as disk
from roamkb.fs.locks import StateFolders
from roamkb.fs.locks import hold_lock
from roamkb.journal.journal import JournalContext
from roamkb.journal.moments import ChangeMaker
from roamkb.journal.store.glance import begin_turn
from roamkb.journal.store.journal import Journal
from roamkb.kb.notes.file_names import CONFLICT_MARK
from roamkb.kb.notes.file_names import conflict_original
from roamkb.kb.notes.file_names import note_names
from roamkb.kb.notes.store.trash import Trash
from roamkb.kb.notes.store.walk import walk_notes
from tests.syncthing.pair import Pair
from tests.syncthing.pair import Side
from tests.syncthing.pair import wait_for

WHEN = datetime(2026, 6, 10, 14, 29)
NOTES = 60


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two machines in step, or a loud skip; no skip where nothing may be skipped."""
    if shutil.which("syncthing") is None:
        why = "TWO MACHINES WERE NOT TESTED: syncthing isn't installed (Debian: apt-get install syncthing)"
        if os.environ.get("ROAMKB_TEST_ALL") == "1":
            pytest.fail(why)
        pytest.skip(why)
    both = Pair(tmp_path_factory.mktemp("pair"))
    try:
        both.start()
        yield both
    finally:
        both.stop()


def write(side: Side, when: datetime, title: str) -> bytes:
    """Create a note as an agent on that machine does; return what it says."""
    id = str(uuid.uuid4())
    text = f":PROPERTIES:\n:ID:       {id}\n:END:\n#+title: {title}\n".encode()
    disk.create_unique(side.kb, note_names(when, title, id), text)
    return text


def copies(side: Side) -> list[str]:
    """Return the conflict copies on that side."""
    return [name for name in side.names() if CONFLICT_MARK in name]


def test_what_both_write_while_apart_arrives_whole(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal titles make no conflict, not even in one second on one machine, and no leftover travels."""
    said = []
    with pair.cut():
        for number in range(NOTES):
            when = WHEN + timedelta(seconds=2 * number)
            said += [write(pair.a, when, f"title_{number}"), write(pair.a, when, f"title_{number}")]
            said.append(write(pair.b, when + timedelta(seconds=1), f"title_{number}"))
            # the second half as where there are no unnamed files
            if number == NOTES // 2:
                monkeypatch.delattr(os, "O_TMPFILE", raising=False)
        leftover = pair.a.kb / f"{disk.TEMPORARY_PREFIX}killed.tmp"
        leftover.write_bytes(b"half a no")
    pair.b.scan()
    wait_for(lambda: len(pair.b.names()) == 3 * NOTES == len(pair.a.names()) - 1)
    leftover.unlink()
    pair.settle()
    for side in pair.sides:
        assert sorted(said) == sorted(side.contents().values())
        assert copies(side) == []
        assert all(name.endswith(".org") for name in side.names())


def test_one_second_and_title_on_two_machines_keeps_both_facts(pair: Pair) -> None:
    """The documented case (D3): one name made twice becomes a conflict copy with an id of its own."""
    before = pair.a.names()
    with pair.cut():
        said = {write(side, WHEN, "the_same") for side in pair.sides}
    wait_for(lambda: bool(copies(pair.a) and copies(pair.b)))
    pair.settle()
    for side in pair.sides:
        assert len(copies(side)) == 1
        assert {side.contents()[name] for name in side.names() - before} == said
        assert conflict_original(copies(side)[0]) == "20260610142900-the_same.org"
        assert len(walk_notes(side.kb).conflict_copies) == 1


def arrived(path: Path, data: bytes) -> bool:
    """Say whether `path` holds `data` by now."""
    return disk.read_file(path) == data


def test_a_reader_sees_whole_versions_while_the_peer_changes_a_note(pair: Pair, tmp_path: Path) -> None:
    """Syncthing takes a name away before it puts the new version there; who is patient never sees it."""
    versions = [str(number).encode() * 200_000 for number in range(6)]
    path = disk.create_file(pair.a.kb, "changing.org", versions[0])
    there = pair.b.kb / "changing.org"
    pair.a.scan()
    wait_for(there.exists)
    seen = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.add(disk.read_file(there, patience=2))

    reader = threading.Thread(target=watch)
    reader.start()
    try:
        for before, after in itertools.pairwise(versions):
            disk.swap_file(path, after, expected_digest=disk.content_digest(before), lock=hold_lock(tmp_path / "lock"))
            pair.a.scan()
            wait_for(partial(arrived, there, after))
    finally:
        done.set()
        reader.join()
    assert seen <= set(versions)
    assert versions[-1] in seen


def test_a_trashed_note_leaves_both_machines_and_comes_back(pair: Pair, tmp_path: Path) -> None:
    """The trash is one machine's own; the knowledge base is both's."""
    text = write(pair.a, WHEN, "to_be_trashed")
    name = "20260610142900-to_be_trashed.org"
    pair.settle()
    state = StateFolders(state=tmp_path / "state", cache=tmp_path / "cache")
    kb = pair.a.kb
    trash = Trash(kb=kb, folder=state.trash_folder(kb), lock_file=state.lock_file(kb), now=lambda: WHEN)
    entry = trash.trash_note(kb / name, was=disk.content_digest(text), id="x", title="to be trashed")
    pair.a.scan()
    wait_for(lambda: not (pair.b.kb / name).exists())
    trash.restore_entry(entry, trash.read_entry(entry))
    pair.a.scan()
    wait_for((pair.b.kb / name).exists)
    pair.settle()
    assert (pair.b.kb / name).read_bytes() == text
    assert [copy for copy in copies(pair.b) if "trashed" in copy] == []


def keeper_of(side: Side, folder: Path, *, home: Path | None) -> JournalContext:
    """Return the journal of one side while an agent is at work there."""
    journal = Journal(kb=side.kb, folder=folder)
    begin_turn(str(folder), "s")
    return JournalContext(journal=journal, lock_file=folder / "lock", folder=None, home=home)


def made_by(keeper: JournalContext, since: int) -> dict[str, ChangeMaker]:
    """Look, and return what changed since a moment, and by what."""
    keeper.take_look()
    return {f"{one.what} {os.fsdecode(one.path)}": one.by for one in keeper.journal.changes_since(since)}


def test_the_journal_believes_syncthing_and_not_its_traces(pair: Pair, tmp_path: Path) -> None:
    """What the other machine did is known; what a command here made look like it is not."""
    config = tmp_path / ".config" / "syncthing" / "config.xml"
    config.parent.mkdir(parents=True)
    shutil.copy(pair.b.config, config)
    notes = {name: f"{name}\n" * 200 for name in ("was-changed", "was-removed", "was-moved", "stays", "mine")}
    for name, text in notes.items():
        (pair.a.kb / f"{name}.org").write_text(text)
    pair.settle()
    keeper = keeper_of(pair.b, tmp_path / "journal", home=tmp_path)
    blind = keeper_of(pair.b, tmp_path / "blind", home=None)
    mark = keeper.journal.take_look(look_kind="mark").moment
    blind.journal.take_look(look_kind="mark")
    (pair.a.kb / "was-changed.org").write_text("another text")
    (pair.a.kb / "was-removed.org").unlink()
    (pair.a.kb / "was-moved.org").rename(pair.a.kb / "has-moved.org")
    (pair.a.kb / "was-added.org").write_text("new")
    pair.settle()
    wait_for(lambda: (pair.b.kb / "was-changed.org").read_text() == "another text")
    expected = {
        "changed was-changed.org",
        "vanished was-removed.org",
        "moved was-moved.org",
        "added was-added.org",
    }
    assert dict.fromkeys(expected, ChangeMaker.SYNCTHING) == made_by(keeper, mark)
    assert dict.fromkeys(expected, ChangeMaker.UNKNOWN) == made_by(blind, mark)
    since = keeper.journal.read_holdings().last
    forge = "sed -i s/s/S/ stays.org; touch -r was-changed.org stays.org; "
    forge += "cp -p was-added.org mine.org; rm has-moved.org"
    subprocess.run(["sh", "-ec", forge], cwd=pair.b.kb, check=True)
    done = {"changed stays.org", "changed mine.org", "vanished has-moved.org"}
    assert dict.fromkeys(done, ChangeMaker.UNKNOWN) == made_by(keeper, since)
