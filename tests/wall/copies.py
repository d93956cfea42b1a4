"""Copies of a house, mended after each line: what a line did is found by what the kernel says, not by reading all.

A file's inode and the time of its last change (`ctime`, which no program sets) tell whether it was touched.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from pathlib import PurePosixPath

from tests.wall.cage import Cage
from tests.wall.house import KB
from tests.wall.house import SECOND_NAME
from tests.wall.inventory import Inventory
from tests.wall.inventory import entry_of
from tests.wall.inventory import part_of

Stamp = tuple[int, int, int]
#: Where more was touched a new copy is quicker.
_MOST_MENDED = 200


class Copy:
    """A copy of a house in a folder of its own."""

    def __init__(self, house: Cage, inventory: Inventory, place: Path) -> None:
        """Make the copy."""
        self.cage = Cage(place, house.bound)
        self._house = house.home
        self._inventory = inventory
        self._stamps: dict[PurePosixPath, Stamp] = {}
        self._begin()

    def inventory(self) -> Inventory:
        """Return what is protected, as it is now."""
        now = dict(stamps_below(self.cage.home))
        return {
            path: self._inventory[path]
            if stamp == self._stamps.get(path) and path in self._inventory
            else entry_of(self.cage.home / path)
            for path, stamp in now.items()
            if part_of(path) is not None
        }

    def mend(self) -> None:
        """Make it the house again."""
        now = dict(stamps_below(self.cage.home))
        touched = [path for path in now.keys() | self._stamps.keys() if now.get(path) != self._stamps.get(path)]
        # what holds more than files is quicker begun anew than mended right
        is_simple = all(stat.S_ISREG(self._stamps.get(path, now.get(path, (0, 0, 0)))[2]) for path in touched)
        names = {PurePosixPath(KB), PurePosixPath(SECOND_NAME)}
        if len(touched) > _MOST_MENDED or not is_simple or names & set(touched):
            self._begin()
            return
        for path in touched:
            self._restore(path)

    def _restore(self, path: PurePosixPath) -> None:
        place = self.cage.home / path
        with suppress(FileNotFoundError):
            place.unlink()
        if path in self._stamps:
            shutil.copy2(self._house / path, place)
            self._stamps[path] = _stamp(place)

    def _begin(self) -> None:
        place = self.cage.home
        if place.exists():
            subprocess.run(["chmod", "-R", "u+rwX", str(place)], check=True)
            shutil.rmtree(place)
        subprocess.run(["cp", "-a", str(self._house), str(place)], check=True)
        self._stamps = dict(stamps_below(place))


def stamps_below(home: Path) -> Iterator[tuple[PurePosixPath, Stamp]]:
    """Yield each path in a HOME with what tells whether it was touched."""
    waiting = [PurePosixPath()]
    while waiting:
        folder = waiting.pop()
        with _opened(home / folder) as entries:
            for entry in entries:
                path = folder / entry.name
                yield path, _stamp(Path(entry.path))
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)


def _opened(folder: Path) -> "os.ScandirIterator[str]":
    """Open a folder whose owner may have been shut out."""
    if not os.access(folder, os.R_OK | os.X_OK):
        folder.chmod(folder.stat().st_mode | stat.S_IRWXU)
    return os.scandir(folder)


def _stamp(path: Path) -> Stamp:
    known = path.lstat()
    # what is new in a folder is seen by itself
    changed = 0 if stat.S_ISDIR(known.st_mode) else known.st_ctime_ns
    return known.st_ino, changed, known.st_mode
