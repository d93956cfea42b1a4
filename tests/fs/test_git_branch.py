"""What a repository is being worked on for, against git itself."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.fs.git_branch import GitBranch
from roamkb.fs.git_branch import read_git_branch

_NAMES = ("a.py", "sub/b.py", "sub/with blank.txt", "sub/bé.txt", "z" * 90 + ".txt")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is missing")


def git(root: Path, *words: str) -> None:
    """Run git, as nobody's configuration has it."""
    who = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b"}
    who |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "PATH": os.environ["PATH"]}
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, env=who)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with some files, committed long ago."""
    git(tmp_path, "init", "-q", "-b", "fix/oauth-redirect")
    for name in _NAMES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
        os.utime(path, ns=(10**18, 10**18))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "Add the files")
    return tmp_path


@needs_git
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_branch_commits_and_changes_are_read(repository: Path, version: str) -> None:
    """In every version of git's index."""
    git(repository, "update-index", "--index-version", version)
    assert GitBranch(words="fix oauth redirect", titles=("Add the files",)) == read_git_branch(repository)
    (repository / "sub" / "bé.txt").write_text("other")
    (repository / "a.py").unlink()
    assert ("a.py", "sub/bé.txt") == read_git_branch(repository).changed


@needs_git
def test_a_worktree_and_a_trunk(repository: Path) -> None:
    """A worktree has a HEAD of its own; a trunk's name says nothing."""
    git(repository, "worktree", "add", "-q", "-b", "main", "../beside")
    assert "" == read_git_branch(repository.parent / "beside").words
    assert ("Add the files",) == read_git_branch(repository).titles


def test_no_repository_says_nothing(tmp_path: Path) -> None:
    """Nor does one that leads nowhere."""
    assert GitBranch() == read_git_branch(tmp_path)
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert GitBranch() == read_git_branch(tmp_path)


@given(data=st.binary(max_size=300), head=st.binary(max_size=40))
def test_whatever_lies_there_nothing_fails(tmp_path_factory: pytest.TempPathFactory, data: bytes, head: bytes) -> None:
    """A repository is somebody else's, index and all."""
    root = tmp_path_factory.mktemp("odd")
    (root / ".git" / "logs").mkdir(parents=True)
    (root / ".git" / "HEAD").write_bytes(b"ref: refs/heads/" + head)
    (root / ".git" / "logs" / "HEAD").write_bytes(data)
    (root / ".git" / "index").write_bytes(b"DIRC\0\0\0\2\0\0\0\7" + data)
    assert not [name for name in read_git_branch(root).changed if name.startswith("/") or ".." in name.split("/")]
