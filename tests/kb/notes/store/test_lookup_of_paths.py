"""Names that lead to a note by another way, and notes that org-roam leaves out."""

from tests.conftest import World


def test_a_path_through_a_link_to_the_knowledge_base_is_the_note_s(world: World) -> None:
    """For show and the links of what is written, with a line or without."""
    world.node("a.org", "a", "Rebar")
    (world.home / "kb2").symlink_to(world.kb)
    for path in (str(world.home / "kb2" / "a.org"), f"{world.home}/kb2/a.org:1"):
        assert "a" == world.open().show(path).node.id
    assert 0 == world.run("write", "It builds Erlang", "--link", str(world.home / "kb2" / "a.org")).status


def test_the_fault_of_a_note_that_has_the_id_is_named(world: World) -> None:
    """A search finds it, and org-roam has no node of it."""
    world.note("odd.org", ':PROPERTIES:\n:ID: odd-lion\n:ROAM_ALIASES: "Big cat\n:END:\n#+title: Lion\nIt eats.\n')
    for _ in range(2):
        ran = world.run("show", "odd-lion")
        assert 2 == ran.status
        assert "odd.org" in ran.err
        assert "org-roam leaves the file out: a quote in a property is never closed" in ran.err
        world.run("search", "eats")
