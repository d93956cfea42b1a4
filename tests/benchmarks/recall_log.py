"""How well `recall` finds in a real log, beside grep over the same lines.

    python tests/benchmarks/recall_log.py LOG [--queries FILE] [--each]

LOG is another tool's `knowledge.jsonl`; it is taken by `ingest` into a project in a temporary
folder. FILE has one object a line: `query`, its `shape`, and the `keys` of all lines of LOG
that answer it. The ones beside this program belong to one public log of 217 lines; they were
judged by one reader, line by line, before any search was run. Printed for each shape, and for all, are the
means of P@5 (found in five places over five), R@5 and the reciprocal rank of the first answer
among 20 (MRR). *Best* is what a search that made no mistake would have: few questions have five answers.

*grep* looks for each word of the question as a fixed string in any case, and puts the lines with
the most different words first, then those that stand first in the file; *phrase* looks for
the whole question. A line that `ingest` merged with another counts against `recall` as one not found.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from roamkb.app.environment import ProcessEnvironment
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.core.ids import new_id
from roamkb.log.recall import RecallResult

_QUERIES = Path(__file__).with_name("log_queries.jsonl")
_NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
_FIRST = 5
_DEPTH = 20

#: The keys that answer a question, best first.
Search = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question and the keys of what answers it."""

    query: str
    shape: str
    keys: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """How one question was answered."""

    precision: float
    recall: float
    rank: float


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("log", type=Path, metavar="LOG")
    options.add_argument("--queries", type=Path, default=_QUERIES, metavar="FILE")
    options.add_argument("--each", action="store_true", help="print each question's R@5 too")
    given = options.parse_args()
    lines = list(read_lines(given.log))
    questions = read_questions(given.queries)
    if unknown := frozenset().union(*(one.keys for one in questions)) - {key for key, _ in lines}:
        sys.exit(f"these questions are about another log: it has no {min(unknown)}")
    with tempfile.TemporaryDirectory() as folder:
        engines = {"recall": recall(given.log, Path(folder)), "grep": grep(lines), "phrase": phrase(lines)}
        marks = {name: [marks_of(search(one.query), one.keys) for one in questions] for name, search in engines.items()}
    marks["best"] = [marks_of(list(one.keys), one.keys) for one in questions]
    if given.each:
        print_each(questions, marks)
    print(f"{'':16}" + "".join(f"{name:24}" for name in marks))
    print(f"{'shape':11} n   " + f"{'P@5   R@5   MRR':24}" * len(marks))
    for shape in (*dict.fromkeys(one.shape for one in questions), "all"):
        print_row(shape, questions, marks)


def print_row(shape: str, questions: Sequence[Asked], marks: dict[str, list[Marks]]) -> None:
    """Print the means of each engine over the questions of one shape."""
    at = [n for n, one in enumerate(questions) if shape in (one.shape, "all")]
    print(f"{shape:11} {len(at):2}  " + "".join(f"{means([found[n] for n in at]):24}" for found in marks.values()))


def means(marks: Sequence[Marks]) -> str:
    """Return the three means as a cell of the table."""
    figures = (mean(getattr(one, name) for one in marks) for name in ("precision", "recall", "rank"))
    return " ".join(f"{figure:.3f}" for figure in figures)


def mean(values: Iterable[float]) -> float:
    """Return the mean, 0 of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def print_each(questions: Sequence[Asked], marks: dict[str, list[Marks]]) -> None:
    """Print R@5 of each question."""
    for n, one in enumerate(questions):
        cells = "  ".join(f"{name} {marks[name][n].recall:.2f}" for name in marks)
        print(f"{cells}   {one.query}")


def read_lines(log: Path) -> Iterator[tuple[str, str]]:
    """Yield each line's key, and the line in lower case; some tools write an object as a JSON string."""
    for line in log.read_text(encoding="utf-8").splitlines():
        value = json.loads(line)
        text = value if isinstance(value, str) else line
        yield json.loads(text)["key"], text.lower()


def read_questions(path: Path) -> list[Asked]:
    """Return the questions."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Asked(query=row["query"], shape=row["shape"], keys=frozenset(row["keys"])) for row in rows]


def marks_of(found: Sequence[str], answers: frozenset[str]) -> Marks:
    """Return how well the keys `found`, best first, answer."""
    hits = len(answers.intersection(found[:_FIRST]))
    first = next((rank for rank, key in enumerate(found[:_DEPTH], start=1) if key in answers), 0)
    return Marks(precision=hits / _FIRST, recall=hits / len(answers), rank=1 / first if first else 0.0)


def recall(log: Path, folder: Path) -> Search:
    """Return our recall over what `ingest` makes of `log`; say what became of its lines."""
    home = folder / "home"
    project = home / "code" / "site"
    project.mkdir(parents=True)
    around = ProcessEnvironment(
        home=home,
        account_home=home,
        variables={"HOME": str(home)},
        cwd=project,
        pid=1,
        now=lambda: _NOW,
        new_id=new_id,
        state=folder / "state",
        cache=folder / "cache",
    )
    door = KnowledgeBase(around).log
    door.init()
    taken = door.ingest(file=str(log.absolute()))
    print(
        f"{taken.read} lines: {taken.new} new, {taken.merged} merged, "
        f"{taken.already} already, {len(taken.invalid)} invalid\n"
    )

    def search(query: str) -> list[str]:
        found = door.recall(query, limit=_DEPTH)
        return [one.standing.learning.key for one in found.learnings] if isinstance(found, RecallResult) else []

    return search


def grep(lines: Sequence[tuple[str, str]]) -> Search:
    """Return a search for each word as a fixed string, the most different words first."""

    def search(query: str) -> list[str]:
        words = set(query.lower().replace(",", " ").split())
        found = [(sum(word in text for word in words), key) for key, text in lines]
        return [key for count, key in sorted(found, key=lambda one: -one[0]) if count]

    return search


def phrase(lines: Sequence[tuple[str, str]]) -> Search:
    """Return a search for the whole question as a fixed string, in the order of the file."""
    return lambda query: [key for key, text in lines if query.lower() in text]


if __name__ == "__main__":
    main()
