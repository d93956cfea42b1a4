"""Replacing agent nodes."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import NearDuplicate
from roamkb.core.errors import NotDurable
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.kb.links import NodeLinks
from tests.conftest import World
from tests.conftest import typed


def test_the_old_node_points_to_the_new_one(world: World) -> None:
    """Every other byte of the old file survives."""
    old = world.open().write("Redirect URIs match by prefix", body="* not a heading\ntext")
    before = old.path.read_text()
    result = world.open().supersede(old.id, "Redirect URIs must match exactly")
    after = old.path.read_text()
    assert f":SUPERSEDED_BY: {result.written.id}\n" in after
    assert f"- superseded by :: [[id:{result.written.id}][Redirect URIs must match exactly]]" in after
    kept = [line for line in after.splitlines() if "SUPERSEDED_BY" not in line and "superseded by" not in line]
    assert [line for line in before.splitlines() if line] == [line for line in kept if line]
    assert [result.written.id] == [end.id for end in typed(NodeLinks, world.open().links(old.id)).forward]
    assert [old.id] == [end.id for end in typed(NodeLinks, world.open().links(result.written.id)).forward]


def test_a_human_note_is_never_touched(world: World) -> None:
    """Whatever its tags say, without the property it is the human's; and the other way round."""
    path = world.node("a.org", "a", "A", tags=":agent:")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="human note"):
        world.open().supersede("a", "B")
    assert before == path.read_bytes()
    assert 1 == len(world.open().nodes().nodes)


def test_removing_the_tag_makes_a_node_the_humans(world: World) -> None:
    """From then on nobody changes it."""
    old = world.open().write("A fact")
    old.path.write_text(old.path.read_text().replace(":agent:", ""))
    with pytest.raises(UsageError, match="human note"):
        world.open().supersede(old.id, "Another fact entirely")


def test_a_file_that_emacs_holds_is_left_alone(world: World) -> None:
    """Status 4, nothing changed, and no new node is left behind."""
    old = world.open().write("A fact")
    (world.kb / f".#{old.path.name}").symlink_to("human@desk.123:456")
    before = world.files()
    with pytest.raises(ChangedOnDisk):
        world.open().supersede(old.id, "Something quite different")
    assert before == world.files()


def test_a_superseded_node_cannot_be_superseded_again(world: World) -> None:
    """The error names the one to supersede instead."""
    old = world.open().write("A fact")
    new = world.open().supersede(old.id, "Something quite different").written
    with pytest.raises(UsageError) as caught:
        world.open().supersede(old.id, "A third thing")
    assert new.id in caught.value.hint


def test_a_dry_run_changes_nothing(world: World) -> None:
    """Neither the old nor the new."""
    old = world.open().write("A fact")
    before = world.files()
    world.open().supersede(old.id, "Something quite different", dry_run=True)
    assert before == world.files()


def test_a_work_project_is_refused(world: World) -> None:
    """It may not change what personal projects wrote either."""
    old = world.open().write("A fact")
    with pytest.raises(Refused):
        world.open(world.work).supersede(old.id, "From work")


def fail_folder_sync(world: World, monkeypatch: pytest.MonkeyPatch, *, nth: int) -> None:
    """Let the `nth` sync of the knowledge base's folder fail, as a disk on its way out does."""
    sync, seen = os.fsync, []

    def fsync(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode) and os.path.samestat(os.fstat(fd), world.kb.stat()):
            seen.append(fd)
            if len(seen) == nth:
                raise OSError(errno.EIO, "")
        sync(fd)

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.parametrize("nth", [1, 2])
def test_a_disk_that_promises_nothing_leaves_no_half(world: World, monkeypatch: pytest.MonkeyPatch, nth: int) -> None:
    """Whichever of the two may not last: the new one is there, and the old one points to it."""
    old = world.open().write("A fact")
    with monkeypatch.context() as patched:
        fail_folder_sync(world, patched, nth=nth)
        with pytest.raises(NotDurable):
            world.open().supersede(old.id, "Something quite different")
    new = world.open().show("Something quite different").node
    assert new.id == world.open().show(old.id).node.properties["SUPERSEDED_BY"]


