"""Weighing only what may be among the best gives what weighing all gives."""

import random
from pathlib import Path

import pytest

from roamkb.kb.search.index import top_k as index_best
from roamkb.kb.search.index.query import IndexQuery
from roamkb.kb.search.index.top_k import QueryWord
from roamkb.kb.search.index.top_k import first_expression
from roamkb.kb.search.index.top_k import rarest_words_first
from roamkb.kb.search.index.top_k import reaching_expression
from roamkb.kb.search.query import parse_query
from tests.kb.search.index.index_base import TODAY
from tests.kb.search.index.index_base import Base

_WORDS = "the proxy cache server client request timeout deploys staging fooBar v2 index foo_bar worker".split()


def test_the_best_are_the_best_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked for, with filters and repeats, of few common words and many ties."""
    base, dice = Base(tmp_path), random.Random(1)
    for number in range(400):
        words = [_WORDS[int(len(_WORDS) ** dice.random()) - 1] for _ in range(dice.randint(1, 25))]
        base.note(f"{dice.random()}.org", words[0], " ".join(words), tags=":even:" if number % 2 else "")
    questions = [
        " ".join(dice.choices([*_WORDS, "-client", "tag:even", "unheard"], k=dice.randint(1, 8))) for _ in range(150)
    ]

    def answers(few: int) -> list[object]:
        monkeypatch.setattr(index_best, "_FEW", few)
        return base.index().read_view(
            lambda db: [list(IndexQuery(db, parse_query(one, today=TODAY)).find_answers(20)) for one in questions]
        )

    monkeypatch.setattr(index_best, "_FIRST", 110)
    assert answers(1_000_000) == answers(0)


def test_what_cannot_come_so_high_is_left_out() -> None:
    """A word of all texts alone can't, two common ones may, a rare one may if it is rare enough."""
    known = {'"every"': 1000, '"often"': 300, '"much"': 300, '"rare"': 3}
    words = rarest_words_first(['"often"', '"rare"', '"every"', '"much"', '"often"'], known)
    assert ['"rare"', '"much"', '"often"', '"every"'] == [word.phrase for word in words]
    assert [1, 1, 2, 1] == [word.times for word in words]
    least = 1.1 * words[2].most_score(1000)
    assert '"rare" OR ("often" AND ("much"))' == reaching_expression(words, least, 1000)
    assert not reaching_expression(words, 10 * least, 1000)


def test_little_is_weighed_at_once() -> None:
    """Neither a word alone nor few entries are worth a second question."""
    many = [QueryWord(phrase='"a"', times=1, document_count=400), QueryWord(phrase='"b"', times=1, document_count=9000)]
    assert '"a"' == first_expression(many)
    assert first_expression(many[1:]) is None
    assert first_expression([many[0], many[0]]) is None
