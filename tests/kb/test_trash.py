"""Out of the knowledge base and back, and the list of what agents wrote."""

import errno
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import NotFound
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.interfaces.output.render import render_result
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


def test_who_asks_for_a_trashed_node_hears_where_it_is(world: World) -> None:
    """By its id and by its title; nothing else is offered in its place."""
    written = world.open().write("A fact about zebras")
    world.open().trash(written.id)
    for command in ("show", "links"):
        for name in (written.id, "A fact about zebras"):
            asked = world.run(command, name)
            assert asked.status == 2
            assert f"`roamkb restore {written.id}` brings it back" in asked.err


_FORGED_ID = "bbbbbbbb-3c5e-7d10-8f2a-5b6c7d8e9f01"
_DRAWER = f":PROPERTIES:\n:ID:       {_FORGED_ID}\n:AGENT:    codex\n:SOURCE:   agent-inferred\n:END:\n"


@pytest.mark.parametrize(
    "text",
    [
        _DRAWER.replace(":AGENT:    codex\n", "") + "#+title: x\n#+filetags: :agent:\n",
        _DRAWER + "#+title: x\n",
        _DRAWER.replace("bbbb-3", "bbbb-4") + "#+title: x\n#+filetags: :agent:\n",
        _DRAWER + "#+title: x\n#+filetags: :agent:\n\n* Two\n:PROPERTIES:\n:ID: z\n:END:\n",
        f'# -*- eval: (shell-command "x") -*-\n{_DRAWER}#+title: x\n#+filetags: :agent:\n',
        f"{_DRAWER}#+title: x\n#+filetags: :agent:\n\n# Local Variables:\n# eval: (x)\n# End:\n",
        f"{_DRAWER}#+title: x\n#+filetags: :agent:\n\nAWS key AKIAIOSFODNN7" + "EXAMPLQ\n",
    ],
)
def test_what_write_writes_not_comes_back_from_no_trash(world: World, text: str) -> None:
    """Where no wall stands a program could put it there, and the trash says of it what it likes."""
    written = world.open().write("A fact")
    world.open().trash(written.id)
    (record,) = world.state.glob("trash/*/*.json")
    data = text.encode()
    entry = {**json.loads(record.read_text()), "id": _FORGED_ID, "sha256": sha256(data).hexdigest()}
    record.write_text(json.dumps(entry))
    record.with_suffix(".org").write_bytes(data)
    before = world.files()
    for words in ((_FORGED_ID,), ("--last",)):
        ran = world.run("restore", *words)
        assert (before, 1) == (world.files(), len(list(world.state.glob("trash/*/*.org"))))
        assert ran.status == 2 or "wasn't put back" in ran.out + ran.err or "secret" in ran.out + ran.err, ran


def test_what_is_in_the_trash_is_no_node_put_back(world: World) -> None:
    """Both list nodes, and say which of the two it is."""
    written = world.open().write("A fact")
    world.open().trash(written.id)
    assert world.run("restore").out.startswith("1 node in the trash, none put back: `roamkb restore ID`")
    assert "1 node put back" in world.run("restore", written.id).out
    assert (1, "") == (world.run("restore").status, world.run("restore").out)


def test_a_whole_sweep_comes_back_at_once(world: World) -> None:
    """And what was trashed before it only after it; what can't come back says why, and keeps nothing else."""
    alone = world.open().write("Trashed long before")
    world.open(now=datetime(2026, 6, 1)).trash(alone.id)
    swept = [world.open().write(title) for title in ("One thing", "Another matter", "Third story")]
    before = world.files()
    said = world.run("trash", "--all-agent", "--yes").out
    assert "3 nodes moved to the trash; `roamkb restore --last` brings them back" in said
    swept[0].path.write_text("#+title: In the way\n")
    back = world.open().restore(last=True)
    assert {one.id for one in swept[1:]} == {node.id for node in back.nodes}
    assert [(swept[0].id, True)] == [(node.id, "already" in why) for node, why in back.left]
    swept[0].path.unlink()
    again = world.run("restore", "--last", "--json").json
    assert ([swept[0].id], []) == ([one["id"] for one in again["restored"]], again["left"])
    assert before == world.files()
    assert [alone.id] == [node.id for node in world.open().restore(last=True).nodes]
    assert 2 == world.run("restore", "--last").status


