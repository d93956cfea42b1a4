"""What of a message somebody pasted, or a harness put there."""

import pytest

from roamkb.text.pasted_blocks import without_blocks


@pytest.mark.parametrize(
    "pasted",
    [
        "<log>b c</log>",
        '<file path="a.txt">b</file>',
        "<DIV>b</div>",
        "<div>b<div>c</div>b</div>",
        "```\nb\n```",
        "```sh\nb <div> c\n```",
        "~~~\nb\n~~~",
        "- ```\n  b\n  ```",
        "so: ```\nb\n```",
        "<x><y>b</x></y>",
        "".join(f"<a{number}> " for number in range(30)) + "```\nb\n```",
    ],
)
def test_what_is_between_tags_or_fences_is_pasted(pasted: str) -> None:
    """Wherever in a line it begins."""
    kept = without_blocks(f"fix {pasted} it")
    assert (True, True, False) == (kept.startswith("fix "), kept.endswith(" it"), "b" in kept)


@pytest.mark.parametrize(
    "said", ["a < b and c > d", "List<T> and <a> <br/> ", "use ```make x``` then ```make y```", "x"]
)
def test_what_opens_nothing_stays(said: str) -> None:
    """Byte for byte."""
    assert said == without_blocks(said) == without_blocks(said, keeps_markup=True)


def test_a_block_without_an_end_goes_to_the_end_where_it_was_pasted() -> None:
    """A fence always; a tag that begins a line, of what is kept for good."""
    assert "a" == without_blocks("a ```\nb").strip()
    assert "a" == without_blocks("a\n<mail>\nb", keeps_markup=True).strip()
    assert "a\n<mail>\nb" == without_blocks("a\n<mail>\nb")


def test_a_few_words_that_are_marked_up_are_said() -> None:
    """Not so between lines, or where they are many."""
    said = "Indent with <b>tabs</b> here"
    assert (said, "Indent with \n\n here") == (without_blocks(said, keeps_markup=True), without_blocks(said))
    assert "see \n\n" == without_blocks("see <mail>one two three four</mail>", keeps_markup=True)


def test_it_takes_no_time_that_grows_with_the_square_of_the_length() -> None:
    """Of a message of half a megabyte, whatever it is made of."""
    for piece in ("<a>", "<a>x</a>", "<a ", "</a>", "```a ", "<a><b>"):
        without_blocks(piece * (500_000 // len(piece)))
    without_blocks("".join(f"<a{number}>" for number in range(60_000)))
