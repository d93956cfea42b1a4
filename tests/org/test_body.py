"""A node's own text, as it was given."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.org.agent_node import is_agent_node
from roamkb.org.body import body_of
from roamkb.org.reader import parse_note
from roamkb.org.writer import NodeDraft
from roamkb.org.writer import normalise_text
from roamkb.org.writer import render_node
from tests.examples import examples

HEAD = ":PROPERTIES:\n:ID: x\n:END:\n#+title: t\n"
OURS = ":PROPERTIES:\n:ID: x\n:AGENT: a\n:END:\n#+title: t\n#+filetags: :agent:\n"


def body(text: str, number: int = 0) -> str:
    """Return the text of a note's node."""
    note = parse_note(text, file="n.org")
    return body_of(note, note.nodes[number])


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (HEAD, ""),
        (HEAD + "\n\ntext\n\n", "text"),
        (HEAD + "#+filetags: :x:\n#+author: me\n\n: text\n * star", ": text\n * star"),
        ("# a comment\n" + HEAD + "text", "text"),
        (HEAD + "\n#+begin_src sh\nx\n#+end_src\n", "#+begin_src sh\nx\n#+end_src"),
        (HEAD + "\ntext\n* H\n** I\n", "text\n* H\n** I"),
        (":PROPERTIES:\n:ID: x\n:END:\n:END:\ntext", ":END:\ntext"),
    ],
)
def test_a_humans_file_is_given_as_it_stands(text: str, own: str) -> None:
    """All but the drawer and the keywords that lead it; nothing is unescaped."""
    assert body(text) == own


@pytest.mark.parametrize(
    ("subtree", "own"),
    [
        ("* H\n:PROPERTIES:\n:ID: h\n:END:\ntext\n** I\nmore\n", "text\n** I\nmore"),
        ("* H\nSCHEDULED: <2026-01-01 Thu>\n:PROPERTIES:\n:ID: h\n:END:\n\n: text\n", ": text"),
        ("* H\n:PROPERTIES:\n:ID: h\n:END:\n", ""),
    ],
)
def test_a_heading_node_is_its_subtree(subtree: str, own: str) -> None:
    """Heading, planning line and drawer are not text, and the next heading is another's."""
    assert body(HEAD + subtree + "* Next\nnot mine\n", 1) == own


@pytest.mark.parametrize(
    ("text", "agents"),
    [
        (OURS, True),
        (OURS.replace(":agent:", ":mine:"), False),
        (OURS.replace(":AGENT:", ":OTHER:"), False),
        (OURS.replace("a\n:END:", "\n:END:"), False),
        (OURS + "#+setupfile: x.org\n", False),
    ],
)
def test_an_agent_node_is_marked_twice(text: str, agents: bool) -> None:
    """A human takes a node over by removing either mark."""
    note = parse_note(text, file="n.org")
    assert is_agent_node(note, note.nodes[0]) is agents


def test_a_heading_in_an_agents_file_is_not_an_agents_node() -> None:
    """Tags are inherited; ownership isn't."""
    note = parse_note(OURS + "* H\n:PROPERTIES:\n:ID: h\n:AGENT: a\n:END:\n", file="n.org")
    assert [is_agent_node(note, node) for node in note.nodes] == [True, False]


def test_what_a_human_wrote_into_an_agents_node_is_shown() -> None:
    """A text that was never escaped is given as it stands."""
    assert body(OURS + "\n: #+title: x\nmy [[elisp:(x)]]\n* heading\n#+begin_src sh :x\ny\n#+end_src\n") == (
        "#+title: x\nmy [[elisp:(x)]]\n* heading\n#+begin_src sh :x\ny\n#+end_src"
    )


PIECES = (
    "#+title: x", "* x", " * x", ":ID: x", ":END:", ": ", "#+begin_src sh", "#+begin_src sh :eval never", "#+end_src", "-",
    "#+begin_example", "#+end_example", "#+begin_quote", "#+end_quote", ",* x", "[fn:1]", "[[elisp:x]]", "%%(x)", "\n", "\n",
    "\n", "\n", "\r", "\r\n", "\u200b", "\x00", "\x1b$B", "\ud800", "\t", " ", "| =x", "- related :: [[id:x][y]]", "é",
)  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).map("".join)


@settings(max_examples=examples(1500), deadline=None)
@given(texts)
def test_what_was_given_is_given_back(text: str) -> None:
    """For every text, after the one named normalisation."""
    draft = NodeDraft(
        id="x", created=datetime(2026, 1, 1), agent="a", project="p", source="observed", title="t", body=text
    )
    assert body(render_node(draft)) == normalise_text(text)
