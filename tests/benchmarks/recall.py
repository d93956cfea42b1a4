"""How well the search finds: one table over public question sets, beside plain FTS5 and the published figures.

    python tests/benchmarks/recall.py FOLDER... [--limit N] [--split NAME] [--half tuned|held] [--linked]
        [--semantic CACHE]

Each FOLDER is a set as `question_sets` reads it, or PrecisionMemBench's (`precision_mem`). Its documents become org notes in a temporary folder, are
indexed as any knowledge base is, and each question is asked as an agent would ask it. Where a set's name is in
`OWN_BASES`, each of its conversations is a base of its own. Printed are nDCG@10 (Järvelin and
Kekäläinen, 2002, linear gain) with a 95 % bootstrap interval, its difference from FTS5 OR, question by
question, with the same interval, recall@5 and @10, MRR@10 and the mean time of the process a question.
A known set that isn't given is named, with where it comes from.

The settings of the ranking were chosen on nl2bash (half of its questions), cosqa dev, scifact
train, five conversations of each LoCoMo set, and XQuAD-R German and Chinese; Russian, English and Thai were
looked at when the groups of letters were chosen. CACM, NPL, BEAM, OrgMemBench, PrecisionMemBench, and the test
halves of cosqa and scifact weren't. The weight of spelling (`text/fuzzy.py`) was chosen on the first of these and
on German alone. `--half` leaves out the other half of a set that was split so. `--linked` has each text link to the
ones before and after it in its conversation, as who keeps such notes would; by itself no set has links.
`--semantic` asks each question with the sentence model as well, whose vectors are kept in the folder CACHE.
Its share was chosen on 524 of the tuning questions (nl2bash, cosqa dev, LoCoMo). It reads some dozens of short
notes a second, and four of 500 words.
"""

import argparse
import math
import re
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import filterfalse
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
from tests.benchmarks.precision_mem import is_precision_mem  # noqa: E402
from tests.benchmarks.precision_mem import print_precision  # noqa: E402
from tests.benchmarks.question_sets import Asked  # noqa: E402
from tests.benchmarks.question_sets import Document  # noqa: E402
from tests.benchmarks.question_sets import bootstrap_interval  # noqa: E402
from tests.benchmarks.question_sets import folder_digest  # noqa: E402
from tests.benchmarks.question_sets import mean  # noqa: E402
from tests.benchmarks.question_sets import question_hash  # noqa: E402
from tests.benchmarks.question_sets import read_documents  # noqa: E402
from tests.benchmarks.question_sets import read_questions  # noqa: E402
from tests.benchmarks.question_sets import sample_questions  # noqa: E402

_DEPTH = 10
TODAY = date(2026, 6, 10)
#: Questions of a category that are worth a row.
_FEWEST = 20
#: What the others are compared with, question by question.
_BASELINE = "FTS5 OR"
#: Sets whose conversations share nothing; in LoCoMo all ten are one base, as in the published runs.
OWN_BASES = ("beam-100K",)
#: A category of questions that no document answers as asked; published figures leave it out.
_UNANSWERABLE = "adversarial"

Search = Callable[[str], list[str]]

#: Where the sets come from; the digest printed beside a run is of the files in BEIR form made from these.
SOURCES = {
    "precision-mem-bench": "github.com/tenurehq/precisionMemBench, MIT",
    "orgmembench-medium": "github.com/JackCGardner/OrgMemBench at 4d6fb64b, datasets/helix/medium, CC BY 4.0",
    "beam-100K": "github.com/mohammadtavakoli78/BEAM",
    "locomo-session": "github.com/snap-research/locomo, CC BY-NC 4.0",
    "locomo-turn": "github.com/snap-research/locomo, CC BY-NC 4.0",
    "locomo-obs": "github.com/snap-research/locomo, CC BY-NC 4.0",
    "nl2bash": "github.com/TellinaTool/nl2bash, MIT",
    "cosqa": "github.com/Jun-jie-Huang/CoCLR, MIT",
    "scifact": "github.com/allenai/scifact, ODC-By",
    "cacm": "SMART collection",
    "npl": "SMART collection, Vaswani",
    "xquadr-en": "github.com/google-research-datasets/lareqa, CC BY-SA 4.0; also de, ru, th, zh",
}

