"""The forms of a word, and what only shares its stem."""

import pytest

from roamkb.text.inflection import holds_form


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("backup", "The Backups run at night"),
        ("backups", "a backup, at night"),
        ("sequencing", "they sequence it"),
        ("stopped", "it stops; stop it"),
        ("stop", "it was stopping"),
        ("university", "two universities"),
        ("retry", "it retried"),
        ("resume", "the Résumé of it"),
        ("reply", "parseReply(x)"),
        ("reply", "parse_reply(x)"),
        ("reply", "HTTP_REPLY = 1"),
        ("class", "classes"),
        ("café", "das Café"),
    ],
)
def test_a_form_is_the_word(word: str, text: str) -> None:
    """In any case, with accents or without, and in an identifier."""
    assert holds_form(text, word)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("university", "a universal connector"),
        ("positional", "propositional logic; the position"),
        ("organic", "Computer Organization"),
        ("general", "generic"),
        ("class", "clas"),
        ("schemer", "Scheme -- язык программирования, на котором написано многое"),
        ("port", "support, portable, report"),
    ],
)
def test_what_shares_a_stem_or_letters_is_another(word: str, text: str) -> None:
    """Though Porter's rules cut both to the same."""
    assert not holds_form(text, word)
