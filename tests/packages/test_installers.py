"""uv, pipx and pip: installed, upgraded, given an extra and another Python, and uninstalled, as a person does.

What `roamkb install` wrote before goes on working, and says what is wrong once roamkb is gone.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from roamkb import __version__
from tests.conftest import ROOT
from tests.packages.conftest import OLD_VERSION
from tests.packages.conftest import Packages
from tests.packages.conftest import Person

_ROWS = re.findall(
    r"^\| (uv|pipx|pip) \| `(.*)` \| `(.*)` \| `(.*)` \|$", (ROOT / "README.md").read_text(), re.MULTILINE
)
#: The README's commands that install, upgrade and uninstall, by the program.
_COMMANDS = {tool: commands for tool, *commands in _ROWS}
#: `make packages` tries every Python of this machine, and every extra.
_IS_LONG = os.environ.get("ROAMKB_TEST_PACKAGES") == "1"


def run_command(person: Person, command: str, wheel: Path | None = None) -> None:
    """Run a command of the README's, with a wheel in the place of the checkout, whose build takes its time."""
    line = re.sub(r" \.$", f" '{wheel}'", command)
    assert (line != command) == (wheel is not None)
    person.run("sh", "-c", f"set -e\n{line}")


def other_pythons() -> Iterator[Path]:
    """Yield Pythons that roamkb runs with and that aren't of this one's version, where such are on the machine."""
    folders = [Path("/usr/bin"), Path("/usr/local/bin"), *Path.home().glob(".pyenv/versions/*/bin")]
    for program in (folder / f"python3.{minor}" for folder in folders for minor in (14, 13, 12, 11)):
        if program.exists() and program.name != f"python3.{sys.version_info[1]}":
            yield program


@pytest.mark.parametrize("tool", ["uv", "pipx", "pip"])
def test_from_an_older_version_to_none(tool: str, person: Person, packages: Packages) -> None:
    """By the README's commands: hooks, rule, log and notes of the older version go on, and an extra can be added."""
    install, upgrade, uninstall = _COMMANDS[tool]
    run_command(person, install, packages.old_wheel)
    assert f"roamkb {OLD_VERSION}\n" == person.run("roamkb", "--version")
    person.install_hooks()
    person.run("roamkb", "init")
    settings = person.settings()

    run_command(person, upgrade, packages.wheel)
    assert f"roamkb {__version__}\n" == person.run("roamkb", "--version")
    person.use()
    person.install_hooks()
    assert settings == person.settings()

    # what roamkb prints to type
    told = person.run("roamkb", "mcp", status=2)
    person.run("sh", "-c", told.splitlines()[-1])
    assert "needs the extra" not in person.run("roamkb", "mcp")
    assert "personal project" in person.run_hook()
    listed = person.run("roamkb", "uninstall", "--dry-run")
    (command,) = re.findall(r"^keep +program: .*\(`(.*)` takes it away\)$", listed, re.MULTILINE)
    assert command.split()[-2:] == uninstall.replace("--yes ", "").split()[-2:]

    run_command(person, uninstall)
    assert re.search("roamkb: (not found|No such file)", person.run_hook(status=127))
    assert "is gone, so that no command runs: install it again" in person.run_walled("echo walled", status=127)


@pytest.mark.parametrize("tool", ["uv", "pipx"])
@pytest.mark.parametrize("other", [*other_pythons()][: None if _IS_LONG else 1], ids=lambda path: path.name)
def test_another_python(tool: str, other: Path, person: Person, packages: Packages) -> None:
    """Its libraries lie elsewhere, and hooks and wall find them there."""
    run_command(person, _COMMANDS[tool][0], packages.wheel)
    person.install_hooks()
    person.run("roamkb", "init")
    if tool == "uv":
        run_command(person, f"uv tool install --reinstall --python {other} .", packages.wheel)
    else:
        run_command(person, f"pipx reinstall --python {other} roamkb")
    version = subprocess.run([other, "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    assert f"Python {version}" in person.run("roamkb", "doctor")
    person.use()


def test_uv_installs_without_links(person: Person, packages: Packages) -> None:
    """What it links to its cache could be written there: doctor says so, and what to type."""
    run_command(person, "uv tool install .", packages.wheel)
    person.install_hooks()
    told = person.run("roamkb", "doctor")
    command = re.search("has another name.*\n.*`(UV_LINK_MODE=copy .*)`; of a note", told)
    assert command, told
    person.run("sh", "-c", command[1])
    assert "has another name" not in person.run("roamkb", "doctor")


@pytest.mark.skipif(not _IS_LONG, reason="all extras are many libraries: `make packages` tries them")
def test_all_extras(person: Person, packages: Packages) -> None:
    """One word brings every door and the search by meaning."""
    person.run("uv", "tool", "install", "--python", sys.executable, f"{packages.wheel}[all]")
    person.install_hooks()
    person.run("roamkb", "init")
    person.use()
    assert "of the tests" in person.run("roamkb", "search", "--semantic", "what was written down for trials")
    assert "needs the extra" not in person.run("roamkb", "mcp")
    assert "needs the extra" not in person.run("roamkb", "serve", "--port", "-1", status=2)