#: Figures that others publish for the same questions: set and category, system, figure, source.
PUBLISHED = (
    ("locomo-session, but adversarial", "mem0 2.0.5", "R@5 .791 R@10 .891 MRR .648", "basic-memory issue 950"),
    ("locomo-session, but adversarial", "basic-memory 0.21.6", "R@5 .733 R@10 .839 MRR .619", "the same"),
    ("locomo-session, but adversarial", "graph-memory", "R@5 .829 R@10 .902", "graph-memory issue 76"),
    ("scifact", "BM25 (Lucene)", "nDCG@10 .679", "Anserini, beir-v1.0.0-scifact-flat"),
    ("scifact", "all-MiniLM-L6-v2", "nDCG@10 .645", "FluctlightDB"),
    ("orgmembench-medium", "gbrain, zep", "rubric .428, .213: judged answers, not comparable", "its README"),
)


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
    options.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    options.add_argument("--limit", type=int, default=0, help="at most so many questions a set")
    options.add_argument("--split", default="test")
    options.add_argument("--half", choices=("tuned", "held"))
    options.add_argument("--linked", action="store_true", help="link each text with its neighbours")
    options.add_argument("--alone", action="store_true", help="without plain FTS5")
    options.add_argument("--semantic", type=Path, metavar="CACHE", help="with the sentence model, too")
    given = options.parse_args()
    engines = ({} if given.alone else PLAIN) | {"roamkb": roamkb}
    model = None
    if given.semantic:
        given.semantic.mkdir(exist_ok=True)
        model = sentence_model(given.semantic)
        engines["with model"] = partial(roamkb, model=model)
    print_head(engines)
    for folder in filterfalse(is_precision_mem, given.folders):
        questions = chosen_questions(folder, split=given.split, half=given.half, limit=given.limit)
        documents = chained(read_documents(folder)) if given.linked else read_documents(folder)
        print_set(folder.name, documents, questions, engines)
    for folder in filter(is_precision_mem, given.folders):
        print_precision(folder, model)
    print_sources(given.folders)


def chosen_questions(folder: Path, *, split: str, half: str | None, limit: int) -> list[Asked]:
    """Return the questions of a set that are asked."""
    questions = read_questions(folder, split)
    if half:
        questions = [one for one in questions if is_tuned(folder.name, one, questions) == (half == "tuned")]
    return sample_questions(questions, limit)


def print_set(
    name: str,
    documents: Sequence[Document],
    questions: Sequence[Asked],
    engines: "dict[str, Callable[[Sequence[Document]], Search]]",
) -> None:
    """Print the rows of one set: of all questions, then of each category."""
    marks: dict[str, list[Marks]] = {}
    times: dict[str, float] = {}
    bases = split_bases(documents, questions) if name in OWN_BASES else [(documents, questions)]
    asked = [question for _, asked_of_base in bases for question in asked_of_base]
    for engine, make in engines.items():
        marks[engine], spent = [], 0.0
        for texts, asked_of_base in bases:
            some_marks, seconds = ask_all(make(texts), asked_of_base)
            marks[engine] += some_marks
            spent += seconds
        times[engine] = 1000 * spent / max(len(asked), 1)
    for label, places in question_groups(name, asked):
        chosen = {engine: [all_marks[n] for n in places] for engine, all_marks in marks.items()}
        shown = " / ".join(f"{times[engine]:.1f}" for engine in chosen) if label == name else ""
        said = "; ".join(f"{system} {figure} ({source})" for row, system, figure, source in PUBLISHED if row == label)
        print_row(label, chosen, shown, said)


def split_bases(documents: Sequence[Document], questions: Sequence[Asked]) -> list[tuple[list[Document], list[Asked]]]:
    """Return the documents and the questions of each conversation."""
    bases: defaultdict[str, tuple[list[Document], list[Asked]]] = defaultdict(lambda: ([], []))
    for document in documents:
        bases[document.group][0].append(document)
    for question in questions:
        bases[question.group][1].append(question)
    return [(texts, asked) for texts, asked in bases.values() if asked]


def question_groups(name: str, questions: Sequence[Asked]) -> Iterator[tuple[str, list[int]]]:
    """Yield a label and the places of its questions: all, those with an answer, each larger category."""
    yield name, list(range(len(questions)))
    categories = sorted({one.category for one in questions})
    if _UNANSWERABLE in categories:
        yield (
            f"{name}, but {_UNANSWERABLE}",
            [place for place, one in enumerate(questions) if one.category != _UNANSWERABLE],
        )
    for category in categories if len(categories) > 1 else ():
        places = [place for place, one in enumerate(questions) if one.category == category]
        if len(places) >= _FEWEST:
            yield f"{name}, {category}", places


