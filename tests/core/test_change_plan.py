"""The digest that stands for what somebody looked at."""

from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.change_plan import SHORTEST
from roamkb.core.change_plan import digest_of
from roamkb.core.change_plan import event_id
from roamkb.core.change_plan import is_named
from roamkb.core.ids import next_id

TEXTS = st.lists(st.text(), max_size=3)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_other_things_have_another_digest(
    basis: list[str], changes: list[str], basis2: list[str], changes2: list[str]
) -> None:
    """However they are cut into parts."""
    is_same = (basis, changes) == (basis2, changes2)
    assert is_same is (digest_of(basis, changes) == digest_of(basis2, changes2))


@given(st.uuids(), st.integers(0, 60_000))
def test_ids_are_later_than_the_last_and_in_order(last: object, number: int) -> None:
    """The same each time; the next id that anybody makes is later still."""
    after = "0" + str(last)[1:]
    digest = digest_of(["a"], ["b"])
    first, second = (event_id(digest, one, after=after) for one in (number, number + 1))
    assert after < first < second
    assert first == event_id(digest, number, after=after)
    assert second < next_id(second, lambda: after)
    assert first != event_id(digest_of(["a"], ["c"]), number, after=after)


def test_an_id_of_another_form_is_no_obstacle() -> None:
    """Other tools write what they like."""
    assert event_id("d", 1, after="not-an-id").startswith("00000000-0001-0001-")


def test_a_digest_is_named_by_enough_of_its_beginning() -> None:
    """Not by less, nor by something else."""
    digest = digest_of([], [])
    assert is_named(digest, digest)
    assert is_named(digest, f" {digest[:SHORTEST].upper()} ")
    assert not is_named(digest, digest[: SHORTEST - 1])
    assert not is_named(digest, "0" * 64)
    assert not is_named(digest, "")
