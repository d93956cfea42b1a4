"""Local files that are written anew each time."""

from pathlib import Path

import pytest

from roamkb.core.errors import DiskError
from roamkb.fs.private_files import discard_private_file
from roamkb.fs.private_files import read_private_file
from roamkb.fs.private_files import write_private_file


def test_the_whole_file_is_replaced(tmp_path: Path) -> None:
    """By what is given, for its owner alone; gone is empty."""
    path = tmp_path / "paper"
    assert b"" == read_private_file(path)
    for data in (b"first, and long", b"second"):
        write_private_file(path, data)
        assert data == read_private_file(path)
    assert 0o600 == path.stat().st_mode & 0o777
    assert ["paper"] == [one.name for one in tmp_path.iterdir()]
    discard_private_file(path)
    discard_private_file(path)
    assert b"" == read_private_file(path)


def test_no_link_is_followed(tmp_path: Path) -> None:
    """What it points to stays as it is."""
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    (tmp_path / "paper").symlink_to(other)
    with pytest.raises(DiskError, match="is a link"):
        write_private_file(tmp_path / "paper", b"theirs")
    with pytest.raises(DiskError, match="is a link"):
        read_private_file(tmp_path / "paper")
    assert b"mine" == other.read_bytes()
    (tmp_path / "folder").mkdir()
    with pytest.raises(DiskError):
        write_private_file(tmp_path / "folder", b"x")
