"""What closes a block is found without looking twice."""

from roamkb.org.syntax.closing_lines import ClosingLines


def test_a_block_is_closed_by_the_first_line_of_its_name() -> None:
    """Names know no case; `#+end` closes what has no name."""
    closings = ClosingLines("#+END_src\n:end:\n#+end:\n\\end{X} \n")
    assert [closings.first_closing(what, 0, 99) for what in ("_SRC", "drawer", "", "\\x", "_y")] == [
        0,
        10,
        16,
        23,
        None,
    ]
    assert closings.first_closing("_src", 1, 99) is None