def test_a_new_node_of_uncertain_fate_goes_with_a_failed_mark(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old one is held by Emacs, so neither is there."""
    old = world.open().write("A fact")
    (world.kb / f".#{old.path.name}").symlink_to("human@desk.123:456")
    before = world.files()
    fail_folder_sync(world, monkeypatch, nth=1)
    with pytest.raises(ChangedOnDisk):
        world.open().supersede(old.id, "Something quite different")
    assert before == world.files()


#: `roamkb` in a process that dies at one of its fsyncs, as by `kill -9`.
_DYING = """
import os, sys
sync, left = os.fsync, iter(range(int(sys.argv.pop(1))))
def fsync(fd):
    sync(fd)
    if next(left, None) is None:
        os._exit(137)
os.fsync = fsync
from roamkb.__main__ import main
sys.exit(main())
"""


def test_a_call_that_was_killed_can_be_made_again(world: World) -> None:
    """At whatever step: it ends as if made once, and a third call says that it is superseded already."""
    world.node("human.org", "id-human", "Lions sleep at noon")
    for calls in range(20):
        old = world.open().write("A fact")
        words = "supersede", old.id, "Something quite different"
        dying = subprocess.run(
            [sys.executable, "-c", _DYING, str(calls), *words],
            cwd=world.personal,
            env={**world.environment(), "PWD": str(world.personal)},
            capture_output=True,
            check=False,
        )
        assert dying.returncode in (0, 137), dying.stderr
        again = world.run(*words)
        new = world.open().show(words[2]).node
        assert new.id == world.open().show(old.id).node.properties["SUPERSEDED_BY"]
        assert 3 == sum(name.endswith(".org") for name in world.files()), "a file that was cut off has no note's name"
        if dying.returncode == 0:
            assert "superseded already" in again.err
            break
        for path in world.kb.glob("2*.org"):
            path.unlink()
    assert calls > 2, "it has more steps than that"


def test_a_correction_of_a_correction_may_keep_the_title(world: World) -> None:
    """What was superseded is no duplicate of what comes after it; what holds still is."""
    title = "Redirect URIs must match exactly"
    first = world.open().write(title, body="Since v1.")
    second = world.open().supersede(first.id, title, body="Since v2.").written
    third = world.open().supersede(second.id, title, body="Since v3.").written
    with pytest.raises(NearDuplicate) as caught:
        world.open().write(title)
    assert [third.id] == [candidate.id for candidate in caught.value.candidates]


def test_a_new_node_is_found_by_what_the_old_one_was_found_by(world: World) -> None:
    """Tags, aliases and refs that nobody gives anew are the old node's; a name of both means the new one."""
    title = "The garden hose needs a brass coupling"
    first = world.open().write(title, tags=["hose"], aliases=["hoselink"], refs=["https://example.org/hose"])
    second = world.open().supersede(first.id, "The garden hose needs a steel coupling").written
    assert ("agent", "hose") == second.tags
    for name in ("hoselink", "https://example.org/hose"):
        assert second.id == world.open().show(name).node.id
    third = world.open().supersede(second.id, "The garden hose needs no coupling", tags=["tap"]).written
    assert ("agent", "tap") == third.tags
    shown = world.run("show", first.id)
    assert (0, True) == (shown.status, f"`roamkb show {second.id}` has what replaced it" in shown.err)


def test_the_link_is_the_old_nodes_own_where_a_human_added_a_node(world: World) -> None:
    """The human's node below isn't touched, and isn't what was superseded."""
    old = world.open().write("A fact", body="text")
    mine = "\n* Mine\n:PROPERTIES:\n:ID: mine\n:END:\n** COMMENT later\n#+begin_src org\n"
    with old.path.open("a") as file:
        file.write(mine)
    new = world.open().supersede(old.id, "Something quite different").written
    assert old.path.read_text().endswith(mine)
    assert [new.id] == [end.id for end in typed(NodeLinks, world.open().links(old.id)).forward]
    assert () == typed(NodeLinks, world.open().links("mine")).forward


def test_a_node_that_would_not_read_back_as_superseded_stays(world: World) -> None:
    """Here a lone carriage return looks like the end of the drawer; nothing is written at all."""
    old = world.open().write("A fact")
    text = old.path.read_text().replace(":SOURCE:", ":NOTE: a\r:END:\rb\n:SOURCE:")
    old.path.write_text(text, newline="")
    before = world.files()
    for dry_run in (True, False):
        with pytest.raises(UsageError, match="would not read back"):
            world.open().supersede(old.id, "Something quite different", dry_run=dry_run)
    assert before == world.files()
