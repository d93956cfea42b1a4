"""The part of the graph that is drawn: the links that `links` lists, around a node or all, as a search finds them."""

from pathlib import Path

import pytest

from roamkb.app.server import ServedKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.kb.graph import selection
from roamkb.kb.graph.link_graph import LinkGraph
from roamkb.kb.graph.selection import GraphSelection
from roamkb.kb.graph.store.layouts import place_nodes
from roamkb.kb.search.query import parse_query
from tests.conftest import World
from tests.conftest import typed


@pytest.fixture
def kb(world: World) -> ServedKnowledgeBase:
    """A chain from a to e with a tag at its ends, a note alone, and one of an agent's."""
    for here, there in ("ab", "bc", "cd", "de"):
        world.node(f"{here}.org", here, f"Note {here}", f"[[id:{there}]]", tags=":end:" if here == "a" else "")
    world.node("e.org", "e", "Note e", "[[id:e]] [[id:gone]] zebra", tags=":end:")
    world.node("alone.org", "alone", "Alone")
    world.open().write("Written by an agent", links=("Note c",))
    return ServedKnowledgeBase(world.open().environment)


def _drawn(kb: ServedKnowledgeBase, text: str = "", *, around: str = "", depth: int = 1) -> tuple[set[str], set[str]]:
    query = parse_query(text, today=kb.environment.now().date()) if text else None
    drawn = kb.select_graph(query=query, around=around, depth=depth)
    titles = [node.title.removeprefix("Note ") for node in drawn.nodes]
    return set(titles), {"".join(sorted((titles[one], titles[other]))) for one, other in drawn.edges}


def test_all_notes_and_links_are_drawn(kb: ServedKnowledgeBase, world: World) -> None:
    """Each pair once, as `links --graph` has them; those with the most links first."""
    drawn = kb.select_graph()
    graph = typed(LinkGraph, world.open().links(graph=True)).graph
    ids = [node.id for node in drawn.nodes]
    assert {frozenset(edge) for edge in graph.edges} == {
        frozenset((ids[one], ids[other])) for one, other in drawn.edges
    }
    assert {node.id for node in graph.nodes} == set(ids)
    assert "c" == ids[0]
    assert ["Written by an agent"] == [node.title for node in drawn.nodes if node.is_agent]


def test_around_a_note_it_goes_as_deep_as_asked(kb: ServedKnowledgeBase) -> None:
    """By links in either direction; the note itself is in the middle."""
    assert ({"a", "b"}, {"ab"}) == _drawn(kb, around="a")
    assert ({"a", "b", "c"}, {"ab", "bc"}) == _drawn(kb, around="a", depth=2)
    assert {"a", "b", "c", "d", "Written by an agent"} == _drawn(kb, around="a", depth=3)[0]
    assert 0 == kb.select_graph(around="b").middle
    assert ({"Alone"}, set()) == _drawn(kb, around="alone", depth=3)
    with pytest.raises(NotFound):
        kb.select_graph(around="gone")


def test_a_query_says_what_is_drawn(kb: ServedKnowledgeBase) -> None:
    """The search's own language; the middle stays."""
    assert ({"a", "e"}, set()) == _drawn(kb, "tag:end")
    assert {"Written by an agent"} == _drawn(kb, "is:agent")[0]
    assert {"e"} == _drawn(kb, "zebra")[0]
    assert {"c", "Written by an agent"} == _drawn(kb, "is:agent", around="c")[0]
    assert set() == _drawn(kb, "tag:none")[0]


def test_of_too_many_notes_the_most_linked_are_drawn(kb: ServedKnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are counted."""
    monkeypatch.setattr(selection, "MOST_NODES", 3)
    drawn: GraphSelection = kb.select_graph()
    assert ["c", "b", "d"] == [node.id for node in drawn.nodes]
    assert 4 == drawn.more


def test_a_large_layout_is_kept_until_its_links_change(tmp_path: Path) -> None:
    """A file that isn't as it was written counts for nothing, and only the latest stay."""
    edges = [(node, node // 2) for node in range(1, 500)]
    first = place_nodes(tmp_path, 500, edges)
    (kept,) = (tmp_path / "layouts").iterdir()
    again = place_nodes(tmp_path, 500, edges)
    assert again[0] == pytest.approx(first[0], rel=1e-6)
    data = kept.read_bytes()
    kept.write_bytes(data[:-4] + b"\0\0\0\0")
    assert place_nodes(tmp_path, 500, edges) == first
    assert data == kept.read_bytes()
    for more in range(12):
        place_nodes(tmp_path, 501 + more, edges[:9])
    assert 8 == len(list((tmp_path / "layouts").iterdir()))


def test_a_layout_that_cannot_be_kept_is_made_each_time(tmp_path: Path) -> None:
    """A full disk, or a file where the folder should be, costs the reader time alone."""
    (tmp_path / "layouts").write_text("")
    edges = [(node, node // 2) for node in range(1, 500)]
    assert place_nodes(None, 500, edges) == place_nodes(tmp_path, 500, edges)
