"""Observations on the disk."""

import os
import stat
from pathlib import Path

import pytest

from roamkb.core.errors import DiskError
from roamkb.log.store.observations import mark_consolidated
from roamkb.log.store.observations import open_sessions
from roamkb.log.store.observations import read_observations
from roamkb.log.store.observations import record_observation
from roamkb.log.store.observations import remove_consolidated
from roamkb.pipeline.extract.attention import Observation

DAY = 86400


def keep(local: Path, text: str = "Redis evicts sessions", session: str = "s1", ts: float = 1.0) -> Path:
    """Keep one observation."""
    said = Observation(id="o", ts=ts, type="insight", text=text, session=session)
    return record_observation(local, said)


@pytest.mark.parametrize("session", ["s1", "", "../../evil", "a/b", "x" * 300, "日本語", "\ud800"])
def test_a_session_of_any_name_has_a_file_of_its_own(tmp_path: Path, session: str) -> None:
    """Below the folder, readable by its user alone."""
    path = keep(tmp_path, session=session)
    keep(tmp_path, session="another")
    assert path.parent == tmp_path / "observations"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [session] == [one.session for one in read_observations(tmp_path, session)]


def test_credentials_are_masked_before_anything_is_stored(tmp_path: Path) -> None:
    """Prefixed ones, and what is called a password, wherever it stands."""
    token = "ghp_" + "a1B2" * 9
    path = keep(tmp_path, f"The key {token} works; DB_PASSWORD='hunter2x' failed: hunter2x")
    data = path.read_text()
    assert token not in data
    assert "hunter2x" not in data
    [found] = read_observations(tmp_path, "s1")
    assert found.text == "The key [GitHub token] works; DB_PASSWORD='[secret]' failed: [secret]"


def test_a_torn_line_says_nothing(tmp_path: Path) -> None:
    """And stops no other."""
    path = keep(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"id":"x"\n[1]\n{"id":"o","ts":1,"type":"t","text":"y","more":1}\n')
    assert ["Redis evicts sessions", "y"] == [one.text for one in read_observations(tmp_path, "s1")]


def test_a_session_is_open_until_it_is_finished_and_again_when_it_says_more(tmp_path: Path) -> None:
    """The oldest first."""
    keep(tmp_path, session="later", ts=2.0)
    keep(tmp_path, session="first", ts=1.0)
    assert ["first", "later"] == open_sessions(tmp_path)
    mark_consolidated(tmp_path, "first")
    assert ["later"] == open_sessions(tmp_path)
    keep(tmp_path, session="first")
    assert ["first", "later"] == open_sessions(tmp_path)


@pytest.mark.parametrize(("age", "swept"), [(30 * DAY, 0), (30 * DAY + 1, 1), (29 * DAY, 0)])
def test_finished_sessions_are_swept_after_thirty_days(tmp_path: Path, age: int, swept: int) -> None:
    """To the second."""
    path = keep(tmp_path)
    mark_consolidated(tmp_path, "s1")
    os.utime(path, (1000, 1000))
    assert remove_consolidated(tmp_path, now=1000 + age) == swept
    assert path.exists() is not bool(swept)


def test_what_was_not_consolidated_is_never_swept(tmp_path: Path) -> None:
    """However old."""
    path = keep(tmp_path)
    os.utime(path, (0, 0))
    assert remove_consolidated(tmp_path, now=400 * DAY) == 0
    mark_consolidated(tmp_path, "s1")
    keep(tmp_path)
    os.utime(path, (0, 0))
    assert remove_consolidated(tmp_path, now=400 * DAY) == 0


@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "/nowhere"])
def test_a_link_among_them_keeps_no_other_session_from_being_looked_at(target: str, tmp_path: Path) -> None:
    """A pull can bring one; what it leads to is neither read nor swept."""
    keep(tmp_path, session="mine")
    link = tmp_path / "observations" / "evil.jsonl"
    link.symlink_to(target)
    assert ["mine"] == open_sessions(tmp_path)
    mark_consolidated(tmp_path, "mine")
    mark_consolidated(tmp_path, "evil")
    assert [] == open_sessions(tmp_path)
    remove_consolidated(tmp_path, now=400 * DAY * 1000)
    assert link.is_symlink()


def test_no_link_is_followed(tmp_path: Path) -> None:
    """A pull can bring one, although git ignores the folder."""
    precious = tmp_path / "precious"
    precious.write_text("kept")
    local, other = tmp_path / ".roamkb" / "local", tmp_path / ".roamkb" / "other"
    keep(local, session="evil")
    (local / "observations" / "evil.done").symlink_to(precious)
    assert open_sessions(local) == ["evil"]
    mark_consolidated(local, "evil")
    assert precious.read_text() == "kept"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other.mkdir()
    (other / "observations").symlink_to(elsewhere)
    with pytest.raises(DiskError):
        keep(other)
    assert list(elsewhere.iterdir()) == []
