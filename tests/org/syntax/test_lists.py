"""Items end where Org ends them."""

import pytest

from roamkb.org.syntax.closing_lines import ClosingLines
from roamkb.org.syntax.lists import find_items
from roamkb.org.syntax.lists import item_contents


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("- a\n- b\n", ["- a\n", "- b\n"]),
        ("- a\n  b\nc\n", ["- a\n  b\n"]),
        ("- a\n\n  b\n\n\n  c\n", ["- a\n\n  b\n\n"]),
        ("- a\n  - b\n- c\n", ["- a\n  - b\n", "  - b\n", "- c\n"]),
        ("- a\n\t- b\n        c\n", ["- a\n\t- b\n        c\n", "\t- b\n"]),
        ("1. a\n2) b\n", ["1. a\n", "2) b\n"]),
        ("- a\n  #+begin_src\nb\n  #+end_src\n- c\n", ["- a\n  #+begin_src\nb\n  #+end_src\n", "- c\n"]),
        ("- a\n  :d:\nb\n  :end:\n- c\n", ["- a\n  :d:\nb\n  :end:\n", "- c\n"]),
        ("- a\n\nb\n", ["- a\n"]),
    ],
)
def test_items_are_found(text: str, items: list[str]) -> None:
    """Blocks and drawers inside don't end them, less indented text does."""
    found = find_items(text, 0, len(text), ClosingLines(text))
    ends = [(place, item.end) for place, item in sorted(found.items())]
    assert [text[begin:end].rstrip("\n") for begin, end in ends] == [item.rstrip("\n") for item in items]


@pytest.mark.parametrize(
    ("text", "tag", "rest"),
    [
        ("- a", None, "a"),
        ("- [ ] a", None, "a"),
        ("- [@3] [X] a", None, "a"),
        ("- t :: a", "t", "a"),
        ("- t :: u :: a", "t :: u", "a"),
        ("1. t :: a", None, "t :: a"),
        ("- t::a", None, "t::a"),
        ("-\n\n  a", None, "  a"),
        ("-", None, ""),
    ],
)
def test_an_item_has_a_tag_and_contents(text: str, tag: str | None, rest: str) -> None:
    """Only bullets have tags; contents may begin on a later line."""
    span, begin = item_contents(text, 0, len(text))
    assert (text[slice(*span)] if span else None) == tag
    assert text[begin:] == rest
