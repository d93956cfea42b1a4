"""A node with what is around it: the same links as `links` finds, from the index."""

import pytest

from roamkb.app.environment import ProcessEnvironment
from roamkb.app.server import ServedKnowledgeBase
from roamkb.core.errors import NotFound
from roamkb.kb.links import NodeLinks
from roamkb.kb.node_view import MOST_BACKLINKS
from tests.conftest import World
from tests.conftest import typed


def _served(world: World) -> ServedKnowledgeBase:
    around: ProcessEnvironment = world.open().environment
    return ServedKnowledgeBase(around)


def test_links_both_ways_have_their_lines(world: World) -> None:
    """As `links` finds them by reading every note; a heading's links belong to the note that shows it."""
    world.node("a.org", "a", "About", "- see [[id:b][the other]]\n* Part\n:PROPERTIES:\n:ID: part\n:END:\n[[id:c]]")
    world.node("b.org", "b", "Other", "twice [[id:a]]\n\nand [[id:a][again]] [[id:gone]]")
    world.node("c.org", "c", "Third", "[[id:part]]")
    kb = _served(world)
    view = kb.view_node("a")
    found = typed(NodeLinks, world.open().links("a"))
    assert [(link.id, link.path, link.line) for link in found.back] == [
        (link.id, link.path, link.line) for link in view.backlinks
    ]
    assert ["twice", "and again"] == [link.text for link in view.backlinks]
    assert {"b": "Other", "c": "Third"} == view.forward
    assert ["Third"] == [link.title for link in kb.view_node("part").backlinks]
    assert {"a": "About"} == kb.view_node("b").forward


def test_what_cites_a_node_s_work_links_to_it(world: World) -> None:
    """And a note's citations lead to the nodes about them."""
    world.note("w.org", ":PROPERTIES:\n:ID: w\n:ROAM_REFS: @key2020\n:END:\n#+title: Work\n")
    world.node("x.org", "x", "Citing", "as [cite:@key2020; @none] says")
    kb = _served(world)
    assert ["x"] == [link.id for link in kb.view_node("w").backlinks]
    assert {"key2020": "w"} == kb.view_node("x").cited


def test_of_a_hub_s_backlinks_the_first_are_read(world: World) -> None:
    """The others are counted."""
    world.node("hub.org", "hub", "Hub")
    for number in range(MOST_BACKLINKS + 3):
        world.node(f"{number}.org", f"n{number}", f"Note {number}", "[[id:hub][to the hub]]")
    view = _served(world).view_node("hub")
    assert (MOST_BACKLINKS, 3) == (len(view.backlinks), view.more_backlinks)


def test_a_node_is_found_by_its_title_and_path_too(world: World) -> None:
    """And text without a node by its file; what is nowhere is an error that names what is spelt nearly so."""
    world.node("a.org", "a", "About zebras")
    world.note("plain.org", "#+title: Plain\n\nno node\n")
    kb = _served(world)
    assert "a" == kb.view_node("About zebras").node.id
    assert "a" == kb.view_node("a.org").node.id
    assert ("", "Plain") == ((view := kb.view_node(str(world.kb / "plain.org"))).node.id, view.node.title)
    assert () == view.backlinks
    with pytest.raises(NotFound, match="About zebra"):
        kb.view_node("About zebra")


@pytest.mark.parametrize(
    "name", ["../secret.org", "sub/../../secret.org", "HOME/secret.org", ".hidden.org", "link.org"]
)
def test_nothing_outside_of_the_notes_is_shown(name: str, world: World) -> None:
    """Whatever path is asked for."""
    text = ":PROPERTIES:\n:ID: s\n:END:\n#+title: Secret\n"
    (world.home / "secret.org").write_text(text)
    world.note("sub/a.org", text.replace("Secret", "Known").replace("ID: s", "ID: a"))
    world.note(".hidden.org", text)
    (world.kb / "link.org").symlink_to(world.home / "secret.org")
    with pytest.raises(NotFound):
        _served(world).view_node(name.replace("HOME", str(world.home)))


def test_the_latest_of_what_agents_wrote(world: World) -> None:
    """Only as many as asked for, with the number of all."""
    kb = world.open()
    first, second = (kb.write(f"Zebras have {number} kinds of stripes").id for number in ("three", "seven"))
    world.node("mine.org", "mine", "Mine")
    latest = _served(world).latest_agent_nodes(1)
    assert 2 == latest.count
    assert {node.id for node in latest.nodes} <= {first, second}
    assert 1 == len(latest.nodes)
