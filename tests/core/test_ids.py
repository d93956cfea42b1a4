"""Ids sort by time and never meet."""

from datetime import datetime
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ulid import ULID

from roamkb.core.ids import is_id
from roamkb.core.ids import new_id
from roamkb.core.ids import next_id
from roamkb.core.node_ids import new_node_id


def test_an_id_is_a_ulid_in_uuid_form() -> None:
    """Valid for org-id; python-ulid reads the time from it, to the millisecond."""
    now = datetime(2026, 6, 10, 12, 0, 0, 345_000)
    id = new_id(now)
    assert str(UUID(id)) == id
    assert round(now.timestamp() * 1000) == ULID.from_uuid(UUID(id)).milliseconds


@given(moment=st.datetimes(datetime(1970, 1, 2), datetime(9999, 1, 1)))
def test_the_ids_of_nodes_and_of_lines_are_of_one_kind(moment: datetime) -> None:
    """What hooks make themselves is what python-ulid makes: of one form, one time, and one order."""
    of_node, of_line = new_node_id(moment), new_id(moment)
    assert is_id(of_node) and is_id(of_line)
    times = [ULID.from_uuid(UUID(id)).milliseconds for id in (of_node, of_line)]
    assert abs(times[0] - times[1]) <= 1
    assert of_node < new_id(moment + timedelta(milliseconds=2)) and of_line < new_node_id(
        moment + timedelta(milliseconds=2)
    )


def test_later_ids_sort_later() -> None:
    """As text, too."""
    assert new_id(datetime(2026, 6, 10, 12, 0, 0)) < new_id(datetime(2026, 6, 10, 12, 0, 1))


def test_ids_of_one_moment_differ_and_sort_as_they_were_made() -> None:
    """Another moment between them is no matter."""
    now = datetime(2026, 6, 10)
    made = [new_id(now) for _ in range(1000)]
    assert sorted(set(made)) == made
    assert new_id(datetime(2026, 6, 11)) > made[-1] > new_id(datetime(2026, 6, 9))


def after(id: str, now: datetime = datetime(2026, 6, 10)) -> str:
    """Return what follows `id` on a machine whose clock says `now`."""
    return next_id(id, lambda: new_id(now))


def test_a_next_id_is_later_whatever_the_clock_says() -> None:
    """A clock that was put back a year doesn't turn the order around."""
    last = new_id(datetime(2027, 6, 10))
    for _ in range(100):
        last, before = after(last), last
        assert last > before
        UUID(last)


def test_two_machines_with_slow_clocks_never_give_one_id() -> None:
    """Each continues the same ledger in its own branch; of two events with one id a merge would lose one."""
    last = new_id(datetime(2027, 6, 10))
    assert 1000 == len({after(last) for _ in range(1000)})


@pytest.mark.parametrize("strange", ["", "zzz", "01JXE5ZKQ8M3V6T1Y2W4X7N9AB", "f" * 8 + "-ffff-ffff-ffff-" + "f" * 12])
def test_an_id_that_nothing_can_follow_is_passed_over(strange: str) -> None:
    """Other programs write into the ledger as well, and one line of theirs must not stop ours."""
    assert not is_id(strange)
    UUID(after(strange))


@given(st.integers(0, 2**128 - 1))
def test_what_is_an_id_has_a_later_one(value: int) -> None:
    """All but those of the last millisecond."""
    id = str(UUID(int=value))
    assert is_id(id) == (value >> 80 < 2**48 - 1)
    assert not is_id(id) or after(id) > id
