"""A link counts where Org reads one, not where something has its shape."""

import pytest

from roamkb.org.syntax.inline_objects import NoDate
from roamkb.org.syntax.inline_objects import ObjectReader
from roamkb.org.syntax.inline_objects import ObjectSet
from roamkb.org.syntax.inline_objects import cut_key
from roamkb.org.syntax.inline_objects import suspect_times
from roamkb.org.syntax.links import LinkFinder

_URL = "https://x.org/a"


def _links(text: str, holds: ObjectSet = ObjectSet.ALL) -> list[str]:
    finder = LinkFinder(text)
    points = [end - 1 for _, end in finder.find_spans(0, len(text))]
    found = ObjectReader(text, finder).links_at(0, len(text), points, holds)
    return [text[link.begin : link.end] for link in found]


def _keys(text: str, holds: ObjectSet = ObjectSet.ALL) -> list[str]:
    return [key for key, _ in ObjectReader(text, LinkFinder(text)).find_citations(0, len(text), holds)]


@pytest.mark.parametrize(
    "text",
    [
        "URL",
        "*b* URL",
        "*URL*",
        "/a URL b/",
        "_URL_",
        "+URL+",
        "x_{URL}",
        "[fn:: URL ]",
        "[fn:x: URL ]",
        "a=URL =b",
        "~a URL",
        "=a\nb\nURL=",
        "$ URL $",
        "$5 URL $6",
        "\\alpha[URL]",
        "{{{m URL}}}",
        "src_x URL",
        "<2024-01-01> URL",
        "@@html URL @@",
        "@@html: URL",
        "(see URL)",
    ],
)
def test_a_link_counts(text: str) -> None:
    """In emphasis, footnotes and subscripts, and where something only looks like code."""
    assert _links(text.replace("URL", _URL)) == [_URL]


@pytest.mark.parametrize(
    "text",
    [
        "=URL=",
        "~a URL b~",
        "=a\nURL=",
        "$URL$",
        "$$ URL $$",
        "\\( URL \\)",
        "\\[ URL \\]",
        "\\foo{URL}",
        "\\foo[URL]{b}",
        "{{{m(URL)}}}",
        "@@html: URL @@",
        "src_x{URL}",
        "src_x[URL]{b}",
        "call_f(URL)",
        "call_f[URL](b)",
        "<<URL>>",
        "<<<URL>>>",
        "<2024-01-01 URL>",
        "[cite:@k URL]",
        "x_URL",
    ],
)
def test_a_shape_of_a_link_does_not_count(text: str) -> None:
    """In verbatim text, formulas, macros, code, targets, times, citations."""
    assert _links(text.replace("URL", _URL)) == []


def test_a_cell_knows_no_inline_code() -> None:
    """There a subscript or a formula is meant."""
    assert _links(f"src_x{{ {_URL} }}", ObjectSet.CELL) == [_URL]
    assert _links(f"src_x{{ {_URL} }}") == []


def test_a_link_covers_what_is_in_it() -> None:
    """A URL in a description is no link of its own."""
    assert _links(f"[[id:a][{_URL}]] and [[b]]") == [f"[[id:a][{_URL}]]", "[[b]]"]


def test_a_shape_may_swallow_a_link() -> None:
    """org-roam looks for shapes first: one that opens in code hides what follows."""
    text = "=[[1][2= https://x.org/a [[id:b]]"
    assert _links(text) == ["[[id:b]]"]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("[cite:@a]", ["a"]),
        ("[cite/t/x:see @a p. 3; and @b; all]", ["a", "b"]),
        ("*[cite:@a]* [fn:: [cite:@b]] =[cite:@c]=", ["a", "b"]),
        ("[cite: @a\n;@b]", ["a", "b"]),
        ("[cite:@a [b] c]", ["a"]),
        ("[cite:@a", []),
        ("[cite:a]", []),
        ("[[id:x][[cite:@a]]]", []),
        ("[cite:@é。x]", ["é"]),
    ],
)
def test_citations_give_their_keys(text: str, keys: list[str]) -> None:
    """In the order of the text, whatever stands around them."""
    assert _keys(text) == keys


def test_a_key_ends_at_a_symbol_beyond_ascii() -> None:
    """Letters of any script are part of it."""
    assert cut_key("日本。x") == "日本"
    assert cut_key("a:b") == "a:b"


@pytest.mark.parametrize("text", ["[2024-01-01]--[x]", "<2024-1-1 +1w>", "*a <2024-01-01>--<b>*"])
def test_a_time_without_a_date_stops_org(text: str) -> None:
    """org-roam drops the file, so the reader must know."""
    assert suspect_times(text)
    with pytest.raises(NoDate):
        _keys(text)


@pytest.mark.parametrize("text", ["<2024-01-01 Mon +1w>", "[2024-01-01]--[2024-01-02]", "<%%(x)>--<2024-01-01>"])
def test_times_are_rarely_suspect(text: str) -> None:
    """Repeaters and ranges are what notes are full of."""
    assert not suspect_times(text)
    assert _keys(text) == []
