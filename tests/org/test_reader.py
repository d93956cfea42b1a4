"""A note's nodes are those that org-roam would have."""

import gc
import time

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.model import Node
from roamkb.core.model import Note
from roamkb.org.reader import parse_note
from tests.examples import examples
from tests.org.hostile import notes


def _drawer(identity: str, *lines: str) -> str:
    return "\n".join((":PROPERTIES:", f":ID: {identity}", *lines, ":END:", ""))


def _note(text: str, **options: object) -> Note:
    return parse_note(text, file="sub/a.b.org", **options)  # type: ignore[arg-type]


def _node(text: str, **options: object) -> Node:
    (node,) = _note(text, **options).nodes
    return node


def test_a_file_is_a_node() -> None:
    """With all that it says of itself."""
    text = (
        "# a comment\n"
        + _drawer("f", ':ROAM_ALIASES: one "and two"', ":ROAM_REFS: @key https://x.org")
        + "#+title: A [[id:x][linked]] title\n#+filetags: :a:b:\n\nSee [[id:y::s]] and [cite:@k].\n"
    )
    node = _node(text)
    assert (node.id, node.level, node.line, node.pos, node.end_line) == ("f", 0, 1, 1, 10)
    assert (node.title, node.tags, node.aliases) == ("A linked title", ("a", "b"), ("one", "and two"))
    assert [(ref.type, ref.ref) for ref in node.refs] == [("cite", "key"), ("https", "//x.org")]
    found = [(link.type, link.dest, link.search, link.line) for link in node.links]
    assert found == [("id", "x", None, 7), ("id", "y", "s", 10)]
    assert [(cite.key, cite.line) for cite in node.citations] == [("k", 10)]


def test_a_heading_is_a_node() -> None:
    """With what the headings above and the file give it."""
    text = (
        "#+filetags: :f:t:\n* A [1/2] :t:\n** TODO [#B] H :own:f:\n"
        "DEADLINE: <2024-01-02 Tue 9:30> SCHEDULED: <2024-01-01>\n" + _drawer("h", ":x: y") + "*** below\n* next\n"
    )
    node = _node(text)
    assert (node.level, node.line, node.pos, node.end_line) == (2, 3, 33, 9)
    assert (node.title, node.olp, node.todo, node.priority) == ("H", ("A",), "TODO", "B")
    assert (node.scheduled, node.deadline) == ("2024-01-01T00:00:00", "2024-01-02T09:30:00")
    assert node.tags == ("t", "own", "f")
    assert node.properties == {"ID": "h", "X": "y"}


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("", "sub/a.b"),
        ("#+title: one\n#+title: two\n", "one two"),
        ("#+title:\n", ""),
        ("* H\n#+TITLE: below\n", "below"),
        ("#+begin_src\n#+title: no\n#+end_src\n", "sub/a.b"),
        ("#+title: [[a][b]] [[c]]\n", "b c"),
    ],
)
def test_titles_are_joined(title: str, expected: str) -> None:
    """Wherever it stands in the file, or else the path."""
    note = _note(_drawer("f") + title)
    assert note.title == note.nodes[0].title == expected


@pytest.mark.parametrize(
    ("text", "owners"),
    [
        (_drawer("f") + "[[a]]\n* H\n[[b]]\n", {"f": ["a", "b"]}),
        (_drawer("f") + "* H [[a]]\n" + _drawer("h") + "** I\n[[b]]\n", {"f": [], "h": ["a", "b"]}),
        ("[[a]]\n* H\n" + _drawer("h") + "[[b]]\n* I\n[[c]]\n", {"h": ["b"]}),
        ("* H\n" + _drawer("h") + "* I\n[[c]]\n", {"h": ["c"]}),
        (_drawer("f", ":ROAM_EXCLUDE: t") + "[[a]]\n* H\n" + _drawer("h") + "[[b]]\n", {"h": ["b"]}),
        (_drawer("f") + "* H\n" + _drawer("h", ":X: [[a]]") + "#+y: [[b]]\n", {"f": [], "h": ["a", "b"]}),
    ],
)
def test_a_link_belongs_to_the_node_around_it(text: str, owners: dict[str, list[str]]) -> None:
    """To the nearest heading with an id, to the file, or to what stands first."""
    assert {node.id: [link.dest for link in node.links] for node in _note(text).nodes} == owners


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (_drawer("f", ':ROAM_ALIASES: "open'), "quote"),
        (_drawer("f") + "#+filetags: :a:\n* \n" + _drawer("h"), "title"),
        (_drawer("f") + "* TODO\n" + _drawer("h") + "[[a]]\n", "title"),
        (_drawer("f") + "[2024-01-01]--[x]\n", "time"),
        ("# -*- mode: text -*-\n* H\n" + _drawer("h"), "text-mode"),
        (_drawer("f") + '#+setupfile: "\n', "single quote"),
    ],
)
def test_a_fault_costs_the_whole_file(text: str, word: str) -> None:
    """org-roam drops it, so there are no nodes, and the reason is said."""
    note = _note(text)
    assert note.nodes == ()
    assert word in (note.fault or "")


