"""What a search's tail holds, and how often a question about nothing is told that nothing is sure.

    python tests/benchmarks/tail.py FOLDER... [--limit N] [--split NAME] [--half tuned|held] [--off-topic FOLDER]
    python tests/benchmarks/tail.py --titles KB...
    python tests/benchmarks/tail.py --links KB...

Each FOLDER is a set as `tests/benchmarks/recall.py` has it. Printed are how many hits are shown, the share of them that
is right and the share of the right answers that is among them: of the best twenty, of the best eight, of those that
a search shows, and of those that it marks as sure; and how many questions have a sure hit. `--off-topic` asks the
questions of another set, which this base can't answer: there no hit should be sure.

`--titles` takes folders of notes with links, and asks for each title of two or three words as if its note weren't
there: of what is sure then, the notes that are linked with it count as right. It prints both halves of the titles.

`--links` asks for the texts of links that have words which their target's own names haven't, and takes the text from
the links of one note that says it, or of all: how high is the target then? With none taken, and with all links' texts
taken from the index, it prints what there is to gain.

`ranking._LEAST_SHARE` was chosen on the sets and halves that the ranking was chosen on.
"""

import argparse
import contextlib
import hashlib
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from roamkb.context.word_evidence import rate_evidence  # noqa: E402
from roamkb.core.text import fold_text  # noqa: E402
from roamkb.kb.notes.store.notes import Notes  # noqa: E402
from roamkb.kb.search.hits import PassageHit  # noqa: E402
from roamkb.kb.search.hits import PassageHits  # noqa: E402
from roamkb.kb.search.index.index import Index  # noqa: E402
from roamkb.kb.search.index.query import IndexQuery  # noqa: E402
from roamkb.kb.search.query import Query  # noqa: E402
from roamkb.kb.search.query import parse_query  # noqa: E402
from roamkb.kb.search.search import MOST_HITS  # noqa: E402
from roamkb.kb.search.search import rate_answers  # noqa: E402
from roamkb.text.tokenize import split_words  # noqa: E402
from tests.benchmarks import recall  # noqa: E402
from tests.benchmarks.question_sets import Asked  # noqa: E402
from tests.benchmarks.question_sets import mean  # noqa: E402
from tests.benchmarks.question_sets import read_documents  # noqa: E402
from tests.benchmarks.question_sets import read_questions  # noqa: E402
from tests.benchmarks.question_sets import sample_questions  # noqa: E402


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    options.add_argument("--limit", type=int, default=0, help="at most so many questions a set")
    options.add_argument("--split", default="test")
    options.add_argument("--half", choices=("tuned", "held"))
    options.add_argument("--titles", action="store_true", help="FOLDERs are knowledge bases; ask for their titles")
    options.add_argument("--links", action="store_true", help="FOLDERs are knowledge bases; ask for their links' texts")
    options.add_argument("--off-topic", type=Path, metavar="FOLDER", help="questions of another set")
    given = options.parse_args()
    for folder in given.folders if given.titles else ():
        print_titles(folder)
    for folder in given.folders if given.links else ():
        print_link_texts(folder)
    for folder in given.folders if not (given.titles or given.links) else ():
        documents = read_documents(folder)
        db = recall.indexed(documents)
        questions = read_questions(folder, given.split)
        if given.half:
            questions = [
                one for one in questions if recall.is_tuned(folder.name, one, questions) == (given.half == "tuned")
            ]
        ids = [document.id for document in documents]
        print_figures(folder.name, db, ids, sample_questions(questions, given.limit))
        if given.off_topic:
            others = sample_questions(read_questions(given.off_topic, "test"), given.limit)
            answers = [ask(db, question.text) for question in others]
            sure = mean(any(sure for _, sure in hits) for hits in answers)
            print(f"{given.off_topic.name:16} {len(others)} questions of another set: {sure:.2f} have a sure hit")


def print_figures(name: str, db: sqlite3.Connection, ids: Sequence[str], questions: Sequence[Asked]) -> None:
    """Print a line for each of the four lists."""
    columns: dict[str, list[tuple[list[str], Asked]]] = {"20 best": [], "8 best": [], "shown": [], "sure": []}
    for question in questions:
        best = [number for number, _ in ask(db, question.text, limit=20)]
        shown = ask(db, question.text)
        for list_name, numbers in (
            ("20 best", best),
            ("8 best", best[:MOST_HITS]),
            ("shown", [number for number, _ in shown]),
            ("sure", [number for number, sure in shown if sure]),
        ):
            columns[list_name].append(([ids[number] for number in numbers], question))
    for list_name, lists in columns.items():
        right = [sum(id in question.answers for id in found) for found, question in lists]
        precision = [count / len(found) for count, (found, _) in zip(right, lists, strict=True) if found]
        recalled = [count / len(question.answers) for count, (_, question) in zip(right, lists, strict=True)]
        print(
            f"{name:16} {len(lists):5} {list_name:8} {mean(len(found) for found, _ in lists):5.1f} hits"
            f"   precision {mean(precision):.3f}   recall {mean(recalled):.3f}"
            f"   {len(precision) / max(1, len(lists)):.2f} of the questions have one"
        )


