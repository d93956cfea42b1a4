"""Conflict copies: what differs, whose they are, and a name for those that lost theirs."""

import os
import re
from datetime import datetime
from pathlib import Path

import pytest

from roamkb.boundary.policy import require_permit
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import NameTaken
from roamkb.core.errors import NotFound
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.kb.conflicts import ConflictCopy
from roamkb.kb.conflicts import ConflictList
from roamkb.kb.conflicts import adopt_copies
from roamkb.kb.conflicts import conflicts
from roamkb.kb.notes.store.notes import Notes
from tests.conftest import World

NAME = "20260610142900-oauth"
COPY = f"{NAME}.sync-conflict-20260610-143000-K7QX2MD.org"
ID = "01975b7a-0000-7d10-8f2a-5b6c7d8e9f01"


def agent_text(id: str, title: str, body: str = "") -> str:
    """Return a node that an agent wrote."""
    drawer = f":PROPERTIES:\n:ID:       {id}\n:CREATED:  [2026-06-10 Wed 14:29]\n:AGENT:    codex\n:END:\n"
    return f"{drawer}#+title: {title}\n#+filetags: :agent:\n\n{body}\n"


def one(world: World) -> ConflictCopy:
    """Return the only conflict copy."""
    (copy,) = conflicts(Notes(world.kb)).copies
    return copy


def adopted(world: World, file: str | None = None) -> ConflictList:
    """Adopt as a personal project may."""
    project = Project(kind=ProjectKind.PERSONAL, root=world.personal, reason="a test")
    return adopt_copies(
        Notes(world.kb),
        require_permit(project, "adopt", kb=world.kb),
        lock_file=world.home / "state" / "lock",
        now=datetime(2026, 7, 1, 12, 0, 0),
        file=file,
        folder=world.personal,
    )


def test_no_copies_is_an_empty_answer(world: World) -> None:
    """Notes alone are no conflict."""
    world.node("a.org", "a", "A")
    assert () == conflicts(Notes(world.kb)).copies


def test_a_version_of_its_original_is_compared_with_it(world: World) -> None:
    """The same id; lines added and removed as diff counts them."""
    original = world.node(f"{NAME}.org", "a", "A", "one\ntwo")
    copy = world.node(COPY, "a", "A", "one\nthree\nfour")
    found = one(world)
    assert (copy, original, True) == (found.path, original, found.same_id)
    assert (2, 1) == (found.lines_added, found.lines_removed)
    assert ("a", "A") == (found.id, found.title)
    assert "merge" in found.obstacle
    assert ("@@ -7 +7,2 @@", "-two", "+three", "+four") == found.diff


def test_another_note_of_the_same_name_has_an_id_of_its_own(world: World) -> None:
    """Two machines chose one name in the same second (D3)."""
    world.note(f"{NAME}.org", agent_text("a", "OAuth"))
    world.note(COPY, agent_text(ID, "OAuth"))
    found = one(world)
    assert not found.same_id
    assert "" == found.obstacle


def test_a_copy_whose_original_is_gone_says_so(world: World) -> None:
    """There is nothing to compare it with, and no id that it could share."""
    world.node(COPY, "a", "A")
    found = one(world)
    assert None is found.original
    assert not found.same_id
    assert (None, None) == (found.lines_added, found.lines_removed)


def test_encrypted_and_unreadable_copies_are_listed(world: World) -> None:
    """What can't be compared is there all the same."""
    world.note("a.org.sync-conflict-20260610-143000-K7QX2MD.gpg", "secret")
    os.mkfifo(world.kb / COPY)
    found = conflicts(Notes(world.kb)).copies
    assert 2 == len(found)
    assert all(copy.obstacle and copy.lines_added is None and copy.id is None for copy in found)


@pytest.mark.parametrize("name", [f"{NAME}.org", COPY])
def test_a_file_names_its_copies(world: World, name: str) -> None:
    """By its own name, by the copy's, relative to the knowledge base or as a path."""
    world.node(f"{NAME}.org", "a", "A")
    world.node(COPY, "a", "A")
    world.node("b.sync-conflict-20260610-143000-K7QX2MD.org", "b", "B")
    for file, folder in (
        (name, None),
        (str(world.kb / name), None),
        (name, world.kb),
        (name, world.personal),
    ):
        assert [world.kb / COPY] == [copy.path for copy in conflicts(Notes(world.kb), file=file, folder=folder).copies]


