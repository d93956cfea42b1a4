"""What git has in its index, by git's own making of it."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.fs.git_index import _index_entries
from roamkb.fs.git_index import tracked_files_below
from roamkb.fs.git_index import unchanged_texts


def git(folder: Path, *words: str) -> str:
    """Run git there, as nobody in particular."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def put(root: Path, *names: str) -> None:
    """Make files of those names."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_what_is_tracked_is_told(version: str, object_format: str, tmp_path: Path) -> None:
    """In each form of the index, of either hash; in a project that is a folder of the repository, too."""
    names = [
        ".roamkb/ledger.jsonl",
        ".roamkb/local/a",
        ".roamkb/local/b/é.jsonl",
        ".roamkb/localx",
        "x" * 200,
    ]
    put(tmp_path, *names, *(f"src/{n}.py" for n in range(20)))
    put(tmp_path, "sub/.roamkb/local/c", "sub/.roamkb/knowledge.jsonl")
    git(tmp_path, "init", "-q", f"--object-format={object_format}")
    git(tmp_path, "add", "-A", "-f")
    if version == "3":
        put(tmp_path, "src/later.py")
        git(tmp_path, "add", "-N", "src/later.py")
    git(tmp_path, "update-index", "--index-version", version)
    assert ("a", "b/é.jsonl") == tracked_files_below(tmp_path / ".roamkb" / "local")
    assert ("c",) == tracked_files_below(tmp_path / "sub" / ".roamkb" / "local")
    assert () == tracked_files_below(tmp_path / "src" / ".roamkb" / "local")
    tracked = git(tmp_path, "ls-files", "-z").split("\0")[:-1]
    assert tracked == [name.decode() for name, _ in _index_entries((tmp_path / ".git" / "index").read_bytes())]


def test_a_worktree_has_an_index_of_its_own(tmp_path: Path) -> None:
    """And a folder without a repository has none."""
    main, other = tmp_path / "main", tmp_path / "other"
    put(main, ".roamkb/local/a")
    assert () == tracked_files_below(main / ".roamkb" / "local")
    git(main, "init", "-q")
    git(main, "add", "-A", "-f")
    git(main, "commit", "-q", "-m", "x")
    git(main, "worktree", "add", "-q", str(other))
    git(main, "rm", "-q", "--cached", "-r", ".roamkb")
    assert () == tracked_files_below(main / ".roamkb" / "local")
    assert ("a",) == tracked_files_below(other / ".roamkb" / "local")


@given(st.binary(max_size=300).map(lambda data: b"DIRC\0\0\0\2\0\0\0\3" + data) | st.binary(max_size=300))
def test_garbage_has_no_names(data: bytes) -> None:
    """Or such as stand in it; nothing raises."""
    assert all(name in data for name, _ in _index_entries(data))


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_only_texts_as_git_has_them_are_told(object_format: str, tmp_path: Path) -> None:
    """Neither what was changed since, nor what git doesn't have, nor what was learned."""
    put(tmp_path, "a", "changed", "src/b", ".roamkb/knowledge.jsonl")
    git(tmp_path, "init", f"--object-format={object_format}")
    git(tmp_path, "add", ".")
    put(tmp_path, "new")
    (tmp_path / "changed").write_text("more")
    assert ["a", "src/b"] == sorted(unchanged_texts(tmp_path))
    assert ["src/b"] == list(unchanged_texts(tmp_path / "src"))
    (tmp_path / ".git" / "index").write_bytes(b"DIRC, or so")
    assert [] == list(unchanged_texts(tmp_path))
