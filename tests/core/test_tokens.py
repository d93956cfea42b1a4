"""One tokeniser for notes, queries and comparisons."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.tokens import terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Redirects redirecting", ["redirect", "redirect"]),
        ("Café", ["cafe"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("parse_http_header", ["parse_http_header", "pars", "http", "header"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("O_TMPFILE", ["o_tmpfile", "o", "tmpfile"]),
        ("utf8", ["utf8", "utf", "8"]),
        ("日本語", ["日本", "本語"]),
        ("字", ["字"]),
        ("PythonでXを", ["python", "で", "x", "を"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("", []),
        ("--- !!", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    """Folded stems, identifiers whole and in parts, letter pairs where there are no blanks."""
    assert expected == terms(text)


@given(st.text(max_size=200))
def test_case_changes_no_plain_word(text: str) -> None:
    """Terms never raise, and a lower-case word is found by its upper-case form."""
    for term in terms(text):
        assert term


def test_a_word_is_found_in_either_case() -> None:
    """OAuth in a title meets oauth in a query."""
    assert "oauth" in terms("OAuth")
    assert ["oauth"] == terms("oauth")


def test_a_blob_costs_no_more_than_a_word() -> None:
    """A line of an encoded file is a word without a stem and with few parts: quadratic work would take a minute."""
    assert "ab" * 60_000 == terms("ab" * 60_000)[0]
    assert 65 == len(terms("aB" * 60_000))
    assert ["running" * 10] == terms("running" * 10)
    assert "internationalisation" != terms("internationalisation")[0]