def test_a_file_without_copies_has_none_and_an_unknown_one_is_an_error(world: World) -> None:
    """A mistyped name isn't good news."""
    world.node("a.org", "a", "A")
    assert () == conflicts(Notes(world.kb), file="a.org").copies
    with pytest.raises(NotFound):
        conflicts(Notes(world.kb), file="b.org")


def test_a_copy_with_its_own_id_gets_a_name_of_its_own(world: World) -> None:
    """Second, slug and the id's tail; not a byte, nor the permissions, are another's."""
    original = world.note(f"{NAME}.org", agent_text("a", "OAuth"))
    text = agent_text(ID, "OAuth", "the other fact")
    world.note(COPY, text).chmod(0o640)
    (copy,) = adopted(world).copies
    path = world.kb / f"{NAME}-9f01.org"
    assert path == copy.adopted
    assert text == path.read_text()
    assert 0o640 == path.stat().st_mode & 0o777
    assert {path.name, original.name} == set(world.files())


def test_the_mode_is_there_before_the_name(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who shares the folder may put a link in the place of a new name, and what it leads to would get the mode."""

    def refuse(path: object, *_: object, **__: object) -> None:
        raise AssertionError(f"{path} may be a link by now")

    world.note(COPY, agent_text(ID, "OAuth")).chmod(0o664)
    monkeypatch.setattr(os, "chmod", refuse)
    umask = os.umask(0o077)
    try:
        (copy,) = adopted(world).copies
    finally:
        os.umask(umask)
    assert copy.adopted is not None
    assert 0o664 == copy.adopted.stat().st_mode & 0o777


@pytest.mark.parametrize(
    ("name", "stamp"),
    [
        ("note.sync-conflict-20260610-143000-K7QX2MD.org", "20260610142900"),
        ("20260610142907-x.sync-conflict-20260610-143000-K7QX2MD.org", "20260610142907"),
        ("20269999999999-x.sync-conflict-20260610-143000-K7QX2MD.org", "20260701120000"),
    ],
)
def test_the_name_says_when_the_note_was_made(world: World, name: str, stamp: str) -> None:
    """The copy's name knows the second, CREATED the minute; an impossible time becomes now."""
    world.note(name, agent_text(ID, "OAuth"))
    (copy,) = adopted(world).copies
    assert world.kb / f"{stamp}-oauth-9f01.org" == copy.adopted


def test_a_copy_in_a_folder_stays_there(world: World) -> None:
    """It is renamed, not moved."""
    world.note(f"sub/{COPY}", agent_text(ID, "OAuth"))
    (copy,) = adopted(world).copies
    assert world.kb / "sub" / f"{NAME}-9f01.org" == copy.adopted


def test_versions_are_never_adopted(world: World) -> None:
    """A version of its original stays what it is, named or not."""
    world.note(f"{NAME}.org", agent_text(ID, "OAuth"))
    world.note(COPY, agent_text(ID, "OAuth", "more"))
    before = world.files()
    for file in (None, COPY):
        (copy,) = adopted(world, file).copies
        assert None is copy.adopted
        assert copy.obstacle
    assert before == world.files()


def test_a_human_note_is_adopted_only_by_its_name(world: World) -> None:
    """The sweep leaves it alone and says how; its bytes survive the renaming."""
    text = world.node(COPY, ID, "Mine").read_text()
    (copy,) = adopted(world).copies
    assert None is copy.adopted
    assert "human" in copy.obstacle
    assert {COPY} == set(world.files())
    (copy,) = adopted(world, COPY).copies
    assert world.kb / "20260610142900-mine-9f01.org" == copy.adopted
    assert text == copy.adopted.read_text()


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("elsewhere.org", agent_text(ID, "Other"), "in use"),
        ("b.sync-conflict-20260610-143000-K7QX2MD.org", agent_text(ID, "OAuth"), "another conflict copy"),
    ],
)
def test_an_id_that_occurs_elsewhere_is_not_adopted(world: World, name: str, text: str, word: str) -> None:
    """Two nodes with one id would fight in Emacs."""
    world.note(COPY, agent_text(ID, "OAuth"))
    world.note(name, text)
    before = world.files()
    assert all(copy.adopted is None and word in copy.obstacle for copy in adopted(world).copies)
    assert before == world.files()


