"""The digest that stands for what somebody looked at."""

from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.change_plan import MIN_DIGEST_LENGTH
from roamkb.core.change_plan import matches_digest
from roamkb.core.change_plan import plan_digest
from roamkb.core.change_plan import planned_event_id
from roamkb.core.ids import next_id

TEXTS = st.lists(st.text(), max_size=3)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_other_things_have_another_digest(
    basis: list[str], changes: list[str], basis2: list[str], changes2: list[str]
) -> None:
    """However they are cut into parts."""
    is_same = (basis, changes) == (basis2, changes2)
    assert is_same is (plan_digest(basis, changes) == plan_digest(basis2, changes2))


@given(st.uuids(), st.integers(0, 60_000))
def test_ids_are_later_than_the_last_and_in_order(last: object, number: int) -> None:
    """The same each time; the next id that anybody makes is later still."""
    after = "0" + str(last)[1:]
    digest = plan_digest(["a"], ["b"])
    first, second = (planned_event_id(digest, one, after=after) for one in (number, number + 1))
    assert after < first < second
    assert first == planned_event_id(digest, number, after=after)
    assert second < next_id(second, lambda: after)
    assert first != planned_event_id(plan_digest(["a"], ["c"]), number, after=after)


def test_an_id_of_another_form_is_no_obstacle() -> None:
    """Other tools write what they like."""
    assert planned_event_id("d", 1, after="not-an-id").startswith("00000000-0001-0001-")


def test_a_digest_is_named_by_enough_of_its_beginning() -> None:
    """Not by less, nor by something else."""
    digest = plan_digest([], [])
    assert matches_digest(digest, digest)
    assert matches_digest(digest, f" {digest[:MIN_DIGEST_LENGTH].upper()} ")
    assert not matches_digest(digest, digest[: MIN_DIGEST_LENGTH - 1])
    assert not matches_digest(digest, "0" * 64)
    assert not matches_digest(digest, "")
