"""Rule files in a project's tree, by what they really are."""

from pathlib import Path

import pytest

from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import DiskError
from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.instructions.store.instruction_files import find_instruction_file
from roamkb.instructions.store.instruction_files import read_instruction_file
from roamkb.instructions.store.instruction_files import require_no_emacs_lock
from roamkb.instructions.store.instruction_files import write_instruction_file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project that is reached through a link."""
    (tmp_path / "real" / "docs").mkdir(parents=True)
    (tmp_path / "real" / "docs" / "AGENTS.md").write_bytes(b"x\n")
    (tmp_path / "root").symlink_to("real")
    return tmp_path / "root"


def test_it_is_named_from_the_root_by_its_real_path(root: Path) -> None:
    """Whatever links lead there."""
    (root / "CLAUDE.md").symlink_to("docs/AGENTS.md")
    for path in (
        root / "CLAUDE.md",
        root / "docs" / ".." / "docs" / "AGENTS.md",
        root.resolve() / "docs" / "AGENTS.md",
    ):
        assert "docs/AGENTS.md" == find_instruction_file(root, path)


@pytest.mark.parametrize("name", ["../other.md", "away.md", "docs", "AGENTS.txt", ".git/x.md", "node_modules/a/x.md"])
def test_others_are_none(root: Path, name: str) -> None:
    """Outside, led outside, no file, no Markdown, or not the project's own text."""
    (root.parent / "other.md").write_text("x")
    (root / "away.md").symlink_to("../other.md")
    for inside in ("AGENTS.txt", ".git/x.md", "node_modules/a/x.md"):
        (root / inside).parent.mkdir(parents=True, exist_ok=True)
        (root / inside).write_text("x")
    with pytest.raises(UsageError):
        find_instruction_file(root, root / name)


def test_a_missing_one_is_not_made(root: Path) -> None:
    """Neither found nor written."""
    with pytest.raises(NotFound):
        find_instruction_file(root, root / "CLAUDE.md")
    with pytest.raises((NotFound, DiskError)):
        write_instruction_file(root, "CLAUDE.md", b"y", old_content=b"")
    assert not (root / "CLAUDE.md").exists()


def test_it_is_replaced_while_it_is_what_was_read(root: Path) -> None:
    """Compared whole, as every file that is replaced."""
    was = read_instruction_file(root, "docs/AGENTS.md")
    write_instruction_file(root, "docs/AGENTS.md", b"y\n", old_content=was)
    assert b"y\n" == read_instruction_file(root, "docs/AGENTS.md")
    with pytest.raises(ChangedOnDisk):
        write_instruction_file(root, "docs/AGENTS.md", b"z\n", old_content=was)


def test_what_became_a_link_is_left_alone(root: Path) -> None:
    """A repository can bring one between two calls."""
    (root / "docs" / "AGENTS.md").rename(root / "real.md")
    (root / "docs" / "AGENTS.md").symlink_to("../real.md")
    for act in (
        lambda: read_instruction_file(root, "docs/AGENTS.md"),
        lambda: write_instruction_file(root, "docs/AGENTS.md", b"y", old_content=b"x\n"),
        lambda: require_no_emacs_lock(root, "docs/AGENTS.md"),
    ):
        with pytest.raises(DiskError, match="link"):
            act()
    assert b"x\n" == (root / "real.md").read_bytes()


def test_emacs_holds_what_it_has_not_saved(root: Path) -> None:
    """By its lock, which is a link to nowhere."""
    require_no_emacs_lock(root, "docs/AGENTS.md")
    (root / "docs" / ".#AGENTS.md").symlink_to("me@host.1:2")
    with pytest.raises(ChangedOnDisk, match="Emacs"):
        require_no_emacs_lock(root, "docs/AGENTS.md")


@pytest.mark.parametrize("data", [b"x" * (1024 * 1024 + 1)])
def test_one_that_no_session_could_start_with_is_not_read(root: Path, data: bytes) -> None:
    """Larger than a MiB."""
    (root / "docs" / "AGENTS.md").write_bytes(data)
    with pytest.raises(DiskError, match="larger"):
        read_instruction_file(root, "docs/AGENTS.md")
