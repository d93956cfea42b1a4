"""A walk that goes by what the system tells finds what a new walk would, whoever changes the notes."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import IO

import pytest

from roamkb.core.errors import NoKnowledgeBase
from roamkb.fs.mounts import MountedFolder
from roamkb.kb.notes.store import watched_walk
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.walk import walk_checked
from roamkb.kb.notes.store.watched_walk import WatchedWalk
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.query import parse_query
from tests.examples import examples

TODAY = date(2026, 6, 10)
WRITER = Path(__file__).with_name("note_writer.py")


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    """A knowledge base with two notes, on a file system that can be watched."""
    folder = tmp_path / "kb"
    (folder / "x").mkdir(parents=True)
    (folder / ".stfolder").mkdir()
    (folder / "a.org").write_text("#+title: Zebra\n")
    (folder / "x" / "b.org").write_text("#+title: Tapir\n")
    if sys.platform != "linux" or not MountedFolder(folder).is_local:
        pytest.skip("nothing can be watched here: each walk is a whole one")
    return folder


@contextlib.contextmanager
def writer(kb: Path, seed: int, steps: int, *more: str) -> Iterator[tuple[IO[str], IO[str]]]:
    """Run a writer; yield its output and its input."""
    words = [sys.executable, str(WRITER), str(kb), str(seed), str(steps), *more]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        yield process.stdout, process.stdin
    assert 0 == process.returncode


def agree(walk: WatchedWalk, kb: Path, why: str) -> None:
    """The walk finds what a new one finds."""
    assert replace(walk.walk(kb), is_watched=False) == walk_checked(kb), why


@pytest.mark.parametrize("seed", range(examples(6)))
def test_after_each_change_of_another_process_the_walk_is_that_of_a_new_process(kb: Path, seed: int) -> None:
    """Files and folders come, go, move and are linked: nothing that was done is missed."""
    walk = WatchedWalk()
    agree(walk, kb, "at first")
    steps, done = 300, []
    with writer(kb, seed, steps) as (told, go_on):
        for change in told:
            done.append(change.strip())
            agree(walk, kb, f"after {done[-8:]}")
            go_on.write("\n")
            go_on.flush()
    assert steps == len(done)
    assert walk.is_watching


@pytest.mark.parametrize("seed", range(examples(4)))
def test_after_each_change_the_kept_index_answers_as_one_made_just_now(kb: Path, tmp_path: Path, seed: int) -> None:
    """What was written is found, and what is gone is not, although no stat is trusted yet."""
    walk = WatchedWalk()
    queries = [parse_query(words, today=TODAY) for words in ("zebra", "more", "word3 word4 word5")]
    with writer(kb, 100 + seed, 40) as (told, go_on):
        for change in told:
            for query in queries:
                kept = Index(Notes(kb, live_walk=walk.walk), tmp_path / "cache").find_passages(query)
                assert Index(Notes(kb), None).find_passages(query) == kept, change
            go_on.write("\n")
            go_on.flush()
    assert walk.is_watching


def test_whatever_several_writers_do_at_once_each_word_that_was_told_is_found(kb: Path, tmp_path: Path) -> None:
    """A query that begins after a write was told of sees it, while others write on."""
    walk = WatchedWalk()
    with contextlib.ExitStack() as writers:
        told = [writers.enter_context(writer(kb, seed, 12, "telling")) for seed in (201, 202, 203)]
        for _ in range(12):
            for lines, go_on in told:
                query = parse_query(lines.readline().strip(), today=TODAY)
                found = Index(Notes(kb, live_walk=walk.walk), tmp_path / "cache").find_passages(query).answers
                assert query.text in [answer.title for answer in found]
                go_on.write("\n")
                go_on.flush()
    agree(walk, kb, "at last")


def test_while_nothing_changes_the_result_is_the_same_object(kb: Path) -> None:
    """So that an index that agreed with it agrees again; a touch makes another."""
    walk = WatchedWalk()
    first = walk.walk(kb)
    assert first.is_watched
    assert walk.walk(kb) is first
    (kb / "a.org").write_text("#+title: Zebra\n")
    second = walk.walk(kb)
    assert second is not first
    assert walk.walk(kb) is second


def test_an_index_agrees_again_with_files_that_were_not_touched(kb: Path, tmp_path: Path) -> None:
    """Although no stat is trusted yet, which another process compares with the files' contents; no digest is made."""
    walk, cache = WatchedWalk(), tmp_path / "cache"

    def changes_of(notes: Notes) -> tuple[list[str], list[str]]:
        changes = Index(notes, cache, clock=lambda: (kb / "a.org").stat().st_ctime_ns).find_unread_notes()
        return [file.file for file in changes.to_read], [file.file for file in changes.unchanged_files]

    Index(Notes(kb, live_walk=walk.walk), cache, clock=lambda: (kb / "a.org").stat().st_ctime_ns).content_counts()
    assert ([], []) == changes_of(Notes(kb, live_walk=walk.walk))
    assert ([], ["a.org", "x/b.org"]) == changes_of(Notes(kb))
    (kb / "a.org").touch()
    (kb / "c.org").write_text("#+title: Okapi\n")
    assert (["c.org"], ["a.org", "x/b.org"]) == changes_of(Notes(kb, live_walk=walk.walk))
    assert not (cache / "index.tree").exists()
    assert Notes(kb, live_walk=walk.walk).tree_before_walk() is None


