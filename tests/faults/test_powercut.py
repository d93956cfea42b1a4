"""What was acknowledged is there when the power comes back.

The program runs on a small file system in a loop-mounted image. At the cut the image is
copied as it is, still mounted and with nothing flushed: what a disk would hold. The copy
is mounted, which replays its journal, and looked at. What this can't show is a disk that
itself lies about what it has written.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests.faults.promises import SWEEPS
from tests.faults.promises import created
from tests.faults.promises import taken_name
from tests.faults.sweep import READING
from tests.faults.sweep import Fault
from tests.faults.sweep import Program
from tests.faults.sweep import Run
from tests.faults.sweep import Sweep

pytestmark = pytest.mark.usefixtures("strace")

#: Of each kind its size, what makes it, and how it is mounted: XFS refuses a copy of what is mounted still.
MAKERS = {
    "ext4": ("32M", ["mkfs.ext4", "-q", "-F"], "loop"),
    "xfs": ("320M", ["mkfs.xfs", "-q", "-f"], "loop,nouuid"),
    "btrfs": ("128M", ["mkfs.btrfs", "-q", "-f"], "loop"),
}


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk that can lose its power.

    What was mounted once may stay so in the mount namespace of a process that began meanwhile, such as a walled command of
    another test, and a file that is mounted again shows what it held then: each mount is of a file of its own.
    """

    top: Path
    program: Program
    options: str

    @property
    def mount(self) -> Path:
        """Where it is mounted."""
        return self.top / "mount"

    def run(self, sweep: Sweep, fault: Fault | None) -> Run:
        """Return what a run left on the disk when the power went, at `fault` or right after the end."""
        with self.mounted_copy("empty") as disk:
            folder = self.mount / "run"
            folder.mkdir()
            sweep.set_up(folder)
            subprocess.run(["sync", "-f", folder], check=True)
            run = self.program.run(sweep.task, folder, fault, sweep.standing)
            copy(disk, self.top / "after")
        return run

    def count(self, sweep: Sweep) -> tuple[int, list[str]]:
        """Cut the power at each call that changes something; return how often, and what was broken."""
        base = self.run(sweep, None)
        faults = [Fault(call, nth, "KILL") for call, nth in sweep.points(base) if call not in READING]
        broken = [self.broken(sweep, base)]
        for fault in faults:
            run = self.run(sweep, fault)
            broken.append(self.broken(sweep, run) if run.fired else f"DUD {fault}")
        return len(broken), [each for each in broken if each]

    def broken(self, sweep: Sweep, run: Run) -> str:
        """Name what is wrong on the disk after the power came back."""
        with self.mounted_copy("after"):
            wrong = sweep.check(run)
        return f"{run.fault or 'after the end'}: {wrong}" if wrong else ""

    @contextmanager
    def mounted_copy(self, image: str) -> Iterator[Path]:
        """Mount a copy of an image; give the copy."""
        disk = self.top / f"disk-{uuid4().hex}"
        copy(self.top / image, disk)
        with mounted(disk, self.mount, self.options):
            yield disk
        disk.unlink()


@pytest.fixture(params=["ext4", *(kind for kind in ("xfs", "btrfs") if shutil.which(f"mkfs.{kind}"))])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    """An empty disk of each kind that can be made here, or a loud skip."""
    size, maker, options = MAKERS[request.param]
    why = "" if shutil.which(maker[0]) else f"{maker[0]} isn't installed"
    empty = tmp_path / "empty"
    with empty.open("wb") as image:
        os.truncate(image.fileno(), int(size[:-1]) << 20)
    (tmp_path / "mount").mkdir()
    if not why:
        made = subprocess.run([*maker, empty], capture_output=True, text=True)
        why = made.stderr.strip() if made.returncode else ""
    if not why:
        try:
            with mounted(empty, tmp_path / "mount", options):
                pass
        except subprocess.CalledProcessError as error:
            why = f"{error.stderr.splitlines()[0]} (it needs root and loop devices)"
    if why:
        pytest.skip(f"NO POWER WAS CUT ON {request.param}: {why}")
    program = Program()
    yield Disk(tmp_path, program, options)
    program.close()


class mounted:
    """The image `image` mounted at `place`."""

    def __init__(self, image: Path, place: Path, options: str) -> None:
        self.image, self.place, self.options = image, place, options

    def __enter__(self) -> None:
        subprocess.run(
            ["mount", "-o", self.options, self.image, self.place], check=True, capture_output=True, text=True
        )

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", self.place], check=True)


def copy(image: Path, to: Path) -> None:
    """Copy an image with its holes, as it is at one moment.

    The kernel may commit and write back meanwhile, and a copy of which a half is older than the other is what no
    disk ever held: it is made again until the image is equal to it.
    """
    while True:
        subprocess.run(["cp", "--sparse=always", image, to], check=True)
        if subprocess.run(["cmp", "--silent", image, to]).returncode == 0:
            return


def test_a_power_cut_takes_what_a_careless_writer_acknowledged(disk: Disk) -> None:
    """The test below can fail: who renames and syncs nothing loses the note or a part of it."""
    careless = Sweep(task="bad_rename", set_up=taken_name, check=created)
    assert disk.count(careless)[1]


@pytest.mark.parametrize("sweep", [SWEEPS[0], *SWEEPS[2:]], ids=lambda s: s.task)
def test_a_power_cut_breaks_no_promise(sweep: Sweep, disk: Disk) -> None:
    """Acknowledged is there and whole, all else is whole or absent."""
    cuts, broken = disk.count(sweep)
    print(f"{sweep.task}: {cuts} cuts, {len(broken)} broken")
    assert cuts >= 7
    assert not broken
