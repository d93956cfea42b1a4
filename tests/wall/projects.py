"""Test suites of three real projects, with each wall and with none: a trial that is started by hand.

python -m tests.wall.projects

qs comes from the npm registry, click from PyPI, viper and afero from Debian's packages (golang-go,
golang-github-spf13-viper-dev, golang-github-spf13-afero-dev). They are fetched before, and run without a network.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.wall.cage import HOME
from tests.wall.cage import Ended
from tests.wall.trial import Proof
from tests.wall.trial import Wall
from tests.wall.trial import run_behind

_PLACE = HOME / "projects" / "work"
_GOCODE = Path("/usr/share/gocode/src/github.com/spf13")


_NEEDED_BY_QS = (
    "tape@5 es-define-property es-value-fixtures for-each has-bigints has-override-mistake has-property-descriptors "
    "has-proto has-symbols iconv-lite@0.5 mock-property object-inspect safer-buffer"
).split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A project's tests."""

    name: str
    #: Puts the project into a folder, with all that its tests need.
    fetch: Callable[[Path], None]
    command: str
    #: What of the output says how one test ended.
    result: str


def _fetch_qs(folder: Path) -> None:
    _told(["npm", "pack", "--silent", "qs@6.17.1"], folder)
    _told(["tar", "xf", "qs-6.17.1.tgz", "--strip-components=1"], folder)
    # of what its tests don't need, a linter's settings can't be had everywhere
    _told(["npm", "pkg", "delete", "devDependencies", "scripts"], folder)
    _told(["npm", "install", "--silent", "--ignore-scripts", "--no-audit", *_NEEDED_BY_QS], folder)


def _fetch_click(folder: Path) -> None:
    _told(
        ["python3", "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "click==8.2.1"],
        folder,
    )
    _told(["tar", "xf", "click-8.2.1.tar.gz", "--strip-components=1"], folder)
    _told(["python3", "-m", "pip", "install", "-q", "--target", "needed", "pytest==8.4.2"], folder)


def _fetch_go(folder: Path) -> None:
    for name in ("viper", "afero"):
        shutil.copytree(_GOCODE / name, folder / "src" / "github.com" / "spf13" / name)


SUITES = (
    Suite(name="qs (npm)", fetch=_fetch_qs, command="npx tape 'test/**/*.js'", result=r"^\s*(?:not )?ok \d+.*"),
    Suite(
        # its tests of pagers give something else each time
        name="click (pip)",
        fetch=_fetch_click,
        command="PYTHONPATH=src:needed python3 -m pytest -rA -q -p no:cacheprovider -k 'not via_pager' tests",
        result=r"^(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL).*",
    ),
    Suite(
        name="viper and afero (go)",
        fetch=_fetch_go,
        command="GO111MODULE=off GOPATH=$PWD:/usr/share/gocode go test -v github.com/spf13/viper github.com/spf13/afero",
        result=r"^\s*--- (?:PASS|FAIL|SKIP): \S+",
    ),
)


def main() -> None:
    """Run each suite with each wall, and say what was the same."""
    scratch = Path(tempfile.mkdtemp(prefix="roamkb-projects-"))
    try:
        proof = Proof(scratch)
        print(f"{'suite':22}{'wall':12}{'status':8}{'tests':7}{'failed':8}{'s':7}same")
        for suite in SUITES:
            folder = scratch / re.sub(r"\W+", "-", suite.name)
            folder.mkdir()
            suite.fetch(folder)
            _compare(proof, suite, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _compare(proof: Proof, suite: Suite, folder: Path) -> None:
    first: tuple[int | None, list[str]] | None = None
    for wall in proof.walls:
        ended = _run(proof, suite, folder, wall)
        results = sorted(re.findall(suite.result, ended.out.decode(errors="replace"), re.MULTILINE))
        outcome = (ended.status, results)
        first = first or outcome
        failed = sum("not ok" in line or "FAIL" in line.split(" ", 3)[:3] for line in results)
        is_same = "yes" if outcome == first else "NO"
        print(f"{suite.name:22}{wall.value:12}{ended.status!s:8}{len(results):<7}{failed:<8}{is_same}")
        if outcome != first:
            print(*sorted(set(results) ^ set(first[1]))[:20], ended.err.decode()[-2000:], sep="\n")


def _run(proof: Proof, suite: Suite, folder: Path, wall: Wall) -> Ended:
    with proof.copy(wall) as copy:
        place = copy.cage.home / _PLACE.relative_to(HOME) / folder.name
        subprocess.run(["cp", "-a", str(folder), str(place)], check=True)
        return run_behind(copy.cage, wall, suite.command, cwd=_PLACE / folder.name)


def _told(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
