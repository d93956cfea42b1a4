"""Ids sort by time and never meet."""

from datetime import datetime
from uuid import UUID

from roamkb.core.ids import new_id


def test_an_id_is_a_ulid_in_uuid_form() -> None:
    """Valid for org-id; its first 48 bits are the milliseconds since 1970."""
    now = datetime(2026, 6, 10, 12, 0, 0)
    assert int(now.timestamp() * 1000) == UUID(new_id(now)).int >> 80


def test_later_ids_sort_later() -> None:
    """As text, too."""
    assert new_id(datetime(2026, 6, 10, 12, 0, 0)) < new_id(datetime(2026, 6, 10, 12, 0, 1))


def test_ids_of_one_moment_differ() -> None:
    """Eighty random bits see to that."""
    now = datetime(2026, 6, 10)
    assert 1000 == len({new_id(now) for _ in range(1000)})
