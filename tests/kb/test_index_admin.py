"""The commands beside search: index, tags, links --graph, search --related and --budget."""

import json

import pytest

from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.kb.graph.link_graph import LinkGraph
from tests.conftest import World
from tests.conftest import typed


@pytest.fixture
def linked(world: World) -> World:
    """Notes about zebras; the first two are linked, and both link to the savanna."""
    world.node("1.org", "z", "Zebra", "Stripes confuse flies. [[id:s]] [[id:t]]", tags=":animal:")
    world.node("2.org", "t", "Tapir", "No stripes. [[id:s]] [[id:s]] [[id:nobody]]", tags=":animal:")
    world.node("3.org", "s", "Savanna", "Grass and trees.")
    world.node("4.org", "q", "Quagga", "Half of it had stripes, and flies didn't care.", tags=":animal:")
    world.node("5.org", "o", "Okapi", "Lives in the woods. [[id:s]]")
    world.node("6.org", "c", "Clock", "Tells the time.")
    return world


def test_tags_are_counted(linked: World) -> None:
    """By nodes, the most frequent first."""
    linked.node("7.org", "x", "X", tags=":zoo:animal:")
    assert [("animal", 4), ("zoo", 1)] == [(one.tag, one.nodes) for one in linked.open().tags().tags]
    assert "     4 animal\n     1 zoo\n" == linked.run("tags").out


def test_related_shares_words_tags_or_neighbours_and_no_link(linked: World) -> None:
    """What is linked already isn't shown, nor what has nothing in common."""
    hits = linked.open().search(related="Zebra").hits
    assert ["q", "o"] == [hit.id for hit in hits]
    assert [("tag", "words"), ("neighbour",)] == [hit.why for hit in hits]


def test_related_to_nothing_is_an_error(linked: World) -> None:
    """A name that no node has, or words beside it."""
    with pytest.raises(NotFound):
        linked.open().search(related="nobody")
    with pytest.raises(UsageError):
        linked.open().search("zebra", related="z")


def test_the_graph_has_each_link_once(linked: World) -> None:
    """Links to nothing are left out; the text is Graphviz."""
    graph = typed(LinkGraph, linked.open().links(graph=True)).graph
    assert (("o", "s"), ("t", "s"), ("z", "s"), ("z", "t")) == graph.edges
    linked.node("8.org", 'q"o', 'A "quoted" \\ title')
    out = linked.run("links", "--graph").out
    assert out.startswith("digraph roamkb {\n") and out.endswith("}\n")
    assert '  "q\\"o" [label="A \\"quoted\\" \\\\ title"];' in out
    assert '  "z" -> "t";' in out
    found = json.loads(linked.run("links", "--graph", "--json").out)
    assert {"source": "z", "dest": "t"} in found["edges"]


def test_links_of_nothing_is_a_usage_error(linked: World) -> None:
    """A node or the whole, not neither and not both."""
    with pytest.raises(UsageError):
        linked.open().links()
    with pytest.raises(UsageError):
        linked.open().links("z", graph=True)


def test_a_budget_is_kept_to(linked: World) -> None:
    """To the character, and the last line is cut where that makes it fit."""
    whole = linked.run("search", "stripes", "flies").out
    for budget in (1, len(whole) // 2, len(whole) - 1, len(whole)):
        out = linked.run("search", "stripes", "flies", "--budget", str(budget)).out
        assert len(out) <= budget
    assert whole == out
    with pytest.raises(UsageError):
        linked.open().search("x", budget=0)


def test_the_index_says_what_it_is(linked: World) -> None:
    """Where it lies and how large it is."""
    state = linked.open().index()
    assert (6, 6) == (state.notes, state.entries)
    assert state.path and state.path.stat().st_size == state.size > 0


def test_a_check_compares_with_a_new_index(linked: World) -> None:
    """And finds nothing to complain of, whatever was done to notes or file."""
    assert 0 == linked.open().index(check=True).differences
    (linked.kb / "6.org").unlink()
    linked.node("9.org", "n", "New")
    assert 0 == linked.open().index(check=True).differences


def test_a_rebuild_makes_another_file(linked: World) -> None:
    """With the same content."""
    path = linked.open().index().path
    assert path
    before = path.stat().st_ino
    assert linked.open().index(rebuild=True).path == path
    assert before != path.stat().st_ino
    with pytest.raises(UsageError):
        linked.open().index(rebuild=True, check=True)


def test_a_hit_is_dated_and_has_its_best_lines(linked: World) -> None:
    """For agents that read JSON."""
    linked.node("20240102030405-gnu.org", "g", "Gnu", "one horn\ntwo horns\nno\nthree horns\nhorns again")
    (hit,) = linked.open().search("horns").hits
    assert "2024-01-02T03:04:05" == hit.date
    # a line with the word as it was asked for comes before one with another form
    assert [(7, "two horns"), (9, "three horns"), (10, "horns again")] == list(hit.lines)
