"""How a log's size shows: replay, recall and learn over 10,000 and 100,000 learnings, and the ratios.

    python tests/benchmarks/log.py [--sizes 10000,100000] [--asked 12]

Each size runs in a process of its own, so that its peak of memory is its own. The text is made
here; the times of two sizes on one machine are compared, never a time with a limit.
"""

import resource
import statistics
import sys
import time
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.logs import ground
from tests.benchmarks.logs import sizes
from tests.benchmarks.logs import text


def milliseconds(what: Callable[[], object]) -> float:
    """Return how long it takes."""
    start = time.perf_counter()
    what()
    return (time.perf_counter() - start) * 1000


def spread(times: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def measure(size: int, asked: int) -> dict[str, float]:
    """Return the figures of a log of `size` learnings."""
    with ground(size) as on:
        world, log, rng = on.world, on.log, on.rng
        found: dict[str, float] = {
            "replay": min(milliseconds(lambda: log.read_contents().replay_state()) for _ in range(3))
        }
        questions = [" ".join(rng.sample(rng.choice(on.said).split(), 4)) for _ in range(asked)]
        found["index built"] = milliseconds(lambda: world.open().log.recall(questions[0], all=True))
        door = world.open().log
        found["recall, median"], found["recall, 95 %"] = spread(
            [milliseconds(lambda one=one: door.recall(one, all=True)) for one in questions]  # type: ignore[misc]
        )
        found["recall, cold process"] = min(milliseconds(lambda: world.run("recall", questions[0])) for _ in range(3))
        found["learn, median"], found["learn, 95 %"] = spread(
            [milliseconds(lambda: world.open().log.learn(text(rng))) for _ in range(4)]
        )
        found["learn, cold process"] = min(milliseconds(lambda: world.run("learn", text(rng))) for _ in range(3))
        found["peak of memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found["log, MB"] = sum(path.stat().st_size for path in log.folder.glob("*.jsonl")) / 1e6
    return found


def main() -> None:
    """Print a table of milliseconds, and what each grew by."""
    tables = dict(sizes(__file__, __doc__, "10000,100000", measure, asked=12))
    if not tables:
        return
    print(f"{'milliseconds':24}" + "".join(f"{size:>12,}" for size in tables) + "       ratio")
    for name in next(iter(tables.values())):
        row = [table[name] for table in tables.values()]
        print(f"{name:24}" + "".join(f"{value:12.1f}" for value in row) + f"{row[-1] / row[0]:12.1f}")


if __name__ == "__main__":
    main()
