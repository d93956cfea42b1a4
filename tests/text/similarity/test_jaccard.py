"""Alike, the same, or another claim in nearly the same words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.similarity.jaccard import TextLikeness
from roamkb.text.similarity.jaccard import normal_words
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.jaccard import text_likeness
from roamkb.text.similarity.jaccard import text_similarity
from roamkb.text.store.lexicons import lexicon


@pytest.mark.parametrize(
    ("one", "other", "how"),
    [
        ("OAuth redirect URI must match", "oauth redirect uri must match!", TextLikeness.SAME),
        (
            "OAuth redirect URIs must match exactly",
            "OAuth redirect URI must match exactly",
            TextLikeness.SIMILAR,
        ),
        (
            "Enable the cache for static files",
            "Disable the cache for static files",
            TextLikeness.MAY_CONTRADICT,
        ),
        ("The timeout is 30 seconds here", "The timeout is 300 seconds here", TextLikeness.MAY_CONTRADICT),
        ("The build needs the network", "The build doesn't need the network", TextLikeness.MAY_CONTRADICT),
        ("Retries are safe", "Retries are not safe", TextLikeness.MAY_CONTRADICT),
        ("Deploy on Fridays", "Never deploy on Fridays", TextLikeness.MAY_CONTRADICT),
        ("Die Tests sind langsam", "Die Tests sind nicht langsam", TextLikeness.MAY_CONTRADICT),
        ("Never deploy on Fridays", "Do not deploy on Fridays", TextLikeness.DIFFERENT),
        ("Nothing", "No", TextLikeness.DIFFERENT),
        (
            "Ask `alice_team` about the deploy key",
            "Ask `bob_team` about the deploy key",
            TextLikeness.MAY_CONTRADICT,
        ),
        ("Ask Alice about the deploy keys", "Ask Robert about the deploy keys", TextLikeness.MAY_CONTRADICT),
        (
            "Set FOO_BAR before starting the server",
            "Set BAZ_QUX before starting the server",
            TextLikeness.MAY_CONTRADICT,
        ),
        # words alone would call these the same
        ("The API is in C", "The API is in C++", TextLikeness.MAY_CONTRADICT),
        ("It fails if x < y", "It fails if x > y", TextLikeness.MAY_CONTRADICT),
        ("Don't run it as root", "do not run it as root", TextLikeness.SAME),
        (
            "All our sessions live in postgres now",
            "All our sessions live in mysql now",
            TextLikeness.MAY_CONTRADICT,
        ),
        ("Start redis before celery", "Start celery before redis", TextLikeness.MAY_CONTRADICT),
        ("Postgres needs a vacuum", "Redirects must match", TextLikeness.DIFFERENT),
        ("日本語の文章です", "日本語の文章です。", TextLikeness.SAME),
        ("🎉", "✅", TextLikeness.DIFFERENT),
        ("!!!", "???", TextLikeness.DIFFERENT),
        ("🎉", "", TextLikeness.DIFFERENT),
        ("🎉 ", " 🎉", TextLikeness.SAME),
        ("🎉 done", "✅ done", TextLikeness.SAME),
    ],
)
def test_likeness(one: str, other: str, how: TextLikeness) -> None:
    """What differs in a number, a negation, an opposite or a name is never the same."""
    assert how is text_likeness(prepare_text(one), prepare_text(other), limit=0.6)


def test_the_limit_is_inclusive() -> None:
    """Exactly the limit counts."""
    one, other = prepare_text("alpha beta gamma delta"), prepare_text("alpha beta gamma epsilon")
    exactly = text_similarity(one, other)
    assert TextLikeness.DIFFERENT is not text_likeness(one, other, limit=exactly)
    assert TextLikeness.DIFFERENT is text_likeness(one, other, limit=exactly + 1e-9)


@given(st.text(max_size=80), st.text(max_size=80))
def test_likeness_is_symmetric(one: str, other: str) -> None:
    """Neither text is the first."""
    assert text_likeness(prepare_text(one), prepare_text(other), limit=0.5) is text_likeness(
        prepare_text(other), prepare_text(one), limit=0.5
    )


@given(st.text(max_size=80))
def test_a_text_is_the_same_as_itself(text: str) -> None:
    """Similarity is reflexive."""
    assert TextLikeness.SAME is text_likeness(prepare_text(text), prepare_text(text), limit=0.85)


@given(st.text(st.characters(), max_size=30) | st.text("don't cannot is n't WON’T 's é x=1", max_size=30))
def test_the_normal_form_alone_is_that_of_the_whole_shape(text: str) -> None:
    """For who needs no more of it."""
    assert prepare_text(text).normal == normal_words(text)


def test_a_number_with_an_umlaut_is_a_number() -> None:
    """Few words and other numbers: one of the two may be wrong, in whatever language it counts."""
    assert text_likeness(prepare_text("Warte fünf Tage"), prepare_text("Warte zwölf Tage"), limit=0.85) is (
        TextLikeness.MAY_CONTRADICT
    )


@pytest.mark.parametrize("apostrophe", ["'", "’", ""])
@pytest.mark.parametrize("words", [line.split() for line in lexicon("contractions")])
def test_every_contraction_is_spelt_out(words: list[str], apostrophe: str) -> None:
    """In capitals, too; what only ends like one stays."""
    begin, end, *meaning = words
    contracted = begin + end.replace("'", apostrophe)
    expected = f"the agent {(meaning or [begin])[0]} not wait"
    assert expected == prepare_text(f"The agent {contracted} wait").normal
    assert expected == prepare_text(f"The agent {contracted} wait".upper()).normal
