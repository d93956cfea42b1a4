"""One tokeniser for notes, queries and comparisons."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text import tokenize
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import text_terms
from roamkb.text.tokenize import words_beside_unspaced


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
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("தமிழ்நாடு", ["தமிழ்நாடு"]),
        ("বাংলা", ["বাংলা"]),
        ("తెలుగు", ["తెలుగు"]),
        ("क्\u200dष", ["क्ष"]),
        ("كَتَبَ ـكتب", ["كتب", "كتب"]),
        ("שָׁלוֹם", ["שלום"]),
        ("می\u200cخواهم", ["می", "خواهم"]),
        ("cafe\u0301s", ["cafe"]),
        ("\u2764\ufe0f 1\ufe0f\u20e3 \u0301", ["1"]),
        ("မြန်", ["မြ", "ြန", "န်"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("", []),
        ("--- !!", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    """Folded stems, identifiers whole and in parts, letter pairs where there are no blanks."""
    assert expected == text_terms(text)


def test_no_vowel_sign_ends_a_word() -> None:
    """Of all that Unicode knows between the accents and the Brahmi scripts, but for symbols and selectors."""
    symbols = {*range(0x180B, 0x1810), *range(0x20D0, 0x2100), *range(0xFE00, 0xFE10), *range(0x302A, 0x3030)}
    for code in {*range(0x300, 0x11400)} - symbols:
        mark = chr(code)
        if unicodedata.category(mark) in ("Mn", "Mc") and not UNSPACED.match(mark):
            assert [f"क{mark}क"] == list(split_words(f"क{mark}क")), hex(code)


@given(st.text(max_size=200))
def test_case_changes_no_plain_word(text: str) -> None:
    """Terms never raise, and a lower-case word is found by its upper-case form."""
    for term in text_terms(text):
        assert term


def test_a_word_is_found_in_either_case() -> None:
    """OAuth in a title meets oauth in a query."""
    assert "oauth" in text_terms("OAuth")
    assert ["oauth"] == text_terms("oauth")


def test_a_blob_costs_no_more_than_a_word() -> None:
    """A line of an encoded file is a word without a stem and with few parts: quadratic work would take a minute."""
    assert "ab" * 60_000 == text_terms("ab" * 60_000)[0]
    assert 65 == len(text_terms("aB" * 60_000))
    assert ["running" * 10] == text_terms("running" * 10)
    assert "internationalisation" != text_terms("internationalisation")[0]


def test_plain_text_has_the_same_words_by_the_short_pattern() -> None:
    """Each character that passes for plain, between two letters, is read as by the full pattern."""
    plain = [char for char in map(chr, range(0x20000)) if tokenize._PLAIN_TEXT.fullmatch(char)]
    text = " ".join(f"a{char}b" for char in plain)
    assert tokenize._PLAIN_WORD.findall(text) == tokenize._WORD.findall(text)
    assert len(plain) > 5_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("はDockerを v2 で", ["Docker"]),
        ("ปีcafe\u0301", ["cafe\u0301"]),
        ("2024年 Python で", ["2024"]),
        ("plain words", []),
        ("Ünï çödé", []),
    ],
)
def test_words_beside_unspaced_letters(text: str, expected: list[str]) -> None:
    """On either side, each once; no blank may lie between."""
    assert expected == words_beside_unspaced(text)
