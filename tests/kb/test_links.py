"""Links both ways."""

import pytest

from roamkb.kb.links import NodeLinks
from tests.conftest import World
from tests.conftest import typed


@pytest.fixture
def web(world: World) -> World:
    """Three notes that link to each other, to nothing and to the outside."""
    world.node("a.org", "a", "A", "See [[id:b][the B]] and [[id:gone][lost]].\n\nAlso https://example.org/x.")
    world.node("b.org", "b", "B", "Back to [[id:a]].")
    world.note("c.org", ":PROPERTIES:\n:ID: c\n:END:\n#+title: C\n* H\n:PROPERTIES:\n:ID: h\n:END:\n[[id:a][A]]\n")
    return world


def test_forward_back_and_dangling(web: World) -> None:
    """Each end with its title, path and line."""
    links = typed(NodeLinks, web.open().links("A"))
    assert [("b", "B", web.kb / "b.org", 1)] == [(n.id, n.title, n.path, n.line) for n in links.forward]
    assert [("b", web.kb / "b.org", 6), ("h", web.kb / "c.org", 9)] == [(n.id, n.path, n.line) for n in links.back]
    assert [("gone", web.kb / "a.org", 6)] == [(n.id, n.path, n.line) for n in links.dangling]
    assert [("https", "//example.org/x", 8)] == [(n.type, n.dest, n.line) for n in links.external]


def test_a_node_without_links(web: World) -> None:
    """Everything is empty."""
    links = typed(NodeLinks, web.open().links("c"))
    assert () == links.forward + links.back + links.dangling + links.external
