"""Which folder the checkouts of a repository share, with the real git; and what a forged pointer gets."""

import subprocess
from pathlib import Path

import pytest

from roamkb.fs.git_repository import read_repository_pointers
from roamkb.fs.git_worktrees import linked_worktrees
from roamkb.fs.git_worktrees import shared_folder
from roamkb.fs.git_worktrees import worktree_name


def git(folder: Path, *words: str) -> None:
    """Run git in a folder."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """Return a repository with a commit."""
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    return main


def test_a_worktree_shares_the_main_checkout(main: Path, tmp_path: Path) -> None:
    """Wherever it lies, and whatever its name has in it; the main checkout is its own."""
    for place in (tmp_path / "ein Baum", main / ".worktrees" / "x"):
        git(main, "worktree", "add", "-q", "-b", place.name.replace(" ", "-"), str(place))
        assert str(main) == shared_folder(str(place))
        assert worktree_name(str(place))
    assert str(main) == shared_folder(str(main))
    assert "" == worktree_name(str(main))
    assert {tmp_path / "ein Baum", main / ".worktrees" / "x"} == set(map(Path, linked_worktrees(str(main))))


def test_a_worktree_that_was_moved_by_git_is_followed(main: Path, tmp_path: Path) -> None:
    """And one that was copied or moved by hand isn't: git doesn't know it either."""
    git(main, "worktree", "add", "-q", str(tmp_path / "w"))
    git(main, "worktree", "move", str(tmp_path / "w"), str(tmp_path / "moved"))
    assert str(main) == shared_folder(str(tmp_path / "moved"))
    (tmp_path / "moved").rename(tmp_path / "by hand")
    assert str(tmp_path / "by hand") == shared_folder(str(tmp_path / "by hand"))
    assert () == linked_worktrees(str(main))


def test_a_bare_repository_keeps_it_in_its_own_folder(main: Path, tmp_path: Path) -> None:
    """Also where that is called `.git`, as those do who have worktrees alone."""
    for name in ("project.git", "project/.git"):
        bare = tmp_path / name
        git(main, "clone", "-q", "--bare", str(main), str(bare))
        git(bare, "worktree", "add", "-q", "-b", "one", str(bare.parent / f"one of {bare.parent.name}"))
        assert str(bare) == shared_folder(str(bare.parent / f"one of {bare.parent.name}"))


def test_a_submodule_is_on_its_own(main: Path, tmp_path: Path) -> None:
    """And its worktrees share its checkout, not that of the repository around it."""
    inner = tmp_path / "inner"
    git(tmp_path, "clone", "-q", str(main), str(inner))
    git(main, "submodule", "add", "-q", str(inner), "deps/sub")
    sub = main / "deps" / "sub"
    assert str(sub) == shared_folder(str(sub))
    git(sub, "worktree", "add", "-q", "-b", "w", str(tmp_path / "w of sub"))
    assert str(sub) == shared_folder(str(tmp_path / "w of sub"))


def test_a_project_inside_a_worktree_shares_the_same_one_of_the_main_checkout(main: Path, tmp_path: Path) -> None:
    """A package with a log of its own; what the main checkout lacks shares the checkout's."""
    git(main, "worktree", "add", "-q", str(tmp_path / "w"))
    (main / "packages" / "a").mkdir(parents=True)
    assert str(main / "packages" / "a") == shared_folder(str(tmp_path / "w" / "packages" / "a"))
    assert str(main) == shared_folder(str(tmp_path / "w" / "packages" / "b"))


@pytest.mark.parametrize("forged", ["gitdir: {main}/.git/worktrees/w", "gitdir: {main}/.git", "gitdir: ../main/.git"])
def test_a_pointer_that_the_repository_knows_nothing_of_counts_for_nothing(
    main: Path, tmp_path: Path, forged: str
) -> None:
    """An unpacked archive may hold any `.git`; the log of another project isn't for it."""
    git(main, "worktree", "add", "-q", str(tmp_path / "w"))
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / ".git").write_text(forged.format(main=main))
    assert str(hostile) == shared_folder(str(hostile))


def test_a_repository_that_claims_a_folder_as_its_own_must_be_named_by_it(main: Path, tmp_path: Path) -> None:
    """The other way round: a worktree's list alone makes nobody's folder share a log."""
    plain = tmp_path / "plain"
    plain.mkdir()
    listed = main / ".git" / "worktrees" / "plain"
    listed.mkdir(parents=True)
    (listed / "gitdir").write_text(f"{plain}/.git\n")
    (listed / "commondir").write_text("../..\n")
    assert str(plain) == shared_folder(str(plain))
    assert () == linked_worktrees(str(main))


def test_a_repository_of_an_archive_shares_nothing_beyond_itself(main: Path, tmp_path: Path) -> None:
    """Its own configuration may call any folder its checkout; the folder has to call it its repository."""
    repository = tmp_path / "evil" / "x.git"
    (repository / "worktrees" / "a").mkdir(parents=True)
    worktree = tmp_path / "evil" / "wt"
    worktree.mkdir()
    (worktree / ".git").write_text("gitdir: ../x.git/worktrees/a")
    (repository / "worktrees" / "a" / "commondir").write_text("../..")
    (repository / "worktrees" / "a" / "gitdir").write_text("../../../wt/.git")
    for config in (
        "[core]\n worktree = ../../main",
        "[foo]\n worktree = ../../main",
        "[core]\n worktree = ../../main/.git",
    ):
        (repository / "config").write_text(config)
        assert str(repository) == shared_folder(str(worktree))


def test_a_link_in_the_main_checkout_leads_nowhere(main: Path, tmp_path: Path) -> None:
    """A branch may have a link where another has a folder."""
    git(main, "worktree", "add", "-q", str(tmp_path / "w"))
    (tmp_path / "victim").mkdir()
    (main / "sub").symlink_to("../victim")
    assert str(main) == shared_folder(str(tmp_path / "w" / "sub"))


def test_a_checkout_without_an_index_is_the_main_one_all_the_same(main: Path, tmp_path: Path) -> None:
    """So that a log doesn't move once there is one."""
    (main / ".git" / "index").unlink(missing_ok=True)
    git(main, "worktree", "add", "-q", str(tmp_path / "w"))
    assert str(main) == shared_folder(str(tmp_path / "w"))


def test_a_pointer_of_two_lines_is_none_as_for_git(main: Path, tmp_path: Path) -> None:
    """Git takes all of the file for one path, and so do the shared log and the boundary."""
    place = tmp_path / "w"
    git(main, "worktree", "add", "-q", str(place))
    pointer = place / ".git"
    pointer.write_text(pointer.read_text() + "x\n")
    assert 0 != subprocess.run(["git", "status"], cwd=place, check=False, capture_output=True).returncode
    assert str(place) == shared_folder(str(place))
    assert f"its file {pointer} names no repository" == read_repository_pointers(str(place)).doubt
