"""The lines of a note that are shown for a query."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.kb.search.index.snippets import SnippetView
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import terms_of

_WORDS = ("redis", "maxBytes", "max_bytes", "evicted", "Straße", "way", "v2", "flag", "a", "日本語", "redisson", "É")


def _terms_in(view: SnippetView, line: str) -> frozenset[str]:
    """Return the query's terms that a line holds, by a look at each of its words."""
    return view._query_terms.intersection(term for word in split_words(line) for term in terms_of(word))


@given(
    query=st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4),
    lines=st.lists(
        st.lists(
            st.sampled_from(
                (*_WORDS, "xredis", "redis-cli", "a_redis", "(bytes)", "\t", "evictedredis", "—", "WAY", "--flag")
            )
        ).map(" ".join),
        max_size=5,
    ),
)
def test_a_line_is_worth_what_its_words_are(query: list[str], lines: list[str]) -> None:
    """Only likely words are looked at, and no word with a term is passed over, in whichever line."""
    terms = {term for word in query for term in terms_of(word)}
    view = SnippetView(sqlite3.connect(":memory:"), words=query, phrases=(), weights=dict.fromkeys(terms, 2.0))
    spelt = {word.lower() for word in query}
    expected = {
        place: 2.1 * len(held) + (0.05 if spelt & {word.lower() for word in split_words(line)} else 0)
        for place, line in enumerate(lines)
        if (held := _terms_in(view, line))
    }
    assert pytest.approx(expected) == dict(view._rate_lines(lines))


@given(st.permutations([f"word{n}" for n in range(24)]))
def test_lines_with_the_same_words_are_worth_the_same(words: list[str]) -> None:
    """In whatever order a set has them: each process would show another line first."""
    weights = {f"word{n}": 0.1 + n / 7 for n in range(24)}
    view = SnippetView(sqlite3.connect(":memory:"), words=words, phrases=(), weights=weights)
    (_, first), (_, second) = view._rate_lines([" ".join(sorted(words)), " ".join(words)])
    assert first == second
