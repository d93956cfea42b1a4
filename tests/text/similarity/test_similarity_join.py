"""All near duplicates among many texts, found without comparing each with each."""

import random
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.similarity.contradiction import differ_in_number
from roamkb.text.similarity.jaccard import PreparedText
from roamkb.text.similarity.jaccard import differ_in_little
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.jaccard import reaches_jaccard
from roamkb.text.similarity.jaccard import text_similarity
from roamkb.text.similarity.similarity_join import NearTexts

K = TypeVar("K", bound=Hashable)

_WORDS = "the cache of proxy drops idle sockets not enable 30 300 Ünal 設定を読む 🎉 sockts prxy".split()
_TEXTS = st.lists(st.lists(st.sampled_from(_WORDS), max_size=14).map(" ".join), max_size=14)
_LIMITS = st.sampled_from((0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 1.0))


#: One template, of which a number, a name or both are another each time.
_TEMPLATE = "the {} service waits {} seconds for the lock of the booking table and then gives up"


def _family(seed: int, size: int) -> list[str]:
    chosen = random.Random(seed)
    names = "mail seat cart coupon".split()
    return [_TEMPLATE.format(chosen.choice(names), chosen.randrange(1, 400)) for _ in range(size)]


def alike_pairs(shapes: Iterable[tuple[K, PreparedText]], limit: float) -> Iterator[tuple[K, K]]:
    """Yield the keys of each two texts that are at least `limit` alike, the earlier key first."""
    near: NearTexts[K] = NearTexts(limit)
    for key, shape in shapes:
        for earlier_key in near.find_alike(shape):
            yield earlier_key, key
        near.add_text(key, shape)


def _alike_by_words(one: PreparedText, other: PreparedText, limit: float) -> bool:
    return reaches_jaccard(one.all_words, other.all_words, limit) or reaches_jaccard(one.content, other.content, limit)


@given(_TEXTS, _LIMITS)
def test_no_pair_that_its_words_call_alike_is_missed(texts: list[str], limit: float) -> None:
    """And none is found that isn't alike."""
    shapes = [prepare_text(text) for text in texts]
    found = list(alike_pairs(enumerate(shapes), limit))
    assert len(set(found)) == len(found)
    each = list(combinations(range(len(texts)), 2))
    by_words = {(n, m) for n, m in each if _alike_by_words(shapes[n], shapes[m], limit)}
    alike = {
        (n, m)
        for n, m in each
        if text_similarity(shapes[n], shapes[m]) >= limit
        or differ_in_little(shapes[n], shapes[m])
        or (not shapes[n].all_words and texts[n].strip() == texts[m].strip())
    }
    assert by_words <= set(found) <= alike


def _alike_by_definition(one: PreparedText, other: PreparedText, limit: float) -> bool:
    """Say whether two texts are alike, by the definition in the module's docstring and each with each."""
    if not one.all_words or not other.all_words:
        return one.all_words == other.all_words and one.text.strip() == other.text.strip()
    shared, most = len(one.all_words & other.all_words), max(len(one.all_words), len(other.all_words))
    return (
        _alike_by_words(one, other, limit)
        or (4 * shared >= 3 * most and reaches_jaccard(one.trigrams, other.trigrams, limit))
        or differ_in_little(one, other)
    )


@given(_TEXTS, _LIMITS)
def test_just_what_the_definition_calls_alike_is_found(texts: list[str], limit: float) -> None:
    """Sketches and rare words save comparisons and no answer."""
    shapes = [prepare_text(text) for text in texts]
    each = combinations(range(len(texts)), 2)
    expected = {(n, m) for n, m in each if _alike_by_definition(shapes[n], shapes[m], limit)}
    assert expected == set(alike_pairs(enumerate(shapes), limit))


def test_just_what_the_definition_calls_alike_is_found_among_real_sentences() -> None:
    """The sentences of the example notes, and each third of them edited."""
    chosen = random.Random(18)
    notes = sorted((Path(__file__).parents[3] / "fixtures").rglob("*.org"))
    lines = {line.strip() for note in notes for line in note.read_text(errors="replace").splitlines()}
    texts = sorted(line for line in lines if 20 < len(line) < 200)[::3][:120]
    for text in texts[::3]:
        words = text.split()
        words[chosen.randrange(len(words))] = chosen.choice(("30", "not", words[0] + "s", "Ünal"))
        texts += [" ".join(words), " ".join(words[1:])]
    shapes = [prepare_text(text) for text in texts]
    each = combinations(range(len(texts)), 2)
    expected = {(n, m) for n, m in each if _alike_by_definition(shapes[n], shapes[m], 0.85)}
    assert len(expected) > 20
    assert expected == set(alike_pairs(enumerate(shapes), 0.85))


