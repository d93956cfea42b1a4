"""A command in a wall, as a launcher makes one: the notes can't be written, and a broker listens outside."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Ran
from tests.conftest import World

#: The broker's part of a launcher; what is kept from being written and by what is another's affair.
_LAUNCHER = """
import os, sys
from roamkb.wall import broker
listener = broker.open_listener()
child = os.fork()
if child == 0:
    more = listener.environment if listener else {}
    wall = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", sys.argv[1], sys.argv[1], "--"]
    os.execvpe("bwrap", [*wall, "sh", "-c", sys.argv[2]], {**os.environ, **more})
status = os.waitstatus_to_exitcode(broker.serve_requests(listener, child))
sys.exit(status if status >= 0 else 128 - status)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """Commands of a person's agent, each in a wall of its own."""

    world: World
    launcher: tuple[str, ...]

    @property
    def sockets(self) -> Path:
        """Where brokers listen."""
        return self.world.state / "brokers"

    def environment(self, cwd: Path, **more: str) -> dict[str, str]:
        """What the launcher finds around it."""
        path = f"{self.world.home / 'bin'}:{os.environ['PATH']}"
        return {**self.world.environment(), "PATH": path, "PWD": str(cwd), **more}

    def run(self, command: str, *, cwd: Path | None = None, **more: str) -> Ran:
        """Run a shell's command behind the wall."""
        with self.begun(command, cwd=cwd, **more) as process:
            out, err = process.communicate()
        return Ran(status=process.returncode, out=out, err=err)

    @contextmanager
    def begun(self, command: str, *, cwd: Path | None = None, **more: str) -> Iterator["subprocess.Popen[str]"]:
        """Give a command that runs; it ends with the block."""
        folder = cwd or self.world.personal
        with subprocess.Popen(
            [*self.launcher, command],
            cwd=folder,
            env=self.environment(folder, **more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.terminate()


@pytest.fixture
def wall(world: World) -> Wall:
    """A person's machine whose agent's commands run behind a wall; `roamkb` is on their PATH."""
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap isn't installed (Debian: apt-get install bubblewrap)")
    program = world.home / "bin" / "roamkb"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m roamkb "$@"\n')
    program.chmod(0o755)
    return Wall(world=world, launcher=(sys.executable, "-c", _LAUNCHER, str(world.kb)))
