"""Text fit to be shown."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        ("vari\U000e0101a\U000e01eftion\ufe00s", "variations"),
        ("so\u00adft gra\u034fpheme", "soft grapheme"),
        ("fillers\u115f\u1160\u3164\uffa0", "fillers"),
        ("reserved\U000e0080\U000e0fff\ufff0\u2065", "reserved"),
        ("khmer\u17b4 mongol\u180b\u180e music\U0001d173 shorthand\U0001bca0", "khmer mongol music shorthand"),
        # as many bits as one likes between two letters, or behind an emoji
        ("a\u200d\u200cb می\u200c\u200d\u200cخ", "ab میخ"),
        ("❤\ufe0f\ufe0e\ufe0f 1\ufe0f2\ufe0e ا\ufe0f", "❤\ufe0f 12 ا"),
        ("😀\u200c😀 😀\u200dx", "😀😀 😀x"),
    ],
)
def test_characters_that_act_are_removed(dirty: str, clean: str) -> None:
    """Controls, bidi, zero-width and tag characters and lone surrogates vanish."""
    assert clean == strip_hidden(dirty)


@pytest.mark.parametrize(
    "text",
    [
        "café — naïve “quotes” … €5",
        "日本語 한국어",
        "👩‍👩‍👧 ❤️‍🔥 🏳️‍🌈 ⛹🏽‍♀️ 👁️‍🗨️ 1️⃣ #️⃣ ☺︎ ⚠️",
        "می‌خواهم क्‍ष නව ශ්‍රී ලංකා",
        "a\tb\nc",
    ],
)
def test_ordinary_unicode_survives(text: str) -> None:
    """Accents, dashes, CJK, joined and coloured emoji, keycaps, Persian, Hindi and Sinhala stay as they are."""
    assert text == strip_hidden(text)


#: Of each range of Default_Ignorable_Code_Point its ends, and what stands beside it.
_ENDS = [
    int(number, 16)
    for numbers in (
        "AD 34F 61C 115F 1160 17B4 17B5 180B 180F 200B 200F 202A 202E 2060 206F 3164 FE00 FE0F FEFF FFA0 FFF0 FFF8",
        "1BCA0 1BCA3 1D173 1D17A E0000 E0FFF",
    )
    for number in numbers.split()
]
_INVISIBLE = {chr(code) for code in _ENDS} | set("\u200c\u200d\ufe0e\U000e0020\U000e0100\U000e01ef\u202e\u180e")
_SPELLED_WITH_JOINERS = re.compile("ARABIC|DEVANAGARI|SINHALA")


@given(st.text(st.sampled_from(sorted(_INVISIBLE)) | st.sampled_from("a1# \n日한میक्ෂශ😀❤👩⃣🏽"), max_size=30))
def test_what_stays_invisible_is_spelling(text: str) -> None:
    """All that is visible stays, in its order; of the rest one character, and only where it makes a difference."""
    stripped = strip_hidden(text)
    assert stripped == strip_hidden(stripped)
    assert [letter for letter in text if letter not in _INVISIBLE] == [
        letter for letter in stripped if letter not in _INVISIBLE
    ]
    for before, letter, after in zip(f" {stripped}", stripped, f"{stripped[1:]} ", strict=False):
        if letter in "\ufe0e\ufe0f":
            assert before in "😀❤👩🏽" or (before in "1#" and after == "\u20e3")
        elif letter in "\u200c\u200d":
            names = unicodedata.name(before, ""), unicodedata.name(after, "")
            joins_letters = all(map(_SPELLED_WITH_JOINERS.match, names))
            assert joins_letters or (before in "😀❤👩🏽\ufe0f" and after in "😀❤👩🏽" and letter == "\u200d")
        else:
            assert letter not in _INVISIBLE


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
