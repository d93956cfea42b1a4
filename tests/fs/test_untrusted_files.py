"""Files in places that any command can write: what is put there leads nowhere else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from roamkb.fs import untrusted_files
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_bytes
from roamkb.fs.files import create_file
from roamkb.fs.files import discard_file
from roamkb.fs.files import write_private_file
from roamkb.fs.locks import hold_lock
from roamkb.fs.locks import make_private_folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with a note, open to others."""
    folder = tmp_path / "notes"
    folder.mkdir(mode=0o755)
    (folder / "oak.org").write_text("Oak\n")
    os.utime(folder / "oak.org", (0, 0))
    return folder


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """A log's local folder."""
    folder = tmp_path / "site" / ".roamkb" / "local" / "0123"
    folder.mkdir(parents=True)
    return folder


def _hold(path: Path) -> None:
    with hold_lock(path, wait=0):
        pass


_ACTS: tuple[Callable[[Path], object], ...] = (
    lambda path: untrusted_files.replace_file(path, b"x"),
    lambda path: untrusted_files.append_file(path, b"x"),
    untrusted_files.touch_file,
    untrusted_files.remove_file,
    lambda path: untrusted_files.rename_file(path, "elm.org"),
    lambda path: untrusted_files.remove_old_files(path.parent, 1),
    untrusted_files.read_file,
    lambda path: make_private_folder(path.parent),
    lambda path: append_lines(path, [b"x"]),
    lambda path: write_private_file(path, b"x"),
    lambda path: create_file(path.parent, "new.org", b"x"),
    discard_file,
    read_bytes,
    _hold,
)


@pytest.mark.parametrize("act", _ACTS)
@pytest.mark.parametrize("depth", range(4))
def test_no_link_on_the_way_is_followed(notes: Path, local: Path, act: Callable[[Path], object], depth: int) -> None:
    """Whichever of a log's folders it takes the place of."""
    place = (local / "offers", local, local.parent, local.parents[1])[depth]
    if place.exists():
        place.rename(place.with_name("aside"))
    deep = notes.joinpath(*(local / "offers").relative_to(place).parts)
    deep.mkdir(parents=True, exist_ok=True)
    if depth:
        (notes / "oak.org").rename(deep / "oak.org")
    deep.chmod(0o755)
    place.symlink_to(notes)
    before = _state(deep)
    try:
        act(local / "offers" / "oak.org")
    except Exception as error:  # noqa: BLE001 - whatever says so
        assert "link" in f"{error} {error.__cause__}"
    else:
        assert act is discard_file
    assert before == _state(deep)


def _state(folder: Path) -> list[tuple[object, ...]]:
    return [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())] + [(folder.stat().st_mode,)]


@pytest.mark.parametrize("act", _ACTS)
def test_no_link_in_a_file_s_place_is_followed(notes: Path, local: Path, act: Callable[[Path], object]) -> None:
    """It is replaced or removed itself, or refused."""
    (local / "oak.org").symlink_to(notes / "oak.org")
    before = _state(notes)
    try:
        act(local / "oak.org")
    except Exception as error:  # noqa: BLE001 - as above
        assert "link" in f"{error} {error.__cause__}"
    assert before == _state(notes)


@pytest.mark.parametrize("act", _ACTS)
def test_nothing_waits_for_a_fifo(local: Path, act: Callable[[Path], object]) -> None:
    """Neither to read nor to write."""
    os.mkfifo(local / "oak.org")
    try:
        act(local / "oak.org")
    except Exception as error:  # noqa: BLE001 - as above
        assert not isinstance(error, TimeoutError)


def test_a_file_in_a_home_may_be_a_link_and_no_fifo(tmp_path: Path) -> None:
    """Humans keep their settings elsewhere."""
    (tmp_path / "real").write_bytes(b"{}")
    (tmp_path / "link").symlink_to("real")
    os.mkfifo(tmp_path / "fifo")
    assert b"{}" == untrusted_files.read_file(tmp_path / "link")
    with pytest.raises(OSError, match="regular"):
        untrusted_files.read_file(tmp_path / "fifo")


def test_a_file_is_replaced_whole_and_removed(local: Path) -> None:
    """For its owner alone; what is old goes, and a folder that isn't there has no files."""
    path = local / "progress.json"
    for data in (b"first, and long", b"second"):
        untrusted_files.replace_file(path, data, is_durable=data == b"second")
        assert data == untrusted_files.read_file(path)
    assert (0o600, ["progress.json"]) == (path.stat().st_mode & 0o777, [one.name for one in local.iterdir()])
    untrusted_files.append_file(path, b", third", limit=7)
    untrusted_files.append_file(path, b"never", limit=7)
    assert b"second, third" == untrusted_files.read_file(path)
    os.utime(path, (0, 0))
    (local / "link").symlink_to(path)
    untrusted_files.remove_old_files(local, 60)
    untrusted_files.remove_file(path)
    untrusted_files.remove_file(local / "nowhere" / "x")
    untrusted_files.remove_old_files(local / "nowhere", 60)
    assert ["link"] == [one.name for one in local.iterdir()]


def test_a_path_may_begin_with_the_log_s_folder(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that is relative does."""
    monkeypatch.chdir(local.parents[2])
    untrusted_files.replace_file(".roamkb/local/x", b"x")
    assert b"x" == (local.parent / "x").read_bytes()
