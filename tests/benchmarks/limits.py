"""Questions at the moment of need beside document 004's limits, over 1,000, 10,000 and 100,000 learnings.

    python tests/benchmarks/limits.py [--sizes 1000,10000,100000] [--asked 40]

In one process, as an agents' server asks: the first question of each kind is left out. Where the machine
is shared, the ratios tell more than the times: `reference` is a bare FTS5 query over the same texts with a
stat of the log's files, in the same run. The limits are the document's, for 1,000 entries; wanted is a
fifth of each at 10,000. `CPU` is the median of the process's own time.
"""

import json
import random
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from roamkb.app.log.project_log import ProjectLog
from roamkb.core.ids import new_id
from roamkb.log.jsonl import event_line
from roamkb.log.jsonl import json_line
from roamkb.log.recall import RecallResult
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log
from roamkb.remedies import effectiveness as remedies
from roamkb.remedies.effectiveness import RemedyAttempt
from roamkb.remedies.fingerprint import fingerprint
from roamkb.tasks.signature import TaskRecord
from tests.benchmarks.logs import ground
from tests.benchmarks.logs import sizes
from tests.benchmarks.logs import text
from tests.benchmarks.logs import word

#: Milliseconds that the document allows at 1,000 entries; a write "doesn't block" and has no figure.
LIMITS = {
    "recall WORDS": 100,
    "recall --file": 100,
    "relevant --title --file": 100,
    "task similar": 500,
    "remedy suggest": 500,
    "learn, known already": 200,
    "learn, new": 200,
    "used": None,
    "task start": None,
}
_WANTED = 5
_HEADS = (("learnings", 10), ("p50", 9), ("p95", 9), ("CPU", 9), ("/ ref", 8), ("limit", 8), ("wanted", 8))
_KINDS = "bug_fix feature docs refactor".split()
_ENDINGS = "ts py sql go md".split()


def path(rng: random.Random) -> str:
    """Return a file of one of a few hundred folders."""
    return f"src/{word(rng.randrange(300))}/{word(rng.randrange(2000))}.{rng.choice(_ENDINGS)}"


def error(rng: random.Random) -> str:
    """Return an error as a program tells it."""
    name = word(rng.randrange(200)).title()
    return f"{path(rng)}:{rng.randrange(900)}: {name}Error: {text(rng)[:60]} {rng.randrange(9999)}"