@pytest.mark.parametrize("is_local", [True, False])
def test_a_kept_index_that_another_process_changed_is_compared_anew(
    kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_local: bool
) -> None:
    """What agreed with one state of it says nothing of another state, whether or not folders are watched."""
    if not is_local:
        monkeypatch.setattr("roamkb.fs.mounts._LOCAL", frozenset())
    walk, cache = WatchedWalk(), tmp_path / "cache"
    query = parse_query("tapir zebra", today=TODAY)
    fresh = Index(Notes(kb), None).find_passages(query)
    assert fresh == Index(Notes(kb, live_walk=walk.walk), cache).find_passages(query)
    (kb / "a.org").rename(tmp_path / "a.org")
    Index(Notes(kb), cache).find_passages(query)
    (tmp_path / "a.org").rename(kb / "a.org")
    assert fresh == Index(Notes(kb, live_walk=walk.walk), cache).find_passages(query)
    assert fresh == Index(Notes(kb, live_walk=walk.walk), cache).find_passages(query)
    assert is_local == walk.is_watching


def test_an_editors_lock_and_its_copies_cost_no_new_walk(kb: Path) -> None:
    """Emacs links `.#a.org`, saves `#a.org#` and keeps `a.org~` beside the note."""
    walk = WatchedWalk()
    first = walk.walk(kb)
    (kb / ".#a.org").symlink_to("user@host.1:2")
    (kb / "#a.org#").write_text("x")
    (kb / "a.org~").write_text("x")
    (kb / ".#a.org").unlink()
    assert walk.walk(kb) is first


def test_a_base_that_goes_is_missed_and_one_that_comes_back_is_read(kb: Path) -> None:
    """Another folder of the same name is another base."""
    walk = WatchedWalk()
    walk.walk(kb)
    kb.rename(kb.with_name("away"))
    with pytest.raises(NoKnowledgeBase):
        walk.walk(kb)
    kb.mkdir()
    with pytest.raises(NoKnowledgeBase):
        walk.walk(kb)
    (kb / "c.org").write_text("x")
    agree(walk, kb, "another base")


def test_without_the_last_note_a_base_without_a_mark_is_taken_for_unmounted(kb: Path) -> None:
    """As a new process does."""
    (kb / ".stfolder").rmdir()
    walk = WatchedWalk()
    walk.walk(kb)
    (kb / "a.org").unlink()
    (kb / "x" / "b.org").unlink()
    with pytest.raises(NoKnowledgeBase):
        walk.walk(kb)


def test_a_queue_that_overflowed_makes_the_walk_a_whole_one(kb: Path) -> None:
    """What was lost is found all the same."""
    walk = WatchedWalk()
    walk.walk(kb)
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with (kb / "a.org").open("ab", 0) as first, (kb / "c.org").open("ab", 0) as second:
        for _ in range(limit // 2 + 1):
            # two in a row would be one event
            first.write(b"x")
            second.write(b"x")
    (kb / "d.org").write_text("x")
    agree(walk, kb, "after an overflow")
    assert walk.is_watching


def test_where_no_folder_can_be_watched_each_walk_is_a_whole_one(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a network's file system, say: here, where no file system counts as this system's own."""
    monkeypatch.setattr("roamkb.fs.mounts._LOCAL", frozenset())
    walk = WatchedWalk()
    agree(walk, kb, "at first")
    (kb / "a.org").write_text("other")
    agree(walk, kb, "after a change")
    assert not walk.is_watching
    monkeypatch.undo()
    monkeypatch.setattr(watched_walk, "_RETRY_SECONDS", 0.0)
    walk = WatchedWalk()
    assert walk.walk(kb).is_watched
