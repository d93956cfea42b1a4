"""What programs are told to run."""

import pytest

from roamkb.core.errands import find_errands
from roamkb.core.errands import find_handed
from roamkb.core.errands import find_side_errands


def here(host: str) -> bool:
    return host.endswith("localhost")


@pytest.mark.parametrize(
    ("words", "stdin", "expected"),
    [
        (["bash", "-c", "rm x"], None, [("rm x", "")]),
        (["sh"], "rm x\n", [("rm x\n", "")]),
        (["eval", "rm", "x"], None, [("rm x", "")]),
        (["trap", "rm x", "EXIT"], None, [("rm x", "")]),
        (["watch", "-n", "2", "ls", "x"], None, [("ls x", "")]),
        (["su", "-", "ada", "-c", "rm x"], None, [("rm x", "~")]),
        (["su", "ada", "--command=rm x"], None, [("rm x", "")]),
        (["ssh", "-p", "22", "ada@localhost", "-t", "rm", "x"], None, [("rm x", "~")]),
        (["ssh", "localhost"], "rm x", [("rm x", "~")]),
        (["ssh", "localhost", "bash -s"], "rm x", [("bash -s", "~"), ("rm x", "~")]),
        (["ssh", "host", "rm", "x"], None, []),
        (["ssh", "-o", "ProxyCommand=rm x", "localhost", "ls"], None, []),
        (["sftp", "localhost"], "put x", [("put x", "~")]),
        (["ls", "x"], "y", []),
    ],
)
def test_all_that_it_does_is_run_text(
    words: list[str], stdin: str | None, expected: list[tuple[str, str]]
) -> None:
    """Here or over a connection to this machine; in the folder that it goes to."""
    assert expected == find_errands(words, words, stdin, here)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["git", "-c", "alias.x=!rm x", "x"], ["rm x"]),
        (["git", "config", "alias.w", "!rm x"], ["rm x"]),
        (["git", "rebase", "-x", "make test", "main"], ["make test"]),
        (["git", "submodule", "foreach", "--recursive", "rm", "a b"], ["rm 'a b'"]),
        (["git", "bisect", "run", "sh", "-c", "rm x"], ["sh -c 'rm x'"]),
        (["git", "commit", "-m", "rm x y"], []),
        (["PAGER=tee x", "man", "ls"], ["tee x"]),
        (["TITLE=a b", "make"], []),
        (["tar", "--to-command=rm x", "-xf", "a"], ["rm x"]),
        (["rsync", "-ave", "ssh -i k", "a", "b"], ["ssh -i k"]),
    ],
)
def test_what_it_runs_beside(words: list[str], expected: list[str]) -> None:
    """Settings, hooks, pagers: and no message is taken for one."""
    program = words[1:] if "=" in words[0] else words
    assert expected == find_side_errands(program, words)


def test_what_is_found_is_handed_to_a_script() -> None:
    """Where it begins, and by what mark a file is named in it."""
    assert (4, ["sh", "-c", "rm %"], "%") == find_handed(["xargs", "-0", "-I", "%", "sh", "-c", "rm %"])
    assert (1, ["sh", "-c", "x"], "") == find_handed(["xargs", "sh", "-c", "x"])
    found = find_handed(["find", ".", "-exec", "bash", "-c", "x", "_", "{}", ";", "-print"])
    assert (3, ["bash", "-c", "x", "_", "{}"], "{}") == found
    assert find_handed(["find", ".", "-exec", "rm", "{}", ";"]) is None
    assert find_handed(["ls"]) is None
