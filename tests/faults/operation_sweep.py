"""Faulted runs of every operation in the table, as whole calls.

python -m tests.faults.operation_sweep [NAME...] [--runs N] [--seed 0]

Killed or failed at any call that changes something below the person's home, an operation says what a door may say,
loses nothing that was there, tells what is half done and what to call, and called again ends where an undisturbed
call ends.
"""

import argparse
import contextlib
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from roamkb.core.errors import RoamkbError
from tests.faults import operations
from tests.faults.operations import CASES
from tests.faults.operations import OperationCase
from tests.faults.operations import open_with_human
from tests.faults.operations import world_in
from tests.faults.sweep import ERRNOS
from tests.faults.sweep import OF_SQLITE
from tests.faults.sweep import READING
from tests.faults.sweep import Fault
from tests.faults.sweep import Program
from tests.faults.sweep import Result
from tests.faults.sweep import Run
from tests.faults.sweep import faults_at
from tests.faults.sweep import traced_calls

#: The statuses that a call may end with.
_STATUSES = (0, 1, 2, 3, 4, 5, 75, -9)
_ALL_ERRNOS = ERRNOS | OF_SQLITE


@dataclass(slots=True)
class OperationSweep:
    """A folder in which one operation after the other is swept, always from the same world at the same place."""

    folder: Path
    program: Program
    #: Faults a case: what kills it first, then a sample of the errors; None for all.
    most: int | None = None
    seed: int = 0
    _before: dict[str, object] = field(default_factory=dict)
    _lines: set[bytes] = field(default_factory=set)

    def lay_out(self) -> None:
        """Lay out the world that each run begins with."""
        operations.lay_out(self.folder)
        world = world_in(self.folder)
        self._before, self._lines = operations.view(world), operations.lines(world)
        (self.folder / "home").rename(self.folder / "template")

    def run(self, case: OperationCase) -> Result:
        """Run one operation once for each of its faults."""
        base = self.once(case, None)
        expected = operations.view(world_in(self.folder))
        result = Result(runs=1)
        if base.status:
            result.broken.append(f"without a fault: status {base.status}, {base.said!r}")
        points = list(self.points(base))
        result.points = len(points)
        for fault in self._chosen(points):
            result.runs += 1
            run = self.once(case, fault)
            if not run.fired:
                # what depends on the time of day isn't called in each run
                result.duds.append(f"DUD {fault}: status {run.status}")
            elif wrong := self.check(case, run, expected):
                result.broken.append(f"{case.name} {fault}: {wrong} (status {run.status}, said {run.said[-300:]!r})")
        return result

    def once(self, case: OperationCase, fault: Fault | None) -> Run:
        """Run a case in a fresh copy of the world."""
        shutil.rmtree(self.folder / "home", ignore_errors=True)
        shutil.copytree(self.folder / "template", self.folder / "home", symlinks=True)
        return self.program.run(case.name, self.folder, fault, (), _ALL_ERRNOS)

    def points(self, base: Run) -> Iterator[tuple[str, int]]:
        """Yield the calls that change something below the home."""
        home = str(self.folder / "home")
        for name, number, line in traced_calls(base.trace):
            if home in line and name not in (*READING, "close") and "O_RDONLY" not in line:
                yield name, number

    def _chosen(self, points: Sequence[tuple[str, int]]) -> Iterable[Fault]:
        faults = list(faults_at(list(points), _ALL_ERRNOS))
        if self.most is None or len(faults) <= self.most:
            return faults
        kills = [fault for fault in faults if fault.error == "KILL"]
        others = [fault for fault in faults if fault.error != "KILL"]
        dice = random.Random(self.seed)
        return [
            *dice.sample(kills, min(len(kills), self.most // 2)),
            *dice.sample(others, self.most - min(len(kills), self.most // 2)),
        ]

    def check(self, case: OperationCase, run: Run, expected: dict[str, object]) -> str:
        """Name what is wrong with a run; empty when all promises hold."""
        world = world_in(self.folder)
        if run.status not in _STATUSES or (run.status > 0 and not run.said.startswith("roamkb: ")):
            return "not a status that we promise, or a traceback"
        found = operations.view(world)
        if wrong := self._lost(case):
            return wrong
        is_half_done = found not in (self._before, expected)
        if case.is_settled and run.status == 0 and found != expected:
            return f"acknowledged, and not what it should be: {_difference(found, expected)}"
        if case.is_settled and is_half_done and run.status > 0 and not _tells_how_to_go_on(run.said, case.goes_on):
            return f"half done, and it doesn't say what to call: {_difference(found, self._before)}"
        try:
            case.call(open_with_human(world))
        except RoamkbError as error:
            if not case.is_settled:
                return f"called again: {error.message}"
        found = operations.view(world)
        if wrong := self._lost(case):
            return f"called again, {wrong}"
        return f"called again: {_difference(found, expected)}" if case.is_settled and found != expected else ""

    def _lost(self, case: OperationCase) -> str:
        """Name a human's note or a line of the log that isn't there any more."""
        world = world_in(self.folder)
        for name in ("one.org", "two.org"):
            if (world.kb / name).read_bytes() != (self.folder / "template" / "roam" / name).read_bytes():
                return f"{name} isn't as it was"
        gone = self._lines - operations.lines(world)
        return f"{len(gone)} lines of the log are gone" if gone and not case.takes_out else ""


def _tells_how_to_go_on(said: str, command: str) -> bool:
    hint = said.partition("\n")[2]
    return command in hint if command else "again" in hint or "`roamkb " in hint or "is there" in hint


def _difference(found: dict[str, object], expected: dict[str, object]) -> str:
    return "; ".join(
        f"{name}: {found[name]!r} is not {expected[name]!r}"[:700] for name in expected if found[name] != expected[name]
    )


@contextlib.contextmanager
def operation_sweep(*, most: int | None = None, seed: int = 0) -> Iterator[OperationSweep]:
    """Give a sweep with its world laid out and its program started."""
    with tempfile.TemporaryDirectory() as top:
        tracee = Program(Path(operations.__file__))
        try:
            sweep = OperationSweep(Path(top).resolve(), tracee, most=most, seed=seed)
            sweep.lay_out()
            yield sweep
        finally:
            tracee.close()


def main() -> int:
    """Sweep, print a line an operation and a sum; return 1 where something is broken."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--runs", type=int, default=40, help="faults an operation; 0 for all")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    results = []
    with operation_sweep(most=given.runs or None, seed=given.seed) as sweep:
        for case in CASES:
            if case.name in (given.names or [case.name]):
                results.append(sweep.run(case))
                print(f"{case.name}: {results[-1]}", flush=True)
    broken = sum(len(result.broken) for result in results)
    duds = sum(len(result.duds) for result in results)
    print(f"{len(results)} operations, {sum(r.runs for r in results)} runs, {broken} broken, {duds} duds")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