def print_titles(kb: Path) -> None:
    """Print how many hits are sure of the titles of others, and how many of them are linked with those."""
    with contextlib.closing(Index(Notes(kb), None).open_copy()) as db:
        links = set(db.execute("SELECT source, dest FROM link"))
        nodes = db.execute("SELECT node, title FROM entry JOIN content USING(id) WHERE node IS NOT NULL").fetchall()
        sure: dict[int, list[bool]] = {0: [], 1: []}
        for id, title in nodes:
            query = parse_query(title, today=recall.TODAY)
            if not 2 <= len(set(query.words)) <= 3:
                continue
            half = hashlib.sha1(title.encode()).digest()[0] % 2
            for answer, is_sure in rated_answers(db, query, near_best=True):
                if is_sure and answer.id != id:
                    sure[half].append(not links.isdisjoint(((id, answer.id), (answer.id, id))))
    for half, marks in sure.items():
        print(f"{kb.name:16} half {half} of the titles: {len(marks):4} sure, {sum(marks):4} right, {mean(marks):.3f}")


def print_link_texts(kb: Path) -> None:
    """Print how high a note stands for what links to it call it, where some or all of these links call it nothing."""
    with contextlib.closing(Index(Notes(kb), None).open_copy()) as db:
        named = db.execute(
            "SELECT node, title || ' ' || alias FROM entry JOIN content USING(id) WHERE node IS NOT NULL"
        ).fetchall()
        names = {node: set(split_words(fold_text(text))) for node, text in named}
        texts = db.execute("SELECT dest, text, min(note) FROM link WHERE text != '' GROUP BY dest, text").fetchall()
        asked = [row for row in texts if row[0] in names and set(split_words(fold_text(row[1]))) - names[row[0]]]
        for taken, condition in (
            ("of all links", "TRUE"),
            ("so of the note", "dest = :dest AND text = :text"),
            ("so of it in one", "dest = :dest AND text = :text AND note = :note"),
            ("of none", "FALSE"),
        ):
            places = []
            for dest, text, note in asked:
                db.execute("SAVEPOINT asked")
                db.execute(f"UPDATE link SET text = '' WHERE {condition}", {"dest": dest, "text": text, "note": note})
                found = [answer.id for answer in IndexQuery(db, plain_query(text)).find_answers(20)]
                db.execute("ROLLBACK TO asked")
                places.append(found.index(dest) + 1 if dest in found else 0)
            first, near = mean([place == 1 for place in places]), mean([0 < place < 4 for place in places])
            reciprocal = mean([1 / place if place else 0.0 for place in places])
            print(
                f"{kb.name:16} {taken:16} {len(places)} first {first:.2f} among three {near:.2f} MRR {reciprocal:.3f}"
            )


def plain_query(text: str) -> Query:
    """Return a query for the words of a text, none of which is an operator."""
    return parse_query(" ".join(split_words(text)), today=recall.TODAY)


def ask(db: sqlite3.Connection, text: str, *, limit: int | None = None) -> list[tuple[int, bool]]:
    """Return the numbers of the documents that a search shows, or of the best `limit`, and whether each is sure."""
    query = parse_query(text, today=recall.TODAY)
    rated = rated_answers(db, query, limit or MOST_HITS, near_best=limit is None)
    return [(int(answer.file[:6]), is_sure) for answer, is_sure in rated]


def rated_answers(
    db: sqlite3.Connection, query: Query, limit: int = MOST_HITS, *, near_best: bool
) -> list[tuple[PassageHit, bool]]:
    """Return the best answers, or those of them that a search shows, and whether each is sure."""
    index_query = IndexQuery(db, query)
    answers = tuple(index_query.find_answers(limit, linked=True, near_best=near_best))
    hits = PassageHits(answers=answers, weights=index_query.term_weights(), skipped=(), conflict_copies=0)
    sure = [evidence.is_sure for evidence in rate_answers(query, hits, rate_evidence)]
    return list(zip(answers, sure, strict=True))


if __name__ == "__main__":
    main()
