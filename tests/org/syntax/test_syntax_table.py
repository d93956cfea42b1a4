"""Words are what Emacs takes for words in an Org buffer."""

import pytest

from roamkb.org.syntax.syntax_table import is_alphanumeric
from roamkb.org.syntax.syntax_table import is_name
from roamkb.org.syntax.syntax_table import is_punctuation
from roamkb.org.syntax.syntax_table import is_word
from roamkb.org.syntax.syntax_table import is_word_start


@pytest.mark.parametrize(
    ("char", "expected"),
    [
        ("a", True),
        ("$", True),
        ("'", True),
        ("_", False),
        ("@", False),
        ("é", True),
        ("日", True),
        ("。", False),
    ],
)
def test_word_characters(char: str, expected: bool) -> None:
    """`$` and `'` are part of words, `_` is not."""
    assert is_word(char) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (" ", True),
        ("(", True),
        ("_", True),
        ("日", True),
        ("я", True),
        ("a", False),
        ("é", False),
        ("\u0301", False),
    ],
)
def test_a_latin_word_begins_behind_another_script(before: str, expected: bool) -> None:
    """So a URL glued to Japanese is a link, and one glued to Latin letters isn't."""
    assert is_word_start(before + "https", 1) == expected
    assert is_word_start("https", 0)


@pytest.mark.parametrize(
    ("char", "expected"),
    [("a", True), ("_", False), ("é", True), ("\u0301", True), ("²", False), ("😀", False)],
)
def test_tags_are_made_of_letters_marks_and_digits(char: str, expected: bool) -> None:
    """Superscripts and emoji aren't."""
    assert is_alphanumeric(char) == expected


def test_names_and_punctuation() -> None:
    """A label may hold words and dashes; a formula ends before a comma and not before a letter."""
    assert is_name("a-b_é")
    assert not is_name("a b")
    assert is_punctuation("、")
    assert not is_punctuation("x")
