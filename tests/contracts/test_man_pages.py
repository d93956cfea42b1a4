"""Man pages as man, groff and mandoc read them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from docs.man_pages import man_pages
from roamkb.interfaces.operations import OPERATIONS

PAGES = man_pages()


def test_each_command_and_format_has_a_page() -> None:
    """The program's own names them all."""
    commands = {f"roamkb-{operation.name}.1" for operation in OPERATIONS}
    harnesses = {"roamkb-hook.1", "roamkb-exec.1"}
    others = {"roamkb.1", "roamkb-log.5", "roamkb-ledger.5", "roamkb-rule.5", "roamkb-boundary.7"}
    assert commands | harnesses | others == set(PAGES)
    named = PAGES["roamkb.1"].replace("\\-", "-").replace(" (", "(")
    assert all(page.replace(".1", "(1)") in named for page in commands)


@pytest.mark.parametrize("checker", ["mandoc -Tlint", "groff -man -ww -z", "man --warnings -E UTF-8 -l"])
def test_what_reads_man_pages_has_no_complaint(checker: str, tmp_path: Path) -> None:
    """Of none of them, nor of a word at the start of a line."""
    program, *options = checker.split()
    if shutil.which(program) is None:
        pytest.skip(f"no {program} here")
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text)
    for name in PAGES:
        ran = subprocess.run([program, *options, tmp_path / name], capture_output=True, text=True, check=False)
        complaints = ran.stdout + ran.stderr if program == "mandoc" else ran.stderr
        assert (0, "") == (ran.returncode, complaints)


@pytest.mark.skipif(shutil.which("man") is None, reason="no man here")
def test_a_page_says_what_the_documents_say(tmp_path: Path) -> None:
    """Tables, code and words that roff would take for its own."""
    path = tmp_path / "roamkb-boundary.7"
    path.write_text(PAGES[path.name])
    text = subprocess.run(["man", "-E", "UTF-8", "-l", path], capture_output=True, text=True, check=True).stdout
    words = " ".join(text.split())
    assert ".git, its objects or core.worktree pointing into work" in words
    assert "$ roamkb classify ~/Downloads" in words
