"""What says the same among many texts, found as if each had been compared with each."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.similarity.duplicates import DUPLICATE_LIKENESSES
from roamkb.text.similarity.duplicates import DuplicateTexts
from roamkb.text.similarity.duplicates import duplicate_groups
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.jaccard import text_likeness

#: Forms, slips, synonyms, compounds, small words, opposites, numbers, names, and what isn't parted by blanks.
_WORDS = (
    "the a cache caches cahce of file name filename filenames set up setup check verify verifies not never "
    "enable disable 30 300 1 one two proxy prxy Anna Anne configured configure -r -R `a` into in to data base "
    "database databases it's don't do don't needing need must c++ c 設定を読む 設定 🎉 before prior reads reading"
).split()
_SENTENCES = st.lists(st.sampled_from(_WORDS), max_size=9).map(" ".join)


@st.composite
def _likely(draw: st.DrawFn) -> list[str]:
    """Texts of which each is an earlier one with a word or two changed, left out or added."""
    texts = [draw(_SENTENCES)]
    for _ in range(draw(st.integers(1, 8))):
        words = draw(st.sampled_from(texts)).split(" ")
        for _ in range(draw(st.integers(0, 2))):
            place = draw(st.integers(0, len(words)))
            words[place : place + draw(st.integers(0, 2))] = draw(st.lists(st.sampled_from(_WORDS), max_size=2))
        texts.append(" ".join(words))
    return texts


@given(st.lists(_SENTENCES, max_size=10) | _likely(), st.sampled_from((0.3, 0.6, 0.85, 1.0)))
def test_whatever_says_the_same_is_found(texts: list[str], limit: float) -> None:
    """And nothing else, in the order in which it was added."""
    shapes = [prepare_text(text) for text in texts]
    twins: DuplicateTexts[int] = DuplicateTexts(limit)
    for number, one in enumerate(shapes):
        same = [n for n in range(number) if text_likeness(one, shapes[n], limit=limit) in DUPLICATE_LIKENESSES]
        assert same == list(twins.find_duplicates(one))
        twins.add_text(number, one)


@given(_likely(), st.sampled_from((0.6, 0.85)))
def test_families_are_what_union_and_find_gives_over_all_pairs(texts: list[str], limit: float) -> None:
    """Whoever says the same as somebody who says the same is one of them."""
    shapes = [prepare_text(text) for text in texts]
    together = [{number} for number in range(len(texts))]
    for n, m in combinations(range(len(texts)), 2):
        if text_likeness(shapes[n], shapes[m], limit=limit) in DUPLICATE_LIKENESSES and together[n] is not together[m]:
            joined = together[n] | together[m]
            for number in joined:
                together[number] = joined
    expected = {tuple(sorted(group)) for group in together if len(group) > 1}
    assert expected == {tuple(sorted(group)) for group in duplicate_groups(enumerate(shapes), limit)}


@pytest.mark.parametrize(
    "template",
    [
        "The {name} service waits {number} seconds for the lock of the booking table and then gives up",
        "Never restart the {name} worker before its queue is empty, or messages of customers are lost for good",
        "Version {number} of the export needs the new column, so migrate the table before the deployment starts",
    ],
)
def test_few_of_a_template_are_compared(template: str) -> None:
    """A few for each text, not more with more of them."""
    chosen = random.Random(1)
    twins: DuplicateTexts[int] = DuplicateTexts(0.85)
    compared = 0
    for number in range(1000):
        name = "".join(chosen.sample("bcdfghklmnprstvz", 7))
        one = prepare_text(template.format(name=name, number=number))
        compared += twins.count_candidates(one)
        twins.add_text(number, one)
    assert compared < 5 * 1000
