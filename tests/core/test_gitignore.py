"""Which folders an entry means, held against git itself."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from roamkb.core.gitignore import deepest_common_folder
from roamkb.core.gitignore import entry_fault
from roamkb.core.gitignore import escape_path
from roamkb.core.gitignore import is_under
from roamkb.core.gitignore import is_within
from roamkb.core.gitignore import literal_path
from roamkb.core.gitignore import matches_file
from roamkb.core.gitignore import may_contain
from tests.examples import examples


@pytest.mark.parametrize(
    ("path", "entry", "under"),
    [
        ("/p/work", "/p/work", True),
        ("/p/work/a", "/p/work/", True),
        ("/p/workshop", "/p/work", False),
        ("/p", "/p/work", False),
        ("/", "/", True),
        ("/a", "/", True),
        ("/a/p/work", "/p/work", False),
        ("/p/Mu\u0308", "/p/M\u00fc", True),
        ("/p/Work", "/p/work", False),
        ("/p/a*", "/p/a\\*", True),
        ("/p/ab", "/p/a\\*", False),
        ("/p/client-x/a", "/p/client-*", True),
        ("/p/client", "/p/client-*", False),
        ("/p/a/b", "/p/*", True),
        ("/p", "/p/*", False),
        ("/p/a/x", "/p/*/x", True),
        ("/p/a/b/x", "/p/*/x", False),
        ("/p/x", "/p/**/x", True),
        ("/p/a/b/x/c", "/p/**/x", True),
        ("/p", "/p/**", False),
        ("/p/a", "/p/**", True),
        ("/p/b", "/p/[a-c]", True),
        ("/p/d", "/p/[!a-c]", True),
        ("/p/ab", "/p/a?", True),
        ("/p/a", "/p/a?", False),
        ("/p/.x", "/p/*", True),
    ],
)
def test_is_under(path: str, entry: str, under: bool) -> None:
    """An entry means the folders that it matches and all below them."""
    assert under is is_under(path, entry)


@pytest.mark.parametrize(
    ("path", "entry", "may"),
    [
        ("/p", "/p/work", True),
        ("/", "/p/work", True),
        ("/p/work", "/p/work", False),
        ("/q", "/p/work", False),
        ("/p/w", "/p/work", False),
        ("/p", "/p/client-*", True),
        ("/p/x", "/p/client-*", False),
        ("/p/x", "/p/*/secret", True),
        ("/p/x/y", "/p/*/secret", False),
        ("/p/x/y/z", "/p/**/secret", True),
        ("/q/x", "/p/**/secret", False),
        ("/", "/**/secret", True),
    ],
)
def test_may_contain(path: str, entry: str, may: bool) -> None:
    """A folder may contain what an entry means only where the entry leads through it."""
    assert may is may_contain(path, entry)


def test_case_counts_unless_it_is_said_not_to() -> None:
    """`fold` is for file systems that don't tell letters of another case apart."""
    assert not is_under("/P/WORK", "/p/work")
    assert is_under("/P/WORK", "/p/work", fold=True)
    assert is_under("/P/CLIENT-X", "/p/client-*", fold=True)
    assert may_contain("/P", "/p/Client-*", fold=True)


def test_anchors() -> None:
    """A search for what an entry means begins below its last plain folder."""
    assert ["/p/work", "/p", "/", "/p*"] == [
        deepest_common_folder(e) for e in ("/p/work", "/p/c-*/x", "/*", "/p\\*/[a]")
    ]


names = st.text(min_size=1, max_size=6).filter(lambda name: "/" not in name and "\0" not in name)
paths = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(paths)
def test_a_literal_means_itself(path: str) -> None:
    """Whatever a folder is called, its entry means it."""
    entry = escape_path(path)
    assert literal_path(entry) is not None
    assert is_under(path, entry)
    assert is_within(path, path)
    assert entry_fault(entry) is None


def test_a_literal_s_trailing_blanks_are_escaped() -> None:
    """gitignore cuts off the others."""
    assert ["/a\\ ", "/a b\\ \\ ", "/ a"] == [escape_path("/a "), escape_path("/a b  "), escape_path("/ a")]
    assert is_under("/a /x", escape_path("/a ") + "/*")


