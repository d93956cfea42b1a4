"""How well the search finds: public question sets, beside plain FTS5 in the same run.

    python tests/benchmarks/recall.py FOLDER... [--limit N] [--split NAME] [--half tuned|held] [--linked]
        [--semantic CACHE]

Each FOLDER is a set in BEIR form: `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl`
(`_id`, `text`), `qrels/SPLIT.tsv` (query, document, gain). Its documents become org notes in a
temporary folder, are indexed as any knowledge base is, and each question is asked as an
agent would ask it. Printed are nDCG@10 (Järvelin and Kekäläinen, 2002, linear gain) with a
95 % bootstrap interval (Efron, 1979), recall@5 and @10, and MRR@10.

The settings of the ranking were chosen on nl2bash (half of its questions), cosqa dev, scifact
train, five conversations of each LoCoMo set, and XQuAD-R German and Chinese; Russian, English and Thai were
looked at when the groups of letters were chosen. CACM, NPL, and the test halves of cosqa and scifact weren't.
The weight of spelling (`text/fuzzy.py`) was chosen on the first of these and on German alone.
`--half` leaves out the other half of a set that was split so. `--linked` has each text link to the
ones before and after it in its conversation, as who keeps such notes would; by itself no set has links.
`--semantic` asks each question with the sentence model as well, whose vectors are kept in the folder CACHE.
Its share was chosen on 524 of the tuning questions (nl2bash, cosqa dev, LoCoMo). It reads some dozens of short
notes a second, and four of 500 words.
"""

import argparse
import csv
import hashlib
import json
import math
import random
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from roamkb.kb.notes.store.notes import Notes  # noqa: E402
from roamkb.kb.search.index.file import in_memory  # noqa: E402
from roamkb.kb.search.index.query import IndexQuery  # noqa: E402
from roamkb.kb.search.index.refresh import IndexChanges  # noqa: E402
from roamkb.kb.search.index.refresh import apply_changes  # noqa: E402
from roamkb.kb.search.index.schema import create_tables  # noqa: E402
from roamkb.kb.search.query import parse_query  # noqa: E402
from roamkb.kb.search.semantic.cache import SentenceModel  # noqa: E402
from roamkb.kb.search.semantic.cache import sentence_model  # noqa: E402

_DEPTH = 10
_ROUNDS = 1000
TODAY = date(2026, 6, 10)

Search = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One text that can be found."""

    id: str
    title: str
    text: str
    #: Numbers of the documents that it links to.
    links: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question and what answers it, with gains."""

    id: str
    text: str
    group: str
    category: str
    answers: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """How one question was answered."""

    ndcg: float
    recall_5: float
    recall_10: float
    mrr: float


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    options.add_argument("--limit", type=int, default=0, help="at most so many questions a set")
    options.add_argument("--split", default="test")
    options.add_argument("--half", choices=("tuned", "held"))
    options.add_argument("--categories", help="only these categories of question, with commas between")
    options.add_argument("--linked", action="store_true", help="link each text with its neighbours")
    options.add_argument("--alone", action="store_true", help="without plain FTS5")
    options.add_argument("--semantic", type=Path, metavar="CACHE", help="with the sentence model, too")
    given = options.parse_args()
    engines = dict(ENGINES)
    if given.semantic:
        given.semantic.mkdir(exist_ok=True)
        engines["with model"] = partial(roamkb, model=sentence_model(given.semantic))
    print(f"{'set':16} {'questions':>9}  {'engine':12} nDCG@10 [95 %]            R@5    R@10   MRR    ms")
    means: dict[str, list[float]] = {}
    for folder in given.folders:
        documents = read_documents(folder)
        if given.linked:
            documents = chained(documents)
        questions = read_questions(folder, given.split)
        if given.half:
            questions = [one for one in questions if is_tuned(folder.name, one, questions) == (given.half == "tuned")]
        if given.categories:
            questions = [one for one in questions if one.category in given.categories.split(",")]
        questions = sample(questions, given.limit)
        for name, make in engines.items():
            if given.alone and "FTS5" in name:
                continue
            marks, milliseconds = ask_all(make(documents), questions)
            means.setdefault(name, []).append(mean(mark.ndcg for mark in marks))
            print_row(folder.name, name, marks, milliseconds)
    for name, values in means.items():
        print(f"{'mean':16} {'':9}  {name:12} {mean(values):.3f}")


def print_row(folder: str, name: str, marks: Sequence[Marks], milliseconds: float) -> None:
    """Print one engine's figures on one set."""
    ndcg = [mark.ndcg for mark in marks]
    low, high = interval(ndcg)
    rest = (mean(getattr(mark, field) for mark in marks) for field in ("recall_5", "recall_10", "mrr"))
    figures = " ".join(f"{value:.3f} " for value in rest)
    print(f"{folder:16} {len(marks):9}  {name:12} {mean(ndcg):.3f} [{low:.3f}, {high:.3f}]   {figures} {milliseconds:.1f}",
          flush=True)  # fmt: skip


