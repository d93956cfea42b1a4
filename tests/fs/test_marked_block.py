"""One marked block in somebody else's file."""

import pytest
from hypothesis import example
from hypothesis import given
from hypothesis import strategies as st

from roamkb.fs.marked_block import BadMarks
from roamkb.fs.marked_block import has_block
from roamkb.fs.marked_block import with_block
from roamkb.fs.marked_block import without_block

BLOCK = "## Knowledge base\n\nSearch first."

#: Files as people and programs leave them: any encoding, any line ends, with or without the last one.
files = st.lists(
    st.binary(max_size=8).filter(lambda b: b"roamkb:" not in b and not b.startswith((b"\xff\xfe", b"\xfe\xff"))),
    max_size=6,
).flatmap(lambda lines: st.sampled_from([b"\n", b"\r\n", b"\r"]).map(lambda eol: eol.join(lines)))


@given(files)
@example(b"")
@example(b"# Rules")
@example(b"# Rules\n")
@example(b"# Rules\r\n\r\n")
@example(b"\xef\xbb\xbf# Rules\r\nCaf\xe9")
def test_taking_the_block_out_gives_the_file_as_it_was(data: bytes) -> None:
    """Whatever the file held, in and out changes no byte."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    assert data == without_block(with_block(data, BLOCK))


@given(files)
def test_putting_it_in_twice_changes_nothing(data: bytes) -> None:
    """The second time it is there already."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    once = with_block(data, BLOCK)
    assert once == with_block(once, BLOCK)


@given(files, files)
def test_what_is_around_the_block_stays(before: bytes, after: bytes) -> None:
    """A new text goes where the old block is; what others wrote before and behind it is untouched."""
    if before.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    held = with_block(before, BLOCK) + b"\n" + after
    renewed = with_block(held, "another text")
    start = len(with_block(before, BLOCK)) - len(with_block(b"", BLOCK))
    assert renewed.startswith(held[: max(start, 0)])
    assert renewed.endswith(b"\n" + after)
    assert without_block(held) == without_block(renewed)


def test_a_file_that_we_made_goes_with_its_block() -> None:
    """A file that was there, even an empty one, stays."""
    assert without_block(with_block(None, BLOCK)) is None
    assert b"" == without_block(with_block(b"", BLOCK))


def test_a_made_file_that_somebody_wrote_into_stays() -> None:
    """Their lines are all that is left."""
    made = with_block(None, BLOCK)
    assert b"mine\n" == without_block(made + b"mine\n")


def test_a_block_that_was_moved_takes_no_line_with_it() -> None:
    """Without a blank line above, the lines around it stay two lines."""
    block = with_block(b"", BLOCK)
    assert b"one\ntwo\n" == without_block(b"one\n" + block + b"two\n")


def test_line_ends_are_those_of_the_file() -> None:
    """A block in a CRLF file has CRLF ends throughout."""
    data = with_block(b"# Rules\r\n", BLOCK)
    assert data.count(b"\n") == data.count(b"\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "<!-- roamkb:begin -->\nopen for ever\n",
        "<!-- roamkb:end -->\n",
        "<!-- roamkb:end -->\n<!-- roamkb:begin -->\n",
        "<!-- roamkb:begin -->\n<!-- roamkb:begin -->\n<!-- roamkb:end -->\n",
        "<!-- roamkb:begin -->\n<!-- roamkb:end -->\n<!-- roamkb:begin -->\n<!-- roamkb:end -->\n",
    ],
)
def test_marks_that_make_no_block_are_refused(text: str) -> None:
    """Nobody guesses what is ours; the message names the lines."""
    for call in (lambda d: with_block(d, BLOCK), without_block, has_block):
        with pytest.raises(BadMarks, match="line 1"):
            call(text.encode())


def test_a_file_in_utf_16_is_refused() -> None:
    """A UTF-8 block in it would be garbage to its reader."""
    with pytest.raises(BadMarks, match="UTF-16"):
        with_block("# Rules\n".encode("utf-16"), BLOCK)