@given(_TEXTS, _LIMITS)
def test_what_only_letters_call_alike_is_found_where_three_quarters_of_the_words_are_shared(
    texts: list[str], limit: float
) -> None:
    """The promise of the module, to the letter."""
    shapes = [prepare_text(text) for text in texts]
    found = set(alike_pairs(enumerate(shapes), limit))
    for n, m in combinations(range(len(texts)), 2):
        one, other = shapes[n], shapes[m]
        shared = len(one.all_words & other.all_words)
        if 4 * shared >= 3 * max(len(one.all_words), len(other.all_words)) > 0:
            alike = text_similarity(one, other) >= limit or differ_in_little(one, other)
            assert alike is ((n, m) in found)


@given(_TEXTS, _LIMITS)
def test_what_says_the_same_of_another_number_is_found_however_short_it_is(texts: list[str], limit: float) -> None:
    """Of three words one number is too much for any measure."""
    texts += ["the cache of 30", "cache of 300 idle", "cache idle of 30", "enable 30", "enable 300"]
    found = set(alike_pairs(enumerate(map(prepare_text, texts)), limit))
    for n, m in combinations(range(len(texts)), 2):
        assert (n, m) in found or not differ_in_number(texts[n], texts[m])
    assert (len(texts) - 4, len(texts) - 3) in found


@pytest.mark.parametrize("limit", [0.6, 0.85])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_alike_is_found_after_the_order_was_made_anew(seed: int, limit: float) -> None:
    """So many texts of one template that what is rare is another by the end."""
    shapes = [prepare_text(text) for text in _family(seed, 300)]
    near: NearTexts[int] = NearTexts(limit)
    for number, one in enumerate(shapes):
        if number % 40 == 0 or number > 280:
            found = list(near.find_alike(one))
            assert found == sorted(set(found))
            assert {m for m in range(number) if _alike_by_words(shapes[m], one, limit)} <= set(found)
            assert all(text_similarity(shapes[m], one) >= limit for m in found)
        near.add_text(number, one)


@given(_TEXTS, _LIMITS)
def test_texts_can_be_added_one_by_one(texts: list[str], limit: float) -> None:
    """What was added later is found as well as what was there first."""
    near: NearTexts[int] = NearTexts(limit)
    for number, text in enumerate(texts):
        near.add_text(number, prepare_text(text))
    assert len(texts) == len(near)
    found = [(n, m) for m, text in enumerate(texts) for n in near.find_alike(prepare_text(text)) if n < m]
    assert sorted(alike_pairs(enumerate(map(prepare_text, texts)), limit)) == sorted(found)


def test_texts_without_words_are_alike_if_they_are_the_same() -> None:
    """Emoji have no words to share."""
    texts = ["🎉", " 🎉", "✅", "🎉 done"]
    assert [(0, 1)] == list(alike_pairs(enumerate(map(prepare_text, texts)), 0.8))


@pytest.mark.parametrize("size", [5, 6, 7, 11, 12, 13, 38, 39, 40, 200])
def test_texts_at_the_edges_of_a_size_class_are_found(size: int) -> None:
    """Texts are kept by classes of their sizes, and the pair may be of two."""
    words = [f"w{number}x" for number in range(size)]
    more = [*words, *(f"v{number}y" for number in range(size // 4))]
    texts = [" ".join(words), " ".join(more), " ".join(reversed(words))]
    assert {(0, 1), (0, 2), (1, 2)} == set(alike_pairs(enumerate(map(prepare_text, texts)), 0.79))


@given(_TEXTS, _LIMITS)
def test_what_denies_the_same_is_found_however_short_it_is(texts: list[str], limit: float) -> None:
    """A "not" of four words is too much for any measure, too."""
    texts += ["retries are safe", "retries are not safe"]
    found = set(alike_pairs(enumerate(map(prepare_text, texts)), limit))
    assert (len(texts) - 2, len(texts) - 1) in found
