"""roamkb as a process whose account's home and whose root's files are a test's: no variable could say so.

Run as `python -m tests.trusting HOME ROOT WORD…`.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import Ran
from tests.conftest import World
from tests.conftest import emulator
from tests.human import run_at_a_terminal


def root_of(world: World) -> Path:
    """Return the folder that stands for `/` where root's list is looked for."""
    root = world.home.parent / "root"
    root.mkdir(mode=0o755, exist_ok=True)
    return root


def trust_by_root(world: World, *lines: str) -> Path:
    """Have root trust so; return its list."""
    path = root_of(world) / "etc" / "roamkb" / "trusted"
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in (path.parent.parent, path.parent):
        folder.chmod(0o755)
    path.write_text("".join(f"{line}\n" for line in lines))
    path.chmod(0o644)
    return path


def command_of(world: World, *words: str) -> list[str]:
    """Return the command that runs roamkb for that person on that machine."""
    return [sys.executable, "-m", "tests.trusting", str(world.home), str(root_of(world)), *words]


def run(world: World, *words: str, cwd: Path | None = None, extra: dict[str, str] | None = None) -> Ran:
    """Run `roamkb` for that person on that machine."""
    folder = cwd or world.personal
    done = subprocess.run(
        command_of(world, *words),
        cwd=folder,
        env={**world.environment(), "PWD": str(folder), **(extra or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return Ran(status=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


def say_at_terminal(
    world: World, *words: str, cwd: Path | None = None, extra: dict[str, str] | None = None, is_emulator: bool = True
) -> tuple[Ran, str]:
    """Run `roamkb` likewise for a human at a terminal, who types what is asked for; return what it showed, too."""
    folder = cwd or world.personal
    name = "xterm" if is_emulator else "expect"
    return run_at_a_terminal(
        command_of(world, *words),
        maker=emulator(world.home.parent, name),
        cwd=folder,
        environment={**world.environment(), "PWD": str(folder), **(extra or {})},
    )


def main() -> int:
    """Run roamkb with the places that the first two words name."""
    from roamkb.__main__ import main as run_roamkb
    from roamkb.app import environment
    from roamkb.log.trust.store import system_programs

    home, root = map(Path, sys.argv[1:3])
    environment._account = lambda: ("someone", home)
    system_programs.SYSTEM_ROOT, system_programs.SYSTEM_OWNER = root, os.getuid()
    sys.argv[1:3] = []
    return run_roamkb()


if __name__ == "__main__":
    raise SystemExit(main())