def test_an_untitled_heading_that_says_nothing_is_passed_over() -> None:
    """The rest of the file stays."""
    assert [node.id for node in _note(_drawer("f") + "* \n" + _drawer("h")).nodes] == ["f"]


def test_a_file_in_another_mode_keeps_its_node() -> None:
    """Without tags and properties, as in org-roam."""
    node = _node("# -*- mode: text -*-\n" + _drawer("f") + "#+title: T\n#+filetags: :a:\n")
    assert (node.title, node.tags, node.properties) == ("T", (), {})


def test_the_humans_states_count_where_a_file_has_none() -> None:
    """A file's own replace them."""
    heading = "* DOING x\n" + _drawer("h")
    assert _node(heading, todo_lines=("DOING | DONE",)).todo == "DOING"
    assert _node(heading).title == "DOING x"
    assert _node("#+todo: A B\n" + heading, todo_lines=("DOING",)).title == "DOING x"


def test_odd_levels_are_counted_as_org_counts_them() -> None:
    """Three stars are the second level."""
    assert _node("#+startup: odd\n*** x\n" + _drawer("h")).level == 2


def test_a_setup_file_is_asked_for_by_its_place_in_the_base() -> None:
    """So that the storage can find it, and know what to look at again."""
    asked: list[str] = []

    def setup(path: str) -> str | None:
        asked.append(path)
        return {"setup.org": "#+filetags: :s:\n#+setupfile: x/../deep/b.org\n"}.get(path)

    note = _note(_drawer("f") + "#+setupfile: ../setup.org\n", setup=setup)
    assert note.nodes[0].tags == ("s",)
    assert note.setupfiles == ("setup.org", "deep/b.org")
    assert asked == ["setup.org", "deep/b.org"]


def test_ten_thousand_nested_headings_are_read() -> None:
    """Depth costs no recursion."""
    # the stars alone would be 50 MB, so the depth is that of two hundred, ten thousand headings in all
    text = "".join("*" * (1 + n % 200) + f" h{n}\n" for n in range(10_000)) + _drawer("last")
    assert len(_node(text).olp) == 199


_PIECES = [
    *(
        "[[",
        "]]",
        "][",
        "[",
        "]",
        "<",
        ">",
        "(",
        ")",
        "{",
        "}",
        "$",
        "\\",
        "\\(",
        "*",
        "/",
        "_",
        "=",
        "~",
        "+",
    ),
    *(
        "https://a.b",
        "id:x",
        "<file:a",
        "[cite:@k",
        "[fn:",
        "[fn::",
        "{{{m(",
        "@@x:",
        "src_a{",
        "<<",
        "<2024-01-01",
    ),
    *(
        "\n",
        "\n",
        " ",
        "\t",
        "\r",
        "a",
        "é",
        "日",
        "\u200b",
        "\0",
        "* ",
        "** TODO ",
        "- ",
        "1. ",
        "| ",
        "#+",
        "# ",
    ),
    *("#+begin_src\n", "#+end_src\n", "#+begin_quote\n", "#+end_quote\n", ":d:\n", ":END:\n", "\\begin{a}\n"),
    *(
        ":PROPERTIES:\n",
        ":ID: x\n",
        ':ROAM_ALIASES: "',
        ":ROAM_REFS: ",
        "#+title: ",
        "#+filetags: :",
        "SCHEDULED: ",
    ),
    *(
        "#+setupfile: x\n",
        "#+link: a ",
        "+--+\n",
        "|-\n",
        "CLOCK: ",
        "%%(",
        "# -*- mode: ",
        "Local Variables:\n",
    ),
]


