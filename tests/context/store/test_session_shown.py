"""What sessions without a log were shown: remembered for them, and unreadable to anybody else."""

import os
import time
from pathlib import Path

import pytest

from roamkb.context.store.session_shown import SessionShown
from roamkb.core.errors import DiskError

_ONE = "0e5b2d3c-1111-4222-8333-444455556666"


def test_a_session_is_remembered_and_no_other(tmp_path: Path) -> None:
    """By the next process as well, and until it forgets all."""
    folder = tmp_path / "shown"
    shown = SessionShown(folder, _ONE)
    assert "id-a" not in shown
    shown.add_ids(["id-a", "id-ü"])
    assert "id-a" in shown
    again = SessionShown(folder, _ONE)
    assert ("id-a" in again, "id-ü" in again, "id-b" in again) == (True, True, False)
    assert "id-a" not in SessionShown(folder, "another")
    again.forget_all()
    assert "id-a" not in again
    assert "id-a" not in SessionShown(folder, _ONE)


def test_nobody_learns_which_notes_or_whose_session(tmp_path: Path) -> None:
    """Two sessions that were shown the same have nothing in common, and a second showing adds nothing."""
    for session in ("one", "two", "one"):
        SessionShown(tmp_path, session).add_ids(["id-a", "id-b"])
    one, two = sorted(tmp_path.iterdir())
    assert set(one.read_bytes().split()).isdisjoint(two.read_bytes().split())
    assert {2} == {len(path.read_bytes().split()) for path in (one, two)}
    told = b" ".join(path.name.encode() + path.read_bytes() for path in (one, two))
    assert not [name for name in (b"id-a", b"id-b", b"one", b"two") if name in told]
    assert {0o600} == {path.stat().st_mode & 0o777 for path in (one, two)}


def test_what_is_days_old_goes_with_the_next_that_is_added(tmp_path: Path) -> None:
    """A session that nobody speaks to any more leaves nothing."""
    SessionShown(tmp_path, "old").add_ids(["id-a"])
    (old,) = tmp_path.iterdir()
    os.utime(old, (time.time() - 3 * 86400,) * 2)
    SessionShown(tmp_path, "new").add_ids([])
    assert old.exists(), "nothing is looked for where nothing is added"
    SessionShown(tmp_path, "new").add_ids(["id-a"])
    assert not old.exists()


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    """Nothing is written to where it leads."""
    folder = tmp_path / "shown"
    SessionShown(folder, _ONE).add_ids(["id-a"])
    (path,) = folder.iterdir()
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DiskError):
        SessionShown(folder, _ONE)
    assert not (tmp_path / "elsewhere").exists()
