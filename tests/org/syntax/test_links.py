"""Links have the type and destination that org-roam stores."""

import pytest

from roamkb.org.syntax.links import TYPES
from roamkb.org.syntax.links import LinkFinder
from roamkb.org.syntax.links import displayed_text
from roamkb.org.syntax.links import expand_abbreviation
from roamkb.org.syntax.links import resolve_target
from roamkb.org.syntax.links import unescape_brackets


@pytest.mark.parametrize(
    ("written", "kind", "dest", "search"),
    [
        ("id:abc", "id", "abc", None),
        ("id: x ", "id", " x ", None),
        ("id:x::*H", "id", "x", "*H"),
        ("https://a.org/b::c", "https", "//a.org/b", "c"),
        ("HTTPS://A.org", "HTTPS", "//A.org", None),
        ("file:a.org::12", "file", "a.org", None),
        ("file+emacs:///a//b", "file", "/a//b", None),
        ("./a.org::x", "file", "./a.org", None),
        ("/abs", "file", "/abs", None),
        ("~/home", "file", "~/home", None),
        ("#custom", "custom-id", "custom", None),
        ("(ref)", "coderef", "ref", None),
        ("foo:bar", "fuzzy", "foo:bar", None),
        ("cite:x", "fuzzy", "cite:x", None),
        ("a\n  b", "fuzzy", "a b", None),
        ("a%20b", "fuzzy", "a%20b", None),
    ],
)
def test_a_target_is_resolved(written: str, kind: str, dest: str, search: str | None) -> None:
    """What is behind the first `::` is a search, but for files, where org takes it; nothing is decoded."""
    assert resolve_target(written, {}) == (kind, dest, search)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    "word", ["{}", "{}entity", "{} system", "{}\u00e9", "{}x:y", "{}-1", "{} :x", "x{}:y", "{}\n:x"]
)
def test_a_word_that_begins_like_a_type_is_no_link_of_it(kind: str, word: str) -> None:
    """A type ends with its colon: `identity` and `file system` are what the human calls their notes."""
    for written in (word.format(kind), word.format(kind.upper())):
        assert resolve_target(written, {}) == ("fuzzy", written.replace("\n", " "), None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[id:a][b]] [[c]]", ["[[id:a][b]]", "[[c]]"]),
        ("see https://a.org/b_(c), and", ["https://a.org/b_(c)"]),
        ("(https://a.org/x)", ["https://a.org/x"]),
        ("https://a.org/b.", ["https://a.org/b"]),
        ("https://a.org/日本。", ["https://a.org/日本"]),
        ("日https://a.org", ["https://a.org"]),
        ("xhttps://a.org", []),
        ("https:x https:", []),
        ("<https://a b\n c>", ["<https://a b\n c>"]),
        ("<https://a\n\nb>", ["https://a"]),
        ("[[a][b\n\nc]]", ["[[a][b\n\nc]]"]),
        ("[[a [[b]]", ["[[b]]"]),
        (r"[[a\]b]]", [r"[[a\]b]]"]),
        (r"[[a\\]]", [r"[[a\\]]"]),
        (r"[[a\]] [[b]]", ["[[b]]"]),
        (r"[[a\]] [[b]]", ["[[b]]"]),
        ("[[]] [[a][]]", []),
        ("file+sys:x.org", ["file+sys:x.org"]),
        ("unknown:thing", []),
    ],
)
def test_shapes_of_links_are_found(text: str, found: list[str]) -> None:
    """Plain links end on a word, a slash or a bracket pair; angle links know no blank line."""
    assert [text[begin:end] for begin, end in LinkFinder(text).find_spans(0, len(text))] == found


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("a [[x][y]] b", "a y b"),
        ("[[x]]", "x"),
        ("[[x][y]][[z]]", "yz"),
        ("[[x]", "[[x]"),
        ("[[[x]]", "[x"),
        ("plain", "plain"),
    ],
)
def test_a_title_shows_its_links(title: str, expected: str) -> None:
    """A description, or else the target."""
    assert displayed_text(title) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("a:1", "https://a/1"),
        ("a", "https://a/"),
        ("a::x", "https://a/x"),
        ("h:ä b/c", "q=%C3%A4%20b%2Fc"),
        ("p:x", "prefix-x"),
        ("f:x", "f:x"),
        ("b:1", "b:1"),
    ],
)
def test_an_abbreviation_is_expanded(raw: str, expected: str) -> None:
    """`%s` and `%h` take the rest, nothing is ever called."""
    known = {"a": "https://a/%s", "h": "q=%h", "p": "prefix-", "f": "%(delete-file)"}
    assert expand_abbreviation(raw, known) == expected


def test_backslashes_protect_brackets_only() -> None:
    """Half of those before a bracket go."""
    assert unescape_brackets(r"a\[b\]c\d\\") == "a[b]c\\d\\"


def test_all_forms_are_read_from_their_place() -> None:
    """Whole links, as `everywhere` finds them."""
    text = "[[id:a][b]] <file:c d> https://e"
    finder = LinkFinder(text)
    links = [finder.link_in_span(*span) for span in finder.find_spans(0, len(text))]
    assert [(link.type, link.path) for link in links if link] == [
        ("id", "a"),
        ("file", "c d"),
        ("https", "//e"),
    ]
