"""`init` gives a project its log once, and refuses where none can be kept."""

import json
import subprocess
from pathlib import Path

import pytest

from roamkb.actions.init import init
from roamkb.app.log import ProjectLog
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.storage.receipts import receipts
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
    assert first.adopted is None
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
    """By a human, who is told what is in it, and by no agent; until then nothing of it is said."""
    brought(world)
    done = world.run("init", "--yes", "--json", extra={"CLAUDECODE": "1"})
    assert (2, "usage") == (done.status, done.json["error"]["code"])  # type: ignore[index]
    done = world.run("init", extra={"CLAUDECODE": "1"})
    assert (2, True) == (done.status, "an agent runs this (CLAUDECODE is set)" in done.err)
    told = "2 learnings by mallory, an[2J ally: 1 verified, 2 0.80 sure or more, 1 as sure as a human"
    assert told in done.err
    assert not (world.personal / ".roamkb" / "local").exists()
    assert 2 == world.run("recall", "theirs").status
    done = world.run("init")
    assert (0, True) == (done.status, told in done.out)
    assert 0 == world.run("recall", "theirs").status


def brought(world: World) -> None:
    """Have the project come with a log that praises itself."""
    folder = world.personal / ".roamkb"
    folder.mkdir()
    (folder / "knowledge.jsonl").write_text(
        '{"id":"a","content":"theirs is evil","agent":"mallory"}\n'
        '{"id":"b","content":"theirs is good","agent":"an\\u001b[2J ally","confidence":90}\n'
    )
    (folder / "ledger.jsonl").write_text(
        '{"id":"01890000-0000-0000-0000-000000000001","event":"judged","of":"a","verdict":"verified"}\n'
        '{"id":"01890000-0000-0000-0000-000000000002","event":"overridden","of":"a","value":100}\n'
    )


@pytest.mark.parametrize(("answer", "taken"), [("y", True), ("YES", True), ("", False), ("n", False)])
def test_at_a_terminal_it_asks(answer: str, taken: bool, world: World) -> None:
    """Once; what it has is counted, whatever it says of itself."""
    brought(world)
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return answer

    log = ProjectLog(world.open()._around, world.open(), folder=None, ask=ask)
    if taken:
        assert log.init().adopted is not None
        assert log.init().adopted is None
    else:
        with pytest.raises(UsageError, match="wasn't adopted"):
            log.init()
    assert 1 == len(asked)
    assert "2 learnings" in asked[0]
    assert "\x1b" not in asked[0]


def test_an_empty_log_that_came_is_nobodys_word(world: World) -> None:
    """A colleague ran `init`, and nothing happened since."""
    folder = world.personal / ".roamkb"
    folder.mkdir()
    (folder / "knowledge.jsonl").touch()
    assert world.open().log.init().adopted is None


def test_hooks_say_nothing_of_a_log_that_nobody_adopted(world: World) -> None:
    """But that there is one, for a human to look at."""
    brought(world)
    payload = {"session_id": "s", "cwd": str(world.personal), "hook_event_name": "SessionStart"}
    told = world.run("hook", "session-start", input=json.dumps(payload)).out
    assert "theirs" not in told
    assert "wasn't adopted on this machine" in told
    payload |= {"hook_event_name": "UserPromptSubmit", "prompt": "is theirs evil or is theirs good?"}
    assert {} == world.run("hook", "user-prompt-submit", input=json.dumps(payload)).json


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
        init(places[place], home=home, kb=kb, state=tmp_path / "state")
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


@pytest.mark.parametrize("name", ["index", "receipts.jsonl", "initialised", "observations"])
def test_local_state_that_came_with_the_project_is_not_believed(name: str, world: World) -> None:
    """An index of somebody else's making would answer for ours; it lies where nobody reads."""
    local = world.personal / ".roamkb" / "local"
    local.mkdir(parents=True)
    (local / name).write_bytes(b"{}")
    log = world.open().log
    log.init()
    log.learn("Zebras are striped")
    log.recall("zebras", session="s")
    (left,) = local.glob(f"{name}*")
    assert b"{}" == left.read_bytes()
    assert (left.name == name) == (name != "observations")
    assert 1 == len(receipts(world.log().local))
