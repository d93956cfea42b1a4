"""What the documents' commands run in: the example knowledge base in a temporary HOME."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]

RunLine = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(tmp_path: Path) -> Path:
    """Return a `roamkb` that runs this checkout, in a folder of its own."""
    path = tmp_path / "bin" / "roamkb"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\nPYTHONPATH='{_ROOT}' exec '{sys.executable}' -m roamkb \"$@\"\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def example_home(tmp_path: Path) -> Path:
    """Return a HOME with the example knowledge base, the rule, and a project of each kind."""
    home = tmp_path / "home"
    for project in ("code/lantern/.git", "projects/work/billing/.git", "Downloads", ".claude/rules"):
        (home / project).mkdir(parents=True)
    shutil.copytree(_ROOT / "fixtures" / "kb", home / "sync" / "org" / "roam")
    rule = home / ".claude/rules/knowledge-base.md"
    shutil.copy(_ROOT / "rules" / "knowledge-base.md", rule)
    # a checkout under umask 002 lets a group write to it, and such a rule doesn't count
    rule.chmod(0o644)
    return home


@pytest.fixture
def run_line(example_home: Path, command: Path) -> RunLine:
    """Return what runs one shell line as a person with that HOME would, in a folder of it."""

    def run(line: str, folder: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line],
            cwd=example_home / folder,
            env={
                "HOME": str(example_home),
                "PATH": f"{command.parent}:{os.environ['PATH']}",
                "LC_ALL": "C.UTF-8",
                "TZ": "UTC",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    return run
