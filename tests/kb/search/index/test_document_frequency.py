"""The kept counts are SQLite's own, whatever came and went."""

import random
import sqlite3
from pathlib import Path

import pytest

from roamkb.kb.search.index import document_frequency as index_counts
from roamkb.kb.search.index.document_frequency import document_frequency
from tests.kb.search.index.index_base import Base


def _counts(db: sqlite3.Connection) -> tuple[dict[str, int], dict[str, int]]:
    return dict(db.execute("SELECT term, entries FROM held")), dict(db.execute("SELECT term, doc FROM word"))


@pytest.mark.parametrize("many", [0, 3, 2000])
def test_counts_are_what_sqlite_counts(tmp_path: Path, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After notes with several entries came, changed and went, the last ones too, by either way of counting."""
    monkeypatch.setattr(index_counts, "_MANY", many)
    base, dice = Base(tmp_path), random.Random(2)
    for _ in range(25):
        for _ in range(dice.randint(1, 4)):
            name = f"{dice.randint(1, 6)}.org"
            if dice.random() < 0.4:
                (base.kb / name).unlink(missing_ok=True)
            else:
                words = " ".join(dice.choices("zebras stripe naïve 縞馬 foo_bar HTTPServer".split(), k=4))
                heading = "* Head\n:PROPERTIES:\n:ID: h\n:END:\nzebra" if dice.random() < 0.5 else ""
                base.note(name, words, f"{words}\n{heading}", head=f"#+x: {dice.random()}\n")
        kept, counted = base.index().read_view(_counts)
        assert counted == kept


def test_an_unknown_word_is_held_by_none(tmp_path: Path) -> None:
    """And a known one by as many entries, not as often as it stands there."""
    base = Base(tmp_path)
    base.note("a.org", "Zebra", "zebras and a zebra")
    base.note("b.org", "Tapir", "no zebra")
    assert (2, 1, 0) == base.index().read_view(
        lambda db: (document_frequency(db, "zebra"), document_frequency(db, "tapir"), document_frequency(db, "quagga"))
    )
