"""Whether an ordinary command gives the same behind a wall: output, errors, status and files."""

from collections.abc import Iterable
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from tests.wall.cage import WORK
from tests.wall.cage import Ended
from tests.wall.inventory import Entry
from tests.wall.inventory import Inventory
from tests.wall.lines import Line
from tests.wall.trial import WORKERS
from tests.wall.trial import Proof
from tests.wall.trial import Wall
from tests.wall.trial import run_behind

SAMPLES = WORK / "samples"
#: A command that tells the time or its own number gives something else each time: so often it is tried again.
_TRIES = 3


class Sameness(Enum):
    """What a comparison said."""

    SAME = "same"
    #: It gives something else each time, without a wall as well.
    UNSTEADY = "unsteady"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All that a command gave."""

    ended: Ended
    files: Inventory


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A line with a wall and without."""

    line: Line
    wall: Wall
    sameness: Sameness
    without: Outcome
    behind: Outcome

    @property
    def description(self) -> str:
        """What differs, in one line."""
        one, other = self.without, self.behind
        parts = []
        for name in ("status", "out", "err"):
            was, is_now = getattr(one.ended, name), getattr(other.ended, name)
            if was != is_now:
                parts.append(f"{name} {was!r:.150} / {is_now!r:.150}")
        paths = [str(path) for path in one.files.keys() | other.files.keys()]
        differing = [path for path in sorted(paths) if _entry(one, path) != _entry(other, path)]
        parts += [f"{path} {_entry(one, path)} / {_entry(other, path)}" for path in differing[:3]]
        return f"{self.wall.value} {self.line.id} {self.line.command!r:.150} -> {'; '.join(parts)}"


def _entry(outcome: Outcome, path: str) -> Entry | None:
    return outcome.files.get(PurePosixPath(path))


def compare_all(proof: Proof, lines: Iterable[Line], wall: Wall) -> Iterator[Comparison]:
    """Run lines with a wall and without, and return what was the same, in their order."""
    with ThreadPoolExecutor(WORKERS) as pool:
        yield from pool.map(lambda line: _compared(proof, line, wall), lines)


def _compared(proof: Proof, line: Line, wall: Wall) -> Comparison:
    without, behind = _outcome(proof, line, Wall.NONE), _outcome(proof, line, wall)
    sameness = Sameness.SAME
    if without != behind:
        again = [_outcome(proof, line, Wall.NONE) for _ in range(_TRIES)]
        is_steady = all(outcome == without for outcome in again)
        sameness = Sameness.BROKEN if is_steady else Sameness.UNSTEADY
    return Comparison(line=line, wall=wall, sameness=sameness, without=without, behind=behind)


def _outcome(proof: Proof, line: Line, wall: Wall) -> Outcome:
    with proof.copy(wall) as copy:
        ended = run_behind(copy.cage, wall, line.command, cwd=SAMPLES)
        return Outcome(ended=ended, files=copy.touched())
