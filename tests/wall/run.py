"""Run the corpus and print what became of it: kinds of lines by walls.

python -m tests.wall.run                      all of it, some ten minutes
python -m tests.wall.run --sample 60 --seed 7 so many lines of each kind
python -m tests.wall.run --only advice        what the hook says, nothing is run
"""

import argparse
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.wall.advice import Advice
from tests.wall.advice import ask
from tests.wall.cage import PROJECTS
from tests.wall.lines import BENIGN
from tests.wall.lines import HONEST
from tests.wall.lines import HOSTILE
from tests.wall.lines import ORDINARY
from tests.wall.lines import Line
from tests.wall.lines import read_lines
from tests.wall.sameness import Sameness
from tests.wall.sameness import compare_all
from tests.wall.trial import Proof
from tests.wall.trial import Trial
from tests.wall.trial import Verdict
from tests.wall.trial import Wall

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Part:
    """What a part of the proof found: rows of a table, and lines that aren't as they are wanted."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    faults: tuple[str, ...]


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="lines of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=[HOSTILE, HONEST, BENIGN, ORDINARY])
    parser.add_argument("--wall", action="append", choices=[wall.value for wall in Wall])
    parser.add_argument("--only", choices=["advice", "walls", "sameness"])
    parser.add_argument("--faults", action="store_true", help="also each line that isn't as it is wanted")
    told = parser.parse_args()
    kinds = told.kind or [HOSTILE, HONEST, BENIGN, ORDINARY]
    chosen = {kind: sampled(read_lines(kind), told.sample, told.seed) for kind in kinds}
    scratch = Path(tempfile.mkdtemp(prefix="roamkb-wall-"))
    try:
        proof = Proof(scratch)
        walls = [wall for wall in proof.walls if not told.wall or wall.value in told.wall]
        parts: dict[str, Callable[[], Part]] = {
            "advice": lambda: advise(proof, scratch, chosen),
            "walls": lambda: try_walls(proof, chosen, walls),
            "sameness": lambda: compare_walls(proof, chosen, walls),
        }
        for name, part in parts.items():
            if told.only in (None, name):
                _print(part(), with_faults=told.faults)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def sampled(lines: Sequence[Line], size: int | None, seed: int) -> list[Line]:
    """Return those that can run here; so many, the same for a seed."""
    can_run = [line for line in lines if line.can_run]
    if size is None or size >= len(can_run):
        return can_run
    return random.Random(seed).sample(can_run, size)


def advise(proof: Proof, scratch: Path, chosen: dict[str, list[Line]]) -> Part:
    """Ask the hook about each line in each kind of project."""
    rows, faults = [("kind", "lines", *(f"denied: {project}" for project in PROJECTS))], []
    for kind, lines in chosen.items():
        if not lines:
            continue
        cells = [kind, str(len(lines))]
        for project in PROJECTS:
            answers = ask(proof.house, scratch, project, lines)
            cells.append(_share(sum(answer.is_denial for answer in answers), len(lines)))
            faults += [_fault(answer) for answer in answers if answer.is_denial != (kind in (HOSTILE, HONEST))]
        rows.append(tuple(cells))
    return Part("What the hook before a tool says", tuple(rows), tuple(faults))


def try_walls(proof: Proof, chosen: dict[str, list[Line]], walls: Sequence[Wall]) -> Part:
    """Run what changes notes, and what reads them, with each wall and with none."""
    rows, faults = [("kind", "wall", "lines", *(verdict.value for verdict in Verdict))], []
    for kind in (HOSTILE, HONEST, BENIGN):
        lines = chosen.get(kind, [])
        for wall in walls if lines else ():
            trials = list(proof.run_all(lines, wall))
            count = Counter(trial.verdict for trial in trials)
            shares = (_share(count[verdict], len(trials)) for verdict in Verdict)
            rows.append((kind, wall.value, str(len(trials)), *shares))
            faults += [describe(trial) for trial in trials if not is_wanted(trial)]
    return Part("What became of the notes", tuple(rows), tuple(faults))


def is_wanted(trial: Trial) -> bool:
    """Say whether a line did what a line of its kind may do behind its wall."""
    if trial.line.kind == BENIGN:
        return trial.verdict is Verdict.PREVENTED
    if trial.wall is Wall.NONE:
        # it does its harm, and the journal undoes what it did to the notes
        return trial.verdict in (Verdict.METADATA, Verdict.UNDONE, Verdict.NAMED, Verdict.KEEPERS)
    return trial.verdict in (Verdict.PREVENTED, Verdict.METADATA, Verdict.UNDONE)


def compare_walls(proof: Proof, chosen: dict[str, list[Line]], walls: Sequence[Wall]) -> Part:
    """Run ordinary commands, and those that read the notes, with each wall and without."""
    rows, faults = [("kind", "wall", "lines", *(sameness.value for sameness in Sameness))], []
    for kind in (ORDINARY, BENIGN):
        lines = [line for line in chosen.get(kind, []) if line.is_steady]
        for wall in walls if lines else ():
            if wall is Wall.NONE:
                continue
            compared = list(compare_all(proof, lines, wall))
            count = Counter(comparison.sameness for comparison in compared)
            cells = (f"{count[sameness]}" for sameness in Sameness)
            rows.append((kind, wall.value, str(len(lines)), *cells))
            faults += [one.description for one in compared if one.sameness is Sameness.BROKEN]
    return Part("Whether commands give the same behind a wall", tuple(rows), tuple(faults))


def describe(trial: Trial) -> str:
    """Return what a line did, in one line."""
    changes = ", ".join(f"{change.path} {change.what}" for change in trial.changes[:3])
    told = trial.ended.err.decode(errors="replace").strip().splitlines()
    return (
        f"{trial.wall.value} {trial.verdict.value} {_name(trial.line)} -> {changes or 'nothing'}"
        f" [{trial.ended.status}] {told[-1][:_SHOWN] if told else ''}"
    )


def _fault(answer: Advice) -> str:
    said = f"denied: {answer.reason[:_SHOWN]}" if answer.is_denial else "passed"
    return f"{answer.project} {_name(answer.line)} -> {said}"


def _name(line: Line) -> str:
    return f"{line.kind}:{line.id} {line.command[:_SHOWN]!r}"


def _share(count: int, total: int) -> str:
    return f"{count} ({100 * count / total:.1f} %)" if total else "0"


def _print(part: Part, *, with_faults: bool) -> None:
    widths = [max(len(row[at]) for row in part.rows) for at in range(len(part.rows[0]))]
    print(f"\n{part.title}\n", flush=True)
    for row in part.rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(f"\n{len(part.faults)} not as wanted", flush=True)
    for fault in part.faults if with_faults else ():
        print(f"  {fault}")


if __name__ == "__main__":
    main()
