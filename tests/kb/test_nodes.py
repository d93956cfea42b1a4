"""The list of all nodes."""

from tests.conftest import World


def test_of_equal_ids_the_first_wins_and_keeps_the_others_fields(world: World) -> None:
    """As in org-roam's database."""
    world.node("a.org", "x", "First", tags=":one:")
    world.node("b.org", "x", "Second", "[[id:y]]", tags=":two:")
    (node,) = world.open().nodes().nodes
    assert ("First", "a.org", ("one", "two"), "y") == (node.title, node.file, node.tags, node.links[0].dest)


def test_what_org_roam_would_drop_is_listed(world: World) -> None:
    """The file's nodes are none, and the reason is told."""
    world.note("bad.org", ':PROPERTIES:\n:ID: x\n:ROAM_ALIASES: "open\n:END:\n#+title: T\n')
    world.node("good.org", "g", "G")
    listed = world.open().nodes()
    assert ["g"] == [node.id for node in listed.nodes]
    assert [world.kb / "bad.org"] == [entry.path for entry in listed.skipped]


def test_setup_files_count(world: World) -> None:
    """Their tags and TODO words are the note's; a missing one is none."""
    world.note("conf/setup.txt", "#+filetags: shared\n#+todo: NEXT | GONE\n")
    world.note(
        "a.org",
        ":PROPERTIES:\n:ID: a\n:END:\n#+title: A\n#+setupfile: conf/setup.txt\n#+setupfile: missing\n"
        "* NEXT do it\n:PROPERTIES:\n:ID: h\n:END:\n",
    )
    file, heading = world.open().nodes().nodes
    assert ("shared",) == file.tags
    assert ("NEXT", "do it") == (heading.todo, heading.title)
