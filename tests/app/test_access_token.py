"""The token's file: made once, for its owner alone."""

import stat
from pathlib import Path

import pytest

from roamkb.app.access_token import open_access_token
from roamkb.core.errors import DiskError


def test_the_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """Its file and folder let nobody else in; another call gives the same, another folder another."""
    first = open_access_token(tmp_path / "state")
    assert first == open_access_token(tmp_path / "state")
    assert 0o600 == stat.S_IMODE(first.path.stat().st_mode)
    assert 0o700 == stat.S_IMODE(first.path.parent.stat().st_mode)
    assert 43 == len(first.token)
    assert first.token != open_access_token(tmp_path / "other").token


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_token_that_others_can_read_is_none(mode: int, tmp_path: Path) -> None:
    """It is no secret any more."""
    open_access_token(tmp_path).path.chmod(mode)
    with pytest.raises(DiskError, match="no secret"):
        open_access_token(tmp_path)


@pytest.mark.parametrize("data", [b"", b"short", b"x" * 44, b"\xff" * 43, b"a" * 42 + b"\n\n"])
def test_a_file_of_somebody_elses_is_no_token(data: bytes, tmp_path: Path) -> None:
    """An empty file above all, which any caller could match."""
    path = open_access_token(tmp_path).path
    path.write_bytes(data)
    with pytest.raises(DiskError, match="no token"):
        open_access_token(tmp_path)
    assert data == path.read_bytes()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Whoever put it there would know the token."""
    theirs = tmp_path / "theirs"
    theirs.write_text("a" * 43)
    theirs.chmod(0o600)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "http-token").symlink_to(theirs)
    with pytest.raises(DiskError, match="link"):
        open_access_token(tmp_path / "state")
