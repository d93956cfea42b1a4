"""Which texts say no more than another."""

from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.similarity.containment import CoveringTexts
from roamkb.text.similarity.jaccard import prepare_text

BOOT = "Run `make check` before every commit; it formats, lints and runs the type checker."
WORDS = st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta never not eta".split()), max_size=9)


def known() -> CoveringTexts[str]:
    """One text, by name."""
    return CoveringTexts([("boot", prepare_text(BOOT))])


def test_a_part_is_covered_however_it_is_pressed() -> None:
    """Also in other forms of the words."""
    assert ["boot"] == list(known().find_covering(prepare_text("You must always run make check before each commit")))


def test_what_has_one_word_more_is_not() -> None:
    """The word may be what matters."""
    assert [] == list(known().find_covering(prepare_text("Run make check before every release commit")))


def test_what_denies_is_not() -> None:
    """One negation more, or less."""
    assert [] == list(known().find_covering(prepare_text("Never run make check before every commit")))


def test_very_few_words_are_in_any_text() -> None:
    """And say nothing."""
    assert [] == list(known().find_covering(prepare_text("run make check")))


def test_a_text_is_found_by_one_that_says_more() -> None:
    """The other way round."""
    texts = CoveringTexts([("short", prepare_text("The export worker loses its jobs"))])
    long = prepare_text("The export worker loses its jobs when it is killed by a deploy")
    assert ["short"] == list(texts.find_covered(long))
    assert [] == list(texts.find_covering(long))


@given(st.lists(WORDS, max_size=8), WORDS)
def test_the_index_finds_what_comparing_with_all_would(texts: list[list[str]], asked: list[str]) -> None:
    """Both ways."""
    many = CoveringTexts((n, prepare_text(" ".join(text))) for n, text in enumerate(texts))
    one = prepare_text(" ".join(asked))
    alone = [CoveringTexts([(n, prepare_text(" ".join(text)))]) for n, text in enumerate(texts)]
    assert list(many.find_covering(one)) == [n for single in alone for n in single.find_covering(one)]
    assert list(many.find_covered(one)) == [n for single in alone for n in single.find_covered(one)]
    for n in many.find_covering(one):
        assert n in list(CoveringTexts([(n, one)]).find_covered(prepare_text(" ".join(texts[n]))))