@given(paths, paths)
def test_a_literal_means_nothing_else(path: str, other: str) -> None:
    """Two folders that don't lie in each other have entries that don't."""
    assert is_under(other, escape_path(path)) is is_within(other, path)


def test_plain_entries_are_decided_without_pathspec() -> None:
    """The import costs as much as the rest of a write; only wildcards pay it."""
    code = (
        "import sys; from roamkb.core.gitignore import *; from pathlib import Path\n"
        "from roamkb.boundary.store.folder_evidence import classify_folder, Rule\n"
        "rule = Rule(source=Path('/r'), kb=Path('/kb'), work_roots=('/w', '/v'), project_parents=('/',))\n"
        "print(classify_folder(Path('/'), rule).kind.value, is_under('/a', '/a'), may_contain('/', '/a'))\n"
        "print('pathspec' in sys.modules); is_under('/a', '/*'); print('pathspec' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ["unknown True True", "False", "True"] == done.stdout.splitlines()


segments = st.sampled_from(["a", "b", "ab", "*", "a*", "?b", "[ab]", "[!a]", "**", "a?", "*b"])
folders = st.sampled_from(["a", "b", "ab", "aa", "ba", "abb", ".a", "c"])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository to ask git itself."""
    path = tmp_path_factory.mktemp("git")
    subprocess.run(["git", "init", "--quiet", str(path)], check=True)
    return path


def test_wildcards_mean_what_git_says(repository: Path) -> None:
    """Every entry of up to three parts against every path: the same answer as `git check-ignore`."""
    import itertools

    parts = ["a", "*", "a*", "?b", "[ab]", "[!a]", "**"]
    entries = ["/" + "/".join(p) for n in (1, 2, 3) for p in itertools.product(parts, repeat=n)]
    wild = [entry for entry in entries if literal_path(entry) is None][::7]
    tops = ["a", "b", "ab", ".a"]
    tree = ["/".join(p) for n in (1, 2, 3) for p in itertools.product(tops, repeat=n)]
    for path in tree:
        (repository / path).mkdir(parents=True, exist_ok=True)
    for entry in wild:
        (repository / ".git" / "info" / "exclude").write_text(entry + "\n")
        asked = subprocess.run(
            ["git", "-C", str(repository), "check-ignore", "--stdin", "--no-index"],
            input="\n".join(tree),
            capture_output=True,
            text=True,
        )
        assert set(asked.stdout.split()) == {path for path in tree if is_under("/" + path, entry)}, entry


@pytest.mark.parametrize("bad", ["x" * 1_000_000, "\ud800", "\0", "s*c/\ud800*", "[z-a]", ""])
def test_a_pattern_that_nobody_could_mean_takes_no_other_with_it(bad: str) -> None:
    """One line of a log that somebody else wrote would end each question about a file."""
    assert matches_file([bad, "src/*.py"], "src/a.py")
    assert not matches_file([bad], "src/a.py")
    assert not matches_file(["src/*.py"], bad)


def test_of_too_many_patterns_the_first_are_looked_at() -> None:
    """No learning is about so many places."""
    many = [f"**/a*b*c*d*/{n}/**/*x*y*z*" for n in range(20_000)]
    assert matches_file(["src/*.py", *many], "src/a.py")
    assert not matches_file(many, "src/a.py")


@settings(max_examples=examples(300))
@given(
    patterns=st.lists(st.text("ab/*?.![]\\# ", min_size=1, max_size=7), max_size=3),
    path=st.text("ab/. ", min_size=1, max_size=8),
)
def test_a_glance_at_the_letters_changes_no_answer(patterns: list[str], path: str) -> None:
    """What can't be met is seen without an engine, and only that."""
    read = GitIgnoreSpec.from_lines(())
    for pattern in patterns:
        with contextlib.suppress(ValueError):
            read += GitIgnoreSpec.from_lines([pattern])
    assert read.match_file(path) == matches_file(patterns, path)
