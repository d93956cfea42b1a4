"""`snapshot`: what is lost comes back, what is newer stays, and nothing leaves its place."""

import json
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.log.jsonl import event_line
from roamkb.log.store.project_log import Log
from roamkb.sharing.snapshot import RecoverResult
from roamkb.sharing.snapshot import SnapshotList
from roamkb.sharing.snapshot import SnapshotsTaken
from tests.conftest import NOON
from tests.conftest import World


@pytest.fixture
def kept(world: World) -> World:
    """A personal project with three learnings, one repeated; two agent nodes and a human note."""
    world.open().log.init()
    for text in ("Amounts are kept in cents", "Sessions last 30 minutes", "Staging deploys on Tuesdays"):
        world.open().log.learn(text)
    world.open().log.learn("Sessions last 30 minutes.", session="s2")
    world.open().write("An agent's node", body="Its body.")
    world.open().write("The printer wants 203 dpi")
    world.node("human.org", "h-1", "A human's note about an agent", "private", tags=":agent:")
    return world


def take(world: World, *, at: Path | None = None, day: int = 0, daily: bool = False) -> SnapshotsTaken:
    """Make a snapshot on a day."""
    made = world.open(at, now=NOON + timedelta(days=day)).log.snapshot(daily=daily)
    assert isinstance(made, SnapshotsTaken)
    return made


def restore(world: World, id: str | None = None, *, at: Path | None = None, yes: bool = True) -> RecoverResult:
    """Put back what is lost."""
    done = world.open(at).log.snapshot("restore", id, yes=yes)
    assert isinstance(done, RecoverResult)
    return done


def archives(folder: Path) -> list[Path]:
    """Every archive below a folder."""
    return sorted(folder.rglob("*.zip"))


def inside(archive: Path) -> bytes:
    """All that an archive holds, unpacked."""
    with zipfile.ZipFile(archive) as opened:
        return b"\n".join(opened.read(name) for name in opened.namelist())


def log_files(world: World, at: Path | None = None) -> tuple[Path, Path, Path]:
    """The three files of a log."""
    log = world.log(at)
    return log.knowledge, log.archive, log.ledger


def standings(folder: Path) -> dict[str, tuple[int, int]]:
    """What the log amounts to: occurrences and confidence by content."""
    state = Log(folder, folder).read_contents().replay_state()
    return {one.learning.content: (one.occurrences, one.confidence) for one in state.standings.values()}


def test_it_keeps_the_log_beside_it_and_agents_notes_in_the_state_folder(kept: World) -> None:
    """Of the knowledge base nothing that a human wrote."""
    made = take(kept)
    assert [("log", 2), ("kb", 2)] == [(one.what, one.files) for one in made.made]
    log, kb = (one.path for one in made.made)
    assert kept.log().local_folder / "snapshots" == log.parent
    assert log.is_relative_to(kept.personal)
    assert kb.is_relative_to(kept.state / "snapshots")
    assert b"Amounts are kept in cents" in inside(log)
    assert b"An agent's node" in inside(kb)
    assert b"private" not in inside(kb) + inside(log)
    assert b"agent's node" not in inside(log)


def test_a_note_that_a_human_wrote_a_node_into_is_not_kept(kept: World) -> None:
    """It isn't an agent's alone any more."""
    (path,) = kept.kb.glob("2*printer*.org")
    path.write_text(path.read_text() + "\n* Mine\n:PROPERTIES:\n:ID: h-3\n:END:\nmy own words\n")
    (kb,) = (one for one in take(kept).made if one.what == "kb")
    assert 1 == kb.files
    assert b"my own words" not in inside(kb.path)


@pytest.mark.parametrize("place", ["work", "unknown"])
def test_elsewhere_it_keeps_the_log_alone(kept: World, place: str) -> None:
    """No note goes into a work tree, and no work log out of it."""
    folder: Path = getattr(kept, place)
    kept.open(folder).log.init()
    kept.open(folder).log.learn("Only for this tree")
    before = archives(kept.home)
    made = take(kept, at=folder)
    assert ["log"] == [one.what for one in made.made]
    (new,) = set(archives(kept.home)) - set(before)
    assert new.is_relative_to(folder)


def test_a_stricter_session_only_looks(kept: World) -> None:
    """At a personal log's; of the notes it sees none."""
    take(kept)
    there = ("--project", str(kept.personal))
    assert (3, 3) == (
        kept.run("snapshot", *there, cwd=kept.work).status,
        kept.run("snapshot", "restore", *there, cwd=kept.work).status,
    )
    listed = kept.run("snapshot", "list", *there, cwd=kept.work)
    assert (0, 1) == (listed.status, len(listed.out.splitlines()))


