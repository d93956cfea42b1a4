"""Slugs are org-roam's, so that our file names look like the human's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.org.slug import slug


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("OAuth redirect URIs must match exactly", "oauth_redirect_uris_must_match_exactly"),
        ("  C++ & Go: 2 ways!  ", "c_go_2_ways"),
        ("Ünïcödé Straße", "unicode_straße"),
        ("Łódź", "łodz"),
        ("日本語 メモ", "日本語_メモ"),
        ("Привет, мир", "привет_мир"),
        ("a_b__c", "a_b_c"),
        ("!!!", ""),
        ("", ""),
    ],
)
def test_a_title_becomes_org_roams_slug(title: str, expected: str) -> None:
    """Letters of any script stay, Latin accents go, everything else is one underscore."""
    assert slug(title) == expected


@given(st.text())
def test_a_slug_is_one_word(title: str) -> None:
    """No slug holds a blank or a slash, begins or ends with an underscore, or holds two in a row."""
    made = slug(title)
    assert not set(made) & set(" /\\\n\t.")
    assert made == made.strip("_")
    assert "__" not in made
