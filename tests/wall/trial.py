"""One line, run for real: with a wall or without, and what became of the notes."""

import sys
from collections.abc import Iterable
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from queue import SimpleQueue

from roamkb.core.errors import ChangedOnDisk
from roamkb.wall import plan
from roamkb.wall.plan import read_plan
from tests.conftest import ROOT
from tests.conftest import emulator
from tests.human import run_at_a_terminal
from tests.wall.cage import HOME
from tests.wall.cage import WORK
from tests.wall.cage import Cage
from tests.wall.cage import Ended
from tests.wall.copies import PLAN_PLACE
from tests.wall.copies import Copy
from tests.wall.house import KB
from tests.wall.house import SESSION
from tests.wall.house import build_house
from tests.wall.house import tell
from tests.wall.inventory import Change
from tests.wall.inventory import Part
from tests.wall.lines import Line

#: As many as this machine runs at once.
WORKERS = 2


class Wall(Enum):
    """What keeps a command off the notes."""

    NONE = "none"
    NAMESPACE = plan.NAMESPACE
    BUBBLEWRAP = plan.BUBBLEWRAP
    LANDLOCK = plan.LANDLOCK


class Verdict(Enum):
    """What is to be said of a line that was run."""

    #: Nothing of what is protected changed.
    PREVENTED = "prevented"
    #: Modes and times changed, nothing else.
    METADATA = "metadata"
    #: Notes changed, and the journal gave back each as it was.
    UNDONE = "undone"
    #: The same, but the human had to name them: the journal took the change for somebody's work.
    NAMED = "named"
    #: Notes are as they were, and not the rule, the settings, the program or the journal.
    KEEPERS = "keepers"
    #: A note is gone, or not as it was.
    LOST = "lost"
    #: It had to be ended.
    ENDLESS = "endless"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a line did behind a wall."""

    line: Line
    wall: Wall
    ended: Ended
    changes: tuple[Change, ...]
    #: Notes that aren't as they were even after `roamkb journal restore`; None where that wasn't tried.
    left: tuple[Change, ...] | None = None
    #: Whether the human had to name what was to come back, since the journal took it for somebody's work.
    is_named: bool = False

    @property
    def verdict(self) -> Verdict:
        """What is to be said of it."""
        if self.ended.status is None:
            return Verdict.ENDLESS
        if not self.changes:
            return Verdict.PREVENTED
        if not any(change.is_of_content for change in self.changes):
            return Verdict.METADATA
        if self.left is None:
            return Verdict.KEEPERS
        if self.left:
            return Verdict.LOST
        return Verdict.NAMED if self.is_named else Verdict.UNDONE


class Proof:
    """A house as it was built, and copies of it that lines are run in."""

    def __init__(self, scratch: Path) -> None:
        """Build the house."""
        self._scratch = scratch
        self.house = build_house(scratch)
        self._copies: dict[Wall, SimpleQueue[Copy]] = {}

    @property
    def walls(self) -> tuple[Wall, ...]:
        """Those that this machine can raise, and none."""
        known = read_plan(str(self.house.home / PLAN_PLACE))
        ways = {way for way, _ in known.ways} if known else set()
        return tuple(wall for wall in Wall if wall is Wall.NONE or wall.value in ways)

    def run_all(self, lines: Iterable[Line], wall: Wall, *, cwd: Path = WORK) -> Iterator[Trial]:
        """Run lines, each in a HOME as it was built, and return what each did in their order."""
        with ThreadPoolExecutor(WORKERS) as pool:
            yield from pool.map(lambda line: self.run(line, wall, cwd=cwd), lines)

    def run(self, line: Line, wall: Wall, *, cwd: Path = WORK) -> Trial:
        """Run a line in a HOME as it was built."""
        with self.copy(wall) as copy:
            ended = run_behind(copy.cage, wall, line.command, cwd=cwd)
            changes = copy.changes()
            left = None
            if any(change.part is Part.NOTES and change.is_of_content for change in changes):
                tell(copy.cage, "stop")
                bring_back(copy.cage, self._scratch)
                left = _harm(copy)
            is_named = bool(left)
            if is_named:
                bring_back(copy.cage, self._scratch, str(HOME / KB))
                left = _harm(copy)
            return Trial(line=line, wall=wall, ended=ended, changes=changes, left=left, is_named=is_named)

    @contextmanager
    def copy(self, wall: Wall) -> Iterator[Copy]:
        """Lend a HOME as it was built, and mend it afterwards."""
        if wall not in self._copies:
            places = [self._scratch / f"{wall.value}{number}" for number in range(WORKERS)]
            self._copies[wall] = SimpleQueue()
            for place in places:
                way = "" if wall is Wall.NONE else wall.value
                self._copies[wall].put(Copy(self.house, place, way))
        copy = self._copies[wall].get()
        try:
            yield copy
            copy.mend()
        finally:
            self._copies[wall].put(copy)


def _harm(copy: Copy) -> tuple[Change, ...]:
    """Return what of the notes is gone or not as it was."""
    return tuple(
        change for change in copy.changes() if change.part is Part.NOTES and change.what in ("gone", "other content")
    )


def run_behind(cage: Cage, wall: Wall, command: str, *, cwd: Path) -> Ended:
    """Run a shell command as a harness does whose shell's prefix is the wall."""
    if wall is Wall.NONE:
        return cage.run("/bin/bash", "-c", command, cwd=cwd)
    return cage.run(str(HOME / ".local/bin/roamkb"), "exec", "--", command, cwd=cwd)


def bring_back(cage: Cage, scratch: Path, *named: str) -> None:
    """Have the human bring back what the session destroyed: at a terminal, with a program that is whole.

    Without names it is what nothing explains.
    """
    words = ("-m", "roamkb", "journal", "restore", *(named or ["--all"]), "--create-kb", "--mark", SESSION)
    # what nobody has looked at yet is left, and seen; so it is said again
    for _ in range(2):
        ran, _ = run_at_a_terminal(
            cage.words(sys.executable, *words, is_seen=True, environment={"PYTHONPATH": str(ROOT)}),
            maker=emulator(scratch, "xterm"),
            cwd=scratch,
            environment={},
        )
        if ran.status != ChangedOnDisk.exit_code:
            return
