"""How a log's files and git's history of them grow with the sessions: in bytes, at one, two and four times as many.

    python -m tests.benchmarks.growth

Each session ends with a commit. Git keeps the whole file of each until it packs them, which `git gc` does, and git
by itself now and then.
"""

import random
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

_ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(_ROOT)]

from roamkb.log.jsonl import event_line  # noqa: E402
from roamkb.log.jsonl import learning_line  # noqa: E402
from tests.benchmarks.year import Span  # noqa: E402
from tests.benchmarks.year import made_events  # noqa: E402
from tests.benchmarks.year import made_learnings  # noqa: E402

_WEEK = Span(name="week", learnings=770, events=4800, sessions=58)
_UNTIL = datetime(2026, 6, 10)


def measure(folder: Path, span: Span) -> tuple[int, int, int]:
    """Return the bytes of the files, and of git's folder before and after `git gc`."""
    rng = random.Random(18)
    learnings = made_learnings(span, rng, _UNTIL)
    events = made_events(span, learnings, rng, _UNTIL)
    files = (folder / "knowledge.jsonl", folder / "ledger.jsonl")
    _git(folder, "init", "-q")
    for session in sorted({learning.session for learning in learnings}):
        said = [learning_line(one) + b"\n" for one in learnings if one.session == session]
        happened = [event_line(one) + b"\n" for one in events if one.session == session]
        for path, lines in zip(files, (said, happened), strict=True):
            with path.open("ab") as file:
                file.writelines(lines)
        _git(folder, "add", "-A")
        _git(folder, "commit", "-q", "-m", session)
    loose = _size(folder)
    _git(folder, "gc", "-q")
    return sum(path.stat().st_size for path in files), loose, _size(folder)


def _git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in (folder / ".git").rglob("*") if path.is_file())


def main() -> None:
    """Print a line for each size."""
    print(f"{'sessions':>10} {'files':>12} {'git, loose':>12} {'git, packed':>12}")
    for times in (1, 2, 4):
        with tempfile.TemporaryDirectory() as folder:
            span = _WEEK.part("part", times)
            sizes = measure(Path(folder), span)
            print(f"{span.sessions:10}" + "".join(f"{size:13,}" for size in sizes), flush=True)


if __name__ == "__main__":
    main()
