"""A small world for tests: a home with a rule, a knowledge base, and three projects."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from typing import TypeVar

import pytest
from hypothesis import HealthCheck
from hypothesis import settings

from roamkb.app.environment import ProcessEnvironment
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.app.log.project_log import ProjectLog
from roamkb.boundary.rule_file import render_rule
from roamkb.boundary.store.call_origin import hidden_ancestry_reason
from roamkb.core.ids import new_id
from roamkb.install.wall_setup import WallSetup
from roamkb.log.init import InitialisedLog
from roamkb.log.learn import LearnResult
from roamkb.log.store.project_log import Log
from tests.answer_schemas import check_answer
from tests.examples import IS_QUICK
from tests.examples import examples

# whoever wants other examples runs with `--hypothesis-profile=default`; CI is no lottery
# a slow machine says nothing about the code, and no example leaves anything in a test's folder that counts
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("same")
if IS_QUICK:
    settings.register_profile("quick", settings.get_profile("same"), max_examples=examples(100))
    settings.load_profile("quick")

T = TypeVar("T")

NOON = datetime(2026, 6, 10, 12, 0, 0)
ROOT = Path(__file__).parents[1]


#: Set where the tests have begun again.
_AGAIN = "ROAMKB_TESTS_AGAIN"


def pytest_configure(config: pytest.Config) -> None:
    """Begin again below a program of an emulator's name where it can't be seen who began the tests.

    They may run under `nohup`, or as a service of somebody's: what they try would be unknown all the way.
    """
    for number, action in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        # a background job and `nohup` ignore them, and so would every program that a test starts and ends
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, action)
    if "PYTEST_XDIST_WORKER" in os.environ or not (why := hidden_ancestry_reason(os.getpid(), os.environ)):
        return
    if os.environ.get(_AGAIN):
        pytest.exit(f"{why}: run the tests where their parents can be seen", returncode=2)
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    program = emulator(Path(tempfile.mkdtemp()), "xterm")
    begin = "import os, subprocess, sys; del os.environ['PYTHONHOME']; sys.exit(subprocess.call(sys.argv[1:]))"
    again = [sys.executable, "-m", "pytest", *config.invocation_params.args]
    os.chdir(config.invocation_params.dir)
    os.execve(
        program,
        [str(program), "-c", begin, *map(str, again)],
        {**os.environ, "PYTHONHOME": sys.base_prefix, _AGAIN: "1"},
    )


def emulator(folder: Path, name: str) -> Path:
    """Return Python as a program of an emulator's name; it runs with PYTHONHOME set."""
    program = folder / name
    if not program.exists():
        try:
            program.hardlink_to(Path(sys.executable).resolve())
        except OSError:
            # on another disk
            shutil.copy(sys.executable, program)
    return program


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What one call of the command line gave."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        value: dict[str, Any] = json.loads(self.out)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A person's machine in a temporary folder."""

    home: Path
    kb: Path
    personal: Path
    work: Path
    unknown: Path

    @property
    def state(self) -> Path:
        """Where roamkb keeps for this person what is no knowledge."""
        return self.home / ".local" / "state" / "roamkb"

    def log(self, root: Path | None = None) -> Log:
        """The log's files in the personal project, or in another."""
        return Log(root or self.personal, self.state)

    def environment(self) -> dict[str, str]:
        """The environment of a process that lives here."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.home), "TZ": "UTC", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}

    def run(
        self,
        *words: str,
        cwd: Path | None = None,
        input: str | bytes = b"",
        extra: dict[str, str] | None = None,
    ) -> Ran:
        """Run `roamkb` as a process of its own, in the personal project unless told otherwise."""
        folder = cwd or self.personal
        done = subprocess.run(
            [sys.executable, "-m", "roamkb", *words],
            cwd=folder,
            env={**self.environment(), "PWD": str(folder), **(extra or {})},
            input=input.encode() if isinstance(input, str) else input,
            capture_output=True,
            check=False,
        )
        check_answer(words, done.stdout.decode())
        return Ran(status=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    def open(self, cwd: Path | None = None, *, now: datetime = NOON, **environment: str) -> KnowledgeBase:
        """The library, as a session in the personal project (or in `cwd`) has it."""
        around = ProcessEnvironment(
            home=self.home,
            account_home=self.home,
            variables={"HOME": str(self.home), **environment},
            cwd=cwd or self.personal,
            pid=os.getpid(),
            now=lambda: now,
            new_id=new_id,
            state=self.state,
            cache=self.home / "cache",
            data=self.home / ".local" / "share" / "roamkb",
        )
        return KnowledgeBase(around)

    def note(self, name: str, text: str) -> Path:
        """Put a note into the knowledge base, as its human would."""
        path = self.kb / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def node(self, name: str, id: str, title: str, body: str = "", *, tags: str = "") -> Path:
        """Put a note with one file node into the knowledge base."""
        head = f":PROPERTIES:\n:ID:       {id}\n:END:\n#+title: {title}\n"
        return self.note(name, head + (f"#+filetags: {tags}\n" if tags else "") + f"\n{body}\n")

    def files(self) -> dict[str, bytes]:
        """Every file of the knowledge base with its bytes."""
        return {
            path.relative_to(self.kb).as_posix(): path.read_bytes()
            for path in sorted(self.kb.rglob("*"))
            if path.is_file()
        }


def typed(kind: type[T], value: object) -> T:
    """Return `value`, which is a `kind`, of an operation whose arguments decide what it gives."""
    assert isinstance(value, kind)
    return value


def learn(log: ProjectLog, text: str, **said: Any) -> LearnResult:
    """Learn one thing, as `learn` does of a text."""
    return typed(LearnResult, log.learn(text, **said))


def adopt(world: World, cwd: Path | None = None) -> InitialisedLog:
    """Adopt the log that came with a project, as its human does at a terminal."""
    kb = world.open(cwd)
    return ProjectLog(kb.environment, kb, folder=None, ask=lambda _: "y").init()


def wall_of(home: Path) -> WallSetup:
    """What keeps agents' commands out of the notes, for who lives in `home`."""
    place = home / ".local"
    return WallSetup(home=home, account_home=home, state=place / "state/roamkb", data=place / "share/roamkb")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A home with an installed rule, a mounted knowledge base and three projects."""
    return make_world(tmp_path / "home")


def make_world(home: Path) -> World:
    """Make what `world` gives, for a fixture that several tests share."""
    world = World(
        home=home,
        kb=home / "roam",
        personal=home / "code" / "site",
        work=home / "work" / "acme",
        unknown=home / "elsewhere",
    )
    for folder in (world.kb / ".stfolder", world.personal, world.work, world.unknown):
        folder.mkdir(parents=True)
    rule = home / ".claude" / "rules" / "knowledge-base.md"
    rule.parent.mkdir(parents=True)
    template = (ROOT / "rules" / "knowledge-base.md").read_text()
    rule.write_text(
        render_rule(template, kb=str(world.kb), work_roots=[str(home / "work")], project_parents=[str(home / "code")])
    )
    rule.chmod(0o644)
    return world
