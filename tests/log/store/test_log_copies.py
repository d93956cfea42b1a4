"""Conflict copies of a log's files, by `conflicts`: anybody may have put one there."""

import json
from pathlib import Path

import pytest

from tests.conftest import World

_ID = "01a21d5e-db61-eccf-9f23-f944aa059eee"
_LINE: dict[str, object] = {
    "id": _ID,
    "key": "fact-gnus-graze",
    "type": "fact",
    "content": "Gnus graze on the plain",
    "confidence": 95,
    "provenance": "user-stated",
    "ts": 1_790_000_000,
    "kind": "personal",
}


def _begin(world: World, *lines: object, name: str = "knowledge", folder: Path | None = None) -> Path:
    """Make a log with one learning, and a copy of one of its files with more lines; return the copy's path."""
    world.run("init", cwd=folder)
    world.run("learn", "Zebras are striped", "--type", "fact", cwd=folder)
    log = (folder or world.personal) / ".roamkb"
    copy = log / f"{name}.sync-conflict-20261127-101010-ABCDEFG.jsonl"
    copy.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return copy


def test_what_a_copy_says_is_nobodys_verified_word(world: World) -> None:
    """Neither its own provenance nor the verdict and the override of a ledger's copy count."""
    event = {"learning": _ID, "ts": 1_790_000_001, "value": 100, "verdict": "verified"}
    _begin(world, _LINE)
    _begin(
        world,
        {**event, "id": _ID[:-1] + "1", "event": "judged"},
        {**event, "id": _ID[:-1] + "2", "event": "overridden"},
        name="ledger",
    )
    assert "as nobody's word" in world.run("doctor").out
    assert "added to" in world.run("conflicts", "--adopt").out
    (found,) = world.run("recall", "gnus", "--json").json["learnings"]
    assert found["confidence"] <= 0.5
    assert "verified" != found["verdict"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({**_LINE, "content": "the token is ghp_16C7e42F292c6912E7710c838347Ae178B4a"}, "looks like a secret"),
        ({**_LINE, "kind": "work"}, "a project that is work"),
        ("garbage", "isn't one JSON object"),
        ('{"key": "cut', "isn't one JSON object"),
    ],
)
def test_a_copy_with_a_line_that_may_not_come_in_stays(line: object, reason: str, world: World) -> None:
    """Its other lines, too: what is left of it would be no copy of anything."""
    copy = _begin(world, {**_LINE, "id": _ID[:-1] + "3", "content": "Gnus drink at dusk"}, line)
    before = (world.personal / ".roamkb" / "knowledge.jsonl").read_bytes()
    for words in (["conflicts"], ["conflicts", "--adopt"], ["conflicts", str(copy), "--adopt"]):
        assert reason in world.run(*words).out
    assert copy.exists()
    assert before == (world.personal / ".roamkb" / "knowledge.jsonl").read_bytes()


def test_a_line_with_the_id_of_another_one_stays(world: World) -> None:
    """Which of the two was meant, nobody here can tell."""
    copy = _begin(world)
    line = json.loads((copy.parent / "knowledge.jsonl").read_text().splitlines()[0])
    copy.write_text(json.dumps({**line, "content": "Zebras are spotted"}) + "\n")
    assert "another line of its id" in world.run("conflicts", "--adopt").out
    assert copy.exists()


def test_what_is_no_file_hinders_no_other_copy(world: World) -> None:
    """A link, a folder: named with what is wrong, beside the copies of notes."""
    good = _begin(world, _LINE)
    world.node("a.org", "a", "Zebra", "stripes")
    world.node("a.sync-conflict-20261127-101010-ABCDEFG.org", "a", "Zebra", "spots")
    (good.parent / "knowledge.sync-conflict-20261127-101011-ABCDEFG.jsonl").symlink_to("/etc/hostname")
    (good.parent / "knowledge.sync-conflict-20261127-101012-ABCDEFG.jsonl").mkdir()
    listed = world.run("conflicts", "--json").json["copies"]
    assert 4 == len(listed)
    assert ["is a link, behind one", "isn't a regular file"] == [copy["obstacle"][:21] for copy in listed[2:]]
    assert "1 line added to" in world.run("conflicts", "--adopt").out
    assert not good.exists()


def test_at_work_only_a_named_copy_is_taken_in(world: World) -> None:
    """Where notes may not be renamed nothing happens to the log behind a refusal; its own copy is no note."""
    copy = _begin(world, {**_LINE, "kind": "work"}, folder=world.work)
    refused = world.run("conflicts", "--adopt", cwd=world.work)
    assert (3, True) == (refused.status, copy.exists())
    ran = world.run("conflicts", str(copy), "--adopt", cwd=world.work)
    assert (0, False) == (ran.status, copy.exists())
    assert "gnus" in world.run("recall", "gnus", cwd=world.work).out.lower()


def test_a_copy_that_says_nothing_new_is_removed(world: World) -> None:
    """As one that a crash left behind, whose lines were added; it is found by the name of its original, too."""
    copy = _begin(world)
    original = copy.parent / "knowledge.jsonl"
    copy.write_bytes(original.read_bytes())
    assert str(copy) in world.run("conflicts", str(original)).out
    assert "0 lines added to" in world.run("conflicts", str(original), "--adopt").out
    assert not copy.exists()


def test_a_copy_that_somebody_is_merging_stays(world: World) -> None:
    """As a note's does: what Emacs hasn't saved yet would have no file."""
    copy = _begin(world, _LINE)
    (copy.parent / f".#{copy.name}").symlink_to("human@desk.123")
    ran = world.run("conflicts", "--adopt")
    assert (4, True) == (ran.status, copy.exists())
    assert "Emacs" in ran.err
