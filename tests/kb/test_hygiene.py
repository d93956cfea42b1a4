"""What a human may want to tidy."""

from pathlib import Path

from roamkb.kb.hygiene import HygieneReport
from roamkb.kb.hygiene import hygiene
from roamkb.kb.notes.store.notes import Notes
from tests.conftest import World


def agent_node(world: World, name: str, id: str, title: str, body: str = "", drawer: str = "") -> Path:
    """Put a node that an agent wrote into the knowledge base."""
    head = f":PROPERTIES:\n:ID:       {id}\n:AGENT:    claude-code\n{drawer}:END:\n"
    return world.note(name, f"{head}#+title: {title}\n#+filetags: :agent:\n\n{body}\n")


def of(world: World) -> HygieneReport:
    """Return what is to be tidied now."""
    return hygiene(Notes(world.kb), home=world.home)


def test_a_tidy_knowledge_base_has_nothing_to_tidy(world: World) -> None:
    """Two notes that link to each other are no finding of any kind."""
    world.node("a.org", "a", "A", "[[id:b][B]]")
    agent_node(world, "b.org", "b", "B", "[[id:a][A]]")
    found = of(world)
    assert () == found.orphans + found.dangling + found.untitled + found.conflict_copies
    assert () == found.duplicate_ids + found.duplicate_titles


def test_an_agent_node_without_links_is_an_orphan(world: World) -> None:
    """A link to itself or to nothing is none."""
    path = agent_node(world, "a.org", "a", "A", "[[id:a][myself]] and [[id:gone][gone]]")
    (spot,) = of(world).orphans
    assert ("a", "A", path, 1) == (spot.id, spot.title, spot.path, spot.line)


def test_a_human_note_without_links_is_no_orphan(world: World) -> None:
    """What a human leaves alone is theirs to leave alone."""
    world.node("a.org", "a", "A")
    assert () == of(world).orphans


def test_one_link_either_way_is_enough(world: World) -> None:
    """An agent node that links, and one that is linked to."""
    agent_node(world, "a.org", "a", "A", "[[id:h][H]]")
    agent_node(world, "b.org", "b", "B")
    world.node("h.org", "h", "H", "* A heading\n:PROPERTIES:\n:ID: hh\n:END:\n[[id:b][B]]")
    assert () == of(world).orphans


def test_equal_ids_are_one_finding_with_all_their_places(world: World) -> None:
    """The first path is the one that roamkb and a fresh index take."""
    first = world.node("a.org", "x", "A")
    second = world.note("b.org", "* B\n:PROPERTIES:\n:ID: y\n:END:\n* C\n:PROPERTIES:\n:ID: x\n:END:\n")
    (twins,) = of(world).duplicate_ids
    assert [(first, 1), (second, 5)] == [(spot.path, spot.line) for spot in twins.nodes]
    assert twins.first.path == first


def test_equal_titles_are_one_finding(world: World) -> None:
    """Case, blanks and the kind of accents make no other title."""
    world.node("a.org", "a", "Caf\u00e9  au lait")
    world.node("b.org", "b", "CAFE\u0301 au Lait")
    world.node("c.org", "c", "Cafe au lait")
    (twins,) = of(world).duplicate_titles
    assert ["a", "b"] == [spot.id for spot in twins.nodes]


def test_titles_that_have_to_be_equal_are_no_finding(world: World) -> None:
    """The headings of dailies, a superseded node, and two files with one id, reported as such."""
    heading = "* Meeting\n:PROPERTIES:\n:ID: {}\n:END:\n"
    world.note("daily/2026-05-18.org", heading.format("m1"))
    world.note("2026-05-19.org", heading.format("m2"))
    agent_node(world, "old.org", "old", "Fact", drawer=":SUPERSEDED_BY: new\n")
    agent_node(world, "new.org", "new", "Fact", "[[id:old][Fact]]")
    world.node("x.org", "x", "Twice")
    world.node("y.org", "x", "Twice")
    found = of(world)
    assert () == found.duplicate_titles
    assert 1 == len(found.duplicate_ids)


def test_a_link_to_no_node_is_named_with_its_line(world: World) -> None:
    """Whoever wrote it; a link to a page is none of ours."""
    path = world.node("a.org", "a", "A", "[[id:gone][Gone]] [[https://example.org][page]]")
    (link,) = of(world).dangling
    assert ("gone", "A", path, 6) == (link.id, link.title, link.path, link.line)


def test_nodes_without_a_title_are_named(world: World) -> None:
    """A file without `#+title:`, and one whose title is empty; not one that is called like its file."""
    drawer = ":PROPERTIES:\n:ID: {}\n:END:\n"
    world.note("none.org", drawer.format("none") + "text\n")
    world.note("empty.org", drawer.format("empty") + "#+title:\n")
    world.note("equal.org", drawer.format("equal") + "#+title: equal\n")
    assert ["empty", "none"] == [spot.id for spot in of(world).untitled]


def test_conflict_copies_are_listed_and_their_nodes_are_not_counted(world: World) -> None:
    """A copy's id is no duplicate; a link that only a copy could answer is dangling."""
    world.node("a.org", "a", "A", "[[id:lost][Lost]]")
    copy = world.node("a.sync-conflict-20260411-081203-K7QX2MD.org", "a", "A")
    world.node("b.sync-conflict-20260411-081203-K7QX2MD.org", "lost", "Lost")
    found = of(world)
    assert copy == found.conflict_copies[0].path
    assert 2 == len(found.conflict_copies)
    assert () == found.duplicate_ids
    assert ["lost"] == [link.id for link in found.dangling]


def test_what_cannot_be_read_is_listed(world: World) -> None:
    """One bad file doesn't hide what is wrong with the others."""
    agent_node(world, "a.org", "a", "A")
    (world.kb / "b.org").symlink_to("nowhere.org")
    found = of(world)
    assert [world.kb / "b.org"] == [entry.path for entry in found.skipped]
    assert 1 == len(found.orphans)


def test_nothing_is_changed(world: World) -> None:
    """A report is a report."""
    agent_node(world, "a.org", "a", "A", "[[id:gone][Gone]]")
    world.node("a.sync-conflict-20260411-081203-K7QX2MD.org", "a", "A")
    before = world.files()
    of(world)
    assert before == world.files()


def test_nodes_with_the_same_ref(world: World) -> None:
    """To org-roam a ref leads to one node; one that was replaced is no rival."""
    about = ":PROPERTIES:\n:ID: {}\n:ROAM_REFS: {}\n{}:END:\n#+title: {}\n"
    world.note("a.org", about.format("a", "https://example.org/x @knuth84", "", "A"))
    world.note("b.org", about.format("b", "@knuth84", "", "B"))
    world.note("c.org", about.format("c", "https://example.org/x", ":SUPERSEDED_BY: a\n", "C"))
    (twins,) = of(world).duplicate_refs
    assert ["a", "b"] == [node.id for node in twins.nodes]
    assert "duplicate ref: B (b), first at" in world.run("hygiene").out