def test_a_copy_without_an_id_is_not_adopted(world: World) -> None:
    """It is no node under any name."""
    world.note(COPY, "#+title: Just text\n")
    (copy,) = adopted(world, COPY).copies
    assert "has no id" == copy.obstacle


def test_nothing_is_overwritten(world: World) -> None:
    """A file that has the name already stays, and so does the copy."""
    world.note(COPY, agent_text(ID, "OAuth"))
    world.note(f"{NAME}-9f01.org", "mine\n")
    before = world.files()
    with pytest.raises(NameTaken):
        adopted(world)
    assert before == world.files()


def test_a_copy_that_emacs_holds_stays(world: World) -> None:
    """Somebody is merging it right now."""
    world.note(COPY, agent_text(ID, "OAuth"))
    (world.kb / f".#{COPY}").symlink_to("human@desk.123")
    with pytest.raises(ChangedOnDisk):
        adopted(world)
    assert (world.kb / COPY).exists()


def test_an_adopted_note_is_found(world: World) -> None:
    """It is a note like any other, and no conflict is left."""
    world.note(COPY, agent_text(ID, "OAuth"))
    adopted(world)
    notes = Notes(world.kb)
    assert [ID] == [node.id for _, node in notes.read_all().node_pairs()]
    assert () == conflicts(notes).copies


def test_a_hostile_title_makes_a_harmless_name(world: World) -> None:
    """No folder is left, no conflict copy made, nothing hidden."""
    world.note(COPY, agent_text(ID, "../../.sync-conflict-\x1b[2J\u202e/etc"))
    (copy,) = adopted(world).copies
    assert copy.adopted is not None
    assert copy.adopted.parent == world.kb
    assert [copy.adopted.name] == [path.name for path in Path(world.kb).glob("*.org")]
    assert os.fsencode(copy.adopted.name).isascii()
    assert "sync-conflict" not in copy.adopted.name


@pytest.mark.parametrize("id", ["a/../../b", "x/..", "a/b/c", "ab\x1b[2J", 'a\\b|?*"<>', "a\u202egro", "abc\0d", "///"])
def test_a_hostile_id_makes_a_harmless_name(world: World, id: str) -> None:
    """A stranger's copy stands in nobody's way: it gets a name that every system takes, and so do those after it."""
    world.note(COPY, agent_text(id, "OAuth"))
    world.note("20260610143000-x.sync-conflict-20260610-143000-K7QX2MD.org", agent_text(ID, "Other"))
    ran = world.run("conflicts", "--adopt")
    assert (0, "") == (ran.status, ran.err)
    names = sorted(path.name for path in world.kb.rglob("*.org"))
    assert 2 == len(names)
    assert all(re.fullmatch(r"20260610\d{6}-(oauth|other)-\w*\.org", name) for name in names)


def test_an_original_outside_is_not_read(world: World) -> None:
    """A link out of the knowledge base, which a syncer may bring, shows nothing of what it leads to."""
    secret = world.work / "secret.org"
    secret.write_text(agent_text("s", "Secret", "The launch is in May"))
    (world.kb / f"{NAME}.org").symlink_to(secret)
    world.note(COPY, agent_text(ID, "OAuth"))
    ran = world.run("conflicts", "--json")
    assert (0, False) == (ran.status, "launch" in ran.out)
    assert [] == ran.json["copies"][0]["diff"]
    assert world.run("conflicts", "--adopt").status == 0
    assert secret.exists()


def test_an_adoption_that_was_killed_can_be_called_again(world: World) -> None:
    """Where both names hold the same bytes, the copy's goes; a note that was changed since keeps both."""
    world.node(f"{NAME}.org", "a", "A")
    path = world.note(COPY, agent_text(ID, "OAuth"))
    (copy,) = adopted(world).copies
    assert copy.adopted is not None
    data = copy.adopted.read_bytes()
    path.write_bytes(data)
    said = f"{path}: was identical to {copy.adopted}, and was removed\n"
    assert said == world.run("conflicts", "--adopt").out
    path.write_bytes(data)
    (again,) = adopted(world).copies
    assert (copy.adopted, "") == (again.adopted, again.obstacle)
    assert (False, data) == (path.exists(), copy.adopted.read_bytes())
    path.write_bytes(data)
    copy.adopted.write_bytes(data + b"More.\n")
    (kept,) = adopted(world).copies
    assert "in use" in kept.obstacle
    assert path.exists()
