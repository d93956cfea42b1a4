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
    by_key, by_us = LogLines(tuple(vouched), ()), LogLines(tuple(own), ())
    lines = VouchedLines().with_lines("key", by_key).with_lines(OWN, by_us).with_lines("key", by_key)
    everything = [*others, *vouched, *own, *others]
    data = b"\n".join(everything)
    shown = lines.part_of(data, never, is_ledger=False).split(b"\n")
    hidden = lines.rest_of(data, never, is_ledger=False).split(b"\n")
    known = {*vouched, *own}
    assert [line if line in known else b"" for line in everything or [b""]] == shown
    assert [b"" if line in known else line for line in everything or [b""]] == hidden
    assert b"\n".join(shown) == lines.plus(lines).part_of(data, never, is_ledger=False)
    assert data == lines.rest_of(data, never, is_ledger=True)
    assert set(own) == {*lines.limit_to(()).part_of(b"\n".join(own), never, is_ledger=False).split(b"\n")} - {b""}


@given(signed=LINES, present=LINES)
def test_a_line_is_missing_that_is_not_in_a_file_of_its_kind(signed: list[bytes], present: list[bytes]) -> None:
    """An event among the learnings says nothing; what this machine appended isn't looked for."""
    lines = VouchedLines().with_lines("key", LogLines((), tuple(signed))).with_lines(OWN, LogLines(tuple(signed), ()))
    gone = len({*signed} - {*present})
    assert ({"key": gone} if gone else {}) == lines.find_incomplete(LogLines(tuple(signed), tuple(present)))
    left = lines.without_lines(LogLines((), tuple(line for line in signed if line not in present)))
    assert {} == left.find_incomplete(LogLines((), tuple(present)))


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