def test_what_stays_in_the_trash_is_said(world: World) -> None:
    """Beside what came back, on standard error."""
    written = world.open().write("A fact")
    world.open().trash(written.id)
    written.path.write_text("#+title: In the way\n")
    ran = world.run("restore", "--last")
    assert (1, True) == (ran.status, "stays in the trash" in ran.err)
    with pytest.raises(UsageError):
        world.open().restore(written.id, last=True)


def test_a_disk_that_promises_nothing_is_said_of_each(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came back before it is told all the same."""
    for title in ("One thing", "Another matter"):
        world.open().write(title)
    world.run("trash", "--all-agent", "--yes")
    fsync, folders = os.fsync, iter([True])

    def fsync_of_one_folder(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode) and next(folders, False):
            raise OSError(errno.EIO, "no promise")
        fsync(fd)

    monkeypatch.setattr(os, "fsync", fsync_of_one_folder)
    back = world.open().restore(last=True)
    assert (1, 1) == (len(back.nodes), len(back.left))


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


def make_human(path: Path) -> None:
    """Take the filetag away, as a human does who makes a node their own."""
    path.write_text(path.read_text().replace(":agent:", ""))


def before_look(monkeypatch: pytest.MonkeyPatch, path: Path, *, nth: int, act: Callable[[], object]) -> None:
    """Let `act` happen just before `path` is opened for the `nth` time."""
    opened, real = [0], os.open

    def open_after(name: Any, *rest: Any, **more: Any) -> int:
        if str(name) == str(path):
            opened[0] += 1
            if opened[0] == nth:
                monkeypatch.setattr(os, "open", real)
                act()
        return real(name, *rest, **more)

    monkeypatch.setattr(os, "open", open_after)


def test_a_node_that_becomes_the_humans_while_it_is_looked_at_stays(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is judged by the very bytes that are moved."""
    path = world.open().write("A fact").path
    id = world.open().show("A fact").node.id
    before_look(monkeypatch, path, nth=2, act=lambda: make_human(path))
    with pytest.raises(UsageError, match="human note"):
        world.open().trash(id)
    assert path.exists()


def test_a_node_that_loses_its_id_while_it_is_looked_at_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked for isn't there any more."""
    written = world.open().write("A fact")
    before_look(monkeypatch, written.path, nth=3, act=lambda: written.path.write_text("Mine.\n"))
    with pytest.raises(ChangedOnDisk):
        world.open().trash(written.id)
    assert written.path.exists()


def test_the_sweep_leaves_what_becomes_the_humans_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was an agent's when it was listed, and is not when its turn comes."""
    written = world.open().write("A fact")
    gone = world.open().write("Something quite different")
    before_look(monkeypatch, written.path, nth=2, act=lambda: make_human(written.path))
    moved = world.open().trash(all_agent=True, yes=True)
    assert [gone.id] == [node.id for node in moved.nodes]
    assert (True, False) == (written.path.exists(), gone.path.exists())


def test_what_links_to_a_trashed_node_is_told(world: World) -> None:
    """The links lead nowhere from then on; a node that it replaced has no replacement."""
    old = world.open().write("Redis evicts sessions")
    new = world.open().supersede(old.id, "Redis evicts sessions at maxmemory").written
    world.node("human.org", "human", "Mine", f"see [[id:{new.id}]]")
    done = world.open().trash(new.id)
    assert {old.id, "human"} == {one.id for one in done.linked_from}
    assert (old.id,) == tuple(one.id for one in done.replaced)
    warned = render_result("trash", done).warnings
    assert any("Mine (human) links to what is in the trash" in one for one in warned)
    assert any(f"({old.id}) is superseded by what is in the trash" in one for one in warned)
    with pytest.raises(UsageError, match="isn't there any more") as raised:
        world.open().supersede(old.id, "Redis evicts sessions at last")
    assert f"roamkb restore {new.id}" in raised.value.hint
    world.open().restore(new.id)
    assert (new.id,) == tuple(one.id for one in world.open().trash(old.id).linked_from)
    assert "links to what would be" in world.run("trash", "--all-agent").err


def test_a_node_is_in_force_again_once_its_successor_is_in_the_trash(world: World) -> None:
    """It is found, offered and compared as any other, until the successor is put back."""
    body = "The nightly export of invoices into the ledger waits for the currency rates."
    old = world.open().write("Invoices wait for the currency rates", body=body, refs=["https://example.org/rates"])
    new = world.open().supersede(old.id, "Invoices are exported at noon", body="No rates are needed for it.").written

    def seen(session: str) -> tuple[list[tuple[str, bool]], bool, bool]:
        hits = world.run("search", "invoices currency rates", "--json").json["hits"]
        prompt = "why do the invoices wait for the currency rates of the ledger?"
        payload = {"cwd": str(world.personal), "session_id": session, "prompt": prompt}
        told = world.run("hook", "user-prompt-submit", input=json.dumps(payload)).out
        again = world.run("write", "Invoices wait for the currency rates", "--body", body, "--dry-run").status
        return [(hit["id"], "superseded" in hit["why"]) for hit in hits], "Invoices wait" in told, again == 0

    assert ([(new.id, False), (old.id, True)], False, True) == seen("before")
    world.open().trash(new.id)
    assert ([(old.id, False)], True, False) == seen("meanwhile")
    assert () == world.open().hygiene().duplicate_refs
    world.note("rival.org", ":PROPERTIES:\n:ID: rival\n:ROAM_REFS: https://example.org/rates\n:END:\n#+title: Rates\n")
    assert 1 == len(world.open().hygiene().duplicate_refs)
    (world.kb / "rival.org").unlink()
    world.open().restore(new.id)
    assert ([(new.id, False), (old.id, True)], False, True) == seen("after")


@pytest.mark.parametrize("words", [("trash", "x"), ("trash", "--all-agent", "--yes"), ("restore", "x")])
def test_a_refusal_says_what_was_not_done(words: tuple[str, ...], world: World) -> None:
    """Nothing was to be written, so it doesn't say where."""
    done = world.run(*words, cwd=world.unknown)
    assert 3 == done.status
    assert "; nothing was " in done.err and "the trash: " in done.err
    assert "written" not in done.err


def test_a_sweep_that_stops_says_what_is_done(world: World) -> None:
    """What moved, what didn't, and what to call; the same call does the rest."""
    for title in ("Zebras graze at dawn", "Compilers fold constants", "Tea needs hot water"):
        world.open().write(title)
    last = sorted(world.kb.glob("*.org"))[-1]
    lock = world.kb / f".#{last.name}"
    lock.symlink_to("human@desk.123:456")
    stopped = world.run("trash", "--all-agent", "--yes")
    assert 4 == stopped.status
    left = len([*world.kb.glob("2*.org")])
    assert f"{3 - left} of 3 are in the trash" in stopped.err
    assert "call it again" in stopped.err
    lock.unlink()
    assert 0 == world.run("trash", "--all-agent", "--yes").status
    assert [] == [*world.kb.glob("2*.org")]


@pytest.mark.parametrize("words", [("Zebras graze at dawn",), ("--all-agent", "--yes")])
def test_a_trash_that_was_killed_can_be_called_again(words: tuple[str, ...], world: World) -> None:
    """Where the copy is in the trash and the note where it was, the trash has it once in the end."""
    path = world.open().write("Zebras graze at dawn").path
    data = path.read_bytes()
    for _ in range(3):
        assert 0 == world.run("trash", *words).status
        assert not path.exists()
        # as a call leaves it that ends between the copy and the removal
        path.write_bytes(data)
    assert 0 == world.run("trash", *words).status
    assert 1 == len(world.open().restore().nodes)
    assert 0 == world.run("restore", "--last").status
    assert data == path.read_bytes()
    path.write_bytes(data + b"More.\n")
    assert 0 == world.run("trash", *words).status
    path.write_bytes(data)
    assert 0 == world.run("trash", *words).status
    assert 2 == len(world.open().restore().nodes), "other content is no copy"


@pytest.mark.parametrize("words", [("--last",), ("Zebras graze at dawn",)])
def test_a_restore_that_was_killed_can_be_called_again(words: tuple[str, ...], world: World) -> None:
    """Where the note is back and its copy is still in the trash, that goes; a note that was changed since is refused."""
    path = world.open().write("Zebras graze at dawn").path
    data = path.read_bytes()
    assert 0 == world.run("trash", "Zebras graze at dawn").status
    path.write_bytes(data + b"More.\n")
    assert "is in the knowledge base already" in "".join((ran := world.run("restore", *words)).out + ran.err)
    path.write_bytes(data)
    assert 0 == world.run("restore", *words).status
    assert data == path.read_bytes()
    assert () == world.open().restore().nodes