def print_head(engines: Iterable[str]) -> None:
    """Print the head of the table."""
    columns = [name if name in PLAIN else f"{name} [95 %] | against {_BASELINE} [95 %]" for name in engines]
    head = f"| questions | n | {' | '.join(columns)} | R@5, R@10, MRR | ms: {' / '.join(engines)} | published |"
    print(f"{head}\n{re.sub('[^|]+', '---', head)}")


def print_row(label: str, marks: Mapping[str, Sequence[Marks]], spent: str, said: str) -> None:
    """Print how each engine answered some questions; recall and MRR are the last one's."""
    ndcg = {engine: [mark.ndcg for mark in some] for engine, some in marks.items()}
    columns = []
    for engine, values in ndcg.items():
        columns.append(f"{mean(values):.3f}")
        if engine not in PLAIN:
            differences = [value - base for value, base in zip(values, ndcg.get(_BASELINE, ()), strict=False)]
            columns[-1] += " [{:.3f}, {:.3f}]".format(*bootstrap_interval(values))
            columns.append("{:+.3f} [{:+.3f}, {:+.3f}]".format(mean(differences), *bootstrap_interval(differences)))
    last = list(marks.values())[-1]
    rest = ", ".join(f"{mean(getattr(mark, field) for mark in last):.3f}" for field in ("recall_5", "recall_10", "mrr"))
    print(f"| {label} | {len(last)} | {' | '.join(columns)} | {rest} | {spent} | {said} |", flush=True)


def print_sources(folders: Sequence[Path]) -> None:
    """Print where each set is to be had, and the digest of what was read; a known set that wasn't given, too."""
    given = {folder.name: folder for folder in folders}
    print("\n| set | from | SHA-256 of what was read |\n|---|---|---|")
    for name in [*SOURCES, *(name for name in given if name not in SOURCES)]:
        digest = folder_digest(given[name]) if name in given else "not at hand"
        print(f"| {name} | {SOURCES.get(name, '')} | {digest} |")


def chained(documents: Sequence[Document]) -> list[Document]:
    """Return the texts with links to the ones before and after, where their ids say `CONVERSATION/SESSION:`."""
    places = [document.id.rpartition(":")[0] for document in documents]
    return [
        replace(one, links=tuple(near for near in (n - 1, n + 1) if places[n] in places[near : near + 1]))
        if places[n]
        else one
        for n, one in enumerate(documents)
    ]


def is_tuned(name: str, question: Asked, questions: Sequence[Asked]) -> bool:
    """Say whether the settings were chosen on this question of a set that was split."""
    if question.group:
        return question.group in sorted({one.group for one in questions})[: 10 if name in OWN_BASES else 5]
    return name == "nl2bash" and question_hash(question)[0] % 2 == 1


def ask_all(search: Search, questions: Sequence[Asked]) -> tuple[list[Marks], float]:
    """Return the marks of each answer, and the seconds that the process spent on all."""
    started = time.process_time()
    found = [search(question.text) for question in questions]
    spent = time.process_time() - started
    return [marks_of(keys, question.answers) for keys, question in zip(found, questions, strict=True)], spent


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


def title_of(document: Document) -> str:
    """Return the document's title, or how its text begins."""
    return " ".join(document.title.split()) or " ".join(document.text.split())[:60]


def roamkb(documents: Sequence[Document], *, model: SentenceModel | None = None) -> Search:
    """Return our search over the documents as notes, with a sentence model or without."""
    db = indexed(documents)

    def search(text: str) -> list[str]:
        found = IndexQuery(db, parse_query(text, today=TODAY), model=model).find_answers(_DEPTH, linked=True)
        return [documents[int(answer.file[:6])].id for answer in found]

    # each question has the model read some more notes, and in time all of them
    for _ in range(0, len(documents) if model else 0, 50):
        search("any question")
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


PLAIN: dict[str, Callable[[Sequence[Document]], Search]] = {
    "FTS5 AND": plain_fts5(" "),
    _BASELINE: plain_fts5(" OR "),
}

if __name__ == "__main__":
    main()