@settings(deadline=None, max_examples=examples(300))
@given(st.one_of(st.text(), st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)))
def test_any_text_is_read(text: str) -> None:
    """The reader never raises, and what it finds lies in the text."""
    for note in (_note(text), _note(_drawer("f") + text, setup=lambda path: text)):
        lines = note.text.count("\n") + 1
        for node in note.nodes:
            assert 1 <= node.line <= node.end_line <= lines
            assert all(1 <= link.line <= lines for link in node.links)


def _growth(small: str, large: str) -> float:
    """Return how many times the processor's time the larger note takes, of two of one family.

    Other work on the machine makes either look slow and neither fast, so that each counts as its best of
    some times says: of many where they cost little, of few where the larger one does cost too much.
    """
    least = [_cost(small), _cost(large)]
    spent = sum(least)
    while least[1] > _MOST_GROWTH * max(least[0], _UNMEASURABLE) and spent < 300 * least[0]:
        again = [_cost(small), _cost(large)]
        spent += sum(again)
        least = list(map(min, least, again))
    return least[1] / max(least[0], _UNMEASURABLE)


def _cost(text: str) -> float:
    """Return the processor's seconds that reading `text` takes."""
    gc.disable()
    try:
        began = time.process_time()
        _note(text)
        return time.process_time() - began
    finally:
        gc.enable()


#: What is linear takes eight times as long for eight times the length, what is quadratic 64 times.
_SIZES = (8 << 10, 64 << 10)
_MOST_GROWTH = 32
_UNMEASURABLE = 0.0005


@pytest.mark.slow
def test_hostile_notes_are_read_in_linear_time() -> None:
    """Of each family a note of eight times the length takes about eight times as long, up to 64 KiB."""
    for small, large in zip(*map(notes, _SIZES), strict=True):
        growth = _growth(small, large)
        assert growth <= _MOST_GROWTH, f"{large[:80]!r}…{large[-20:]!r}"


def test_what_thousands_inherit_is_there_once() -> None:
    """A heading without tags of its own shares those above it, and a deep outline is walked once."""
    tags = ":".join(f"t{number}" for number in range(5000))
    headings = "".join(f"* h{number}\n{_drawer(f'n{number}')}" for number in range(200))
    first, *rest = _note(f"#+filetags: :{tags}:t1:\n{headings}").nodes
    assert (5000, "t1") == (len(first.tags), first.tags[-1])
    assert all(node.tags is first.tags for node in rest)


@given(
    headings=st.lists(
        st.tuples(st.integers(1, 5), st.lists(st.sampled_from("abc"), max_size=2), st.booleans()), max_size=12
    ),
    filetags=st.lists(st.sampled_from("abc"), max_size=3),
)
def test_paths_and_tags_come_from_all_headings_above(
    headings: list[tuple[int, list[str], bool]], filetags: list[str]
) -> None:
    """Whichever of them are nodes; of equal tags the last stays."""
    text = f"#+filetags: :{':'.join(filetags)}:\n" if filetags else ""
    expected: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    above: list[tuple[int, str, list[str]]] = []
    for number, (stars, tags, is_node) in enumerate(headings):
        text += "*" * stars + f" h{number}" + (f" :{':'.join(tags)}:" if tags else "") + "\n"
        text += _drawer(str(number)) if is_node else ""
        above = [one for one in above if one[0] < stars]
        every = [*filetags, *(tag for _, _, theirs in above for tag in theirs), *tags]
        kept = tuple(tag for place, tag in enumerate(every) if tag not in every[place + 1 :])
        if is_node:
            expected[str(number)] = (tuple(title for _, title, _ in above), kept)
        above.append((stars, f"h{number}", tags))
    assert expected == {node.id: (node.olp, node.tags) for node in _note(text).nodes}
