"""Notes go into the trash and come back."""

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from roamkb.core.errors import Busy
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.fs.files import content_digest
from roamkb.fs.locks import StateFolders
from roamkb.fs.locks import hold_lock
from roamkb.kb.notes.store.trash import Trash
from roamkb.kb.notes.store.trash import TrashEntry

WHEN = datetime(2026, 6, 10, 14, 29, 5)
BODY = b"#+title: gone\n\xff"


@pytest.fixture
def trash(tmp_path: Path) -> Trash:
    """The trash of an empty knowledge base."""
    kb = tmp_path / "kb"
    kb.mkdir()
    state = StateFolders(state=tmp_path / "state", cache=tmp_path / "cache")
    numbers = itertools.count()
    return Trash(
        kb=kb,
        folder=state.trash_folder(kb),
        lock_file=state.lock_file(kb),
        now=lambda: WHEN,
        token=lambda: f"{next(numbers):04}",
    )


@pytest.fixture
def note(trash: Trash) -> Path:
    """A note in a folder of that knowledge base."""
    path = trash.kb / "daily" / "a.org"
    path.parent.mkdir()
    path.write_bytes(BODY)
    path.chmod(0o640)
    return path


def put(trash: Trash, note: Path) -> TrashEntry:
    """Trash the note."""
    return trash.trash_note(note, was=content_digest(note.read_bytes()), id="id-1", title="Gone “é”")


def restore(trash: Trash, entry: TrashEntry) -> Path:
    """Put it back."""
    return trash.restore_entry(entry, trash.read_entry(entry))


def left(trash: Trash) -> int:
    """Return how many files the trash holds."""
    return len(list(trash.folder.iterdir()))


def test_a_note_goes_and_comes_back(trash: Trash, note: Path) -> None:
    """The same bytes, the same place, the same mode; and the trash is empty again."""
    entry = put(trash, note)
    assert not note.exists()
    assert entry == TrashEntry(
        key="20260610142905-0000",
        id="id-1",
        title="Gone “é”",
        file="daily/a.org",
        when="2026-06-10T14:29:05",
        sha256=content_digest(BODY),
        mode=0o640,
    )
    assert trash.list_entries() == (entry,)
    assert trash.folder.stat().st_mode & 0o777 == 0o700
    assert restore(trash, trash.get_entry("id-1")) == note
    assert note.read_bytes() == BODY
    assert note.stat().st_mode & 0o777 == 0o640
    assert trash.list_entries() == ()
    assert left(trash) == 0


def test_a_folder_that_is_gone_is_made_again(trash: Trash, note: Path) -> None:
    """The human may have tidied up; the base itself is never made."""
    entry = put(trash, note)
    note.parent.rmdir()
    assert restore(trash, entry).read_bytes() == BODY
    entry = put(trash, note)
    note.parent.rmdir()
    trash.kb.rmdir()
    with pytest.raises(NoKnowledgeBase):
        restore(trash, entry)
    assert not trash.kb.exists()


def test_a_taken_name_stays_taken(trash: Trash, note: Path) -> None:
    """What the human has put there since isn't overwritten, and the entry stays."""
    entry = put(trash, note)
    note.write_bytes(b"by hand")
    with pytest.raises(NameTaken, match="there already"):
        restore(trash, entry)
    assert note.read_bytes() == b"by hand"
    assert trash.list_entries() == (entry,)


def test_the_latest_comes_back(trash: Trash, note: Path) -> None:
    """A node that was trashed twice is restored as it was last; each by its key."""
    first = put(trash, note)
    note.write_bytes(b"second")
    second = put(trash, note)
    assert trash.get_entry("id-1") == second
    assert trash.get_entry(first.key) == first
    assert trash.list_entries() == (second, first)


def test_what_isnt_in_the_trash_isnt_found(trash: Trash) -> None:
    """An empty trash, or none at all, is no error until something is asked of it."""
    assert trash.list_entries() == ()
    with pytest.raises(NotFound, match="no trashed node id-1"):
        trash.get_entry("id-1")


def test_a_note_that_changed_stays(trash: Trash, note: Path) -> None:
    """Nothing of the attempt is left in the trash."""
    with pytest.raises(ChangedOnDisk):
        trash.trash_note(note, was=content_digest(b"as it was read"), id="id-1", title="")
    assert note.read_bytes() == BODY
    assert left(trash) == 0


def test_a_note_waits_for_the_lock(trash: Trash, note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another roamkb at work keeps the note where it is."""
    monkeypatch.setattr("roamkb.kb.notes.store.trash.hold_lock", lambda path: hold_lock(path, wait=0))
    with hold_lock(trash.lock_file), pytest.raises(Busy):
        put(trash, note)
    assert note.read_bytes() == BODY
    assert left(trash) == 0


def test_the_trash_never_lies_in_the_base(trash: Trash, note: Path) -> None:
    """Trashed notes would sync to every machine."""
    inside = replace(trash, folder=trash.kb / "trash")
    with pytest.raises(DiskError, match="may not lie in the knowledge base"):
        put(inside, note)
    assert note.exists()
    assert not inside.folder.exists()


@pytest.mark.parametrize("place", ["../other.org", "b.sync-conflict-20260610-142900.org", "picture.png"])
def test_only_the_bases_own_notes_are_trashed(place: str, trash: Trash) -> None:
    """What is no note could not be restored, so it stays."""
    other = trash.kb / place
    other.write_bytes(BODY)
    with pytest.raises(DiskError, match="isn't a note of the knowledge base"):
        put(trash, other)
    assert other.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: record.write_text("{"),
        lambda record: record.write_text("[]"),
        lambda record: record.write_bytes(b"\xff"),
        lambda record: record.write_text("[" * 100_000),
        lambda record: record.write_text(json.dumps({"id": "id-1"})),
        lambda record: record.with_suffix(".org").unlink(),
        Path.unlink,
    ],
)
def test_a_torn_record_is_no_entry(damage: Callable[[Path], object], trash: Trash, note: Path) -> None:
    """What a crash left half there stops nothing."""
    torn = put(trash, note)
    note.write_bytes(b"another")
    good = put(trash, note)
    damage(trash.folder / f"{torn.key}.json")
    assert trash.list_entries() == (good,)


def test_a_copy_that_isnt_what_was_trashed_is_left_to_the_human(trash: Trash, note: Path) -> None:
    """Damage is said and nothing is written."""
    entry = put(trash, note)
    (trash.folder / f"{entry.key}.org").write_bytes(b"bit rot")
    with pytest.raises(DiskError, match="isn't what was trashed"):
        restore(trash, entry)
    assert not note.exists()


@pytest.mark.parametrize("file", ["../out.org", "/tmp/out.org", ".git/hooks/x.org", "x.el", "out/x.org"])
def test_a_record_cant_name_a_place_outside(file: str, trash: Trash, note: Path, tmp_path: Path) -> None:
    """A record that was tampered with restores nothing anywhere else."""
    entry = put(trash, note)
    (tmp_path / "outside").mkdir()
    (trash.kb / "out").symlink_to(tmp_path / "outside")
    record = trash.folder / f"{entry.key}.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "file": file}))
    with pytest.raises(DiskError, match="names a place where no note can be"):
        restore(trash, trash.get_entry("id-1"))
    assert list((tmp_path / "outside").iterdir()) == []
