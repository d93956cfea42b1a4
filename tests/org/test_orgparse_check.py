"""A reader that somebody else wrote sees in our notes what we meant."""

from datetime import datetime

import orgparse
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.errors import NotAsMeant
from roamkb.org.orgparse_check import check_by_orgparse
from roamkb.org.orgparse_check import read_by_orgparse
from roamkb.org.writer import NodeDraft
from roamkb.org.writer import render_node

WORDS = st.lists(st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,9}", fullmatch=True), min_size=1, max_size=8)
TAG = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


@given(title=WORDS, body=st.lists(WORDS, max_size=5), tags=st.lists(TAG, max_size=3, unique=True))
def test_orgparse_reads_id_title_tags_and_provenance(title: list[str], body: list[list[str]], tags: list[str]) -> None:
    """Other programs of the org world are readers of the knowledge base, too."""
    draft = NodeDraft(
        id="01939b7a-5f3c-7d2e-9a1b-2c3d4e5f6a7b",
        created=datetime(2026, 6, 10, 14, 29),
        agent="claude-code",
        project="~/code/site",
        source="observed",
        title=" ".join(title),
        body="\n".join(" ".join(line) for line in body),
        tags=tuple(tags),
        aliases=(),
        refs=(),
        related=(("01939b7a-0000-7000-8000-000000000000", "Another node"),),
    )
    text = render_node(draft)
    check_by_orgparse(text, id=draft.id, title=draft.title, tags={"agent", *tags})
    root = orgparse.loads(text)
    assert draft.id == root.properties["ID"]
    assert ("claude-code", "~/code/site", "observed") == tuple(
        root.properties[key] for key in ("AGENT", "PROJECT", "SOURCE")
    )
    assert draft.title == root.get_file_property("title")
    assert {"agent", *tags} == root.tags
    assert draft.body in root.get_body(format="raw")
    assert () == tuple(root.children)


@pytest.mark.parametrize("title", ["Zero\u200bwidth", "a [[ -f x ]] b", "[[\u200b" * 100])
def test_a_title_with_breaks_is_the_one_that_was_given(title: str) -> None:
    """With its own zero-width spaces, and without those that keep it inert in Emacs."""
    draft = NodeDraft(
        id="x", created=datetime(2026, 6, 10), agent="a", project="", source="observed", title=title, body=""
    )
    check_by_orgparse(render_node(draft), id="x", title=title, tags={"agent"})


@pytest.mark.parametrize(
    "text",
    [
        ":PROPERTIES:\n:ID: x\n:Effort: soon\n:END:\n#+title: T\n",
        "#+title: one\n#+title: two\n",
        "* H " + ":a" * 30_000,
        "[[" * 30_000,
        "",
        "\x00",
    ],
)
def test_what_it_cannot_read_is_no_error(text: str) -> None:
    """It gets bounded lines of the head, and may give up."""
    reading = read_by_orgparse(text)
    assert reading is None or reading.outline in ((), (1,))


@pytest.mark.parametrize(
    "text",
    [
        ":PROPERTIES:\n:ID: other\n:END:\n#+title: T\n#+filetags: :agent:\n",
        ":PROPERTIES:\n:ID: x\n:END:\n#+title: Other\n#+filetags: :agent:\n",
        ":PROPERTIES:\n:ID: x\n:END:\n#+title: T\n#+filetags: :agent:other:\n",
        ":PROPERTIES:\n:ID: x\n:END:\n#+title: T\n#+filetags: :agent:\n\ntext\n* A heading\n",
    ],
)
def test_a_note_that_orgparse_reads_otherwise_is_refused(text: str) -> None:
    """By its id, its title, its tags or its outline; nothing gets a name then."""
    meant = ":PROPERTIES:\n:ID: x\n:END:\n#+title: T\n#+filetags: :agent:\n\ntext\n"
    check_by_orgparse(meant, id="x", title="T", tags=["agent"])
    with pytest.raises(NotAsMeant):
        check_by_orgparse(text, id="x", title="T", tags=["agent"])
