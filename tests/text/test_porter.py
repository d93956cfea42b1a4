"""Stems are Porter's."""

import re
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.porter import stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("cats", "cat"),
        ("feed", "feed"),
        ("agreed", "agre"),
        ("plastered", "plaster"),
        ("motoring", "motor"),
        ("sing", "sing"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("relational", "relat"),
        ("rational", "ration"),
        ("digitizer", "digit"),
        ("operator", "oper"),
        ("triplicate", "triplic"),
        ("hopeful", "hope"),
        ("goodness", "good"),
        ("revival", "reviv"),
        ("adoption", "adopt"),
        ("replacement", "replac"),
        ("probate", "probat"),
        ("rate", "rate"),
        ("controll", "control"),
        ("roll", "roll"),
        ("yes", "ye"),
        ("is", "is"),
        ("café", "café"),
        ("x86", "x86"),
    ],
)
def test_words_of_the_paper(word: str, expected: str) -> None:
    """The examples of Porter's paper, and words that aren't touched."""
    assert expected == stem(word)


def porter_of_sqlite(words: list[str]) -> dict[str, str]:
    """Return the stem that SQLite's porter tokenizer gives each word."""
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
        db.executemany("INSERT INTO t(rowid, x) VALUES (?, ?)", enumerate(words))
        return {words[row]: term for term, row in db.execute("SELECT term, doc FROM v")}


def test_the_repositorys_own_words_stem_as_in_sqlite() -> None:
    """A scan and an SQLite index agree on every word of our own texts."""
    root = Path(__file__).parents[2]
    text = "\n".join(
        path.read_text() for path in (*root.rglob("*.py"), *root.glob("*/*.md")) if ".venv" not in path.parts
    )
    words = sorted({word for word in re.findall("[a-z]+", text.lower()) if len(word) < 60})
    assert len(words) > 1000
    assert porter_of_sqlite(words) == {word: stem(word) for word in words}


@given(st.lists(st.text("aeioulstyrnedgmbc", min_size=1, max_size=16), min_size=1, max_size=50, unique=True))
def test_made_up_words_stem_as_in_sqlite(words: list[str]) -> None:
    """So do words that nobody ever wrote."""
    assert porter_of_sqlite(words) == {word: stem(word) for word in words}
