"""The tour that `make demo` gives is true."""

import os
import re
import subprocess
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def _without_chance(text: str) -> str:
    return re.sub(r'(nonce="|</untrusted-knowledge )[0-9a-f]{8}|(?<=~)[0-9a-f]{4}(?=\))', r"\1", text)


def _recording() -> str:
    """Return the part of the tour that the README shows."""
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    return _without_chance(readme.partition("```text\n")[2].partition("```")[0])


def test_the_demo_shows_what_it_says(command: Path, tmp_path: Path) -> None:
    """It stops at the first answer that is otherwise; it touches nothing but its own temporary folder."""
    home = tmp_path / "a home"
    scratch = tmp_path / "scratch"
    home.mkdir()
    scratch.mkdir()
    done = subprocess.run(
        [str(_ROOT / "fixtures" / "demo.sh")],
        cwd=home,
        env={
            "HOME": str(home),
            "TMPDIR": str(scratch),
            "PATH": f"{command.parent}:{os.environ['PATH']}",
            # an agent may run it: what its harness says must not count in the tour
            "CLAUDE_PROJECT_DIR": str(home),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "That is all." in done.stdout
    assert _recording() in _without_chance(done.stdout)
    assert [*home.rglob("*"), *scratch.rglob("*")] == []
