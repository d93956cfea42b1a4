"""How long search takes: knowledge bases of several sizes, as ratios to what runs beside it.

    python tests/benchmarks/speed.py [--sizes 500,10000] [--runs N]

The notes are made here, from the words of this program's own documents. A cold query is a
process of its own, from the shell to the printed result; its time is given as a multiple of
`python -c pass`, of a Typer program with two commands and of `rg -c` for one word, run in
turn with it; of `rg`, which reads on all cores, by the clock as well. A warm query is one of a process that lives
on: a server's, which watches the folders, and one that asks for each note's stat, which is given as a multiple of
what the system takes to tell them. Other times are of the processor, the system's work included, since other
programs' work makes clocks run on; they mean nothing on another machine.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from roamkb.boundary.rule_file import render_rule  # noqa: E402
from roamkb.kb.notes.store.notes import Notes  # noqa: E402
from roamkb.kb.notes.store.walk import NotesWalk  # noqa: E402
from roamkb.kb.notes.store.watched_walk import WatchedWalk  # noqa: E402
from roamkb.kb.search.index.index import Index  # noqa: E402
from roamkb.kb.search.query import parse_query  # noqa: E402
from roamkb.kb.search.search import MOST_HITS  # noqa: E402
from tests.benchmarks.ratios import TWO_COMMANDS  # noqa: E402

_TODAY = date(2026, 6, 10)
_FOLDER = 500


def main() -> None:
    """Print a table for each size."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="500,10000,100000")
    options.add_argument("--runs", type=int, default=9)
    options.add_argument("--build", metavar="KB", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.build:
        print(json.dumps(build(Path(given.build))))
        return
    for size in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory() as scratch:
            measure(size, Path(scratch), given.runs)


def measure(size: int, scratch: Path, runs: int) -> None:
    """Print the figures of one size."""
    home = scratch / "home"
    kb = home / "kb"
    text = make_notes(kb, size)
    install(home, kb)
    done = subprocess.run([sys.executable, __file__, "--build", str(kb)], capture_output=True, text=True, check=True)
    built = json.loads(done.stdout)
    print(f"\n{size} notes, {text / 2**20:.1f} MiB of text")
    row(
        "full build",
        f"{built['seconds']:.1f} s ({1e6 * built['seconds'] / size:.0f} us a note), {built['mib']:.0f} MiB at its peak, index {built['size']:.1f} MiB",
    )
    cold(home, kb, runs)
    warm(kb, scratch / "cache", size)


def make_notes(kb: Path, size: int) -> int:
    """Write notes of some dozens of words each, with links and tags; return their bytes."""
    dice = random.Random(7)
    words = own_words()
    (kb / ".stfolder").mkdir(parents=True)
    total = 0
    for number in range(size):
        folder = kb / f"{number // _FOLDER:03}"
        folder.mkdir(exist_ok=True)
        title = " ".join(pick(words, dice) for _ in range(5)).capitalize()
        lines = [" ".join(pick(words, dice) for _ in range(12)) for _ in range(dice.randint(2, 10))]
        lines.append(f"See [[id:n{dice.randrange(size)}][{pick(words, dice)}]].")
        text = f":PROPERTIES:\n:ID:       n{number}\n:END:\n#+title: {title}\n#+filetags: :{pick(words, dice)}:\n\n"
        text += "\n".join(lines) + "\n"
        (folder / f"2024{number:010}-note.org").write_text(text, encoding="utf-8")
        total += len(text)
    return total


def own_words() -> list[str]:
    """Return the words of this program's documents and source, frequent ones first."""
    counts: dict[str, int] = {}
    for path in [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "roamkb").rglob("*.py")),
        *sorted((ROOT / "rules").rglob("*.md")),
    ]:
        for word in re.findall("[a-z]{2,}", path.read_text(encoding="utf-8").lower()):
            counts[word] = counts.get(word, 0) + 1
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    # as many rare words again as a language has
    return ordered + [f"{one}{other}" for one in ordered[:200] for other in ordered[200:300]]


def pick(words: list[str], dice: random.Random) -> str:
    """Return a word, as often as its rank deserves (Zipf's law)."""
    return words[min(int(len(words) ** dice.random()) - 1, len(words) - 1)]


def install(home: Path, kb: Path) -> None:
    """Make a HOME whose rule names the knowledge base."""
    rule = home / ".claude" / "rules" / "knowledge-base.md"
    rule.parent.mkdir(parents=True)
    (home / "code" / "x").mkdir(parents=True)
    template = (ROOT / "rules" / "knowledge-base.md").read_text(encoding="utf-8")
    rule.write_text(render_rule(template, kb=str(kb), work_roots=[], project_parents=[str(home / "code")]))
    rule.chmod(0o644)


def build(kb: Path) -> dict[str, float]:
    """Build an index in this process; return its time, its size and this process's peak of memory."""
    with tempfile.TemporaryDirectory() as cache:
        index = Index(Notes(kb), Path(cache) / "x")
        seconds = timed(lambda: index.find_passages(parse_query("search", today=_TODAY), limit=1))
        assert index.file_path
        size = index.file_path.stat().st_size / 2**20
    return {
        "seconds": seconds,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "size": size,
    }


