"""Planned times, impossible ones included, are Emacs's."""

import pytest

from roamkb.org.syntax.planning import planned_time


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("SCHEDULED: <2024-03-10 Sun>", "2024-03-10T00:00:00"),
        ("  scheduled:\t[2024-03-10 Sun 9:05]", "2024-03-10T09:05:00"),
        ("DEADLINE: <2024-01-01> SCHEDULED: <2024-03-10 Sun 10:00-11:00 +1w>", "2024-03-10T10:00:00"),
        ("SCHEDULED: <2024-03-10>--<2024-03-12>", "2024-03-10T00:00:00"),
        ("SCHEDULED: <2024-13-45>", "2025-02-14T00:00:00"),
        ("SCHEDULED: <2024-02-30 Fri>", "2024-03-01T00:00:00"),
        ("SCHEDULED: <2024-03-10 dim. 25:61>", "2024-03-11T02:01:00"),
        ("SCHEDULED: <2024-03-10 S2 10:30>", "2024-03-10T00:00:00"),
        ("SCHEDULED: <2024-01-01> SCHEDULED: <2024-01-02>", "2024-01-02T00:00:00"),
        ("SCHEDULED: <2024-01-01> SCHEDULED: x", None),
        ("SCHEDULED: <2024-3-10>", None),
        ("SCHEDULED: <0000-01-01>", None),
        ("SCHEDULED: <2024-03-10", None),
        ("DEADLINE: <2024-03-10>", None),
        ("éß SCHEDULED: <2024-03-10>", "2024-03-10T00:00:00"),
    ],
)
def test_the_last_time_of_a_keyword_counts(line: str, expected: str | None) -> None:
    """The first time of a range, at midnight if it says none; month 13 is the next January."""
    assert planned_time(line, "SCHEDULED:") == expected
