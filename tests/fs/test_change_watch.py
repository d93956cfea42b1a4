"""What the kernel tells of a watched folder, and of which folders it can."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from roamkb.fs.change_watch import FolderWatch
from roamkb.fs.change_watch import link_target
from roamkb.fs.mounts import MountedFolder
from roamkb.fs.mounts import parse_mounts

if sys.platform != "linux":
    pytest.skip("inotify is Linux's", allow_module_level=True)


def test_changes_before_a_look_are_told_with_their_names(tmp_path: Path) -> None:
    """Each once; what is there already is no change, and nor is reading."""
    (tmp_path / "a").write_text("x")
    watch = FolderWatch()
    number = watch.add_folder(str(tmp_path))
    assert set() == watch.read_changes()
    (tmp_path / "a").read_text()
    (tmp_path / "b").write_text("x")
    (tmp_path / "b").rename(tmp_path / "c")
    os.utime(tmp_path / "a")
    assert {(number, "a"), (number, "b"), (number, "c")} == watch.read_changes()
    assert set() == watch.read_changes()
    watch.close()


@pytest.mark.parametrize("change", ["make", "remove", "rename", "leave"])
def test_where_folders_changed_nothing_is_clear(tmp_path: Path, change: str) -> None:
    """A new folder may hold notes already, and a moved one goes on telling by its old name."""
    (tmp_path / "in" / "x").mkdir(parents=True)
    watch = FolderWatch()
    watch.add_folder(str(tmp_path / "in"))
    match change:
        case "make":
            (tmp_path / "in" / "y").mkdir()
        case "remove":
            (tmp_path / "in" / "x").rmdir()
        case "rename":
            (tmp_path / "in" / "x").rename(tmp_path / "x")
        case "leave":
            (tmp_path / "in").rename(tmp_path / "out")
    assert watch.read_changes() is None
    watch.close()


def test_a_folder_that_is_another_has_another_identity(tmp_path: Path) -> None:
    """Even at the same path, by a link or by itself."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "link").symlink_to("a")
    before = MountedFolder(tmp_path / "link")
    assert before == MountedFolder(tmp_path / "link")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("b")
    assert before != MountedFolder(tmp_path / "link")


def test_only_mounts_about_a_folder_make_it_another(tmp_path: Path) -> None:
    """What comes and goes elsewhere, such as a container's disk, is no reason to walk all notes again."""
    kb, elsewhere = tmp_path / "kb", tmp_path / "kb2"
    (kb / "in").mkdir(parents=True)
    elsewhere.mkdir()
    before = MountedFolder(kb)
    for place, is_same in ((elsewhere, True), (kb / "in", False), (kb, False)):
        if subprocess.run(["mount", "--bind", place, place], capture_output=True, check=False).returncode:
            pytest.skip("NO MOUNT WAS TESTED: it needs root")
        try:
            assert is_same == (before == MountedFolder(kb)), place
        finally:
            subprocess.run(["umount", place], check=True)
        assert before == MountedFolder(kb)


def test_what_others_can_write_to_is_not_local(tmp_path: Path) -> None:
    """Such as /proc, which nobody has to write to, and a folder in which something else is mounted."""
    assert not MountedFolder(Path("/proc/self")).is_local
    assert not MountedFolder(Path("/")).is_local


def test_a_mount_tells_its_file_system() -> None:
    """The word behind the dash, however many fields stand before it."""
    line = b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n"
    (mount,) = parse_mounts(line)
    assert ("ext3", "/mnt2", "98:0") == (mount.file_system, mount.point, mount.device)


def test_a_link_leads_to_what_is_there_now(tmp_path: Path) -> None:
    """A file of the same name that is another counts as another; nothing is None."""
    (tmp_path / "link").symlink_to("a")
    assert (str(tmp_path / "a"), None) == link_target(str(tmp_path / "link"))
    (tmp_path / "a").write_text("x")
    before = link_target(str(tmp_path / "link"))
    (tmp_path / "b").write_text("x")
    (tmp_path / "b").replace(tmp_path / "a")
    assert before != link_target(str(tmp_path / "link"))