def enrich(log: Log, size: int, rng: random.Random) -> tuple[list[str], list[str]]:
    """Give two learnings of three files, and add a task and an attempt for every tenth.

    Return the tasks' ids and the errors.
    """
    for file in (log.knowledge, log.archive):
        told = [json.loads(line) for line in file.read_bytes().splitlines()]
        for one in told:
            folder = f"src/{word(rng.randrange(300))}"
            wanted = rng.choice([[], [f"{folder}/*.{rng.choice(_ENDINGS)}"], [f"{folder}/", path(rng)]])
            one |= {"files": wanted, "task": f"task-{rng.randrange(size // 10)}"}
        file.write_bytes(b"".join(json_line(one) + b"\n" for one in told))
    now = datetime(2026, 1, 2)
    ids = iter(sorted(new_id(now) for _ in range(size // 5)))
    tasks: list[str] = []
    errors: list[str] = []
    lines: list[LedgerEvent] = []
    for n in range(size // 10):
        task = TaskRecord(
            id=f"task-{n}",
            title=text(rng)[:60],
            category=rng.choice(_KINDS),
            files=tuple(path(rng) for _ in range(rng.randrange(4))),
        )
        fields = {
            "outcome": "started",
            "signature": task.signature,
            "title": task.title,
            "category": task.category,
            "files": list(task.files),
        }
        lines.append(LedgerEvent(id=next(ids), ts=n, event="task", task=task.id, fields=fields))
        tasks.append(task.id)
        # most errors are met again
        said = rng.choice(errors) if errors and rng.random() < 0.6 else error(rng)
        errors.append(said)
        attempt = RemedyAttempt(
            id="",
            ts=n,
            error=fingerprint(said),
            technique=text(rng)[:80],
            outcome=rng.choice(remedies.OUTCOMES),
        )
        lines.append(LedgerEvent(id=next(ids), ts=n, event="attempted", fields=remedies.event_fields_of(attempt)))
    with log.ledger.open("ab") as ledger:
        ledger.write(b"".join(event_line(event) + b"\n" for event in lines))
    return tasks, errors


class Reference:
    """What nobody can be faster than: one FTS5 query over the same texts, and a look at the files."""

    def __init__(self, log: Log, said: list[str]) -> None:
        self._log = log
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE t USING fts5(text)")
        self._db.executemany("INSERT INTO t VALUES(?)", ((one,) for one in said))

    def ask(self, words: str) -> None:
        """Answer once."""
        self._log.files_stamp()
        query = " OR ".join(f'"{one}"' for one in words.split())
        self._db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 20", (query,)).fetchall()


def timed(what: Callable[[], object]) -> tuple[float, float]:
    """Return the milliseconds on the wall's clock, and those of this process's CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    what()
    return (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000


def figures(what: Callable[[], object], asked: int) -> tuple[float, float, float]:
    """Return median, 95th percentile and median of CPU; the first time doesn't count."""
    what()
    pairs = [timed(what) for _ in range(asked)]
    walls = [wall for wall, _ in pairs]
    return (
        statistics.median(walls),
        statistics.quantiles(walls, n=20)[-1],
        statistics.median(c for _, c in pairs),
    )


def shown(log: ProjectLog, words: str) -> str:
    """Ask, and return the id of what was shown first."""
    found = log.recall(words, all=True)
    assert isinstance(found, RecallResult)
    return found.learnings[0].standing.id


def measure(size: int, asked: int) -> dict[str, tuple[float, float, float]]:
    """Return the figures of a log of `size` learnings."""
    with ground(size) as on:
        world, rng = on.world, on.rng
        tasks, errors = enrich(on.log, size, rng)
        reference = Reference(on.log, on.said)

        def words() -> str:
            return " ".join(rng.sample(rng.choice(on.said).split(), 4))

        kb = world.open().log
        kb.recall("begin", all=True)
        questions: dict[str, Callable[[], object]] = {
            "reference": lambda: reference.ask(words()),
            "recall WORDS": lambda: kb.recall(words()),
            "recall --file": lambda: kb.recall(words(), file=path(rng)),
            "relevant --title --file": lambda: kb.relevant(title=words(), files=[path(rng)]),
            "task similar": lambda: kb.task("similar", rng.choice(tasks)),
            "remedy suggest": lambda: kb.remedy("suggest", error=rng.choice(errors)),
            "learn, known already": lambda: kb.learn(rng.choice(on.said[-2000:]), type="fact", session=words()),
            "learn, new": lambda: kb.learn(text(rng)),
            "used": lambda: kb.used(shown(kb, words()), outcome="success"),
            "task start": lambda: kb.task("start", words(), title=words()),
        }
        return {name: figures(what, asked) for name, what in questions.items()}


def main() -> None:
    """Print the table."""
    found: dict[str, tuple[float, float, float]]
    for at, (size, found) in enumerate(sizes(__file__, __doc__, "1000,10000,100000", measure, asked=40)):
        if at == 0:
            heads = "".join(f"{one:>{width}}" for one, width in _HEADS)
            print(f"{'milliseconds':26}{heads}")
        least = found["reference"][0]
        for name, (median, most, cpu) in found.items():
            limit = LIMITS.get(name)
            wanted = limit / _WANTED if limit else None
            print(
                f"{name:26}{size:>10,}{median:9.1f}{most:9.1f}{cpu:9.1f}{median / least:8.1f}"
                f"{limit or '-':>8}{wanted or '-':>8}"
                + ("  missed" if wanted and size <= 10_000 and most > wanted else "")
            )


if __name__ == "__main__":
    main()
