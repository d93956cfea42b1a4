"""Lines of notes as a reader sees them."""

import pytest

from roamkb.org.excerpt import excerpt_of
from roamkb.org.excerpt import is_prose


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("  Readers don't block the writer. ", "Readers don't block the writer."),
        ("- see [[id:0a1b2c3d][Token refresh]]: a minute early", "- see Token refresh: a minute early"),
        ("[[https://example.org/a?b=c][the manual, [2] and ff.]]", "the manual, [2] and ff."),
        ("[[https://example.org/manual]]", "https://example.org/manual"),
        ("[[file:plan.png][The plan of the house]]", "The plan of the house"),
        ("The plan: [[file:plan.png]], from above", "The plan: , from above"),
        ("| port | 8080 |", "| port | 8080 |"),
        ("a ratio of 16:9: see file:a.png and /b.png", "a ratio of 16:9: see file:a.png and /b.png"),
        ("CLOSED: the shop by the river", "CLOSED: the shop by the river"),
        ("** Redirect URIs", "Redirect URIs"),
        ("a language for [[id:0a1b2c3d][cyber threat", "a language for cyber threat"),
        ("intelligence]] in [[id:0a1b2c3e][JSON]]", "intelligence in JSON"),
        ("→", "→"),
    ],
)
def test_a_line_shows_its_text_and_what_its_links_are_called(line: str, shown: str) -> None:
    """Everything that isn't a link stays as it was written."""
    assert shown == excerpt_of(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "#+begin_src python",
        "  #+hugo_slug: bloom",
        ":PROPERTIES:",
        ":SOURCE:   observed",
        "CLOCK: [2026-05-19 Tue 11:20]--[2026-05-19 Tue 11:50] =>  0:30",
        "SCHEDULED: <2026-05-19 Tue> DEADLINE: <2026-05-20 Wed>",
        "|------+------|",
        "-----",
        "- [ ]",
        "[[file:img/plan.PNG]]",
        "[[id:0a1b2c3d]]",
        "- [[https://example.org][https://example.org/logo.svg]]",
        "[[./a.webp]] [[attachment:b.jpg]]",
        "file:plan.png",
        "https://example.org/plan.jpeg",
    ],
)
def test_a_line_of_bare_markup_has_no_text(line: str) -> None:
    """Keywords, drawers, rules, empty items, and pictures without words."""
    assert "" == excerpt_of(line)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("Git has trouble with large repositories", True),
        ("- size :: more than a million files", True),
        ("see [[id:0a1b2c3d][Git]]", True),
        ("- tags :: [[id:0a1b2c3d][Git]], [[id:0a1b2c3e][Monorepo]]", False),
        ("- [ ] [[https://example.org/git][Git]]", False),
        ("* [[id:0a1b2c3d][Git]] :vcs:", False),
        ("https://example.org/git", False),
        ("- tags :: :git:vcs:", False),
    ],
)
def test_a_line_of_references_is_no_prose(line: str, says: bool) -> None:
    """It names what it is about, and says nothing of it."""
    assert says == is_prose(line)
