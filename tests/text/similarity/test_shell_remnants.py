"""What a shell left behind a statement, and sentences that only look like it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.similarity.shell_remnants import without_debris
from tests.pipeline.gate.test_noise import GOOD


@pytest.mark.parametrize(
    ("content", "statement"),
    [
        ('Loading shows messages." && bd close bd-12', "Loading shows messages."),
        ('It says "stop" and exits." 2>&1 | tail -3', 'It says "stop" and exits.'),
        ("Chose A over B 2>&1 | tail -3", "Chose A over B"),
        ('One atomic change." 2>/dev/null', "One atomic change."),
        ('Tests need Docker" 2>/dev/null', "Tests need Docker"),
        ("Tests need Docker 2>/dev/null", "Tests need Docker"),
        ("Tests need Docker && \\", "Tests need Docker"),
        ('Tests need Docker" && \\', "Tests need Docker"),
        ('Tests need Docker" \\', "Tests need Docker"),
        ("Tests need Docker' || true", "Tests need Docker"),
        ("the handler was a redundant call\nbd close bd-19", "the handler was a redundant call"),
        ("removed the fallback chain\ngit push", "removed the fallback chain"),
        ('Cache it" && bd comments add b-2 "FACT: another', "Cache it"),
    ],
)
def test_what_a_shell_left_behind_is_no_part_of_it(content: str, statement: str) -> None:
    """A quote that nothing opened, and what follows it."""
    assert statement == without_debris(content)


@pytest.mark.parametrize(
    "content",
    [
        *GOOD,
        "Append 2>&1 to the command",
        "Errors are hidden by 2>/dev/null",
        "Use `a && b` and never `a; b`",
        'Run "a" && "b"',
        'He said "stop"; then it stopped',
        "x | y is a union",
        "&& \\",
    ],
)
def test_a_sentence_about_a_shell_stays_whole(content: str) -> None:
    """Also where it names what debris is made of."""
    assert content == without_debris(content)


@given(st.text(max_size=60) | st.text("ab\"' &|;\\\n2>1/devnul", max_size=60))
def test_something_is_left_of_anything(text: str) -> None:
    """Its beginning, and nothing more comes off the second time but what stands before another piece."""
    left = without_debris(text)
    assert text.startswith(left)
    assert bool(left.strip()) is bool(text.strip())


def test_a_text_of_empty_lines_is_read_in_no_time() -> None:
    """A body of 60,000 held up everybody who writes for nine seconds, each being tried from every line."""
    start = time.process_time()
    text = "\n" * 200_000 + "graze"
    assert text == without_debris(text)
    assert time.process_time() - start < 5
