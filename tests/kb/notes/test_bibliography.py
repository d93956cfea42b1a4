"""Works as BibTeX files have them."""

import pytest

from roamkb.kb.notes.bibliography import BibEntry
from roamkb.kb.notes.bibliography import read_entries

_LIBRARY = r"""
@string{acm = {ACM}}
@article{knuth84, title = {{Literate} Programming in {\"O}sterreich \& elsewhere},
  author = "Knuth, Donald~E. and M{\"u}ller, J.", journal = acm, year = 1984}
@book{broken, title = {
@Book{lisp, Title = acm, editor = {Steele, Guy}, date = {1990-05-01}}
@misc{lisp, title = {Another of that key}}
@misc{bare}
"""


def test_an_entry_is_read_as_text() -> None:
    """Without TeX's braces and accents; a malformed one is left out, and of equal keys the first counts."""
    knuth = BibEntry(
        key="knuth84",
        title="Literate Programming in Österreich & elsewhere",
        author="Knuth, Donald E. and Müller, J.",
        year="1984",
    )
    lisp = BibEntry(key="lisp", title="ACM", author="Steele, Guy", year="1990")
    bare = BibEntry(key="bare", title="", author="", year="")
    assert {"knuth84": knuth, "lisp": lisp, "bare": bare} == read_entries(
        _LIBRARY, ["knuth84", "lisp", "bare", "broken", "none"]
    )


@pytest.mark.parametrize(
    "text",
    [
        "@a{" * 2_000,
        "{" * 20_000,
        '@a{k, t="' * 2_000,
        "@string{k=k}@a{k,title=k}",
        "@a{k,title={" + r"\sqrt[" * 300 + "}}",
        r"@a{k,title={\input \verb \begin{x} $ \input{/etc/passwd}}}",
        "@a{k,title={" + "{" * 900 + "x" + "}" * 900 + "}}",
        "@a{k,title={" + "word " * 90_000 + "}}",
        "\0@a{k,title={\0}}",
        "",
    ],
)
def test_no_text_is_too_odd(text: str) -> None:
    """It never raises, reads no other file, and a title stays short."""
    assert all(len(entry.title) <= 2_000 and "root:" not in entry.title for entry in read_entries(text, ["k"]).values())
