"""What a learning names, as written, and what to think of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.pipeline.gate.references import MOST_FILES
from roamkb.pipeline.gate.references import MOST_SYMBOLS
from roamkb.pipeline.gate.references import anchor_verdict
from roamkb.pipeline.gate.references import anchors_of


@pytest.mark.parametrize(
    ("content", "files"),
    [
        ("See src/Foo.ts for it", ("src/Foo.ts",)),
        ("(src/Foo.ts:12), `./lib/bar_baz.py`.", ("src/Foo.ts", "lib/bar_baz.py")),
        (".claude/rules/prose-style.md is read first", (".claude/rules/prose-style.md",)),
        ("https://example.com/a/b.html and example.com/a/b.html are pages", ()),
        ("~/.config/x.json, /etc/nginx/nginx.conf and $HOME/a/b.txt lie elsewhere", ()),
        ("../other/x.ts and src/../../x.ts lead out", ()),
        ("src/*.ts and skills/{a,b}/x.md are patterns", ()),
        ("and/or, 1.2/1.3 and either/or. Next", ()),
        ("C:\\src\\a/b.txt", ()),
    ],
)
def test_paths_are_taken_as_written(content: str, files: tuple[str, ...]) -> None:
    """With their case, and only those of the project."""
    assert files == anchors_of(content).files


@pytest.mark.parametrize(
    ("content", "symbols"),
    [
        ("`getUser` and kb_search() and `Bun.spawn(cmd)`", ("getUser", "kb_search", "Bun.spawn")),
        ("call getUser(id) but not architecture(2 high) or file(s)", ("getUser",)),
        ("`two words` and `src/a.ts` are no symbols", ()),
        ("cleanup() before `ab::cd`", ("cleanup", "ab::cd")),
    ],
)
def test_symbols_are_ticked_or_called(content: str, symbols: tuple[str, ...]) -> None:
    """What only has a parenthesis behind it must look like a name."""
    assert symbols == anchors_of(content).symbols


FILES = "src/a.ts and src/b.ts"


@pytest.mark.parametrize(
    ("content", "there", "symbols", "expected"),
    [
        (FILES, {"src/a.ts", "src/b.ts"}, None, ("active", "high", "file_anchor_match")),
        (FILES, {"src/a.ts"}, None, ("needs_review", "medium", "partial_missing_file_anchor")),
        (FILES, set(), None, ("stale_candidate", "low", "missing_file_anchor")),
        ("we deleted src/x.ts", set(), None, ("needs_review", "medium", "missing_file_anchor")),
        ("src/old/gone/removed.ts is slow", set(), None, ("stale_candidate", "low", "missing_file_anchor")),
        ("src/x.ts was renamed", set(), None, ("needs_review", "medium", "missing_file_anchor")),
        ("`foo`", set(), {"foo"}, ("active", "medium", "symbol_anchor_match")),
        ("`foo`", set(), set(), ("needs_review", "low", "missing_symbol_anchor")),
        ("`foo`", set(), None, ("active", "medium", "unanchored_memory")),
        ("plain words", set(), set(), ("active", "medium", "unanchored_memory")),
    ],
)
def test_the_project_says_what_to_think(
    content: str, there: set[str], symbols: set[str] | None, expected: tuple[str, str, str]
) -> None:
    """In the source's own words."""
    verdict = anchor_verdict(anchors_of(content), content, files=there, symbols=symbols)
    assert expected == (verdict.status, verdict.confidence, verdict.reason)


@given(st.text(alphabet="ab/.`()_ A~$", max_size=400))
def test_any_text_has_bounded_anchors_within_the_project(content: str) -> None:
    """Few of them, and no path that leads out."""
    anchors = anchors_of(content)
    assert len(anchors.files) <= MOST_FILES
    assert len(anchors.symbols) <= MOST_SYMBOLS
    assert not [file for file in anchors.files if file.startswith(("/", "../")) or "/../" in file]


@pytest.mark.parametrize("piece", ["a/", "a.", "`", "a(", "a::", "_", "/.", "a"])
def test_no_text_takes_long(piece: str) -> None:
    """A hundred thousand letters of what the patterns look for, and what comes first is still seen."""
    assert ("src/a.ts",) == anchors_of("src/a.ts " + piece * 50_000).files[:1]
