"""What models answer, read out of any text: never an error of ours, never a part for the whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.harnesses.registry import NAMES
from roamkb.models.answers import NoAnswer
from roamkb.models.answers import extract_object
from roamkb.models.answers import parse_answer
from roamkb.models.names import LanguageModel
from roamkb.models.names import ModelKind

#: One of each kind, and of each harness.
MODELS = [
    *(LanguageModel(kind=kind, label="") for kind in ModelKind if kind is not ModelKind.HARNESS),
    *(LanguageModel(kind=ModelKind.HARNESS, label="", harness=name) for name in NAMES),
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4)
#: Around an answer, in whatever language.
PROSE = st.text(st.characters(exclude_characters='{}[]"`<', exclude_categories=["Cs"]), max_size=30)
JSON_TEXT = st.one_of(st.text(), VALUES.map(json.dumps), st.lists(VALUES.map(json.dumps)).map("\n".join))


@given(OBJECTS, PROSE, PROSE, st.booleans(), st.sampled_from([None, 1]))
def test_an_object_is_found_in_any_prose_and_in_a_fence(
    value: dict[str, object], before: str, after: str, fenced: bool, indent: int | None
) -> None:
    """Whole, and equal to what was said."""
    text = json.dumps(value, indent=indent)
    if fenced:
        text = f"\n```json\n{text}\n```\n"
    assert value == extract_object(f"{before}{text}{after}")


@given(OBJECTS, PROSE, st.data())
def test_what_was_cut_off_is_no_answer(value: dict[str, object], before: str, data: st.DataObject) -> None:
    """However whole the objects inside of it are."""
    text = json.dumps({"items": [value, value]})
    end = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(NoAnswer):
        extract_object(before + text[:end])


@given(st.sampled_from(MODELS), JSON_TEXT)
def test_no_text_is_anything_but_an_object_or_no_answer(model: LanguageModel, text: str) -> None:
    """Whoever sent it."""
    try:
        assert isinstance(parse_answer(model, text), dict)
    except NoAnswer as error:
        assert str(error)
        assert len(str(error)) < 400


def test_a_text_of_nothing_but_braces_is_read_in_no_time() -> None:
    """It is looked at so many times, and no more."""
    for text in ("{" * 1_000_000, '{"a":' * 200_000, "{} " * 300_000, "```\n{\n" * 100_000):
        try:
            found = extract_object(text)
        except NoAnswer as error:
            found = {"why": str(error)}
        assert not found or found.keys() == {"why"}
