"""One line, run for real: with a wall or without, and what became of the notes."""

from collections.abc import Iterable
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from queue import SimpleQueue

from tests.wall.cage import BWRAP
from tests.wall.cage import HOME
from tests.wall.cage import WORK
from tests.wall.cage import Cage
from tests.wall.cage import Ended
from tests.wall.copies import Copy
from tests.wall.copies import stamps_below
from tests.wall.house import build_house
from tests.wall.inventory import Change
from tests.wall.inventory import Inventory
from tests.wall.inventory import Part
from tests.wall.inventory import compare
from tests.wall.inventory import entry_of
from tests.wall.inventory import part_of
from tests.wall.lines import Line

#: As many as this machine runs at once.
_WORKERS = 2


class Wall(Enum):
    """What keeps a command off the notes."""

    NONE = "none"
    BWRAP = "bwrap"
    LANDLOCK = "landlock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a line did behind a wall."""

    line: Line
    wall: Wall
    ended: Ended
    changes: tuple[Change, ...]
    #: What of the notes is still changed after `roamkb journal restore`; None where that wasn't tried.
    left: tuple[Change, ...] | None = None

    @property
    def verdict(self) -> str:
        """`endless`, `prevented`, `metadata`, `undone`, `changed` or `lost`: what is to be said of it."""
        if self.ended.status is None:
            return "endless"
        if not self.changes:
            return "prevented"
        if not any(change.is_of_content for change in self.changes):
            return "metadata"
        if self.left is None:
            return "changed"
        return "lost" if any(change.what in ("gone", "other content") for change in self.left) else "undone"

    @property
    def parts(self) -> frozenset[Part]:
        """What of the protected was changed in content."""
        return frozenset(change.part for change in self.changes if change.is_of_content)


class Proof:
    """A house as it was built, and copies of it that lines are run in."""

    def __init__(self, scratch: Path) -> None:
        """Build the house."""
        self.house = build_house(scratch)
        self.inventory: Inventory = {
            path: entry_of(self.house.home / path)
            for path, _ in stamps_below(self.house.home)
            if part_of(path) is not None
        }
        self._copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(_WORKERS):
            self._copies.put(Copy(self.house, self.inventory, scratch / f"copy{number}"))

    def run_all(self, lines: Iterable[Line], wall: Wall, *, cwd: Path = WORK) -> Iterator[Trial]:
        """Run lines, each in a HOME of its own, and return what each did in their order."""
        with ThreadPoolExecutor(_WORKERS) as pool:
            yield from pool.map(lambda line: self.run(line, wall, cwd=cwd), lines)

    def run(self, line: Line, wall: Wall, *, cwd: Path = WORK) -> Trial:
        """Run a line in a HOME as it was built."""
        with self.copy() as copy:
            ended = run_behind(copy.cage, wall, line.command, cwd=cwd)
            changes = compare(self.inventory, copy.inventory())
            left = None
            if any(change.part is Part.NOTES and change.is_of_content for change in changes):
                left = self._undo(copy)
            return Trial(line=line, wall=wall, ended=ended, changes=changes, left=left)

    @contextmanager
    def copy(self) -> Iterator[Copy]:
        """Lend a HOME as it was built, and mend it afterwards."""
        copy = self._copies.get()
        try:
            yield copy
            copy.mend()
        finally:
            self._copies.put(copy)

    def _undo(self, copy: Copy) -> tuple[Change, ...]:
        """Have the journal put back what it can, and return what of the notes is still changed."""
        copy.cage.run("roamkb", "journal", "restore", "--yes")
        changes = compare(self.inventory, copy.inventory())
        return tuple(change for change in changes if change.part is Part.NOTES)


def run_behind(cage: Cage, wall: Wall, command: str, *, cwd: Path) -> Ended:
    """Run a shell command as a harness does whose shell's prefix is the wall."""
    if wall is Wall.NONE:
        return cage.run("bash", "-c", command, cwd=cwd)
    if wall is Wall.LANDLOCK:
        # where there is no bubblewrap, Landlock is the wall
        cage = Cage(cage.home, (*cage.bound, (Path("/dev/null"), Path(BWRAP))))
    return cage.run(str(HOME / ".local/bin/roamkb"), "exec", "--", command, cwd=cwd)
