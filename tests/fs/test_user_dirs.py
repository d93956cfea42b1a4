"""A log's local state goes by a name that only this machine knows."""

import threading
from pathlib import Path

import platformdirs
import pytest

from roamkb.core.errors import DiskError
from roamkb.fs.user_dirs import MACHINE_KEY
from roamkb.fs.user_dirs import create_machine_key
from roamkb.fs.user_dirs import default_data_dir
from roamkb.fs.user_dirs import default_state_dir
from roamkb.fs.user_dirs import local_state_name


def test_the_name_is_of_this_machine_and_this_place(tmp_path: Path) -> None:
    """The same each time, by whatever link one comes; without a secret there is none."""
    here, there = tmp_path / "here", tmp_path / "there"
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "link").symlink_to(site)
    assert "" == local_state_name(str(site), str(here))
    for machine in (here, there):
        create_machine_key(machine)
    names = {local_state_name(str(place), str(state)) for place in (site, tmp_path) for state in (here, there)}
    assert 4 == len(names)
    assert local_state_name(str(site), str(here)) == local_state_name(str(tmp_path / "link"), str(here)) in names
    assert all(len(name) == 16 and name.isalnum() for name in names)


def test_the_secret_is_made_once_and_is_its_owners(tmp_path: Path) -> None:
    """However many begin at once."""
    threads = [threading.Thread(target=create_machine_key, args=[tmp_path / "state"]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    key = tmp_path / "state" / MACHINE_KEY
    made = key.read_bytes()
    create_machine_key(tmp_path / "state")
    assert (32, 0o600, made) == (len(made), key.stat().st_mode & 0o777, key.read_bytes())
    assert [MACHINE_KEY] == [path.name for path in (tmp_path / "state").iterdir()]


@pytest.mark.parametrize("kind", ["short", "folder", "FIFO", "link to nothing"])
def test_what_is_no_secret_names_nothing(kind: str, tmp_path: Path) -> None:
    """And is left for its owner to see."""
    import os

    key = tmp_path / MACHINE_KEY
    if kind == "short":
        key.write_bytes(b"x" * 31)
    elif kind == "folder":
        key.mkdir()
    elif kind == "FIFO":
        os.mkfifo(key)
    else:
        key.symlink_to(tmp_path / "gone")
    assert "" == local_state_name(str(tmp_path), str(tmp_path))
    with pytest.raises(DiskError, match="no secret"):
        create_machine_key(tmp_path)


@pytest.mark.parametrize("told", [None, "", "/somewhere", "relative"])
def test_the_folders_are_those_that_platformdirs_names(
    told: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Importing that takes a hook too long."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
        if told is not None:
            monkeypatch.setenv(variable, told)
    assert str(platformdirs.user_state_path("roamkb")) == default_state_dir()
    assert str(platformdirs.user_data_path("roamkb")) == default_data_dir()