def test_a_state_folder_at_work_gets_no_notes(kept: World) -> None:
    """Whoever put it there."""
    kept.state.rename(kept.work / "state")
    kept.state.symlink_to(kept.work / "state")
    assert ["log"] == [one.what for one in take(kept).made]
    assert [] == archives(kept.work)


def test_a_folder_without_a_log_or_leave_has_nothing_to_keep(kept: World) -> None:
    """A personal one without a log keeps the notes."""
    with pytest.raises(NoLog):
        take(kept, at=kept.work)
    other = kept.personal.parent / "other"
    other.mkdir()
    assert ["kb"] == [one.what for one in take(kept, at=other).made]


def test_without_its_knowledge_base_it_keeps_the_log(kept: World) -> None:
    """And says why not more."""
    kept.kb.rename(kept.home / "unmounted")
    made = take(kept)
    assert ["log"] == [one.what for one in made.made]
    assert ["kb"] == [what for what, _ in made.skipped]


def test_once_a_day_and_never_the_same_again(kept: World) -> None:
    """The library asks daily at each session's start."""
    assert 2 == len(take(kept, daily=True).made)
    kept.open().log.learn("Something new")
    assert [("log", "there is one of today"), ("kb", "there is one of today")] == list(take(kept, daily=True).skipped)
    made = take(kept, daily=True, day=1)
    assert (["log"], [("kb", "nothing changed since the latest")]) == (
        [one.what for one in made.made], list(made.skipped),
    )  # fmt: skip


def test_seven_are_kept_of_each(kept: World) -> None:
    """The latest."""
    for day in range(9):
        kept.open().log.learn(f"Learned on day {day} " + "abcdefghi"[day] * 9)
        kept.open(now=NOON + timedelta(days=day)).write(f"Node of day {day} " + "abcdefghi"[day] * 9, anyway=True)
        take(kept, day=day)
    found = kept.open().log.snapshot("list")
    assert isinstance(found, SnapshotList)
    assert [f"2026-06-{day}" for day in range(18, 11, -1) for _ in range(2)] == [
        one.when[:10] for one in found.snapshots
    ]


def lost_ways(world: World) -> Iterator[tuple[str, list[bytes]]]:
    """Lose a log in one way after the other; yield its name and what is left of the files."""
    whole = [path.read_bytes() if path.exists() else b"" for path in log_files(world)]
    ways: dict[str, list[bytes | None]] = {
        "deleted": [None, None, None],
        "emptied": [b"", b"", b""],
        "cut in a line": [whole[0][:-40], whole[1], whole[2][:30]],
        "a line lost in the middle": [b"".join(whole[0].splitlines(keepends=True)[::2]), whole[1], whole[2]],
        "the ledger deleted": [whole[0], whole[1], None],
        "turned": [b"\n".join(reversed(whole[0].split(b"\n"))), whole[1], whole[2]],
    }
    for name, left in ways.items():
        for path, data in zip(log_files(world), left, strict=True):
            path.unlink(missing_ok=True)
            if data is not None:
                path.write_bytes(data)
        yield name, [data or b"" for data in left]


def test_a_log_that_was_lost_comes_back(kept: World) -> None:
    """However it went; what is there stays byte for byte, and lines come after it."""
    before = standings(kept.personal)
    take(kept)
    for name, left in lost_ways(kept):
        restore(kept)
        assert before == standings(kept.personal), name
        for path, data in zip(log_files(kept), left, strict=True):
            now = path.read_bytes() if path.exists() else b""
            assert now.startswith(data), name
        assert not restore(kept).learnings, name


def test_what_is_newer_stays(kept: World) -> None:
    """Lines and events since the snapshot, and a line that somebody edited."""
    take(kept)
    kept.open().log.learn("Newer than the snapshot")
    kept.open().log.learn("Amounts are kept in cents.", session="s9")
    knowledge, _, ledger = log_files(kept)
    knowledge.write_bytes(knowledge.read_bytes().replace(b"on Tuesdays", b"on Fridays"))
    lines = knowledge.read_bytes().splitlines(keepends=True)
    knowledge.write_bytes(b"".join(line for line in lines if b"Sessions" not in line))
    had, happened, newer = knowledge.read_bytes(), ledger.read_bytes(), standings(kept.personal)
    done = restore(kept)
    assert ["Sessions last 30 minutes"] == [one.content for one in done.learnings]
    assert knowledge.read_bytes().startswith(had)
    assert happened == ledger.read_bytes()
    assert {**newer, "Sessions last 30 minutes": (2, 75)} == standings(kept.personal)
    assert "Staging deploys on Tuesdays" not in standings(kept.personal)


