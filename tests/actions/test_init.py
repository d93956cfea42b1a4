"""`init` gives a project its log once, and refuses where none can be kept."""

import subprocess
from pathlib import Path

import pytest

from roamkb.actions.init import init
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from tests.conftest import World

NAMES = [".gitattributes", ".gitignore", "knowledge.jsonl", "ledger.jsonl", "local"]


def git(folder: Path, *words: str) -> str:
    """Run git there, and return what it says."""
    done = subprocess.run(["git", *words], cwd=folder, check=False, capture_output=True, text=True)
    return done.stdout


def test_a_second_run_changes_nothing(world: World) -> None:
    """The first makes all that belongs to a log."""
    first = world.open().log.init()
    folder = world.personal / ".roamkb"
    assert NAMES == sorted(path.name for path in folder.iterdir())
    assert not first.is_adopted
    (folder / "knowledge.jsonl").write_bytes(b"mine\n")
    (folder / ".gitattributes").write_bytes(b"mine\n")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert () == world.open().log.init().made
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_what_is_missing_is_made_and_the_rest_left_alone(world: World) -> None:
    """As after a checkout that lost a file."""
    world.open().log.init()
    folder = world.personal / ".roamkb"
    (folder / "ledger.jsonl").unlink()
    (folder / "knowledge.jsonl").write_bytes(b"mine\n")
    assert (folder / "ledger.jsonl",) == world.open().log.init().made
    assert b"mine\n" == (folder / "knowledge.jsonl").read_bytes()


def test_git_merges_it_line_by_line_and_leaves_local_state_out(world: World) -> None:
    """By git's own word."""
    git(world.personal, "init", "-q")
    world.open().log.init()
    for name in ("knowledge.jsonl", "knowledge.archive.jsonl", "ledger.jsonl"):
        assert "merge: union" in git(world.personal, "check-attr", "merge", f".roamkb/{name}")
    git(world.personal, "add", "-A")
    tracked = git(world.personal, "ls-files").split()
    assert [f".roamkb/{name}" for name in NAMES if name != "local"] == tracked


def test_a_public_repository_can_be_spared(world: World) -> None:
    """`--untracked` keeps all of it out, on this machine alone, and once."""
    git(world.personal, "init", "-q")
    assert world.open().log.init().ignored_by is None
    exclude = world.personal / ".git" / "info" / "exclude"
    for _ in range(2):
        assert exclude == world.open().log.init(untracked=True).ignored_by
    assert 1 == exclude.read_text().count("/.roamkb/")
    assert "" == git(world.personal, "status", "--porcelain")


def test_an_ignored_log_is_told(world: World) -> None:
    """It stays on this machine."""
    git(world.personal, "init", "-q")
    (world.personal / ".gitignore").write_text(".roamkb\n")
    assert world.personal / ".gitignore" == world.open().log.init().ignored_by
    assert "git ignores the log" in world.run("init").err


def test_a_log_that_came_with_the_project_is_adopted(world: World) -> None:
    """And it says so."""
    folder = world.personal / ".roamkb"
    folder.mkdir()
    (folder / "knowledge.jsonl").write_bytes(b'{"content":"theirs"}\n')
    done = world.run("init", "--json")
    assert (0, True) == (done.status, done.json["adopted"])
    assert 0 == world.run("recall", "theirs").status


@pytest.mark.parametrize("place", ["home", "above", "kb", "in_kb", "holds_kb", "shared"])
def test_where_no_log_can_be_kept_nothing_is_made(place: str, tmp_path: Path) -> None:
    """A home, the knowledge base, and what Syncthing shares: it would lose one side's lines."""
    home = tmp_path / "home"
    kb = home / "notes" / "roam"
    shared = home / "sync" / "project"
    for folder in (kb / "sub", shared):
        folder.mkdir(parents=True)
    (home / "sync" / ".stfolder").mkdir()
    places = {
        "home": home,
        "above": tmp_path,
        "kb": kb,
        "in_kb": kb / "sub",
        "holds_kb": kb.parent,
        "shared": shared,
    }
    with pytest.raises(UsageError):
        init(places[place], home=home, kb=kb)
    assert [] == list(tmp_path.rglob(".roamkb"))


@pytest.mark.parametrize("name", ["", "local"])
def test_a_link_in_place_of_a_folder_is_not_followed(name: str, world: World) -> None:
    """A repository's owner would choose where we write."""
    target = world.home / "target"
    target.mkdir()
    folder = world.personal / ".roamkb"
    if name:
        folder.mkdir()
    (folder / name if name else folder).symlink_to(target)
    with pytest.raises(RoamkbError):
        world.open().log.init()
    assert [] == list(target.iterdir())


@pytest.mark.parametrize("name", ["index", "receipts.jsonl", "initialised", "log.lock"])
def test_local_state_that_came_with_the_project_is_not_believed(name: str, world: World) -> None:
    """An index of somebody else's making would answer for ours."""
    local = world.personal / ".roamkb" / "local"
    local.mkdir(parents=True)
    (local / name).write_bytes(b"")
    with pytest.raises(UsageError, match="came with the project"):
        world.open().log.init()
    (local / name).rename(local / ".syncthing.roamkb-1.tmp")
    world.open().log.init()
