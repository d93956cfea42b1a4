"""A cage for commands that nobody would run at home: all of the machine read-only, a HOME of its own.

`rm -rf ~` and `find / -delete` are in the corpus. A command in the cage writes to the bound HOME and to a
/tmp of its own; it has no network, sees no other process, and all that it left running ends with it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from tests.conftest import ROOT
from tests.wall.lines import SEARCHED

#: The same in each cage, so that settings and lines may hold the whole path.
HOME = Path("/home/human")
WORK = HOME / "projects" / "work" / "billing"
PERSONAL = HOME / "code" / "lantern"
UNKNOWN = HOME / "Downloads" / "thing"
PROJECTS = {"work": WORK, "unknown": UNKNOWN, "personal": PERSONAL}
BWRAP = "/usr/bin/bwrap"

_NOTHING: Mapping[str, str] = MappingProxyType({})
#: Folders that are empty in a cage but for what is bound.
_EMPTY = (Path("/tmp"), Path("/var/tmp"), Path("/home"), Path("/run"))
#: Of this checkout and its Python; they are bound again where they lie in an empty folder.
_NEEDED = tuple({ROOT, Path(sys.prefix), Path(sys.base_prefix)})
#: In seconds; a line that still runs then is an error of the corpus, and everything in the cage is ended.
_PATIENCE = 120
#: Ends when all that the command left running has ended, after three seconds at the latest.
_WAIT = """
ulimit -c 0 -f 400000 -t 300
"$@"
status=$?
for ((i = 0; i < 60; i++)); do
  set -- /proc/[0-9]*
  [ $# -le 2 ] && break
  sleep 0.05
done
exit $status
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a command in a cage gave; no status where it had to be ended."""

    status: int | None
    out: bytes
    err: bytes


@dataclass(frozen=True, slots=True)
class Cage:
    """A HOME on this disk as the one folder that may be written."""

    home: Path
    #: Files and folders of this machine by the name that they have in the cage.
    bound: tuple[tuple[Path, Path], ...] = ()

    def run(self, *command: str, cwd: Path = HOME, given: bytes = b"", **environment: str) -> Ended:
        """Run a command; whatever it leaves running has ended as well."""
        words = self.words("bash", "-c", _WAIT, "cage", *command, cwd=cwd, environment=environment)
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={})
        try:
            out, err = process.communicate(given, timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return Ended(status=None, out=out, err=err)
        return Ended(status=process.returncode, out=out, err=err)

    def words(
        self,
        *command: str,
        cwd: Path = HOME,
        is_seen: bool = False,
        environment: Mapping[str, str] = _NOTHING,
    ) -> list[str]:
        """Return the words that run a command in the cage; with `is_seen` it sees this machine's processes."""
        apart = ["--unshare-pid", "--proc", "/proc", "--dev", "/dev", "--new-session"]
        words = [
            *(BWRAP, "--unshare-user", "--uid", "1000", "--gid", "1000", "--unshare-net", "--unshare-ipc"),
            *("--die-with-parent", "--ro-bind", "/", "/"),
            *(["--dev-bind", "/dev", "/dev"] if is_seen else apart),
        ]
        for folder in _EMPTY:
            if folder.is_dir() and not folder.is_symlink():
                words += ["--tmpfs", str(folder)]
        for path in _NEEDED:
            if any(path.is_relative_to(folder) for folder in _EMPTY):
                words += ["--ro-bind", str(path), str(path)]
        words += ["--bind", str(self.home), str(HOME)]
        for path, name in self.bound:
            words += ["--ro-bind", str(path), str(name)]
        return [*words, "--chdir", str(cwd), *_settings(cwd, environment), "--", *command]


def _settings(cwd: Path, environment: Mapping[str, str]) -> list[str]:
    path = (str(HOME / ".local" / "bin"), SEARCHED, str(Path(sys.base_prefix) / "bin"))
    known = {
        "HOME": str(HOME),
        "PWD": str(cwd),
        "PATH": os.pathsep.join(path),
        "USER": "human",
        "LOGNAME": "human",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **environment,
    }
    return ["--clearenv", *(word for name, value in known.items() for word in ("--setenv", name, value))]


def can_cage() -> bool:
    """Say whether this machine lets somebody make a cage."""
    if shutil.which(BWRAP) is None:
        return False
    tried = subprocess.run([BWRAP, "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, check=False)
    return tried.returncode == 0
