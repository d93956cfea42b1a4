"""Lines are known again by their bytes, and a digest stands for the first of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.log.trust.vouched_lines import OWN
from roamkb.log.trust.vouched_lines import LogLines
from roamkb.log.trust.vouched_lines import VouchedLines
from roamkb.log.trust.vouched_lines import lines_of_digest
from roamkb.log.trust.vouched_lines import log_digest
from roamkb.log.trust.vouched_lines import split_log

LINE = st.binary(min_size=1, max_size=8).filter(lambda line: not set(line) & set(b"\r\n"))
LINES = st.lists(LINE, max_size=90)


def never(_: bytes) -> bool:
    """Take no other line."""
    return False


@given(vouched=LINES, others=LINES, own=LINES)
def test_what_is_shown_and_what_is_not_are_all_lines(
    vouched: list[bytes], others: list[bytes], own: list[bytes]
) -> None:
    """Each at its place, in few lines and in many, however often and by whomever they were added."""
    lines = VouchedLines().with_lines("key", vouched).with_lines(OWN, own).with_lines("key", vouched)
    everything = [*others, *vouched, *own, *others]
    data = b"\n".join(everything)
    shown, hidden = (part.split(b"\n") for part in (lines.part_of(data, never), lines.rest_of(data, never)))
    known = {*vouched, *own}
    assert [line if line in known else b"" for line in everything or [b""]] == shown
    assert [b"" if line in known else line for line in everything or [b""]] == hidden
    assert lines.part_of(data, never) == lines.plus(lines).part_of(data, never)
    assert set(own) == {*lines.limit_to(()).part_of(b"\n".join(own), never).split(b"\n")} - {b""}


@given(learnings=LINES, events=LINES, more=LINES)
def test_a_digest_covers_the_first_lines_and_no_others(
    learnings: list[bytes], events: list[bytes], more: list[bytes]
) -> None:
    """What came behind them, a rotation and other ends of lines change nothing."""
    lines = LogLines(learnings=tuple(learnings), events=tuple(events))
    digest = log_digest(lines)
    grown = LogLines(learnings=(*learnings, *more), events=(*events, *more))
    assert lines == lines_of_digest(digest, grown)
    half = len(learnings) // 2
    archive, knowledge = (b"".join(line + b"\r\n" for line in part) for part in (learnings[:half], learnings[half:]))
    assert lines == split_log(knowledge, archive, b"\n\n".join(events))
    if learnings[::-1] != learnings:
        assert lines_of_digest(digest, LogLines(learnings=tuple(learnings[::-1]), events=tuple(events))) is None


@pytest.mark.parametrize("text", ["", "roamkb-log-1:1:1:00", "roamkb-log-2:0:0:" + "0" * 64, "x"])
def test_what_is_no_digest_covers_nothing(text: str) -> None:
    """Nor does one of another form."""
    assert lines_of_digest(text, LogLines((), ())) is None
