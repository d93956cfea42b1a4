"""A learning as a bullet: whatever it says, it is one line that is read as words."""

import pytest
from hypothesis import example
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from roamkb.instructions.instruction_line import render_instruction_line

#: What Markdown and harnesses make something of.
SIGNS = st.sampled_from(
    [
        *"#-+*>~`<[]!@_=|:\\()&",
        "<!--",
        "-->",
        "```",
        "~~~",
        "---",
        "1. ",
        "[x]: /u",
        "@~/a",
        "\n",
        "\r\n",
        "\t",
        "    ",
    ]
)
TEXTS = st.lists(SIGNS | st.sampled_from(["a", "b c", " ", "<div>", "</x>", "\u2028", "é"]), max_size=14).map("".join)


@example("\\<div>", [])
@example("a", ["----->>"])
@given(TEXTS.filter(lambda text: text.strip(" \t\r\n\u2028")), st.lists(TEXTS, max_size=4))
def test_it_is_one_item_of_one_paragraph_of_words(content: str, files: list[str]) -> None:
    """No heading, fence, quote, tag, comment, image or definition comes of it."""
    line = render_instruction_line(content, files)
    assert line.splitlines() == [line]
    assert "<!--" not in line and "-->" not in line
    for around in ("{}\n", "Words before\n\n{}\n<!-- end -->\n", "- one\n{}\n- another\n"):
        tree = SyntaxTreeNode(MarkdownIt("commonmark").parse(around.format(line)))
        items = [item for block in tree.children if block.type == "bullet_list" for item in block.children]
        assert all(["paragraph"] == [child.type for child in item.children] for item in items)
        kinds = {node.type for item in items for node in item.walk()}
        assert not kinds & {"html_inline", "html_block", "image", "heading", "fence", "code_block", "hr"}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("Use TEXT for dates in SQLite", "- Use TEXT for dates in SQLite"),
        ("Call `npm run dev`, never `npm start`", "- Call `npm run dev`, never `npm start`"),
        ("List<int> is shown as one", "- List\\<int> is shown as one"),
        ("Types come from @types/node.", "- Types come from `@types/node`."),
        ("Ask somebody@example.org", "- Ask somebody@example.org"),
        ("A `@types/node` stays", "- A `@types/node` stays"),
        ("Two\nlines  of\ttext", "- Two lines of text"),
        ("# is a comment", "- \\# is a comment"),
        ("1. is a list", "- 1\\. is a list"),
        ("Run !`date` there", "- Run ! `date` there"),
    ],
)
def test_what_is_plain_stays_plain(content: str, line: str) -> None:
    """People should find their own words."""
    assert line == render_instruction_line(content)


def test_files_stand_behind_it() -> None:
    """Three of them, as code."""
    assert "- Cents (about `a.ts`, `b/*.ts`, `c`)" == render_instruction_line("Cents", ["a.ts", "b/*.ts", "c", "d"])
