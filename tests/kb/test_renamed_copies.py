"""Copies of a note that a syncer put beside it under a name of its own kind, with the note's id."""

from pathlib import Path

import pytest

from tests.conftest import World

#: What syncers call the copy of `port.org`.
NAMES = (
    "port (conflicted copy 2026-01-02 101112).org",
    "port (Anna's conflicted copy 2026-01-03).org",
    "port (Case Conflict).org",
    "port_conflict-20260101-101010.org",
    "port-DESKTOP-AB12.org",
    "port 2.org",
    "port (1).org",
    "port.conflict1.org",
)


@pytest.fixture(params=[*NAMES, "with index", "all"])
def harbour(world: World, request: pytest.FixtureRequest) -> World:
    """A note with one of these copies, or all of them; with and without an index."""
    world.node("port.org", "port", "Port of the warehouse", "It listens on 5433.")
    world.node("other.org", "other", "Ships", "See [[id:port][the port]].")
    if request.param == "with index":
        world.run("search", "warehouse")
    for name in NAMES if request.param in ("all", "with index") else (request.param,):
        world.node(name, "port", "Port of the warehouse", "It listens on 5432.")
    return world


def copies_of(world: World) -> set[Path]:
    """Return the copies on the disk."""
    return {path for path in world.kb.iterdir() if path.name in NAMES}


def test_a_copy_is_not_searched(harbour: World) -> None:
    """Neither by words nor by a pattern; it is counted among the copies."""
    result = harbour.open().search("port of the warehouse")
    assert [(harbour.kb / "port.org", True)] == [(hit.path, hit.sure) for hit in result.hits if hit.id == "port"]
    assert len(copies_of(harbour)) == result.conflict_copies
    assert () == harbour.open().search("5432").hits
    by_pattern = harbour.open().search("listens on", regex=True)
    assert [harbour.kb / "port.org"] == [hit.path for hit in by_pattern.hits]
    assert len(copies_of(harbour)) == by_pattern.conflict_copies


def test_a_name_means_the_original(harbour: World) -> None:
    """For show, links and the links of what is written; a copy's path is told of as one."""
    shown = harbour.open().show("port")
    assert harbour.kb / "port.org" == shown.path
    assert harbour.kb / "port.org" == harbour.open().show("Port of the warehouse").path
    assert 0 == harbour.run("write", "Ships wait outside", "--link", "port").status
    links = harbour.run("links", "port", "--json").json
    assert ["Ships", "Ships wait outside"] == sorted(link["title"] for link in links["back"])
    for path in copies_of(harbour):
        told = harbour.run("show", str(path))
        assert (2, True) == (told.status, "conflict copy" in told.err)


def test_a_copy_is_listed_beside_its_original(harbour: World) -> None:
    """In conflicts, hygiene and doctor; none of them calls the original the duplicate."""
    copies = harbour.open().conflicts().copies
    assert copies_of(harbour) == {copy.path for copy in copies}
    assert {(harbour.kb / "port.org", True, 1)} == {(copy.original, copy.same_id, copy.lines_added) for copy in copies}
    hygiene = harbour.open().hygiene()
    assert ((), (), copies_of(harbour)) == (
        hygiene.duplicate_ids,
        hygiene.duplicate_titles,
        {copy.path for copy in hygiene.conflict_copies},
    )
    checks = {check.name: check for check in harbour.open().doctor().checks}
    assert (False, True) == (checks["conflict copies"].ok, checks["ids"].ok)
    adopted = harbour.run("conflicts", "--adopt")
    assert "is a version of its original" in adopted.out
    assert copies_of(harbour) == {path for path in harbour.kb.iterdir() if path.name in NAMES}


def test_without_its_original_a_copy_is_the_note(world: World) -> None:
    """It is all that is left of it; once the original is back, it is a copy again."""
    original = world.node("port.org", "port", "Port", "It listens on 5433.")
    copy = world.node(NAMES[0], "port", "Port", "It listens on 5432.")
    assert [original] == [hit.path for hit in world.open().search("port").hits]
    text = original.read_text()
    original.unlink()
    assert [copy] == [hit.path for hit in world.open().search("port").hits]
    assert (copy, ()) == (world.open().show("port").path, world.open().conflicts().copies)
    original.write_text(text)
    assert [original] == [hit.path for hit in world.open().search("port").hits]


def test_with_another_id_or_another_name_it_is_a_note(world: World) -> None:
    """Two notes of one id whose names don't extend each other are duplicates, as before."""
    world.node("port.org", "port", "Port", "It listens on 5433.")
    world.node("port 2.org", "second", "Second port", "It listens on 5432.")
    world.node("portable.org", "port", "Portable", "It listens on 5431.")
    (world.kb / "sub").mkdir()
    world.node("sub/port 3.org", "port", "Elsewhere", "It listens on 5430.")
    assert 4 == len(world.open().search("listens").hits)
    assert () == world.open().conflicts().copies
    (duplicates,) = world.open().hygiene().duplicate_ids
    assert 3 == len(duplicates.nodes)
