"""ROAM_ALIASES and ROAM_REFS are split as Lisp splits them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.org.syntax.property_values import UnbalancedQuote
from roamkb.org.syntax.property_values import split_quoted


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", []),
        ("a  b\tc", ["a", "b", "c"]),
        ('"two words" x', ["two words", "x"]),
        ('a"b c"d', ["a", "b c", "d"]),
        ('"" x', ["", "x"]),
        (r'"a\"b" "c\\d"', ['a"b', "c\\d"]),
        (r'"\n\t\e\s\d"', ["\n\t\x1b \x7f"]),
        (r'"\101\x42\u00e9\U0001F600"', ["AB\u00e9\U0001f600"]),
        (r'"8\58"', ["8\x058"]),
        (r'"\x"', ["\0"]),
        (r'"\377\xe9"', ["\ufffd\ufffd"]),
        (r'"\ud800"', ["\ufffd"]),
        (r'"\^A\C-b\C-?\S-c"', ["\x01\x02\x7fC"]),
        (r'"\q\z\ x"', ["qzx"]),
        ("a\xa0b\u3000c\u200bd", ["a", "b", "c", "d"]),
        ("a\x85b", ["a\x85b"]),
    ],
)
def test_a_value_is_split_at_blanks_and_quotes(value: str, expected: list[str]) -> None:
    """What Emacs reads as a Lisp string is one word, its escapes resolved."""
    assert split_quoted(value) == expected


@pytest.mark.parametrize("value", ['"', 'a "b', r'"a\"', r'"\u12"', r'"\M"', r'"\C-%"', r'"\U00110000"', '"\\'])
def test_what_lisp_cannot_read_is_said_so(value: str) -> None:
    """org-roam drops the whole file for it."""
    with pytest.raises(UnbalancedQuote):
        split_quoted(value)


@given(st.text())
def test_splitting_ends(value: str) -> None:
    """Any text is split or refused, and nothing else."""
    try:
        assert all(isinstance(word, str) for word in split_quoted(value))
    except UnbalancedQuote:
        assert '"' in value
