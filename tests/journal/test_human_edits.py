"""What a hand leaves of a note, and what no hand does."""

from hypothesis import given
from hypothesis import strategies as st

from roamkb.journal.human_edits import keeps_most_lines

LINES = st.lists(st.text("abcdefg é*:", min_size=1, max_size=12), min_size=4, max_size=30)


def text(lines: list[str]) -> bytes:
    """Return a note of these lines."""
    return "".join(f"{number} {line}\n" for number, line in enumerate(lines)).encode()


@given(LINES, st.text("xyz", max_size=40), st.integers(0, 29))
def test_what_adds_or_changes_a_line_keeps_most(lines: list[str], more: str, at: int) -> None:
    """Wherever it is."""
    before = text(lines)
    assert keeps_most_lines(before, before + more.encode())
    changed = before.splitlines(keepends=True)
    changed[at % len(changed)] = more.encode() + b"\n"
    assert keeps_most_lines(before, b"".join(changed))
    assert keeps_most_lines(before, b"".join(sorted(before.splitlines(keepends=True))))


@given(LINES, st.integers(1, 1000))
def test_what_takes_the_words_away_does_not(lines: list[str], size: int) -> None:
    """Emptied, turned into what nobody reads, or cut in the middle of a line."""
    before = text(lines)
    assert not keeps_most_lines(before, b"")
    assert not keeps_most_lines(before, bytes(255 - byte for byte in before))
    cut = before[: size % len(before)]
    ends = cut.endswith(b"\n") or before[len(cut) : len(cut) + 1] == b"\n"
    assert ends or not keeps_most_lines(before, cut)


def test_what_is_no_text_is_judged_by_its_size() -> None:
    """An encrypted note is another one after each save."""
    before = bytes(range(256)) * 4
    assert keeps_most_lines(before, bytes(1000))
    assert not keeps_most_lines(before, bytes(500))
