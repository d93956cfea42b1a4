"""Out of the knowledge base and back, and the list of what agents wrote."""

import shutil
import subprocess
from datetime import datetime

import pytest

from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import NotFound
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from tests.conftest import World


def test_trash_and_restore_are_inverse(world: World) -> None:
    """Byte for byte, under the same name."""
    written = world.open().write("A fact", body="text")
    before = world.files()
    world.open().trash(written.id)
    assert not written.path.exists()
    assert [written.id] == [node.id for node in world.open().restore().nodes]
    assert written.path == world.open().restore(written.id).nodes[0].path
    assert before == world.files()
    assert () == world.open().restore().nodes


def test_a_title_brings_a_node_back(world: World) -> None:
    """As `trash` takes one, `restore` does."""
    written = world.open().write("A fact")
    world.open().trash("A fact")
    assert [written.id] == [node.id for node in world.open().restore("A fact").nodes]


def test_the_inventory_is_newest_first_within_a_minute(world: World) -> None:
    """The note's own time has no seconds; its id has."""
    for second in (5, 40, 20):
        world.open(now=datetime(2026, 6, 10, 12, 0, second)).write(f"Fact number {second}", anyway=True)
    titles = [node.title for node in world.open().inventory().nodes]
    assert ["Fact number 40", "Fact number 20", "Fact number 5"] == titles


def test_a_human_note_cannot_be_trashed(world: World) -> None:
    """Not even by its id."""
    path = world.node("a.org", "a", "A")
    with pytest.raises(UsageError):
        world.open().trash("a")
    assert path.exists()


def test_a_file_with_other_nodes_stays(world: World) -> None:
    """A human may have added a node of their own below."""
    written = world.open().write("A fact")
    with written.path.open("a") as file:
        file.write("* Mine\n:PROPERTIES:\n:ID: mine\n:END:\n")
    with pytest.raises(UsageError, match="holds other nodes"):
        world.open().trash(written.id)
    assert () == world.open().trash(all_agent=True, yes=True).nodes
    assert written.path.exists()


def test_a_file_that_emacs_holds_stays(world: World) -> None:
    """Its lock link is respected."""
    written = world.open().write("A fact")
    (world.kb / f".#{written.path.name}").symlink_to("human@desk.123")
    with pytest.raises(ChangedOnDisk):
        world.open().trash(written.id)
    assert written.path.exists()


def test_the_sweep_lists_first_and_moves_on_yes(world: World) -> None:
    """All agent nodes since a day, from a project; human notes stay."""
    human = world.node("human.org", "h", "H")
    old = world.open(now=datetime(2026, 1, 1)).write("Old fact")
    new = world.open().write("New and different")
    other = world.home / "code" / "other"
    other.mkdir()
    elsewhere = world.open(other).write("Written from another place")
    listed = world.open().trash(all_agent=True, since="2026-06")
    assert ({new.id, elsewhere.id}, False) == ({node.id for node in listed.nodes}, listed.done)
    assert new.path.exists()
    world.open().trash(all_agent=True, from_project=str(other), yes=True)
    assert (True, True, False) == (old.path.exists(), new.path.exists(), elsewhere.path.exists())
    world.open().trash(all_agent=True, yes=True)
    assert [human] == [world.kb / name for name in world.files()]


def test_trash_needs_to_be_told_what(world: World) -> None:
    """Neither nothing nor both."""
    for call in ({}, {"name": "x", "all_agent": True}):
        with pytest.raises(UsageError):
            world.open().trash(**call)  # type: ignore[arg-type]


def test_what_is_not_in_the_trash_is_not_found(world: World) -> None:
    """An id that was never trashed."""
    with pytest.raises(NotFound):
        world.open().restore("nope")


def test_a_node_that_is_there_again_is_not_restored(world: World) -> None:
    """Syncing may have brought it back; two nodes with one id would fight."""
    written = world.open().write("A fact")
    text = written.path.read_text()
    world.open().trash(written.id)
    (world.kb / "back.org").write_text(text)
    with pytest.raises(UsageError, match="already"):
        world.open().restore(written.id)


def test_only_personal_projects_may(world: World) -> None:
    """Trash and restore change the knowledge base."""
    written = world.open().write("A fact")
    with pytest.raises(Refused):
        world.open(world.work).trash(written.id)
    world.open().trash(written.id)
    with pytest.raises(Refused):
        world.open(world.work).restore(written.id)


def test_the_inventory_is_that_of_the_documented_command(world: World) -> None:
    """For the nodes that we wrote, rg on the filetags finds the same files."""
    world.node("human.org", "h", "H", tags=":mine:")
    for title in ("One thing", "Another matter", "Third story"):
        world.open().write(title, tags=("x",))
    ours = {world.kb / node.file for node in world.open().inventory().nodes}
    assert 3 == len(ours)
    if shutil.which("rg"):
        command = ["rg", "-l", r"#\+filetags:.*:agent:", str(world.kb)]
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
        assert {str(path) for path in ours} == set(listed.stdout.split())
