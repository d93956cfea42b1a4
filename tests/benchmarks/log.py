"""How a log's size shows: replay, recall and learn over 10,000 and 100,000 learnings, and the ratios.

    python tests/benchmarks/log.py [--sizes 10000,100000]

Each size runs in a process of its own, so that its peak of memory is its own. The text is made
here; the times of two sizes on one machine are compared, never a time with a limit.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from roamkb.actions.init import init
from roamkb.core.ids import new_id
from roamkb.core.learning import Learning
from roamkb.core.ledger import Event
from roamkb.formats.events import event_line
from roamkb.formats.events import learning_line
from roamkb.storage.log import ROTATE_AT
from roamkb.storage.log import Log
from tests.conftest import World

_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru".split()
_TYPES = "learned decision fact pattern gotcha".split()
_QUERIES = 12


def text(rng: random.Random) -> str:
    """Return a sentence of made-up words, common ones often and rare ones seldom, as in any language."""
    return " ".join(word(int(rng.paretovariate(0.6)) % 20_000) for _ in range(rng.randint(8, 30)))


def word(n: int) -> str:
    """Return the `n`th word."""
    base = len(_SYLLABLES)
    return (
        _SYLLABLES[n % base]
        + _SYLLABLES[n // base % base]
        + (_SYLLABLES[n // base**2 % base] if n > base**2 else "")
    )


def fill(log: Log, size: int, rng: random.Random) -> list[str]:
    """Put so many learnings, and half as many events, into a log; return what was said."""
    said = [text(rng) for _ in range(size)]
    lines = [
        learning_line(
            Learning(
                id=f"L{n}",
                key=f"k{n}",
                type=_TYPES[n % 5],
                content=one,
                ts=n,
                agent="a",
                session=f"s{n % 99}",
            )
        )
        for n, one in enumerate(said)
    ]
    cut = max(size - ROTATE_AT // 2, 0)
    log.archive.write_bytes(b"".join(line + b"\n" for line in lines[:cut]))
    log.knowledge.write_bytes(b"".join(line + b"\n" for line in lines[cut:]))
    now = datetime(2026, 1, 1)
    ids = sorted(new_id(now) for _ in range(size // 2))
    events = (
        Event(id=id, ts=n, event="repeated", of=f"L{rng.randrange(size)}", agent="b", session=f"s{n}")
        for n, id in enumerate(ids)
    )
    log.ledger.write_bytes(b"".join(event_line(event) + b"\n" for event in events))
    return said


def milliseconds(what: Callable[[], object]) -> float:
    """Return how long it takes."""
    start = time.perf_counter()
    what()
    return (time.perf_counter() - start) * 1000


def spread(times: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def measure(size: int) -> dict[str, float]:
    """Return the figures of a log of `size` learnings."""
    rng = random.Random(size)
    with tempfile.TemporaryDirectory() as top:
        home = Path(top)
        world = World(
            home=home, kb=home / "roam", personal=home / "site", work=home / "work", unknown=home / "else"
        )
        world.personal.mkdir()
        init(world.personal, home=home, kb=None, state=world.state)
        log = world.log()
        said = fill(log, size, rng)
        found: dict[str, float] = {"replay": min(milliseconds(lambda: log.read().state()) for _ in range(3))}
        asked = [" ".join(rng.sample(rng.choice(said).split(), 4)) for _ in range(_QUERIES)]
        found["index built"] = milliseconds(lambda: world.open().log.recall(asked[0], all=True))
        door = world.open().log
        found["recall, median"], found["recall, 95 %"] = spread(
            [milliseconds(lambda one=one: door.recall(one, all=True)) for one in asked]  # type: ignore[misc]
        )
        found["recall, cold process"] = min(
            milliseconds(lambda: world.run("recall", asked[0])) for _ in range(3)
        )
        found["learn, median"], found["learn, 95 %"] = spread(
            [milliseconds(lambda: world.open().log.learn(text(rng))) for _ in range(4)]
        )
        found["learn, cold process"] = min(
            milliseconds(lambda: world.run("learn", text(rng))) for _ in range(3)
        )
        found["peak of memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found["log, MB"] = sum(path.stat().st_size for path in log.folder.glob("*.jsonl")) / 1e6
    return found


def main() -> None:
    """Print a table of milliseconds, and what each grew by."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one)))
        return
    sizes = [int(size) for size in given.sizes.split(",")]
    tables = []
    for size in sizes:
        command = [sys.executable, __file__, "--one", str(size)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
        tables.append(json.loads(done.stdout))
    print(f"{'milliseconds':24}" + "".join(f"{size:>12,}" for size in sizes) + "       ratio")
    for name in tables[0]:
        row = [table[name] for table in tables]
        print(f"{name:24}" + "".join(f"{value:12.1f}" for value in row) + f"{row[-1] / row[0]:12.1f}")


if __name__ == "__main__":
    main()
