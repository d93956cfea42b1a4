"""Packages of this checkout, built once for all tests, and a person who installs them."""

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from roamkb import __version__
from tests.conftest import ROOT

OLD_VERSION = "0.0.9"
#: What a wheel is made from.
_SOURCES = ("pyproject.toml", "README.md", "LICENSE", "roamkb", "rules", "docs")
#: Of the machine's settings, those by which packages are found.
_INDEX_SETTINGS = ("PIP_", "UV_", "SSL_", "http", "https", "no_proxy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """Folders with what was built from the checkout, from its sdist, and as an older version."""

    built: Path
    built_again: Path
    old: Path

    @property
    def wheel(self) -> Path:
        """The wheel of this checkout."""
        return self.built / f"roamkb-{__version__}-py3-none-any.whl"

    @property
    def sdist(self) -> Path:
        """The sdist of this checkout."""
        return self.built / f"roamkb-{__version__}.tar.gz"

    @property
    def old_wheel(self) -> Path:
        """The wheel of the same sources under a lower version."""
        return self.old / f"roamkb-{OLD_VERSION}-py3-none-any.whl"


def build_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """Return a folder of that name that `build` filled, in whichever process of the tests was first."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / name
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            build(shared / f"{name} begun")
            (shared / f"{name} begun").rename(folder)
    return folder


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """Return the wheels and sdists."""
    return _packages_in(build_once(tmp_path_factory, "packages", _build_all))


def _packages_in(folder: Path) -> Packages:
    return Packages(built=folder / "1", built_again=folder / "2", old=folder / "old")


def _build_all(folder: Path) -> None:
    packages, sources = _packages_in(folder), folder / "sources"
    _build(ROOT, packages.built)
    shutil.unpack_archive(packages.sdist, sources, filter="data")
    _build(sources / f"roamkb-{__version__}", packages.built_again)
    for name in _SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, sources / name)
    module = sources / "roamkb" / "__init__.py"
    module.write_text(module.read_text().replace(f'"{__version__}"', f'"{OLD_VERSION}"'))
    _build(sources, packages.old, "-t", "wheel")


def _build(sources: Path, target: Path, *words: str) -> None:
    # what `python -m build` runs, without the time that an environment for it takes
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target), *words]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(command, cwd=sources, env=environment, check=True, capture_output=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with a home of their own and no checkout, who installs roamkb."""

    home: Path

    @property
    def project(self) -> Path:
        """A personal project."""
        return self.home / "code" / "site"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of their shell; caches of downloads are the machine's."""
        kept = {name: value for name, value in os.environ.items() if name.startswith(_INDEX_SETTINGS)}
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        places = [self.home / place / "bin" for place in (".local", "env", "tools")]
        return {
            "UV_CACHE_DIR": str(cache / "uv"),
            "PIP_CACHE_DIR": str(cache / "pip"),
            **kept,
            "UV_PYTHON_DOWNLOADS": "never",
            "PIP_NO_COMPILE": "1",
            "UV_PYTHON": sys.executable,
            "PIPX_DEFAULT_PYTHON": sys.executable,
            "HOME": str(self.home),
            "PATH": ":".join([*map(str, places), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]),
            "NO_COLOR": "1",
            "COLUMNS": "200",
        }

    def run(self, *words: str, input: str = "", status: int = 0) -> str:
        """Run a command in the project; return what it prints, or fail where its status is another."""
        done = subprocess.run(
            words, cwd=self.project, env=self.environment, input=input, capture_output=True, text=True, check=False
        )
        assert status == done.returncode, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def install_hooks(self) -> None:
        """Name notes and work, and have Claude Code's settings written."""
        self.run(
            "roamkb", "install", "--claude", "--yes", "--kb", str(self.home / "roam"), "--create-kb",
            "--work-root", str(self.home / "work"), "--project-parent", str(self.home / "code"),
        )  # fmt: skip

    def settings(self) -> dict[str, object]:
        """Return Claude Code's settings."""
        text = (self.home / ".claude/settings.json").read_text()
        return dict(json.loads(text))

    def run_hook(self, *, status: int = 0) -> str:
        """Run the hook of a session's start as Claude Code does."""
        hooks = self.settings()["hooks"]
        assert isinstance(hooks, dict)
        line = hooks["SessionStart"][0]["hooks"][0]["command"]
        payload = {"session_id": "s", "hook_event_name": "SessionStart", "cwd": str(self.project)}
        return self.run("sh", "-c", line, input=json.dumps(payload), status=status)

    def run_walled(self, line: str, *, status: int = 0) -> str:
        """Run a line as Claude Code runs one of an agent's."""
        variables = self.settings()["env"]
        assert isinstance(variables, dict)
        (launcher,) = variables.values()
        return self.run(launcher, line, status=status)

    def use(self) -> None:
        """Write, search, learn, recall, start a session, and run a command that mustn't touch the notes."""
        fact = f"Fact {len(list((self.home / 'roam').iterdir()))} of the tests"
        self.run("roamkb", "write", fact, "--tag", "packages")
        assert fact in self.run("roamkb", "search", fact)
        self.run("roamkb", "learn", f"{fact} was learned")
        assert "was learned" in self.run("roamkb", "recall", fact)
        assert "personal project" in self.run_hook()
        assert "walled" in self.run_walled("echo walled")
        assert "ead-only" in self.run_walled("touch ~/roam/x.org", status=1)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """Return a person with uv and pipx at hand, in a path with a blank."""
    home = tmp_path / "a home"
    for folder in ("work", "code/site", "tools/bin"):
        (home / folder).mkdir(parents=True)
    for tool in ("uv", "pipx"):
        (home / "tools/bin" / tool).symlink_to(Path(sys.executable).with_name(tool))
    # Debian's may lack venv
    (home / "tools/bin/python3").symlink_to(Path(sys.executable).resolve())
    return Person(home=home)
