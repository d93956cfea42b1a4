"""Only what stands in live text counts, at its place."""

from roamkb.org.syntax.active_content import LiveText
from roamkb.org.syntax.keywords import INTERESTING


def _links(text: str) -> list[tuple[str, str]]:
    return [(link.type, link.path) for link in LiveText(text).find_links(lambda number: None, {})]


def test_links_of_drawers_and_keywords_count() -> None:
    """Those of ROAM_REFS and of transclusions don't."""
    text = (
        ":PROPERTIES:\n:ID: a\n:URL: https://p.org\n:ROAM_REFS: https://r.org\n:END:\n"
        "#+x: [[id:k]] https://k.org\n#+transclude: [[id:t]]\n#+begin_src\n[[id:s]]\n#+end_src\n"
    )
    assert _links(text) == [("https", "//p.org"), ("id", "k"), ("https", "//k.org")]


def test_a_row_is_read_cell_by_cell() -> None:
    """A bar ends a link."""
    assert _links("| [[id:a]] | [[id:b|c]] |\n") == [("id", "a")]


def test_a_keyword_counts_where_org_sees_one() -> None:
    """In lists and quotes, not in code."""
    text = "- #+title: a\n- b\n  #+title: c\n#+begin_src\n#+title: d\n#+end_src\n#+title:e f\n"
    assert list(LiveText(text).keyword_lines(INTERESTING)) == ["  #+title: c", "#+title:e f"]


def test_the_title_of_a_heading_is_read() -> None:
    """Its span is what the caller says."""
    text = "* [[id:a]] [cite:@b]\n"
    live = LiveText(text)
    assert [link.path for link in live.find_links(lambda number: (2, len(text) - 1), {})] == ["a"]
    assert list(live.find_citations(lambda number: (2, len(text) - 1))) == [("b", 17)]