def cold(home: Path, kb: Path, runs: int) -> None:
    """Print what a process of its own takes after no change, and its ratios."""
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT)}
    for variable in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        environment.pop(variable, None)

    def process(*words: str) -> Callable[[], None]:
        return lambda: void(
            subprocess.run(words, cwd=home / "code" / "x", env=environment, stdout=subprocess.DEVNULL, check=False)
        )

    python = sys.executable
    two_commands = home / "two_commands.py"
    two_commands.write_text(TWO_COMMANDS)
    others = {
        "python -c pass": process(python, "-c", "pass"),
        "two-command Typer": process(python, str(two_commands), "one", "x"),
    }
    if rg := shutil.which("rg"):
        others["rg -c WORD"] = process(rg, "-c", "refresh", str(kb))
    ours = process(python, "-m", "roamkb", "search", "how", "is", "the", "index", "refreshed")
    ours()
    # past the time in which a stat isn't trusted
    time.sleep(2.1)
    ours()
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ("roamkb", *others)}
    for _ in range(runs):
        for name, run in (("roamkb", ours), *others.items()):
            worked, started = of_children(), time.perf_counter()
            run()
            times[name].append((of_children() - worked, time.perf_counter() - started))
    medians = {name: tuple(map(statistics.median, zip(*taken, strict=True))) for name, taken in times.items()}
    mine, by_clock = medians.pop("roamkb")
    row(
        "cold query",
        f"{1000 * mine:.0f} ms = " + " = ".join(f"{mine / cpu:.2f} x {n}" for n, (cpu, _) in medians.items()),
    )
    if rg:
        row("  by the clock", f"{1000 * by_clock:.0f} ms = {by_clock / medians['rg -c WORD'][1]:.2f} x rg -c WORD")


def of_children() -> float:
    """Return the seconds that the processor worked for processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def void(_: object) -> None:
    """Forget a result."""


def warm(kb: Path, cache: Path, size: int) -> None:
    """Print what queries take in a process that lives on, and refreshes after changes."""
    dice, words = random.Random(8), own_words()[:3000]
    questions = [" ".join(pick(words, dice) for _ in range(6)) for _ in range(41)]
    ask(kb, cache, questions.pop())
    # past the time in which a stat isn't trusted
    time.sleep(2.1)
    ask(kb, cache, "search")
    paths = sorted(map(str, kb.rglob("*.org")))
    watched = WatchedWalk()
    ask(kb, cache, "search", watched.walk)
    times, watched_times, walks, stats = [], [], [], []
    for question in questions:
        times.append(ask(kb, cache, question))
        watched_times.append(ask(kb, cache, question, watched.walk))
        walks.append(timed(lambda: Notes(kb).kb_walk))
        stats.append(timed(lambda: all(map(os.lstat, paths))))
    beyond = [whole - walk for whole, walk in zip(times, walks, strict=True)]
    floor = statistics.median(stats)
    row(
        "a stat of each note",
        f"{1000 * floor:.1f} ms; the walk {statistics.median(walks) / floor:.2f} x that",
    )
    row(
        "warm query",
        f"{percentiles(times)}; p50 = {statistics.median(times) / floor:.2f} x a stat of each note",
    )
    row("  without the walk", percentiles(beyond))
    row("  of a server", percentiles(watched_times) + ("" if watched.is_watching else ", unwatched"))
    row("refresh after 0", f"{1000 * min(ask(kb, cache, 'search') for _ in range(5)):.0f} ms")
    for changes in (1, 1000):
        for path in map(Path, paths[: min(changes, size)]):
            path.write_text(path.read_text(encoding="utf-8") + "one more line\n", encoding="utf-8")
        row(f"refresh after {changes}", f"{1000 * ask(kb, cache, 'search', watched.walk):.0f} ms of a server")


def percentiles(seconds: list[float]) -> str:
    """Return the middle and the 95th of a hundred."""
    ordered = sorted(seconds)
    middle, most = ordered[len(ordered) // 2], ordered[round(0.95 * (len(ordered) - 1))]
    return f"p50 {1000 * middle:.1f} ms, p95 {1000 * most:.1f} ms"


def ask(kb: Path, cache: Path, question: str, live_walk: Callable[[Path], NotesWalk] | None = None) -> float:
    """Return the seconds that one question takes, asked as a search asks by default."""
    query = parse_query(question, today=_TODAY)
    return timed(
        lambda: Index(Notes(kb, live_walk=live_walk), cache).find_passages(query, limit=MOST_HITS, near_best=True)
    )


def timed(call: Callable[[], object]) -> float:
    """Return the seconds that the processor works for a call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def row(name: str, figures: str) -> None:
    """Print one line."""
    print(f"  {name:20} {figures}", flush=True)


if __name__ == "__main__":
    main()
