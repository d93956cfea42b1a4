"""Brackets are paired as Emacs pairs them, and subscripts look only so deep."""

import pytest

from roamkb.org.syntax.brackets import BracketPairs


@pytest.mark.parametrize(
    ("text", "closing"),
    [("{}", 1), ("{a{b}c}", 6), ("{", None), ("{{}", None), ("{(}", 2), ("}{}", None)],
)
def test_a_bracket_finds_what_closes_it(text: str, closing: int | None) -> None:
    """Other kinds of brackets don't count."""
    assert (BracketPairs(text).closing_of(0) if text[0] == "{" else None) == closing


@pytest.mark.parametrize(
    ("text", "is_shallow"),
    [("{a}", True), ("{{a}{b}}", True), ("{{{a}}}", True), ("{{{a}}{b}}", False), ("{{{{a}}}}", False)],
)
def test_a_subscript_sees_two_levels_of_one_height(text: str, is_shallow: bool) -> None:
    """Org's pattern matches nothing nested, or pairs of the same height, up to two."""
    assert (BracketPairs(text).shallow_closing(0) is not None) == is_shallow
