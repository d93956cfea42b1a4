"""What git leaves out, by its files alone; git itself is the judge."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.fs.git_ignore import find_ignoring_file
from roamkb.fs.git_ignore import git_folder
from tests.examples import examples

LOG = ".roamkb/knowledge.jsonl"
PARTS = st.sampled_from(
    [
        ".roamkb",
        "knowledge.jsonl",
        "*",
        ".*",
        "*.jsonl",
        "know*",
        "?roamkb",
        "[.]roamkb",
        "other",
        ".r*b",
        "ledger.jsonl",
    ]
)
PATTERNS = st.builds(
    lambda minus, first, parts, last, end: minus + first + "/".join(parts) + last + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/", "**/"]),
    st.lists(PARTS, min_size=1, max_size=2),
    st.sampled_from(["", "", "/"]),
    st.sampled_from(["", "", "", " ", "\r", "\\ "]),
)
LINES = PATTERNS | st.sampled_from(["", "# *", "\\#x", "\\!x", "!", "/", "*/**", "*\n!*/", "!*/", "\x0b*", "a\u2028*"])
FILES = st.lists(LINES, max_size=4).map("\n".join) | st.lists(LINES, max_size=3).map(
    lambda lines: "\ufeff" + "\n".join(lines)
)


def git(root: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run git with that home."""
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", *words], cwd=root, env=env, capture_output=True, text=True, check=False)


@given(top=FILES, inner=FILES, exclude=FILES, own=FILES)
@settings(
    max_examples=examples(40),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    report_multiple_bugs=False,
)
def test_git_says_the_same(top: str, inner: str, exclude: str, own: str) -> None:
    """Of any four ignore files: the user's, the clone's, the repository's and the folder's."""
    with tempfile.TemporaryDirectory() as made:
        home, root = Path(made) / "home", Path(made) / "root"
        files = {
            home / ".config" / "git" / "ignore": own,
            root / ".git" / "info" / "exclude": exclude,
            root / ".gitignore": top,
            root / ".roamkb" / ".gitignore": inner,
        }
        root.mkdir()
        git(root, home, "init", "-q", "--template=")
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, newline="")
        said = git(root, home, "check-ignore", "-q", LOG).returncode == 0
        assert said == (find_ignoring_file(root / LOG, root, home=home) is not None)


@pytest.mark.parametrize("where", [".gitignore", ".roamkb/.gitignore", ".git/info/exclude"])
def test_the_file_that_decides_is_named(where: str, tmp_path: Path) -> None:
    """So that it can be changed."""
    (tmp_path / where).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / where).write_text("*.jsonl\n")
    assert tmp_path / where == find_ignoring_file(tmp_path / LOG, tmp_path, home=tmp_path / "home")


def test_a_worktree_shares_the_exclusions_of_its_repository(tmp_path: Path) -> None:
    """Its `.git` is a file that says where."""
    main, tree = tmp_path / "main", tmp_path / "tree"
    main.mkdir()
    git(main, tmp_path, "init", "-q")
    git(main, tmp_path, "-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "x")
    assert 0 == git(main, tmp_path, "worktree", "add", "-q", str(tree)).returncode
    assert (main / ".git").samefile(git_folder(tree))
    (main / ".git" / "info").mkdir(exist_ok=True)
    (main / ".git" / "info" / "exclude").write_text(".roamkb\n")
    assert find_ignoring_file(tree / LOG, tree, home=tmp_path / "home") is not None


def test_where_there_is_nothing_to_read_nothing_is_ignored(tmp_path: Path) -> None:
    """No repository, or files that are none."""
    (tmp_path / ".gitignore").mkdir()
    assert find_ignoring_file(tmp_path / LOG, tmp_path, home=tmp_path) is None
