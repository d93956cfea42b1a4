"""One value put in or taken out of JSON, and every other byte as it was."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.fs.json_edit import BadJson
from roamkb.fs.json_edit import insert_item
from roamkb.fs.json_edit import parse_json
from roamkb.fs.json_edit import remove_value
from roamkb.fs.json_edit import replace_value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(st.text(), inner, min_size=1, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
STYLES = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {"indent": None},
        {"indent": 1, "ensure_ascii": False},
        {"separators": (",", ":")},
    ]
)
ENDS = st.sampled_from(["", "\n", "\r\n"])


@given(OBJECTS, VALUES, STYLES, ENDS)
def test_what_was_put_in_comes_out_without_a_trace(
    held: object, value: object, style: dict[str, Any], end: str
) -> None:
    """In any style; and with it in, the text says what it said and one thing more."""
    text = json.dumps(held, **style) + end
    if end == "\r\n":
        text = text.replace("\n", "\r\n").replace("\r\r", "\r")
    added = insert_item(text, (), "roamkb added", value)
    assert {**json.loads(text), "roamkb added": value} == json.loads(added)
    assert text == remove_value(added, ("roamkb added",))
    assert "\r" not in text or added.count("\n") == added.count("\r\n")


@given(OBJECTS, STYLES)
def test_any_member_can_be_taken_out(held: dict[str, object], style: dict[str, Any]) -> None:
    """The others say what they said."""
    text = json.dumps(held, **style)
    for key in held:
        assert {k: v for k, v in held.items() if k != key} == json.loads(remove_value(text, (key,)))


@pytest.mark.parametrize(
    ("text", "way", "key", "value", "after"),
    [
        ("{}", (), "a", 1, '{\n  "a": 1\n}'),
        ('{"a":1}', (), "b", [2], '{"a":1,"b":[2]}'),
        ('{\n\t"a": {}\n}', ("a",), "b", {"c": 1}, '{\n\t"a": {\n\t\t"b": {\n\t\t\t"c": 1\n\t\t}\n\t}\n}'),
        ('{\n  "a": [1, 2]\n}', ("a",), None, 3, '{\n  "a": [1, 2, 3]\n}'),
        ('{\r\n   "a": 1\r\n}', (), "b", [1], '{\r\n   "a": 1,\r\n   "b": [\r\n      1\r\n   ]\r\n}'),
        ('{\n  "é": 1\n}', (), "ü", "ß", '{\n  "é": 1,\n  "ü": "ß"\n}'),
    ],
)
def test_what_is_added_looks_like_what_is_around_it(
    text: str, way: tuple[str, ...], key: str | None, value: object, after: str
) -> None:
    """Indentation, line ends and one-line lists are kept."""
    assert after == insert_item(text, way, key, value)


def test_one_value_is_replaced_where_it_stands() -> None:
    """Nothing around it moves."""
    assert '{"a" :  "x" , "b":[1]}' == replace_value('{"a" :  2 , "b":[1]}', ("a",), "x")
    assert '{"a":[1,{"b": "x"}]}' == replace_value('{"a":[1,{"b": 2}]}', ("a", 1, "b"), "x")


def test_what_is_empty_then_goes_as_well() -> None:
    """But for the root."""
    assert '{"z": 1}' == remove_value('{"z": 1, "a": {"b": [{"c": 1}]}}', ("a", "b", 0))
    assert "{}" == remove_value('{"a": {"b": [1]}}', ("a", "b", 0))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, // mine\n}', "has comments"),
        ('{"a": "//", }', "isn't JSON"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": NaN}', "NaN"),
        ("[" * 100_000, "deep"),
        ("", "isn't JSON"),
    ],
)
def test_text_without_one_meaning_is_refused(text: str, why: str) -> None:
    """And the message says why."""
    with pytest.raises(BadJson, match=why):
        parse_json(text)
