"""Text fit to be shown."""

import pytest

from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import fold_text
from roamkb.core.text import one_line
from roamkb.core.text import strip_hidden


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("\x1b[31mred\x07", "[31mred"),
        ("a\u202eb\u2066c", "abc"),
        ("a\u200bb\ufeff", "ab"),
        ("tag\U000e0041s", "tags"),
        ("half \ud83d pair", "half  pair"),
        ("lone joiner \u200d here", "lone joiner  here"),
    ],
)
def test_characters_that_act_are_removed(dirty: str, clean: str) -> None:
    """Controls, bidi, zero-width and tag characters and lone surrogates vanish."""
    assert clean == strip_hidden(dirty)


@pytest.mark.parametrize("text", ["café — naïve “quotes” … €5", "日本語", "👩‍👩‍👧", "می‌خواهم", "a\tb\nc"])
def test_ordinary_unicode_survives(text: str) -> None:
    """Accents, dashes, CJK, joined emoji and Persian stay as they are."""
    assert text == strip_hidden(text)


def test_shown_is_one_line() -> None:
    """White space of every kind becomes one blank."""
    assert "a b c" == one_line(" a\n\tb\u00a0 c ")


def test_clipped_shows_the_cut() -> None:
    """What is cut ends in an ellipsis and fits the width."""
    assert "abc…" == clip_text("abcdef", 4)
    assert "abcd" == clip_text("abcd", 4)


def test_folded_drops_case_and_accents() -> None:
    """Words meet whatever their case and accents."""
    assert fold_text("Écolë STRASSE") == fold_text("ecole straße")


def test_one_is_no_plural() -> None:
    """Whatever letters make the plural."""
    assert ["1 line", "0 lines", "2 lines"] == [count_phrase(n, "line") for n in (1, 0, 2)]
    assert "2 copies" == count_phrase(2, "copy", "copies")
