"""Our parents, as the process table has them; more of them is in the tests of `places`."""

import os
import sys
from pathlib import Path

import pytest

from roamkb.boundary.store.processes import ParentProcess
from roamkb.boundary.store.processes import parent_commands
from roamkb.boundary.store.processes import parent_processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the process table is Linux's")


def line_of(proc: Path, pid: int, name: str, parent: int, command: bytes | None) -> None:
    """Put a process into the table; one that can't be looked into has no command."""
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "stat").write_text(f"{pid} ({name}) S {parent} 1 1 0 {' '.join(map(str, range(8, 40)))}")
    if command is not None:
        (folder / "cmdline").write_bytes(command)


def test_each_parent_is_told_with_its_words(tmp_path: Path) -> None:
    """By number and time, since numbers come again; the nearest first."""
    line_of(tmp_path, 9, "python", 8, b"")
    line_of(tmp_path, 8, "a) b", 7, b"/bin/a\0--x\0\xff\0")
    line_of(tmp_path, 7, "other's", 1, None)
    line_of(tmp_path, 1, "init", 0, b"init\0")
    assert [
        ("8.22", ("a) b", "/bin/a", "--x", "\ufffd", "")),
        ("7.22", ("other's",)),
        ("1.22", ("init", "init", "")),
    ] == list(parent_commands(9, tmp_path))


@pytest.mark.parametrize(
    ("name", "words", "told"),
    [
        ("codex", b"codex\0app-server\0", [9]),
        ("codex", b"codex\0exec\0", [9, 8, 6]),
        ("bash", b"bash\0app-server\0", [9, 6]),
    ],
)
def test_codexs_background_server_is_nobodys_child(tmp_path: Path, name: str, words: bytes, told: list[int]) -> None:
    """It serves all sessions, and was begun by the screen of any of them, which may be at work."""
    line_of(tmp_path, 9, "bash", 8, b"bash\0")
    line_of(tmp_path, 8, name, 6, words)
    (tmp_path / "8" / "stat").write_text(f"8 ({name}) S 6 8 8 0 " + " ".join(map(str, range(8, 40))))
    (tmp_path / "8" / "fd").mkdir()
    (tmp_path / "8" / "fd" / "0").symlink_to("/dev/null")
    line_of(tmp_path, 6, "codex", 1, b"codex\0")
    line_of(tmp_path, 10, "roamkb", 9, b"roamkb\0")
    for pid in (9, 8, 6):
        (tmp_path / str(pid) / "cwd").symlink_to(f"/somewhere/{pid}")
    found = parent_processes(10, tmp_path)
    assert told == [one.pid for one in found if isinstance(one, ParentProcess)]


def test_a_table_that_is_not_there_tells_nothing(tmp_path: Path) -> None:
    """As on systems without one, or for a process that is gone."""
    assert [] == list(parent_commands(9, tmp_path / "proc"))
    assert [] != list(parent_commands(os.getpid(), Path("/proc")))


def test_a_ring_of_parents_ends(tmp_path: Path) -> None:
    """A table of somebody's making can be anything."""
    line_of(tmp_path, 9, "a", 8, b"")
    line_of(tmp_path, 8, "b", 9, b"")
    assert 1 < len(list(parent_commands(9, tmp_path))) < 1000
