"""Vectors of texts, on a table small enough to see through."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.store.word_vector_file import table_sizes
from roamkb.text.word_vectors import PieceRows
from roamkb.text.word_vectors import WordVectors
from roamkb.text.word_vectors import table_of
from roamkb.text.word_vectors import vector_cosine

#: Two meanings, animals and machines, eight times over.
WORDS = b"##s 3 7\nhorse 1 5\nserver 2 6\nzebra 0 4\n"
DATA = b"".join(bytes(pair) * 8 for pair in ((100, 0), (90, 10), (0, 100), (5, 0x100 - 5)))


@pytest.fixture
def table() -> WordVectors:
    """A table of five pieces."""
    found = table_of(WORDS, DATA)
    assert found
    return found


def near(table: WordVectors, one: str, other: str) -> float:
    """How near two texts are."""
    vectors = table.text_vector(one.split()), table.text_vector(other.split())
    assert vectors[0] and vectors[1]
    return vector_cosine(vectors[0], vectors[1])


def test_like_is_near_and_unlike_is_not(table: WordVectors) -> None:
    """A horse is nearer to a zebra than a server is."""
    assert near(table, "zebra", "horse") > near(table, "zebra horse server", "zebra") > near(table, "zebra", "server")


def test_case_and_unknown_words_change_nothing(table: WordVectors) -> None:
    """What the table hasn't got says nothing."""
    assert table.text_vector(["zebra"]) == table.text_vector(["Zebra", "qqq"])
    assert table.text_vector(["qqq"]) is table.text_vector([]) is None


def test_a_word_falls_into_its_longest_pieces(table: WordVectors) -> None:
    """And has no vector if one of them is missing."""
    assert near(table, "zebras", "zebra") > 0.9
    assert table.text_vector(["zebrasq"]) is None
    assert table.text_vector(["z" * 10_000]) is None


def test_an_identifier_is_what_its_parts_are(table: WordVectors) -> None:
    """Names in code are made of words."""
    assert table.text_vector(["zebraServer"]) == table.text_vector(["zebra", "server"])
    assert table.text_vector(["HorseZebra", "horse_zebra"]) == table.text_vector(["horse", "zebra"])


def test_files_that_do_not_fit_are_no_table() -> None:
    """Nothing is guessed."""
    assert table_of(b"a 0 0\nb 1 1\n", b"\x01") is None
    assert table_of(b"", b"") is None


@given(st.lists(st.sampled_from(["zebra", "horse", "server", "zebras", "x"]), max_size=300))
def test_a_vector_is_a_mean(words: list[str]) -> None:
    """Order and repetition of the whole change nothing, and a text is nearest to itself."""
    table = table_of(WORDS, DATA)
    assert table
    vector = table.text_vector(words)
    assert vector == table.text_vector(sorted(words)) == table.text_vector(words * 2)
    assert vector is None or vector_cosine(vector, vector) >= 0.0


@pytest.mark.parametrize("word", ["horse" * 4, "zebraServer" * 30, "horseServer" * 500])
def test_no_number_of_pieces_runs_over(table: WordVectors, word: str) -> None:
    """However many pieces the words of a text have, its vector is that of one of them."""
    assert table.text_vector([word] * 1000) == table.text_vector([word])


def test_the_table_that_ships_knows_what_is_alike() -> None:
    """Words of one meaning are nearer than words of none."""
    from roamkb.text.store.word_vector_file import word_table

    table = word_table()
    assert table
    assert near(table, "delete the folder", "remove a directory") > near(table, "delete the folder", "paint a sunrise")


def test_a_table_is_told_from_another_by_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that was made with another table, or without one, is made anew."""
    monkeypatch.setattr("roamkb.text.store.word_vector_file._FOLDER", tmp_path)
    assert () == table_sizes()
    (tmp_path / "words.txt").write_text("a\nb\n")
    assert () == table_sizes()
    (tmp_path / "vectors.bin").write_bytes(b"12345678")
    assert (8, 4) == table_sizes()


def test_few_pieces_are_looked_for_and_many_are_remembered() -> None:
    """Both ways give the same rows, of pieces that aren't there as well."""
    pieces = sorted({f"{left}{right}" for left in "abxyz#" for right in ("", "a", "zz", "q1")}, key=str.encode)
    lines = "".join(f"{piece} {row} {row}\n" for row, piece in enumerate(pieces)).encode()
    asked = [*pieces, "", "!", "a ", "c", "zzzz", "~"]
    rows = PieceRows(lines)
    first_answers = [rows.get(piece) for piece in asked]
    for _ in range(20):
        assert [rows.get(piece) for piece in asked] == first_answers
    assert first_answers[: len(pieces)] == list(range(len(pieces)))
    assert set(first_answers[len(pieces) :]) == {None}
    assert list(rows) == pieces and len(rows) == len(pieces)
