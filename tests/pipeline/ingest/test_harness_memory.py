"""What Claude Code remembers, as statements."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.harnesses.claude_code import HARNESS
from roamkb.log.jsonl import BadLine
from roamkb.log.jsonl import LearningLine
from roamkb.log.learning import Learning
from roamkb.pipeline.ingest.harness_memory import may_be_under
from roamkb.pipeline.ingest.harness_memory import read_memory


def said(text: str, file: str = "topic.md") -> list[Learning]:
    """The learnings of one file."""
    return [one.learning for one in read_memory(file, text) if isinstance(one, LearningLine)]


@pytest.mark.parametrize(
    ("type", "ours", "provenance"),
    [
        ("user", "fact", "user-stated"),
        ("feedback", "learned", "user-stated"),
        ("project", "fact", "observed"),
        ("reference", "fact", "observed"),
        ("Feedback", "learned", "user-stated"),
        ("mood", "learned", "observed"),
    ],
)
def test_a_typed_file_is_one_statement(type: str, ours: str, provenance: str) -> None:
    """Its whole body; what a user said is a user's word."""
    (learning,) = said(f"---\nname: n-1\ndescription: d\ntype: {type}\n---\n\nOne.\n\n**Why:** two.\n")
    assert "One.\n\n**Why:** two." == learning.content
    assert (ours, provenance, "n-1", "auto_memory:topic.md") == (
        learning.type,
        learning.provenance,
        learning.key,
        learning.origin,
    )
    assert (ours, "auto-memory", type) == learning.tags


def test_a_front_matter_of_another_form_is_read() -> None:
    """Quotes, CRLF, a BOM, the type one level down."""
    text = "\ufeff---\r\nname: \"n\"\r\nmetadata:\r\n  type: 'user'\r\n---\r\nSays it.\r\n"
    (learning,) = said(text)
    assert ("Says it.", "n", "fact") == (learning.content, learning.key, learning.type)


def test_a_description_stands_in_for_a_missing_body() -> None:
    """And where there is none either, nothing is said."""
    assert ["d"] == [one.content for one in said("---\ndescription: d\ntype: user\n---\n")]
    assert [BadLine(line=1, reason="t.md: it says nothing")] == list(read_memory("t.md", "---\ntype: user\n---\n"))


def test_notes_without_a_type_are_many_statements() -> None:
    """List items with what belongs to them, paragraphs; neither headings nor pointers."""
    text = (
        "# Notes\n\n- one\n  goes on\n- two\n\n1. three\n\nA paragraph\nof two lines.\n## More\n"
        "- [Topic](topic.md): pointer\n---\n<!-- no -->\n* [x](https://example.org) is a link\n"
    )
    found = list(read_memory("MEMORY.md", text))
    assert [
        (3, "one\n  goes on"),
        (5, "two"),
        (7, "three"),
        (9, "A paragraph\nof two lines."),
        (15, "[x](https://example.org) is a link"),
    ] == [(one.line, one.learning.content) for one in found if isinstance(one, LearningLine)]


def test_the_index_says_nothing_of_its_own() -> None:
    """Its lines only point."""
    assert [] == said("- [One](one.md): what\n* [Two](sub/two.md) — what\n[Three](three.md)\n", "MEMORY.md")


def test_a_statement_keeps_its_id_when_the_file_is_touched() -> None:
    """The time of a file isn't its statements' own."""
    one, other = (
        [found.learning.id for found in read_memory("a.md", "- x\n", changed=at) if isinstance(found, LearningLine)]
        for at in (1.0, 2.0)
    )
    assert one == other


@given(st.text(max_size=200), st.sampled_from(["MEMORY.md", "a.md"]))
def test_any_text_is_read(text: str, file: str) -> None:
    """No statement is empty, and each has a line of the file."""
    for prefix in ("", "---\ntype: user\n---\n"):
        for found in read_memory(file, prefix + text):
            assert 1 <= found.line <= (prefix + text).count("\n") + 1
            assert isinstance(found, BadLine) or found.learning.content.strip()


def test_a_project_goes_by_its_path_with_dashes() -> None:
    """All that isn't a letter or a digit, or slashes alone, as older versions had it."""
    assert ("-home-u-my-site", "-home-u-my.site") == HARNESS.project_names("/home/u/my.site")
    assert "-home-u" == HARNESS.project_of(Path("/x/.claude/projects/-home-u/memory/a.md"))
    assert HARNESS.project_of(Path("/x/.claude/rules/a.md")) is None


@pytest.mark.parametrize(
    ("name", "entry", "may"),
    [
        ("-home-u-work", "/home/u/work", True),
        ("-home-u-work-acme", "/home/u/work/", True),
        ("-home-u-work-shop", "/home/u/work", True),
        ("-home-u-workshop", "/home/u/work", False),
        ("-home-u-code-site", "/home/u/work", False),
        ("-home-u-code-acme-site", "/home/u/code/acme*", True),
        ("-home-u-a-client-b", "/home/u/*/client", True),
        ("-home-u-my.work-a", "/home/u/my.work", True),
    ],
)
def test_what_may_be_work_is_taken_for_it(name: str, entry: str, may: bool) -> None:
    """A dash hides what it stands for."""
    assert may is may_be_under(name, entry)
