"""What is worth a second look, and what it is about."""

import pytest

from roamkb.pipeline.extract.attention import ATTENTION
from roamkb.pipeline.extract.attention import DURABLE_CATEGORIES
from roamkb.pipeline.extract.attention import attention_to
from roamkb.pipeline.extract.attention import category_of
from roamkb.pipeline.extract.attention import neglect_reason


@pytest.mark.parametrize("type", ["tool_use", "error", "message", "prompt", "summary"])
def test_what_merely_happens_is_nothing(type: str) -> None:
    """The volume of a session is its tool calls."""
    assert attention_to(type).filter == ""


@pytest.mark.parametrize(
    ("type", "filter", "becomes"),
    [
        ("insight", "insight", "learned"),
        ("LEARNED:", "insight", "learned"),
        ("decision", "decision", "decision"),
        ("discovery", "discovery", "fact"),
        ("bug_fix", "discovery", "learned"),
        ("preference", "insight", "pattern"),
        ("a word of one's own", "insight", "a-word-of-one-s-own"),
    ],
)
def test_a_type_says_what_an_observation_is(type: str, filter: str, becomes: str) -> None:
    """Also where nobody has heard of it."""
    assert (attention_to(type).filter, attention_to(type).type) == (filter, becomes)


@pytest.mark.parametrize(
    ("text", "type", "category"),
    [
        ("The prefix of each key is the tenant", "learned", "pattern"),
        ("The author is shown beside the title", "learned", "insight"),
        ("The login token expires early", "learned", "security"),
        ("The query is slow without that index", "learned", "performance"),
        ("It crashes and corrupts the file", "learned", "bug_fix"),
        ("Say hello to Bob", "gotcha", "bug_fix"),
        ("Say hello to Bob", "must-check", "pattern"),
        ("Say hello to Bob", "deviation", "decision"),
        ("Say hello to Bob", "learned", "insight"),
        ("The login token expires early", "decision", "decision"),
    ],
)
def test_words_say_what_a_statement_is_about_where_its_type_does_not(text: str, type: str, category: str) -> None:
    """By whole words: "prefix" fixes nothing and an author is no authentication."""
    assert category_of(text, type) == category


def test_categories_of_types_are_known_or_durable() -> None:
    """A typing error would make a type ephemeral for good."""
    for one in ATTENTION.values():
        assert {one.category, one.fallback_category} <= {"", *DURABLE_CATEGORIES}


@pytest.mark.parametrize(
    "text",
    [
        "it broke",
        "x" * 2001 + " and more words",
        "The key is [GitHub token] and it works",
        "The database password is Tr0ub4dor&3 for staging",
    ],
)
def test_some_texts_are_not_worth_it(text: str) -> None:
    """Too little, too much, or a secret."""
    assert neglect_reason(text)


@pytest.mark.parametrize(
    "text",
    [
        "OAuth redirect URI must match exactly",
        "数据库连接池必须在每次测试之后关闭",
        "Tests pass only with TZ=UTC",
        "If the redirect URI has no trailing slash, auth fails silently",
        "I/O errors surface as EIO on the mount",
        "x" * 50 + " is the longest name that Kubernetes takes",
    ],
)
def test_others_are(text: str) -> None:
    """Whatever they begin with."""
    assert neglect_reason(text) == ""
