"""What commands and hooks cost in a project after a year, as multiples of what they cost there after a week.

    python -m tests.benchmarks.year [--learnings 40000] [--events 250000] [--sessions 3000] [--runs N] [--only WORDS]

Both projects stand side by side, and whole processes run in turn in one and the other: the processor's time, its
own and the system's, medians over the runs. The indexes are warm, as any command but the first finds them.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from datetime import timedelta
from pathlib import Path

_ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(_ROOT)]

from roamkb.core.ids import new_id  # noqa: E402
from roamkb.log.jsonl import event_line  # noqa: E402
from roamkb.log.jsonl import learning_line  # noqa: E402
from roamkb.log.learning import Learning  # noqa: E402
from roamkb.log.learning import key_of  # noqa: E402
from roamkb.log.state.learning_state import LedgerEvent  # noqa: E402
from roamkb.log.store.observations import mark_consolidated  # noqa: E402
from roamkb.log.store.project_log import ROTATE_AT  # noqa: E402
from roamkb.log.store.project_log import ROTATED_LINES  # noqa: E402
from roamkb.log.store.project_log import Log  # noqa: E402
from tests.benchmarks.hooks import timed  # noqa: E402
from tests.benchmarks.logs import text  # noqa: E402
from tests.benchmarks.logs import word  # noqa: E402
from tests.conftest import World  # noqa: E402
from tests.conftest import make_world  # noqa: E402

_TYPES = "learned decision fact pattern gotcha".split()
#: How often each event happens, of a hundred: the rest are repetitions.
_EVENT_SHARES = {"reused": 55, "judged": 14, "validated": 5, "flagged": 5, "raised": 4, "task": 4, "attempted": 3}
#: Of learnings, how many are made by a template: the same words but for a number and a name.
_TEMPLATED_SHARE = 0.2
#: Receipts that a session leaves, and learnings in each.
_RECEIPTS, _SHOWN = 8, 6
_AGENTS = 5
#: What is asked, also in what every project has said.
_SAID = "Redis evicts sessions when maxmemory is reached and the policy is allkeys"
_FILE = "src/cache/redis.py"
_SETTLED = 2.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """So long a time, and what happened in it."""

    name: str
    learnings: int
    events: int
    sessions: int

    def part(self, name: str, share: float) -> "Span":
        """Return a part of this time."""
        learnings, events, sessions = (int(share * one) for one in (self.learnings, self.events, self.sessions))
        return Span(name=name, learnings=learnings, events=events, sessions=sessions)


def made_learnings(span: Span, rng: random.Random, until: datetime) -> list[Learning]:
    """Return the learnings of a span that ends at `until`, the oldest first; a share are templated."""
    made = []
    for n in range(span.learnings):
        moment = until - timedelta(minutes=13 * (span.learnings - n))
        is_templated = rng.random() < _TEMPLATED_SHARE
        content = f"Step {n} of the nightly {word(n % 40)} import takes {n % 97} minutes" if is_templated else text(rng)
        type = _TYPES[n % len(_TYPES)]
        made.append(
            Learning(
                id=new_id(moment),
                key=key_of(type, content),
                type=type,
                content=content,
                ts=moment.timestamp(),
                tags=(type, word(n % 60)),
                agent=f"agent-{n % _AGENTS}",
                session=_session(span, n * span.sessions // span.learnings),
                task=f"t-{n // 20}",
                files=(f"src/{word(n % 300)}/*.py",) if n % 4 == 0 else (),
                provenance="observed",
            )
        )
    return made


def made_events(span: Span, learnings: list[Learning], rng: random.Random, until: datetime) -> list[LedgerEvent]:
    """Return the events of a span, in order: about late learnings most of all."""
    names = rng.choices(
        [*_EVENT_SHARES, "repeated"], [*_EVENT_SHARES.values(), 100 - sum(_EVENT_SHARES.values())], k=span.events
    )
    made = []
    for n, name in enumerate(names):
        known = 1 + n * (len(learnings) - 1) // span.events
        learning = learnings[max(0, known - 1 - int(rng.expovariate(1 / 400)))]
        moment = until - timedelta(minutes=13 * span.learnings * (span.events - n) / span.events)
        made.append(
            LedgerEvent(
                id=new_id(moment),
                ts=moment.timestamp(),
                event=name,
                of="" if name in ("task", "attempted") else learning.id,
                by="used" if name == "reused" else "",
                agent=f"agent-{n % _AGENTS}",
                session=_session(span, n * span.sessions // span.events),
                task=learning.task,
                machine="laptop",
                fields=_event_fields(name, n, rng),
            )
        )
    return sorted(made, key=lambda event: event.id)


def _event_fields(name: str, number: int, rng: random.Random) -> dict[str, object]:
    match name:
        case "reused":
            return {"outcome": rng.choice(("success", "success", "failure", "not_applied")), "receipt": f"r-{number}"}
        case "judged":
            scores = {"accuracy": 0.8, "relevance": 0.7, "specificity": 0.6}
            return {
                "checks": scores,
                "verdict": rng.choice(("verified", "verified", "unverified")),
                "judge": "evidence",
            }
        case "flagged":
            if number % 2:
                return {"reason": "may_contradict", "evidence": f"L{number}"}
            return {"reason": "stale", "evidence": f"src/{word(number % 300)}.py is gone"}
        case "raised":
            return {"from": "session", "to": "agent"}
        case "task":
            return {"outcome": "done", "title": f"Make {word(number % 900)} faster"}
        case "attempted":
            error = f"{word(number % 200).title()}Error: no {word(number % 70)}"
            return {"error": error, "technique": f"set {word(number % 300)}", "outcome": "success"}
    return {}


def _session(span: Span, number: int) -> str:
    return f"00000000-0000-4000-8000-{min(number, span.sessions - 1):012d}"


def fill_log(log: Log, span: Span, until: datetime, seed: int = 18) -> None:
    """Write the log of a span, as the commands and the hooks of its sessions would have left it."""
    rng = random.Random(seed)
    learnings = made_learnings(span, rng, until)
    lines = [learning_line(learning) for learning in learnings]
    moved = max(0, -(-(len(lines) - ROTATE_AT) // ROTATED_LINES) * ROTATED_LINES)
    _write_lines(log.archive, lines[:moved])
    _write_lines(log.knowledge, lines[moved:])
    _write_lines(log.ledger, (event_line(event) for event in made_events(span, learnings, rng, until)))
    _write_lines(log.local_folder / "receipts.jsonl", _receipt_lines(span, learnings, rng, until))
    _write_observations(log, span, until)


def _receipt_lines(span: Span, learnings: list[Learning], rng: random.Random, until: datetime) -> Iterator[bytes]:
    for n in range(span.sessions * _RECEIPTS):
        shown = [learning.id for learning in rng.sample(learnings, _SHOWN)]
        receipt = {"id": f"r-{n}", "ts": until.timestamp() - span.sessions * _RECEIPTS + n, "agent": f"agent-{n % 5}"}
        yield json.dumps(
            {**receipt, "session": _session(span, n // _RECEIPTS), "task": "", "shown": shown, "by": "recall"}
        ).encode()


def _write_observations(log: Log, span: Span, until: datetime) -> None:
    """Leave the sessions of the last month, all of which were consolidated."""
    kept = min(span.sessions, max(1, span.sessions // 12))
    log.observations.mkdir(exist_ok=True, mode=0o700)
    for n in range(span.sessions - kept, span.sessions):
        session = _session(span, n)
        record = {"id": f"o-{n}", "ts": until.timestamp(), "type": "tool_use", "text": "make", "session": session}
        _write_lines(log.observations / f"{session}.jsonl", [json.dumps(record).encode()] * 50)
        mark_consolidated(log.ignored, session)


def _write_lines(path: Path, lines: "Iterator[bytes] | list[bytes]") -> None:
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def prepare(folder: Path, span: Span) -> World:
    """Return a world whose personal project has the log of a span, everything indexed."""
    world = make_world(folder / span.name)
    world.run("init")
    fill_log(world.log(), span, datetime.now())
    world.run("learn", _SAID, "--file", _FILE)
    world.run("recall", "redis", "maxmemory")
    return world


#: What is measured, and the words and the payload of each; `{n}` is the number of the run.
_CASES: tuple[tuple[str, tuple[str, ...], dict[str, object] | None], ...] = (
    ("recall", ("recall", "redis", "maxmemory"), None),
    ("recall, common words", ("recall", "bace", "cece", "dice", "nightly", "import"), None),
    ("learn", ("learn", "Number {n} of the cuvette lamps burns {n} hours at most"), None),
    ("used", ("used", "{key}", "--outcome", "success"), None),
    ("hook: prompt", ("hook", "user-prompt-submit"), {"prompt": "redis evicts sessions, is it maxmemory? {n}"}),
    ("hook: session start", ("hook", "session-start"), {"source": "startup"}),
    (
        "hook: before an edit",
        ("hook", "pre-tool-use"),
        {"tool_name": "Edit", "tool_input": {"file_path": _FILE, "old_string": "x", "new_string": "y {n}"}},
    ),
)
_SESSION = "11111111-2222-4333-8444-{number:012d}"


def _run_once(world: World, words: tuple[str, ...], payload: dict[str, object] | None, number: int, key: str) -> float:
    """Run one process; return the processor's seconds."""
    filled = [word.replace("{n}", str(number)).replace("{key}", key) for word in words]
    if payload is not None:
        told = {"session_id": _SESSION.format(number=number), "cwd": str(world.personal), **payload}
        payload = json.loads(json.dumps(told).replace("{n}", str(number)))
    command = [sys.executable, "-m", "roamkb", *filled]
    return timed(command, world.environment(), world.personal, payload).processor


