"""The notes' folder at a past moment, by the journal's looks and the nodes' dates."""

import sqlite3
import time
from contextlib import closing
from datetime import datetime

from roamkb.journal.store.journal import Journal
from roamkb.journal.store.past_folder import PastView
from roamkb.journal.store.past_folder import read_past_folder
from roamkb.journal.store.tables import note_swept
from roamkb.kb.notes.store.walk import walk_notes
from tests.conftest import World

LATER = datetime(2026, 6, 20, 12, 0)


def journal_of(world: World, now: datetime = LATER) -> Journal:
    """Return the journal, its clock set."""
    context = world.open(now=now).journal_context()
    assert context is not None
    return context.journal


def look(world: World, now: datetime) -> None:
    """Take a look at that time."""
    journal_of(world, now).take_look()


def past(world: World, when: datetime) -> PastView:
    """Return the folder at that time."""
    return read_past_folder(journal_of(world), walk_notes(world.kb), when=when.timestamp(), now=LATER.timestamp())


def ids(world: World, as_of: str) -> set[str | None]:
    """Return the ids of the zebras of a day."""
    return {hit.id for hit in world.open(now=LATER).search("zebra", as_of=as_of).hits}


def test_a_deleted_note_is_found_where_the_journal_keeps_it(world: World) -> None:
    """And nowhere else."""
    path = world.node("20260101000000-a.org", "a", "Zebra")
    look(world, datetime(2026, 6, 1, 12))
    path.unlink()
    look(world, datetime(2026, 6, 3, 12))
    assert {"a"} == ids(world, "2026-06-02")
    assert set() == ids(world, "2026-06-04")
    assert {"a"} == ids(world, "2026-05-30")
    (hit,) = world.open(now=LATER).search("zebra", as_of="2026-06-02").hits
    assert path == hit.path
    assert not world.open(now=LATER).search("zebra").hits


def test_what_came_between_two_looks_is_told_by_its_dates(world: World) -> None:
    """A node made in the morning is there as of the evening, if the next look was a day later."""
    world.node("20260101000000-a.org", "a", "Zebra")
    look(world, datetime(2026, 6, 1, 12))
    world.node("20260602080000-b.org", "b", "Zebra")
    world.node("20260604080000-c.org", "c", "Zebra")
    world.node("20200101000000-copied.org", "d", "Zebra")
    world.node("undated.org", "e", "Zebra")
    look(world, datetime(2026, 6, 5, 12))
    assert {"a", "b"} == ids(world, "2026-06-02")
    assert {"a", "b", "c", "d", "e"} == ids(world, "2026-06-05")


def test_the_present_needs_no_look(world: World) -> None:
    """Today and later are what lies there now."""
    world.node("20260101000000-a.org", "a", "Zebra")
    look(world, datetime(2026, 6, 1, 12))
    world.node("undated.org", "b", "Zebra")
    assert {"a", "b"} == ids(world, "2026-06-20")
    assert "the notes as they are now" == past(world, LATER).basis


def test_notes_that_did_not_change_are_not_read_again(world: World) -> None:
    """A look after the file system's clock has ticked knows them by their stats."""
    world.node("20260101000000-a.org", "a", "Zebra")
    changed = world.node("20260101000000-b.org", "b", "Zebra")
    look(world, datetime(2026, 6, 1, 12))
    time.sleep(2.1)
    look(world, datetime(2026, 6, 1, 13))
    changed.write_text(changed.read_text() + "more\n")
    folder = past(world, datetime(2026, 6, 2, 12)).folder
    assert ["20260101000000-b.org"] == list(folder.versions)
    assert not folder.absent
    assert not folder.dated


def test_what_the_journal_could_not_keep_is_listed(world: World) -> None:
    """As a note that can't be read."""
    path = world.node("20260101000000-a.org", "a", "Zebra")
    look(world, datetime(2026, 6, 1, 12))
    with closing(sqlite3.connect(journal_of(world).database_path, isolation_level=None)) as db:
        db.execute("DELETE FROM object")
    path.write_text(path.read_text() + "more\n")
    answer = world.open(now=LATER).search("zebra", as_of="2026-06-02")
    assert () == answer.hits
    assert [(path, "the journal doesn't have what it was")] == [(one.path, one.reason) for one in answer.skipped]


def test_encrypted_notes_and_conflict_copies_stay_out(world: World) -> None:
    """The journal keeps them, and no search shows them."""
    for name in ("a.org.gpg", "a.sync-conflict-20260101-000000-ABCDEFG.org", "data/b.org", ".c.org"):
        world.node(name, name, "Zebra").with_suffix(".bak")
    look(world, datetime(2026, 6, 1, 12))
    assert set() == ids(world, "2026-06-02")


def test_a_note_behind_a_link_is_told_by_its_date(world: World) -> None:
    """The journal follows no link."""
    world.node("data/a.org", "a", "Zebra")
    (world.kb / "20260101000000-linked.org").symlink_to("data/a.org")
    look(world, datetime(2026, 6, 1, 12))
    look(world, datetime(2026, 6, 3, 12))
    assert {"a"} == ids(world, "2026-06-02")
    assert set() == ids(world, "2025-06-02")


def test_the_past_begins_after_what_was_swept(world: World) -> None:
    """Where room was made, the looks before it are no evidence any more."""
    world.node("20260101000000-a.org", "a", "Zebra")
    for day in (1, 3, 5):
        world.note("b.org", f"#+title: {day}\n")
        look(world, datetime(2026, 6, day, 12))
    assert "the journal's look of 2026-06-01 12:00" == past(world, datetime(2026, 6, 2, 12)).basis
    with closing(sqlite3.connect(journal_of(world).database_path, isolation_level=None)) as db:
        note_swept(db, "SELECT min(gone_at) FROM past WHERE gone_at > ? LIMIT ?", (0.0, 1))
    view = past(world, datetime(2026, 6, 2, 12))
    assert "the journal begins 2026-06-03 12:00, so that the notes' dates decide" == view.basis
    assert {"20260101000000-a.org": "", "b.org": ""} == view.folder.dated
    assert "the journal's look of 2026-06-03 12:00" == past(world, datetime(2026, 6, 4, 12)).basis


def test_a_journal_that_cannot_be_read_is_none(world: World) -> None:
    """The answer says so."""
    world.node("20260101000000-a.org", "a", "Zebra")
    look(world, datetime(2026, 6, 1, 12))
    with closing(sqlite3.connect(journal_of(world).database_path, isolation_level=None)) as db:
        db.execute("PRAGMA user_version = 99")
    answer = world.open(now=LATER).search("zebra", as_of="2026-06-02")
    assert ["a"] == [hit.id for hit in answer.hits]
    assert answer.as_of is not None
    assert "the journal can't be read" in answer.as_of
