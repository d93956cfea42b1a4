"""A person's machine for a harness: a fresh HOME, roamkb as docs/install.md says, notes, three projects."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: What pip needs to get at its registry here and what a program needs to run; nothing of this session's.
_FOR_PIP = ("PIP_", "SSL_", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
#: Codex makes no helpers below /tmp.
_SCRATCH = "/var/tmp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Folders of a person whose roamkb is installed for a harness."""

    folder: Path
    home: Path
    kb: Path
    personal: Path
    work: Path
    unknown: Path

    @property
    def projects(self) -> dict[str, Path]:
        """The three by their kind."""
        return {"personal": self.personal, "work": self.work, "unknown": self.unknown}

    def environment(self, **more: str) -> dict[str, str]:
        """What a program sees that the person starts."""
        path = os.pathsep.join((str(self.home / ".local" / "bin"), os.environ.get("PATH", os.defpath)))
        return {
            "HOME": str(self.home),
            "PATH": path,
            "TMPDIR": str(self.folder / "tmp"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "SHELL": "/bin/bash",
            "NO_COLOR": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }

    def run(
        self,
        *words: str | Path,
        cwd: Path | None = None,
        more: Mapping[str, str] | None = None,
        given: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as the person would; whatever it gives is returned."""
        folder = cwd or self.home
        return subprocess.run(
            list(map(str, words)),
            cwd=folder,
            env=self.environment(PWD=str(folder), **(more or {})),
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def roamkb(self, *words: str, cwd: Path | None = None) -> str:
        """Run roamkb, in the personal project unless told otherwise, and return what it printed.

        Raises:
            RuntimeError: it didn't do it.
        """
        ran = self.run("roamkb", *words, cwd=cwd or self.personal)
        if ran.returncode:
            raise RuntimeError(f"roamkb {' '.join(words)}: {ran.stdout}{ran.stderr}")
        return ran.stdout

    def holding(self, word: str) -> list[Path]:
        """Every file of the machine, in HOME and elsewhere, whose name or bytes have `word`."""
        files = (path for path in sorted(self.folder.rglob("*")) if path.is_file() and not path.is_symlink())
        return [path for path in files if word in path.name or word.encode() in path.read_bytes()]


@contextmanager
def machine(*install: str, keep: bool = False) -> Iterator[Machine]:
    """Give a machine with `roamkb install … INSTALL…` and a log at home and at work, and take it away again unless it is to be kept."""
    folder = Path(tempfile.mkdtemp(prefix="roamkb-harness-", dir=_SCRATCH if Path(_SCRATCH).is_dir() else None))
    try:
        yield make_machine(folder, *install)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def make_machine(folder: Path, *install: str) -> Machine:
    """Make a machine in `folder`, which is there and empty.

    Raises:
        RuntimeError: roamkb couldn't be installed.
    """
    home = folder / "home"
    made = Machine(
        folder=folder,
        home=home,
        kb=home / "sync" / "org" / "roam",
        personal=home / "code" / "lantern",
        work=home / "projects" / "work" / "billing",
        unknown=home / "Downloads" / "thing",
    )
    (folder / "tmp").mkdir()
    made.kb.parent.mkdir(parents=True)
    shutil.copytree(ROOT / "fixtures" / "kb", made.kb)
    for project in made.projects.values():
        project.mkdir(parents=True)
        _checked(made.run("git", "init", "--quiet", cwd=project))
    _install(made)
    made.roamkb(
        *("install", "--yes", "--kb", str(made.kb), "--work-root", str(made.work.parent)),
        *("--project-parent", str(made.personal.parent), *install),
        cwd=home,
    )
    for project in (made.personal, made.work):
        made.roamkb("init", cwd=project)
    return made


def _install(made: Machine) -> None:
    """Install this checkout with its MCP server, as docs/install.md says of `make install` and extras."""
    network = {name: value for name, value in os.environ.items() if name.startswith(_FOR_PIP)}
    cache = os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip")
    network["PIP_CACHE_DIR"] = cache
    venv = made.home / ".local" / "share" / "roamkb" / "venv"
    _checked(made.run("python3", "-m", "venv", venv))
    _checked(
        made.run(
            venv / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            f"{ROOT}[mcp]",
            more=network,
        )
    )
    link = made.home / ".local" / "bin" / "roamkb"
    link.parent.mkdir(parents=True)
    link.symlink_to(venv / "bin" / "roamkb")


def _checked(ran: subprocess.CompletedProcess[str]) -> None:
    if ran.returncode:
        raise RuntimeError(f"{ran.args}: {ran.stdout}{ran.stderr}")
