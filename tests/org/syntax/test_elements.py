"""What of a section Org reads, and what it passes over."""

import pytest

from roamkb.org.syntax.elements import ElementMode
from roamkb.org.syntax.elements import RegionKind
from roamkb.org.syntax.elements import SectionReader


def _regions(text: str, mode: ElementMode = ElementMode.TOP) -> list[tuple[str, str]]:
    found = SectionReader(text).read_regions(0, len(text), mode)
    return [(place.name, text[begin:end].strip()) for place, begin, end in found if text[begin:end].strip()]


@pytest.mark.parametrize(
    "text",
    [
        "#+begin_src x\na\n#+end_src\n",
        "#+BEGIN_EXAMPLE\na\n  #+END_EXAMPLE  \n",
        "#+begin_export html\na\n#+end_export\n",
        "#+begin_comment\na\n#+end_comment\n",
        "# a\n#\n",
        ": a\n:\n",
        "\\begin{a}\nb\n\\end{a}\n",
        "+--+\n|a |\n+--+\n",
        "-----\n",
        "%%(a)\n",
        "#+call: f(\na)\n",
        "|-+-|\n",
    ],
)
def test_code_and_comments_are_passed_over(text: str) -> None:
    """Nothing in them counts."""
    assert _regions(text) == []


@pytest.mark.parametrize(
    ("text", "regions"),
    [
        ("a\nb\n\nc\n", [("TEXT", "a\nb"), ("TEXT", "c")]),
        ("#+begin_src\na\n", [("TEXT", "#+begin_src\na")]),
        ("#+begin_quote\na\n#+end_quote\n", [("TEXT", "a")]),
        ("#+begin_x\na\n#+begin_y\nb\n#+end_y\n#+end_x\n", [("TEXT", "a"), ("TEXT", "b")]),
        ("#+begin_verse\na\n\nb\n#+end_verse\n", [("TEXT", "a\n\nb")]),
        ("#+begin: x\na\n#+end:\n", [("TEXT", "a")]),
        (":d:\na\n:end:\n", [("TEXT", "a")]),
        (":d:\na\n", [("TEXT", ":d:\na")]),
        ("a\n:d:\nb\n:end:\n", [("TEXT", "a"), ("TEXT", "b")]),
        ("- a\n- t :: b\n  - c\n", [("TEXT", "a"), ("TEXT", "t"), ("TEXT", "b"), ("TEXT", "c")]),
        ("| a | b |\n#+tblfm: c\n", [("ROW", "a | b |")]),
        ("[fn:1] a\n\nb\n", [("TEXT", "a"), ("TEXT", "b")]),
        ("[fn:1] a\n[fn:2]\nb\n", [("TEXT", "a"), ("TEXT", "b")]),
        ("#+x: a\n", [("KEYWORD", "#+x: a")]),
        ("a\n#+x: b\nc\n", [("TEXT", "a"), ("KEYWORD", "#+x: b"), ("TEXT", "c")]),
        ("a\n#+x[y]: b\n", [("TEXT", "a\n#+x[y]: b")]),
        ("#+caption: a\n| b |\n", [("CAPTION", "a"), ("ROW", "b |")]),
        ("#+caption[s]: a\nb\n", [("CAPTION", "s"), ("CAPTION", "a"), ("TEXT", "b")]),
        ("#+name: a\nb\n", [("TEXT", "b")]),
        ("#+name: a\n\nb\n", [("KEYWORD", "#+name: a"), ("TEXT", "b")]),
        ("#+name: a\n#+x: b\n", [("KEYWORD", "#+name: a"), ("KEYWORD", "#+x: b")]),
        ("CLOCK: [2024-01-01]\n", [("TIMES", "CLOCK: [2024-01-01]")]),
        (
            ":PROPERTIES:\n:a: b\n:END:\n:PROPERTIES:\n:c: d\n:END:\n",
            [("PROPERTY", ":a: b"), ("TEXT", ":c: d")],
        ),
        ("\\begin{a}\nb\n", [("TEXT", "\\begin{a}\nb")]),
        ("+--+\na\n", [("TEXT", "+--+\na")]),
    ],
)
def test_text_is_found(text: str, regions: list[tuple[str, str]]) -> None:
    """What opens and isn't closed is text; a keyword above an element belongs to it."""
    assert _regions(text) == regions


def test_planning_and_properties_stand_below_a_heading() -> None:
    """And nowhere else."""
    text = "* H\nSCHEDULED: <2024-01-01>\n:PROPERTIES:\n:a: b\n:END:\nSCHEDULED: c\n"
    found = SectionReader(text).read_regions(4, len(text), ElementMode.PLANNING)
    assert [(place, text[begin:end].strip()) for place, begin, end in found] == [
        (RegionKind.TIMES, "SCHEDULED: <2024-01-01>"),
        (RegionKind.PROPERTY, ":a: b"),
        (RegionKind.TEXT, "SCHEDULED: c"),
    ]
