"""Sets that share members, counted for all of them at once: as if each were counted."""

from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.similarity.set_bits import SetBits
from roamkb.text.similarity.set_bits import numbers_of

_MEMBERS = st.sets(st.sampled_from("abcdefghij"), min_size=1)


def _bits_of(sets: list[set[str]]) -> SetBits:
    bits = SetBits()
    for number, members in enumerate(sets):
        bits.add_set(number, members)
    return bits


@given(st.lists(_MEMBERS, max_size=80), _MEMBERS, st.integers(1, 20))
def test_just_the_sets_that_share_enough_are_found(sets: list[set[str]], asked: set[str], twentieths: int) -> None:
    """In ascending order, however many sets hold a member."""
    expected = [n for n, one in enumerate(sets) if 20 * len(one & asked) >= twentieths * max(len(one), len(asked))]
    shared = _bits_of(sets).count_shared(asked)
    assert expected == list(numbers_of(shared.with_share(twentieths / 20)))
    alike = [n for n, one in enumerate(sets) if 20 * len(one & asked) >= twentieths * len(one | asked)]
    assert alike == list(numbers_of(shared.with_jaccard(twentieths / 20)))


@given(st.lists(st.sets(st.sampled_from("abcdefghij")), max_size=80), st.lists(_MEMBERS, max_size=3))
def test_sets_are_found_by_what_they_have_and_by_what_they_lack(sets: list[set[str]], groups: list[set[str]]) -> None:
    """An empty set has nothing that isn't asked for."""
    bits, asked = _bits_of(sets), set().union(*groups)
    assert [n for n, one in enumerate(sets) if all(one & group for group in groups)] == list(
        numbers_of(bits.with_each(groups))
    )
    assert [n for n, one in enumerate(sets) if one <= asked] == list(numbers_of(bits.within(asked)))