def measure(worlds: list[World], runs: int, only: str = "") -> None:
    """Print a line for each case: milliseconds after a week, after a year, and the ratio."""
    key, first = key_of("learned", _SAID), time.time_ns() // 1_000_000_000
    print(f"{'CPU, ms':24} {'week':>8} {'year':>8} {'ratio':>6}")
    for name, words, payload in _CASES:
        if only not in name:
            continue
        for world in worlds:
            # what the first of its kind does, and no other
            _run_once(world, words, payload, first - 1, key)
        took = [
            [_run_once(world, words, payload, number, key) for world in worlds] for number in range(first, first + runs)
        ]
        week, year = (statistics.median(times) * 1000 for times in zip(*took, strict=True))
        ratio = statistics.median(pair[1] / pair[0] for pair in took)
        print(f"{name:24} {week:8.0f} {year:8.0f} {ratio:6.2f}", flush=True)


def main(measure_worlds: "Callable[[list[World], int, str], None]" = measure) -> None:
    """Make both projects and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--learnings", type=int, default=40_000)
    options.add_argument("--events", type=int, default=250_000)
    options.add_argument("--sessions", type=int, default=3_000)
    options.add_argument("--runs", type=int, default=7)
    options.add_argument("--only", default="", help="the part of a name: `hook`, `recall`")
    options.add_argument("--keep", type=Path, help="make the projects below this folder, and leave them there")
    given = options.parse_args()
    year = Span(name="year", learnings=given.learnings, events=given.events, sessions=given.sessions)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        worlds = [prepare(folder, span) for span in (year.part("week", 7 / 365), year)]
        time.sleep(_SETTLED)
        for world in worlds:
            world.run("recall", "redis")
        log = worlds[1].log()
        size = sum(path.stat().st_size for path in (log.knowledge, log.archive, log.ledger))
        print(f"after a year {year.learnings:,} learnings, {year.events:,} events, {size / 1e6:.0f} MB")
        measure_worlds(worlds, given.runs, given.only)


if __name__ == "__main__":
    main()
