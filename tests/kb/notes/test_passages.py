"""A note cut into what a search can find."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.kb.notes.passages import creation_time
from roamkb.kb.notes.passages import passage_at
from roamkb.kb.notes.passages import split_passages
from roamkb.org.agent_node import is_agent_node
from roamkb.org.reader import parse_note

TEXT = """\
:PROPERTIES:
:ID: file
:CREATED: [2026-06-10 Wed 14:29]
:END:
#+title: Whole
above
* Plain
under plain
* Node
:PROPERTIES:
:ID: node
:END:
under node
** Deeper
under deeper
** Inner
:PROPERTIES:
:ID: inner
:END:
under inner
* After
under after
"""


def owners(text: str) -> dict[str, list[str]]:
    """The lines of prose that each passage has, by the passage's title."""
    note = parse_note(text, file="x.org")
    return {
        passage.title: [line for _, line in passage.lines if line.startswith(("above", "under"))]
        for passage in split_passages(note)
    }


def test_each_line_belongs_to_the_node_around_it() -> None:
    """The innermost one with an id; headings without one are text of the node above."""
    assert {
        "Whole": ["above", "under plain", "under after"],
        "Node": ["under node", "under deeper"],
        "Inner": ["under inner"],
    } == owners(TEXT)


def test_a_file_without_a_node_is_one_passage() -> None:
    """Nothing that a person wrote is unfindable."""
    (passage,) = split_passages(parse_note("#+title: T\nunder nothing\n", file="x.org"))
    assert (None, "T") == (passage.node, passage.title)
    assert ["under nothing"] == [line for _, line in passage.lines if line]


def test_text_outside_all_nodes_is_a_passage_of_its_own() -> None:
    """A file whose headings are nodes may have text before them."""
    note = parse_note("above\n* H\n:PROPERTIES:\n:ID: h\n:END:\nunder\n", file="x.org")
    assert ["H", "x"] == [passage.title for passage in split_passages(note)]


@given(st.lists(st.sampled_from([*TEXT.split("\n"), "* ", "#+begin_src"]), max_size=30))
def test_every_line_belongs_to_one_passage_at_most(lines: list[str]) -> None:
    """No text counts twice, and lines know their numbers."""
    note = parse_note("\n".join(lines), file="x.org")
    pieces = tuple(split_passages(note))
    numbered = [pair for passage in pieces for pair in passage.lines]
    assert len({number for number, _ in numbered}) == len(numbered)
    lines = lines or [""]
    assert all(lines[number - 1] == line for number, line in numbered)
    for number, _ in numbered:
        assert (number, lines[number - 1]) in passage_at(pieces, number).lines


@pytest.mark.parametrize(
    ("file", "drawer", "date"),
    [
        ("20240102030405-x.org", "", "2024-01-02T03:04:05"),
        ("sub/20240102030405-x.org", "", "2024-01-02T03:04:05"),
        ("20240102030405-x.org", ":CREATED: [2026-06-10 Wed 14:29]\n", "2026-06-10T14:29:00"),
        ("x.org", ":CREATED: 2026-06-10\n", "2026-06-10"),
        ("daily/2024-01-02.org", "", "2024-01-02"),
        ("x.org", "", ""),
    ],
)
def test_when_a_node_was_made(file: str, drawer: str, date: str) -> None:
    """Its own word counts, then its file's name."""
    note = parse_note(f":PROPERTIES:\n:ID: x\n{drawer}:END:\n#+title: T\n", file=file)
    assert date == creation_time(note, note.nodes[0])


@pytest.mark.parametrize(
    ("drawer", "keywords", "ours"),
    [
        (":AGENT: claude\n", "#+filetags: :agent:", True),
        ("", "#+filetags: :agent:", False),
        (":AGENT: claude\n", "#+filetags: :mine:", False),
        (":AGENT:\n", "#+filetags: :agent:", False),
        (":AGENT: claude\n", "#+setupfile: s.org\n#+filetags: :agent:", False),
    ],
)
def test_what_an_agent_wrote_is_marked_twice(drawer: str, keywords: str, ours: bool) -> None:
    """By tag and property, and no set-up file can lend the tag."""
    note = parse_note(f":PROPERTIES:\n:ID: x\n{drawer}:END:\n{keywords}\n#+title: T\n", file="x.org")
    assert ours is is_agent_node(note, note.nodes[0])