def read_documents(folder: Path) -> list[Document]:
    """Return the texts of a set."""
    rows = map(json.loads, (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines())
    return [Document(id=row["_id"], title=row.get("title") or "", text=row["text"]) for row in rows]


def chained(documents: Sequence[Document]) -> list[Document]:
    """Return the texts with links to the ones before and after, where their ids say `CONVERSATION/SESSION:`."""
    places = [document.id.rpartition(":")[0] for document in documents]
    return [
        replace(one, links=tuple(near for near in (n - 1, n + 1) if places[n] in places[near : near + 1]))
        if places[n]
        else one
        for n, one in enumerate(documents)
    ]


def read_questions(folder: Path, split: str) -> list[Asked]:
    """Return the questions of a set that have answers."""
    answers: dict[str, dict[str, float]] = {}
    with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8") as file:
        for query, document, gain in list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]:
            if float(gain) > 0:
                answers.setdefault(query, {})[document] = float(gain)
    rows = map(json.loads, (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Asked(
            id=row["_id"],
            text=row["text"],
            group=(row.get("metadata") or {}).get("group", ""),
            category=str((row.get("metadata") or {}).get("category", "")),
            answers=answers[row["_id"]],
        )
        for row in rows
        if row["_id"] in answers
    ]


def is_tuned(name: str, question: Asked, questions: Sequence[Asked]) -> bool:
    """Say whether the settings were chosen on this question of a set that was split."""
    if question.group:
        return question.group in sorted({one.group for one in questions})[:5]
    return name == "nl2bash" and _hash(question)[0] % 2 == 1


def sample(questions: Sequence[Asked], limit: int) -> list[Asked]:
    """Return `limit` of the questions, always the same ones."""
    return sorted(questions, key=_hash)[: limit or None]


def _hash(question: Asked) -> bytes:
    return hashlib.sha1(question.id.encode()).digest()


def ask_all(search: Search, questions: Sequence[Asked]) -> tuple[list[Marks], float]:
    """Return the marks of each answer, and the mean time of one in milliseconds."""
    started = time.perf_counter()
    found = [search(question.text) for question in questions]
    spent = time.perf_counter() - started
    marks = [marks_of(keys, question.answers) for keys, question in zip(found, questions, strict=True)]
    return marks, 1000 * spent / max(len(questions), 1)


def marks_of(keys: Sequence[str], answers: dict[str, float]) -> Marks:
    """Return how well the documents `keys`, best first, answer."""
    gains = [answers.get(key, 0.0) for key in keys[:_DEPTH]]
    first = next((rank for rank, gain in enumerate(gains, start=1) if gain), 0)
    return Marks(
        ndcg=_gain(gains) / _gain(sorted(answers.values(), reverse=True)[:_DEPTH]),
        recall_5=sum(map(bool, gains[:5])) / len(answers),
        recall_10=sum(map(bool, gains)) / len(answers),
        mrr=1 / first if first else 0.0,
    )


def _gain(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    dice = random.Random(7)
    means = sorted(mean(dice.choices(values, k=len(values))) for _ in range(_ROUNDS))
    return means[round(0.025 * _ROUNDS)], means[round(0.975 * _ROUNDS) - 1]


def mean(values: Iterable[float]) -> float:
    """Return the mean, 0 of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def title_of(document: Document) -> str:
    """Return the document's title, or how its text begins."""
    return " ".join(document.title.split()) or " ".join(document.text.split())[:60]


def roamkb(documents: Sequence[Document], *, model: SentenceModel | None = None) -> Search:
    """Return our search over the documents as notes, with a sentence model or without."""
    db = indexed(documents)

    def search(text: str) -> list[str]:
        found = IndexQuery(db, parse_query(text, today=TODAY), model=model).find_answers(_DEPTH, linked=True)
        return [documents[int(answer.file[:6])].id for answer in found]

    return search


def indexed(documents: Sequence[Document]) -> sqlite3.Connection:
    """Return an index of the documents as notes, each in a file of its number."""
    with tempfile.TemporaryDirectory() as folder:
        kb = Path(folder)
        (kb / ".stfolder").mkdir()
        for number, document in enumerate(documents):
            (kb / f"{number:06}.org").write_text(as_org(number, document), encoding="utf-8")
        notes = Notes(kb)
        db = in_memory()
        create_tables(db, "benchmark")
        changes = IndexChanges.all_of(notes.kb_walk)
        apply_changes(db, notes, changes, clock=time.time_ns)
    db.execute("INSERT INTO words(words) VALUES('optimize')")
    return db


def as_org(number: int, document: Document) -> str:
    """Return the document as a note; what org would take for structure gets a comma."""
    body = re.sub(r"^(?=\*+ |#\+)", ",", document.text, flags=re.MULTILINE)
    head = f":PROPERTIES:\n:ID:       bench-{number}\n:END:\n#+title: {title_of(document)}\n"
    links = "".join(f"[[id:bench-{other}]]\n" for other in document.links)
    return f"{head}\n{body}\n{links}"


def plain_fts5(joint: str) -> Callable[[Sequence[Document]], Search]:
    """Return FTS5 as its manual shows it, each word quoted, joined by `joint`."""

    def make(documents: Sequence[Document]) -> Search:
        db = sqlite3.connect(":memory:")
        db.execute("CREATE VIRTUAL TABLE note USING fts5(title, body, tokenize='porter unicode61')")
        rows = ((number, one.title, one.text) for number, one in enumerate(documents))
        db.executemany("INSERT INTO note(rowid, title, body) VALUES(?, ?, ?)", rows)

        def search(text: str) -> list[str]:
            words = joint.join(f'"{word}"' for word in re.findall(r"\w+", text))
            if not words:
                return []
            query = "SELECT rowid FROM note WHERE note MATCH ? ORDER BY bm25(note) LIMIT ?"
            return [documents[number].id for (number,) in db.execute(query, (words, _DEPTH))]

        return search

    return make


ENGINES: dict[str, Callable[[Sequence[Document]], Search]] = {
    "FTS5 AND": plain_fts5(" "),
    "FTS5 OR": plain_fts5(" OR "),
    "roamkb": roamkb,
}

if __name__ == "__main__":
    main()
