"""Notes that hold something odd and are read all the same."""

from tests.conftest import World


def test_a_search_says_nothing_of_notes_that_it_read(world: World) -> None:
    """They are found; doctor says what is odd about them."""
    (world.kb / "koi8.org").write_bytes(":PROPERTIES:\n:ID: koi8\n:END:\n#+title: Зоопарк\nТапир\n".encode("koi8-r"))
    (world.kb / "wide.org").write_bytes(":PROPERTIES:\n:ID: wide\n:END:\n#+title: Zoo\nA tapir.\n".encode("utf-16"))
    (world.kb / "nul.org").write_bytes(b":PROPERTIES:\n:ID: nul\n:END:\n#+title: Cage\nA\0tapir.\n")
    world.note("odd.org", ':PROPERTIES:\n:ID: odd\n:ROAM_ALIASES: "Big cat\n:END:\n#+title: Lion\nIt eats the tapir.\n')
    ran = world.run("search", "tapir")
    assert (0, "") == (ran.status, ran.err)
    assert "Lion" in {hit.title for hit in world.open().search("tapir").hits}
    assert () == world.open().search("tapir").skipped
    assert [] == world.run("search", "tapir", "--json").json["skipped"]


def test_a_search_tells_of_what_it_could_not_read(world: World) -> None:
    """In the same form as before."""
    world.node("a.org", "a", "Zoo", "A tapir.")
    (world.kb / "b.org").symlink_to("nowhere.org")
    assert ["links to nothing"] == [file.reason for file in world.open().search("tapir").skipped]
