"""Local files that are written anew each time."""

from pathlib import Path

import pytest

from roamkb.core.errors import DiskError
from roamkb.fs.private_files import drop_paper
from roamkb.fs.private_files import put_paper
from roamkb.fs.private_files import read_paper


def test_the_whole_file_is_replaced(tmp_path: Path) -> None:
    """By what is given, for its owner alone; gone is empty."""
    path = tmp_path / "paper"
    assert b"" == read_paper(path)
    for data in (b"first, and long", b"second"):
        put_paper(path, data)
        assert data == read_paper(path)
    assert 0o600 == path.stat().st_mode & 0o777
    assert ["paper"] == [one.name for one in tmp_path.iterdir()]
    drop_paper(path)
    drop_paper(path)
    assert b"" == read_paper(path)


def test_no_link_is_followed(tmp_path: Path) -> None:
    """What it points to stays as it is."""
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    (tmp_path / "paper").symlink_to(other)
    with pytest.raises(DiskError, match="is a link"):
        put_paper(tmp_path / "paper", b"theirs")
    with pytest.raises(DiskError, match="is a link"):
        read_paper(tmp_path / "paper")
    assert b"mine" == other.read_bytes()
    (tmp_path / "folder").mkdir()
    with pytest.raises(DiskError):
        put_paper(tmp_path / "folder", b"x")
