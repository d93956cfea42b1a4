"""Which texts are found by groups of letters, and what those are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.language import is_english
from roamkb.text.language import letter_groups
from roamkb.text.language import unspaced_groups
from roamkb.text.tokenize import split_words


@pytest.mark.parametrize(
    "text",
    [
        "OAuth redirect URIs must match exactly",
        "nginx 502 upstream timeout",
        "the café's naïve façade is a cliché for us",
        "def main(argv): return 0",
        "日本語の文",
        "",
    ],
)
def test_english_and_what_tells_nothing(text: str) -> None:
    """English sentences, code, bare nouns and unspaced scripts need no groups."""
    assert is_english(split_words(text))


@pytest.mark.parametrize(
    "text",
    [
        "Die Verteidigung gab nur 308 Punkte ab und belegte den sechsten Platz",
        "Защита уступила всего 308 очков",
        "La defensa cedió por el camino y los puntos",
        "η άμυνα έδωσε μόνο 308 πόντους",
        "Le serveur est en panne pour une heure",
        "In anderen Staaten waren Schlangen an Tankstellen alltäglich",
        "So was am Abend, seit den 90er Jahren",
    ],
)
def test_other_languages(text: str) -> None:
    """Their small words or their letters tell."""
    assert not is_english(split_words(text))


def test_groups_know_where_a_word_begins_and_ends() -> None:
    """The marks keep `haus` in Hausrat apart from `haus` in Krankenhaus."""
    assert ["0hau9", "haus9", "aus09"] == letter_groups("Haus")
    assert ["0a09"] == letter_groups("a")


def test_unspaced_letters_and_pairs_are_numbers() -> None:
    """SQLite's tokenizer would drop the vowel signs of Thai."""
    assert ["26085x26412", "x26085", "x26412"] == unspaced_groups("日本")


@given(st.text(min_size=1, max_size=30))
def test_groups_are_plain_words_to_sqlite(text: str) -> None:
    """Each has something in it, and no blank or quote."""
    for word in split_words(text):
        assert all(group and '"' not in group and " " not in group for group in letter_groups(word))
