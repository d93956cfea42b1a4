"""Copies of a house, mended after each line: what a line did is found by what the kernel says, not by reading all.

A file's inode and the time of its last change (`ctime`, which no program sets) tell whether it was touched.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from pathlib import PurePosixPath

from roamkb.wall.plan import FOLDER
from roamkb.wall.plan import PLAN
from roamkb.wall.plan import file_stamp
from roamkb.wall.plan import read_plan
from roamkb.wall.plan import render_plan
from tests.wall.cage import HOME
from tests.wall.cage import Cage
from tests.wall.house import SECOND_NAME
from tests.wall.inventory import Change
from tests.wall.inventory import Entry
from tests.wall.inventory import Inventory
from tests.wall.inventory import compare
from tests.wall.inventory import entry_of
from tests.wall.inventory import part_of

Stamp = tuple[int, int, int]
#: The wall's plan below HOME.
PLAN_PLACE = Path(".local", "share", "roamkb", FOLDER, PLAN)
#: Where roamkb itself writes whenever it runs.
_OWN = (".cache/roamkb", ".local/state/roamkb", str(PLAN_PLACE.parent))
#: Where more was touched a new copy is quicker.
_MOST_MENDED = 200


class Copy:
    """A copy of a house in a folder of its own."""

    def __init__(self, house: Cage, place: Path, way: str = "") -> None:
        """Make the copy, behind whose wall commands get by `way`."""
        self.cage = Cage(place, house.bound)
        self._house = house.home
        self._way = way
        self._stamps: dict[PurePosixPath, Stamp] = {}
        self._before: Inventory = {}
        self._begin()

    def changes(self) -> tuple[Change, ...]:
        """Return what of the protected isn't as it was."""
        now = {
            path: self._before[path]
            if stamp == self._stamps.get(path) and path in self._before
            else entry_of(self.cage.home / path)
            for path, stamp in stamps_below(self.cage.home)
            if part_of(path) is not None
        }
        return compare(self._before, now)

    def touched(self) -> Inventory:
        """Return what anything but roamkb itself made, changed or took away in HOME; nothing of what is gone."""
        now = dict(stamps_below(self.cage.home))
        differing = [path for path in now.keys() | self._stamps.keys() if now.get(path) != self._stamps.get(path)]
        return {
            path: _told(self.cage.home / path) if path in now else Entry("", 0, 0)
            for path in differing
            if not any(path.is_relative_to(own) for own in _OWN)
        }

    def mend(self) -> None:
        """Make it the house again."""
        now = dict(stamps_below(self.cage.home))
        touched = [path for path in now.keys() | self._stamps.keys() if now.get(path) != self._stamps.get(path)]
        if not touched:
            return
        # many are copied quicker by one program; and a file with two names is no copy of itself
        if len(touched) > _MOST_MENDED or PurePosixPath(SECOND_NAME) in touched:
            self._begin()
            return
        try:
            for path in sorted(touched, reverse=True):
                self._remove(self.cage.home / path)
            for path in sorted(touched):
                if path in self._stamps:
                    _copy(self._house / path, self.cage.home / path)
        except OSError:
            # the line shut us out of a folder
            self._begin()
            return
        self._settle()

    def _remove(self, place: Path) -> None:
        """Take a path away; a folder stays that still holds what nobody touched."""
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(place.lstat().st_mode):
                if not any(place.iterdir()):
                    place.rmdir()
            else:
                place.unlink()

    def _begin(self) -> None:
        place = self.cage.home
        if place.exists():
            subprocess.run(["chmod", "-R", "u+rwX", str(place)], check=True)
            shutil.rmtree(place)
        subprocess.run(["cp", "-a", str(self._house), str(place)], check=True)
        self._before = {path: entry_of(place / path) for path, _ in stamps_below(place) if part_of(path) is not None}
        self._settle()

    def _settle(self) -> None:
        """Have the wall's plan count for these files, and take stock of them."""
        if self._way:
            aim_plan(self.cage.home, self._way)
            plan = PurePosixPath(PLAN_PLACE)
            self._before[plan] = entry_of(self.cage.home / plan)
        self._stamps = dict(stamps_below(self.cage.home))


def _told(path: Path) -> Entry:
    """Return what a command made of a file, without what differs from copy to copy."""
    entry = replace(entry_of(path), mtime=0)
    # git's index has each file's number and times in it
    return replace(entry, content="") if path.name == "index" and path.parent.name == ".git" else entry


def _copy(path: Path, place: Path) -> None:
    """Make a folder, a link or a file again as it was."""
    if stat.S_ISDIR(path.lstat().st_mode):
        place.mkdir(exist_ok=True)
        shutil.copystat(path, place)
    else:
        shutil.copy2(path, place, follow_symlinks=False)


def aim_plan(home: Path, way: str) -> None:
    """Have a HOME's wall raised by `way` alone, and by this plan, whatever files have the numbers of others."""
    place = home / PLAN_PLACE
    plan = read_plan(str(place))
    if plan is None or way not in dict(plan.ways):
        raise RuntimeError(f"this machine has no wall by {way}")
    plan.ways = [(way, dict(plan.ways)[way])]
    plan.sources = [(path, file_stamp(str(_outside(home, path)))) for path, _ in plan.sources]
    place.unlink()
    place.write_bytes(render_plan(plan))


def _outside(home: Path, path: str) -> Path:
    """Return where a path of the cage lies on this machine."""
    return home / Path(path).relative_to(HOME) if Path(path).is_relative_to(HOME) else Path(path)


def stamps_below(home: Path) -> Iterator[tuple[PurePosixPath, Stamp]]:
    """Yield each path in a HOME with what tells whether it was touched."""
    waiting = [PurePosixPath()]
    while waiting:
        folder = waiting.pop()
        if not os.access(home / folder, os.R_OK | os.X_OK):
            # a line shut us out
            (home / folder).chmod((home / folder).stat().st_mode | stat.S_IRWXU)
        with os.scandir(home / folder) as entries:
            for entry in entries:
                path = folder / entry.name
                yield path, _stamp(Path(entry.path))
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)


def _stamp(path: Path) -> Stamp:
    known = path.lstat()
    # what is new in a folder is seen by itself
    changed = 0 if stat.S_ISDIR(known.st_mode) else known.st_ctime_ns
    return known.st_ino, changed, known.st_mode