def test_a_line_that_moved_to_the_archive_is_not_lost(kept: World) -> None:
    """Rotation moves the oldest."""
    take(kept)
    knowledge, archive, _ = log_files(kept)
    first, _, rest = knowledge.read_bytes().partition(b"\n")
    archive.write_bytes(first + b"\n")
    knowledge.write_bytes(rest)
    assert () == restore(kept).learnings


def test_without_yes_nothing_is_written(kept: World) -> None:
    """It only says what is lost."""
    take(kept)
    for path in log_files(kept):
        path.unlink(missing_ok=True)
    for path in kept.kb.glob("2*.org"):
        path.unlink()
    before = kept.files()
    looked = restore(kept, yes=False)
    assert (3, 1, 2, False) == (len(looked.learnings), len(looked.events), len(looked.nodes), looked.done)
    assert (before, [False] * 3) == (kept.files(), [path.exists() for path in log_files(kept)])


def test_nodes_that_are_gone_come_back_as_they_were(kept: World) -> None:
    """Byte for byte, folders and all."""
    (kept.kb / "sub").mkdir()
    path = next(kept.kb.glob("2*printer*.org"))
    path.rename(kept.kb / "sub" / path.name)
    before = kept.files()
    take(kept)
    for path in kept.kb.rglob("2*.org"):
        path.unlink()
    (kept.kb / "sub").rmdir()
    assert 2 == len(restore(kept).nodes)
    assert before == kept.files()


def test_nodes_that_are_there_are_left_alone(kept: World) -> None:
    """Changed, moved, made somebody's own, or in the trash; a place that is taken is told."""
    take(kept)
    first, second = sorted(kept.kb.glob("2*.org"))
    first.write_text(first.read_text().replace(":agent:", ":mine:") + "my own words")
    first.rename(kept.kb / "moved.org")
    kept.open().trash(str(second))
    before = kept.files()
    assert () == restore(kept).nodes
    assert before == kept.files()


def test_a_place_that_another_has_by_now_is_told(kept: World) -> None:
    """Nothing is overwritten, and no second name is made up."""
    take(kept)
    first, second = sorted(kept.kb.glob("2*.org"))
    first.write_text("somebody else's")
    second.unlink()
    done = restore(kept)
    assert ((first,), [second]) == (done.taken, [node.path for node in done.nodes])
    assert "somebody else's" == first.read_text()


@pytest.mark.parametrize("place", ["work", "unknown"])
def test_elsewhere_no_node_comes_back(kept: World, place: str) -> None:
    """It needs leave; nor is its snapshot listed."""
    take(kept)
    for path in kept.kb.glob("2*.org"):
        path.unlink()
    folder: Path = getattr(kept, place)
    kept.open(folder).log.init()
    with pytest.raises(NotFound):
        restore(kept, at=folder)
    listed = kept.open(folder).log.snapshot("list")
    assert isinstance(listed, SnapshotList)
    assert () == listed.snapshots


def test_a_damaged_archive_is_refused_whole(kept: World) -> None:
    """One of the two stops both; an older one still serves by its id."""
    good = take(kept).made[0].id
    kept.open().log.learn("Newer")
    for path in kept.kb.glob("2*printer*.org"):
        path.write_text(path.read_text() + "more")
    bad = take(kept, day=1).made
    for snapshot in bad:
        whole = snapshot.path.read_bytes()
        snapshot.path.write_bytes(whole[:200] + b"XXXX" + whole[204:])
        for path in (*log_files(kept), *kept.kb.glob("2*.org")):
            path.unlink(missing_ok=True)
        with pytest.raises(DiskError, match="damaged"):
            restore(kept)
        assert not any(path.exists() for path in log_files(kept))
        assert [] == list(kept.kb.glob("2*.org"))
        snapshot.path.write_bytes(whole)
    assert (3, 2) == (len(restore(kept, good).learnings), len(list(kept.kb.glob("2*.org"))))


