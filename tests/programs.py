"""Programs as harnesses run them: files that can be executed."""

import sys
from pathlib import Path

from tests.conftest import ROOT


def script(path: Path, text: str = "exit 0") -> Path:
    """Return a shell script at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def command_in(home: Path) -> Path:
    """Return roamkb, this checkout's, where `make install` puts it."""
    run = f'PYTHONPATH="{ROOT}" exec "{sys.executable}" -m roamkb "$@"'
    return script(home / ".local" / "bin" / "roamkb", run)
