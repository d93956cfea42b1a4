"""Which texts say no more than another."""

from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.similarity.containment import CoveringTexts
from roamkb.text.similarity.jaccard import shape

BOOT = "Run `make check` before every commit; it formats, lints and runs the type checker."
WORDS = st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta never not eta".split()), max_size=9)


def known() -> CoveringTexts[str]:
    """One text, by name."""
    return CoveringTexts([("boot", shape(BOOT))])


def test_a_part_is_covered_however_it_is_pressed() -> None:
    """Also in other forms of the words."""
    assert ["boot"] == list(known().of(shape("You must always run make check before each commit")))


def test_what_has_one_word_more_is_not() -> None:
    """The word may be what matters."""
    assert [] == list(known().of(shape("Run make check before every release commit")))


def test_what_denies_is_not() -> None:
    """One negation more, or less."""
    assert [] == list(known().of(shape("Never run make check before every commit")))


def test_very_few_words_are_in_any_text() -> None:
    """And say nothing."""
    assert [] == list(known().of(shape("run make check")))


def test_a_text_is_found_by_one_that_says_more() -> None:
    """The other way round."""
    texts = CoveringTexts([("short", shape("The export worker loses its jobs"))])
    long = shape("The export worker loses its jobs when it is killed by a deploy")
    assert ["short"] == list(texts.within(long))
    assert [] == list(texts.of(long))


@given(st.lists(WORDS, max_size=8), WORDS)
def test_the_index_finds_what_comparing_with_all_would(texts: list[list[str]], asked: list[str]) -> None:
    """Both ways."""
    many = CoveringTexts((n, shape(" ".join(text))) for n, text in enumerate(texts))
    one = shape(" ".join(asked))
    alone = [CoveringTexts([(n, shape(" ".join(text)))]) for n, text in enumerate(texts)]
    assert list(many.of(one)) == [n for single in alone for n in single.of(one)]
    assert list(many.within(one)) == [n for single in alone for n in single.within(one)]
    for n in many.of(one):
        assert n in list(CoveringTexts([(n, one)]).within(shape(" ".join(texts[n]))))
