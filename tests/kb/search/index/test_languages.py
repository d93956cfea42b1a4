"""Search in other languages than English finds at least what SQLite alone would."""

import re
import sqlite3
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path

import pytest

from roamkb.kb.search.index import query as index_query
from roamkb.kb.search.index.query import IndexQuery
from roamkb.kb.search.query import parse_query
from tests.kb.search.index.facts import FACTS
from tests.kb.search.index.index_base import TODAY
from tests.kb.search.index.index_base import Base

Search = Callable[[str], Sequence[str]]


def plain(facts: Sequence[str]) -> Search:
    """FTS5 as its manual shows it, the words of a question joined by OR."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE note USING fts5(body, tokenize='porter unicode61')")
    db.executemany("INSERT INTO note VALUES(?)", [(fact,) for fact in facts])

    def search(text: str) -> Sequence[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        return [fact for (fact,) in db.execute("SELECT body FROM note(?) ORDER BY rank", (words,))]

    return search


def ours(folder: Path, facts: Sequence[str]) -> Search:
    """The index over a base of all the facts."""
    base = Base(folder)
    for number, fact in enumerate(facts):
        base.note(f"{number}.org", str(number), fact)
    index = base.index()
    return lambda text: [
        facts[int(one.title)] for one in index.find_passages(parse_query(text, today=TODAY), limit=10).answers
    ]


def mean_rank(search: Search, asked: Sequence[tuple[str, str]]) -> float:
    """The mean of 1 / rank of what answers each question."""
    found = [(fact, search(question)) for fact, question in asked]
    return sum(1 / (1 + hits.index(fact)) if fact in hits else 0 for fact, hits in found) / len(found)


@pytest.mark.parametrize("language", FACTS)
def test_no_language_is_found_worse_than_by_sqlite_alone(language: str, tmp_path: Path) -> None:
    """Vowel signs are parts of their words, and points and accents are no reason to miss one."""
    asked = FACTS[language]
    everything = [fact for told in FACTS.values() for fact, _ in told]
    mine = mean_rank(ours(tmp_path, everything), asked)
    assert mine >= mean_rank(plain(everything), asked)
    assert mine >= 0.9


@pytest.mark.parametrize(
    "question",
    [
        "昨日の夜に新しいサーバーのバックアップがどこに保存されたのかを教えてください" * 3,
        "資料庫的備份昨天晚上保存在哪一個伺服器上，還有誰能夠讀取它" * 3,
        "เมื่อคืนนี้ข้อมูลสำรองของเซิร์ฟเวอร์ใหม่ถูกเก็บไว้ที่ไหนและใครอ่านได้บ้าง" * 3,
        "wo wurde gestern die Sicherungskopie der neuen Datenbank abgelegt und wer darf sie lesen",
        "где вчера сохранили резервную копию новой базы данных и кто может её читать",
    ],
)
def test_what_a_question_reads_is_bounded_in_any_language(
    question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget counts what the index is asked for, and not how many words lie between blanks."""
    monkeypatch.setattr(index_query, "_BUDGET", 400)
    base = Base(tmp_path)
    for number in range(60):
        base.note(f"{number}.org", str(number), f"{question} {number}")
    asked: list[str] = []

    def read(db: sqlite3.Connection) -> None:
        db.set_trace_callback(asked.append)
        assert list(IndexQuery(db, parse_query(question, today=TODAY)).find_answers(10))
        db.set_trace_callback(None)

    base.index().read_view(read)
    matches = [re.findall(r'"([^"]+)"', one) for one in asked if "MATCH" in one and " OR " in one]
    # each of these stands in all 60 notes, and two at least are asked for
    assert matches
    assert max(map(len, matches)) * 60 <= 400
