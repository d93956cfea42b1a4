"""Which folder the checkouts of a repository share, with the real git; and what a forged pointer gets."""

import subprocess
from pathlib import Path

import pytest

from roamkb.fs.git_repository import read_repository_pointers
from roamkb.fs.worktrees import is_linked
from roamkb.fs.worktrees import is_unlisted_workspace
from roamkb.fs.worktrees import linked_worktrees
from roamkb.fs.worktrees import shared_folder
from roamkb.fs.worktrees import worktree_name


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


def jj_repository(main: Path, *workspaces: tuple[str, str]) -> None:
    """Make the files of a jj repository, as jj's sources write them: its workspaces by name, with their paths."""
    for folder in ("store", "op_store", "workspace_store"):
        (main / ".jj" / "repo" / folder).mkdir(parents=True)
    listed = b""
    for name, path in workspaces:
        fields = b"".join(
            bytes([number << 3 | 2, len(text.encode())]) + text.encode() for number, text in ((1, name), (2, path))
        )
        listed += bytes([1 << 3 | 2, len(fields)]) + fields
    (main / ".jj" / "repo" / "workspace_store" / "index").write_bytes(listed)


def jj_workspace(place: Path, pointer: str) -> None:
    """Make the files of a second workspace of a jj repository."""
    (place / ".jj" / "working_copy").mkdir(parents=True)
    (place / ".jj" / "repo").write_text(pointer)


def test_a_jj_workspace_shares_the_main_one(tmp_path: Path) -> None:
    """By paths relative to the two ends, as jj writes them today, or absolute ones, as it did before."""
    main, relative, absolute = tmp_path / "main", tmp_path / "ein Raum", tmp_path / "main" / ".workspaces" / "x"
    jj_repository(main, ("default", "../.."), ("raum", "../../../ein Raum"), ("x", str(absolute)))
    jj_workspace(relative, "../../main/.jj/repo")
    jj_workspace(absolute, str(main / ".jj" / "repo"))
    for place, name in ((relative, "raum"), (absolute, "x")):
        assert str(main) == shared_folder(str(place))
        assert name == worktree_name(str(place))
        assert is_linked(str(place))
        assert not is_unlisted_workspace(str(place))
    assert str(main) == shared_folder(str(main))
    assert "" == worktree_name(str(main))
    assert {relative, absolute} == set(map(Path, linked_worktrees(str(main))))
    (main / "packages" / "a").mkdir(parents=True)
    assert str(main / "packages" / "a") == shared_folder(str(relative / "packages" / "a"))


def test_a_jj_workspace_beside_git_shares_what_git_says(main: Path, tmp_path: Path) -> None:
    """A repository of both, whose main checkout may be a worktree of git's."""
    tree, place = tmp_path / "tree", tmp_path / "place"
    git(main, "worktree", "add", "-q", str(tree))
    jj_repository(tree, ("default", "../.."), ("place", "../../../place"))
    jj_workspace(place, "../../tree/.jj/repo")
    assert str(main) == shared_folder(str(tree)) == shared_folder(str(place))


@pytest.mark.parametrize(
    "listed",
    [
        b"",
        b"\n\x10\n\x07default\x12\x05../..",
        b"\n\x08\n\x06hostil",
        b"\n\x1a\n\x07hostile\x12\x0f../../../hostil",
        b"\n\x7f\n\x07hostile\x12\x10../../../hostile",
        b"\x0d\x00\x00\x00\x00" + b"\n\x1b\n\x07hostile\x12\x10../../../hostile",
        b"\xff" * 40,
        b"\n\x1b\n\x07hostile\x12\x10../../../hostile" + b"\n\x00" * 200_000,
    ],
)
def test_a_jj_pointer_that_the_repository_doesnt_list_counts_for_nothing(tmp_path: Path, listed: bytes) -> None:
    """An unpacked archive may hold any `.jj/repo`; the log of another project isn't for it, nor what can't be read."""
    main, hostile = tmp_path / "main", tmp_path / "hostile"
    jj_repository(main)
    (main / ".jj" / "repo" / "workspace_store" / "index").write_bytes(listed)
    jj_workspace(hostile, "../../main/.jj/repo")
    assert str(hostile) == shared_folder(str(hostile))
    assert "" == worktree_name(str(hostile))
    assert () == linked_worktrees(str(main))
    assert is_unlisted_workspace(str(hostile))


def test_a_jj_list_with_more_than_is_known_is_read(tmp_path: Path) -> None:
    """Later releases of jj add numbers to it, such as the kind of a workspace."""
    main, place = tmp_path / "main", tmp_path / "place"
    jj_repository(main)
    entry = b"\n\x05place\x12\x0e../../../place\x18\x01"
    (main / ".jj" / "repo" / "workspace_store" / "index").write_bytes(
        b"\n" + bytes([len(entry)]) + entry + b"\x10\x96\x01"
    )
    jj_workspace(place, "../../main/.jj/repo")
    assert str(main) == shared_folder(str(place))


def test_a_jj_repository_that_lists_a_folder_must_be_named_by_it(tmp_path: Path) -> None:
    """Neither a plain folder, nor a workspace of another repository, nor the link to one, is taken for it."""
    evil, victim, plain = tmp_path / "evil", tmp_path / "victim", tmp_path / "plain"
    plain.mkdir()
    jj_repository(victim, ("default", "../.."))
    jj_repository(evil, ("default", "../.."), ("v", str(victim)), ("p", str(plain)))
    assert str(victim) == shared_folder(str(victim))
    assert str(plain) == shared_folder(str(plain))
    (plain / ".jj").symlink_to(victim / ".jj")
    assert str(plain) == shared_folder(str(plain))
    assert () == linked_worktrees(str(evil))
    assert () == linked_worktrees(str(victim))


def test_a_jj_pointer_leads_to_no_other_folder_than_a_repository(tmp_path: Path) -> None:
    """Such as a list that the archive brings itself beside a victim's folder."""
    hostile, victim = tmp_path / "hostile", tmp_path / "victim"
    victim.mkdir()
    jj_repository(hostile / "inner", ("hostile", "../../.."))
    (hostile / "inner" / ".jj" / "repo").rename(hostile / "store")
    jj_workspace(hostile, "../store")
    assert str(hostile) == shared_folder(str(hostile))
    (hostile / ".jj" / "repo").unlink()
    (hostile / ".jj" / "repo").symlink_to(victim)
    assert str(hostile) == shared_folder(str(hostile))
