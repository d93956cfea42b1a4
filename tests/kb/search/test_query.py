"""A query is words, phrases and filters, and never a syntax error."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.errors import UsageError
from roamkb.kb.search.query import Query
from roamkb.kb.search.query import narrow_query
from roamkb.kb.search.query import parse_day
from roamkb.kb.search.query import parse_query

TODAY = date(2026, 6, 10)


def parsed(text: str) -> Query:
    """Parse on a fixed day."""
    return parse_query(text, today=TODAY)


def test_words_become_terms_and_stop_words_go() -> None:
    """What carries no topic is dropped, what does is kept in order, repeats too."""
    assert ("redirect", "oauth", "oauth") == parsed("how do the redirects of oauth and OAUTH").terms[:3]


def test_stop_words_stay_where_nothing_else_is_left() -> None:
    """A query of stop words still asks for something."""
    assert ("to", "be", "or", "not", "to", "be") == parsed("to be or not to be").terms or parsed("to be").terms


def test_the_whole_language() -> None:
    """Each kind of piece lands where it belongs."""
    query = parsed('token "exact phrase" -old -"stale copy" tag:oauth -tag:x is:agent before:2026-06 after:7d id:ab')
    assert ("token",) == query.terms
    assert ("exact phrase",) == query.phrases
    assert ("old", "stale copy") == query.without
    assert ("oauth",) == query.tags
    assert ("x",) == query.without_tags
    assert query.by_agent is True
    assert ("2026-06-01", "2026-06-03") == (query.before, query.since)
    assert ("ab",) == query.ids


def test_is_human_and_its_opposite() -> None:
    """Both ways of asking for the human's notes."""
    assert parsed("is:human").by_agent is False
    assert parsed("-is:agent").by_agent is False


@pytest.mark.parametrize("text", ["https://example.org", "std::move", "tag:", "is:robot", "before:soon", '"', '"open'])
def test_what_is_no_filter_is_a_word(text: str) -> None:
    """Colons and quotes that mean nothing to us are text."""
    query = parsed(text)
    assert not (query.tags or query.ids or query.before or query.phrases)
    assert query.by_agent is None


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("-l git", "-l is no option here, and was searched for as a word"),
        ("tag: git", "tag: has no value, and was searched for as a word"),
        ("git tags:guitar", "tags:guitar is no filter, and was searched for as words; tag: is one"),
    ],
)
def test_what_may_be_meant_otherwise_is_hinted_at(text: str, hint: str) -> None:
    """It is searched for all the same."""
    assert (hint,) == parsed(text).hints
    assert "git" in parsed(text).words


@pytest.mark.parametrize("text", ["grep -l git", "https://example.org", "std::move", "error: no such file", "foo:bar"])
def test_other_colons_and_options_are_text(text: str) -> None:
    """Agents paste messages and commands."""
    assert ((), ()) == (parsed(text).hints, parsed(text).slips)


@pytest.mark.parametrize("text", ["before:2026-13", "zebra after:2026-02-30", "since:9999y"])
def test_a_day_that_no_calendar_has_is_a_slip(text: str) -> None:
    """As it is behind the option; as a word it would find what nobody asked for."""
    with pytest.raises(UsageError, match="is no day"):
        parsed(text)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026", "2026-01-01"),
        ("2026-06", "2026-06-01"),
        ("2026-6-1", "2026-06-01"),
        ("2026-06-10", "2026-06-10"),
        ("today", "2026-06-10"),
        ("yesterday", "2026-06-09"),
        ("7d", "2026-06-03"),
        ("2w", "2026-05-27"),
        ("2026-13", None),
        ("9999y", None),
        ("", None),
        ("last week", None),
    ],
)
def test_days(text: str, day: str | None) -> None:
    """Days as people write them; what isn't one is None."""
    assert day == parse_day(text, today=TODAY)


def test_options_narrow_a_query() -> None:
    """Filters of the command line are added to those of the text."""
    query = narrow_query(parsed("a tag:x"), tags=("y",), by_agent=True, since="2026-01-01")
    assert (("x", "y"), True, "2026-01-01") == (query.tags, query.by_agent, query.since)


@given(st.text(max_size=300))
def test_no_text_is_a_syntax_error(text: str) -> None:
    """Every text parses, and keeps itself."""
    assert text == parsed(text).text


@pytest.mark.parametrize("one", ["tag:t", "-tag:t", "-word", '-"a b"'])
def test_more_filters_than_anybody_writes_are_an_error(one: str) -> None:
    """Not a failure of the index; options count, too."""
    parse_query(" ".join([one] * 64), today=TODAY)
    with pytest.raises(UsageError, match="too many"):
        parse_query(" ".join([one] * 65), today=TODAY)
    with pytest.raises(UsageError, match="too many"):
        narrow_query(parse_query("tag:t", today=TODAY), tags=("t",) * 64)


@pytest.mark.parametrize("text", ["grep -iF", "set -e", "tar -xz files"])
def test_an_option_of_a_command_excludes_nothing(text: str) -> None:
    """What agents ask for holds commands; `grep -iF` once excluded all that it asked for."""
    assert () == parsed(text).without
    assert ("draft",) == parsed(f"{text} -draft").without


@pytest.mark.parametrize("text", ["w1 " * 40_000, "abcd " * 1638 + "abcdefg " * 9, "縞" * 60_000, " " * 9000 + "late"])
def test_a_query_of_any_length_asks_for_what_its_beginning_asks_for(text: str) -> None:
    """Nothing of a pasted document is read after some thousand letters, and no word is cut in half."""
    query = parsed(text)
    assert len(query.text) <= 8192
    assert set(query.words) <= {"w1", "abcd", "abcdefg", "縞" * 8192}
    assert (not query.words) == (not text[:8192].strip())