def test_an_archive_of_a_humans_note_brings_none(kept: World) -> None:
    """What isn't an agent's isn't made, whatever an archive holds."""
    from roamkb.sharing.store.snapshot_archive import save_snapshot

    take(kept)
    (folder,) = {path.parent for path in archives(kept.state)}
    agent = ":PROPERTIES:\n:ID: {}\n:AGENT: x\n:END:\n#+title: t\n#+filetags: :agent:\n"
    members = {
        "human-2.org": b":PROPERTIES:\n:ID: h-2\n:END:\n#+title: about an agent\n",
        "../outside.org": agent.format("o-1").encode(),
        ".hidden.org": agent.format("o-2").encode(),
    }
    save_snapshot(folder, members, source="kb", id="29990101-000000-00000000", now=NOON)
    before = kept.files()
    with pytest.raises(DiskError, match="no place of a note"):
        restore(kept)
    assert before == kept.files()
    assert not (kept.home / "outside.org").exists()


def test_a_folder_that_became_a_link_leads_no_note_out(kept: World) -> None:
    """It was a folder of the knowledge base when the snapshot was made."""
    (kept.kb / "sub").mkdir()
    (path,) = kept.kb.glob("2*printer*.org")
    path.rename(kept.kb / "sub" / path.name)
    take(kept)
    (kept.kb / "sub" / path.name).unlink()
    (kept.kb / "sub").rmdir()
    (kept.kb / "sub").symlink_to(kept.work)
    with pytest.raises(DiskError, match="no place of a note"):
        restore(kept)
    assert [] == list(kept.work.iterdir())


def test_no_link_in_a_repository_leads_a_snapshot_out_of_it(kept: World) -> None:
    """Somebody else's clone may have one."""
    (kept.work / "there").mkdir()
    (kept.log().local_folder / "snapshots").symlink_to(kept.work / "there")
    with pytest.raises(DiskError, match="link"):
        take(kept)
    assert [] == list((kept.work / "there").iterdir())


@pytest.mark.parametrize(
    ("action", "name", "options"),
    [("make", None, {}), ("list", "x", {}), ("list", None, {"yes": True}), (None, None, {"yes": True}),
     ("restore", None, {"daily": True}), ("list", None, {"daily": True})],
)  # fmt: skip
def test_words_that_do_not_go_together(
    kept: World, action: str | None, name: str | None, options: dict[str, Any]
) -> None:
    """A hint says which do."""
    with pytest.raises(UsageError) as told:
        kept.open().log.snapshot(action, name, **options)
    assert "snapshot restore" in told.value.hint


def test_an_id_that_is_none(kept: World) -> None:
    """Is said so."""
    with pytest.raises(NotFound, match="no snapshot nope"):
        restore(kept, "nope")
    with pytest.raises(NotFound):
        restore(kept)


def test_events_come_back_as_they_were(kept: World) -> None:
    """The ledger's lines, not new ones like them."""
    take(kept)
    before = kept.log().read_contents().events
    log_files(kept)[2].unlink()
    assert before == restore(kept).events
    assert [event_line(event) for event in before] == log_files(kept)[2].read_bytes().splitlines()


def test_the_command_line_says_what_it_did(kept: World) -> None:
    """In words and in JSON; nothing found is status 1."""
    assert (1, "") == (kept.run("snapshot", "list").status, kept.run("snapshot", "list").out)
    made = kept.run("snapshot", "--json").json["made"]
    assert isinstance(made, list)
    assert ["log", "kb"] == [one["what"] for one in made]
    assert 2 == len(kept.run("snapshot", "list").out.splitlines())
    log_files(kept)[0].unlink()
    looked = kept.run("snapshot", "restore")
    assert "3 learnings would be put back; add --yes to do it" == looked.out.splitlines()[-1]
    done = kept.run("snapshot", "restore", made[0]["id"], "--yes", "--json").json
    assert (3, 0, [], True) == (
        len(json.loads(json.dumps(done["learnings"]))), done["events"], done["nodes"], done["done"],
    )  # fmt: skip
    assert "nothing is lost" in kept.run("snapshot", "restore", "--yes").out


def test_of_what_there_is_no_snapshot_nobody_says_that_nothing_is_lost(kept: World) -> None:
    """The log was deleted before there was ever one of it."""
    kept.run("snapshot")
    for path in (kept.personal / ".roamkb" / "local").rglob("*"):
        if path.is_file() and "snapshot" in str(path):
            path.unlink()
    log_files(kept)[0].unlink()
    out = kept.run("snapshot", "restore").out
    assert "no snapshot of the log: what it lost, if anything, nobody knows" in out
    assert "nothing is lost of what is in the snapshot; nothing to put back" in out
