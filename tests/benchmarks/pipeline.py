"""What the stages cost with many learnings: seconds of CPU, and how they grow.

python tests/benchmarks/pipeline.py [--sizes 1000,10000] [--texts varied|number|name|both]

The texts of `number`, `name` and `both` are of one template: each is alike to all others, and no two
claim the same.
"""

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable
from datetime import UTC
from datetime import datetime
from pathlib import Path

from roamkb.app.environment import ProcessEnvironment
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.core.ids import new_id

ROOT = Path(__file__).parents[2]
#: Of which a session is.
STATEMENTS = 20


def word(chosen: random.Random) -> str:
    """Return a word that can be said; frequent ones are a few."""
    number = int(chosen.paretovariate(0.7)) % 4000
    parts = "ba ko li mu re sto tan vi zer pla gro fin".split()
    return "".join(parts[(number // 12**place) % 12] for place in range(4))


def statement(chosen: random.Random) -> str:
    """Return a sentence of fourteen words; one of four was said before, or nearly."""
    seed = chosen.randrange(10**9) if chosen.random() < 0.75 else chosen.randrange(200)
    words = random.Random(seed)
    return "The cache " + " ".join(word(words) for _ in range(12))


def of_template(template: str, chosen: random.Random) -> str:
    """Return the template with a number and a name that no other has."""
    name = "".join(chosen.choice("bcdfghklmnprstvz") + chosen.choice("aeiou") for _ in range(4))
    return template.format(number=chosen.randrange(10**7), name=name)


TEXTS: dict[str, Callable[[random.Random], str]] = {
    "varied": statement,
    "number": lambda chosen: of_template(
        "Release {number} of the export needs the new column, so migrate the table before its deployment starts",
        chosen,
    ),
    "name": lambda chosen: of_template(
        "Restart the {name} worker only after its queue is empty, or messages of customers are lost for good",
        chosen,
    ),
    "both": lambda chosen: of_template(
        "The {name} service waits {number} seconds for the lock of the booking table and then gives up",
        chosen,
    ),
}


def measured(step: Callable[[], object]) -> float:
    """Return the seconds of CPU that `step` takes."""
    start = time.process_time()
    step()
    return time.process_time() - start


def stages(size: int, folder: Path, text: Callable[[random.Random], str]) -> dict[str, float]:
    """Return the seconds of each stage with `size` statements in sessions of twenty."""
    home = folder / "home"
    project = home / "code" / "site"
    project.mkdir(parents=True)
    now = datetime(2026, 6, 10, 12, tzinfo=UTC)
    around = ProcessEnvironment(
        home=home,
        account_home=home,
        variables={"HOME": str(home)},
        cwd=project,
        pid=1,
        now=lambda: now,
        new_id=new_id,
        state=folder / "state",
        cache=folder / "cache",
    )
    log = KnowledgeBase(around).log
    log.init()
    chosen = random.Random(size)

    def observe() -> None:
        for number in range(size):
            session = f"s{number // STATEMENTS}"
            log.observe(text(chosen), session=session, agent=f"a{number % 3}", task="t")

    found = {"observe": measured(observe)}
    found["session"] = measured(lambda: log.consolidate("session"))
    found["agent"] = measured(lambda: [log.consolidate("agent", f"a{number}") for number in range(3)])
    found["task"] = measured(lambda: log.consolidate("task", "t"))
    found["verify"] = measured(lambda: log.verify(batch=True, judge="heuristic"))
    found["again"] = measured(lambda: (log.consolidate("session"), log.verify(batch=True, judge="heuristic")))
    return found


def main() -> None:
    """Print the stages of each size, and their ratios to the first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--texts", choices=TEXTS, default="varied")
    args = parser.parse_args()
    first: dict[str, float] = {}
    print("size    observe  session    agent     task   verify    again   most memory so far")
    for size in map(int, args.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            found = stages(size, Path(folder), TEXTS[args.texts])
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{size:<6}" + "".join(f"{seconds:8.2f}s" for seconds in found.values()) + f"   {memory} MB")
        if first:
            print("ratio " + "".join(f"{found[name] / max(first[name], 0.001):8.1f}x" for name in found))
        first = first or found


if __name__ == "__main__":
    main()
