"""Tags come from whole words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.log.auto_tags import named_topics


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("Trust the build", ()),
        ("The category of an algorithm", ()),
        ("Go to the next one", ()),
        ("A good author reacts to capital letters", ()),
        ("OAuth redirect URI must match exactly", ("auth",)),
        ("rust: cargo needs a manifest", ("rust",)),
        ("Golang channels", ("go",)),
        ("POSTGRES_URL and jsonb", ("postgres",)),
        ("parseJwtToken fails", ("auth",)),
        ("Redis, then redis", ("redis",)),
        ("pytest fixtures in git worktrees", ("testing", "git")),
        ("Dates in UTC", ("time",)),
        ("", ()),
        ("日本語 pytest", ("testing",)),
    ],
)
def test_a_topic_is_named_by_a_whole_word(text: str, tags: tuple[str, ...]) -> None:
    """Case and identifiers don't matter; parts of words do not count."""
    assert tags == named_topics(text)


@given(st.text(st.characters()))
def test_any_text_has_each_topic_once(text: str) -> None:
    """Half characters included."""
    found = named_topics(text)
    assert len(found) == len(set(found))
