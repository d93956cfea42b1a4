"""The journal through its doors: hooks that mark and look, and a human who brings back what was."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import World
from tests.human import at_a_terminal


def hook(
    world: World, event: str, *, session: str = "s-1", cwd: Path | None = None, **payload: object
) -> dict[str, object]:
    """What a hook of a session in the work project answers."""
    folder = cwd or world.work
    told = {"session_id": session, "cwd": str(folder), "hook_event_name": event, **payload}
    return world.run("hook", event, cwd=folder, input=json.dumps(told), extra={"CLAUDECODE": "1"}).json


def began(world: World, **options: Any) -> None:
    """Begin a session and its first turn."""
    hook(world, "session-start", source="startup", **options)
    hook(world, "user-prompt-submit", prompt="tidy up, please", **options)


def files(world: World) -> dict[str, tuple[bytes, int]]:
    """Every note with its bytes and its mode."""
    return {name: (data, (world.kb / name).stat().st_mode & 0o7777) for name, data in world.files().items()}


def test_what_an_agent_destroyed_comes_back(world: World) -> None:
    """Killed, moved, truncated, encrypted, another mode: told in one line, brought back as it was."""
    for n in range(6):
        world.node(f"deep/{n}.org", f"id-{n}", f"Note {n}", "words " * 50)
    world.note("secret.org.gpg", "what only its owner reads")
    world.note("data/ab/picture.png", "no note")
    before = files(world)
    began(world)
    (world.kb / "deep/0.org").unlink()
    (world.kb / "deep/1.org").rename(world.kb / "elsewhere.org")
    os.truncate(world.kb / "deep/2.org", 7)
    (world.kb / "deep/3.org").write_bytes(b"\0encrypted\1")
    (world.kb / "deep/4.org").chmod(0o600)
    shutil.rmtree(world.kb / "data")
    (world.kb / "new.org").write_text("of an agent")
    answer = hook(world, "stop")
    assert "9 files of the knowledge base changed" in str(answer["systemMessage"])
    assert "decision" not in answer
    assert {} == hook(world, "stop")
    ran, terminal = at_a_terminal(world, "journal", "restore", "--all")
    assert 0 == ran.status, (ran, terminal)
    assert before == files(world)


def wreck(world: World, *, session: str = "s-1") -> None:
    """Have a session at work destroy two notes, and stop."""
    began(world, session=session)
    (world.kb / "a.org").unlink()
    (world.kb / "b.org").write_text("another's")
    hook(world, "stop", session=session)


@pytest.fixture
def notes(world: World) -> World:
    """A knowledge base with three notes of a human."""
    for name in "abc":
        world.node(f"{name}.org", f"id-{name}", f"Note {name}", f"words of {name} " * 20)
    return world


def changes(world: World, *words: str) -> dict[str, str]:
    """What changed since a mark, and by what, as the journal tells."""
    told = world.run("journal", "show", "--json", *words).json["changes"]
    assert isinstance(told, list)
    return {f"{one['what']} {one['path']}": one["by"] for one in told}


def test_what_changed_is_shown_with_its_texts(notes: World) -> None:
    """By the number of a mark, by a session's id, and by default since the session in which it happened."""
    wreck(notes)
    expected = {"vanished a.org": "unknown", "changed b.org": "unknown"}
    assert expected == changes(notes) == changes(notes, "1") == changes(notes, "s-1")
    assert {"changed b.org": "unknown"} == changes(notes, "s-1", "b.org")
    shown = notes.run("journal", "show", "--diff").out
    assert "+another's" in shown
    assert "-words of a " in shown
    assert 1 == notes.run("journal", "show", "2").status
    assert 2 == notes.run("journal", "show", "--mark", "99").status


def test_without_a_mark_the_moment_is_chosen_and_named(notes: World) -> None:
    """Before the last change where no session ever was; else the mark of the last one."""
    notes.run("journal")
    (notes.kb / "new.org").write_text("its human's")
    notes.run("journal")
    told = notes.run("journal", "show")
    assert 0 == told.status
    assert told.out.splitlines() == [
        "since 1, before the last change:",
        "added    new.org while no session was at work",
    ]
    assert "before the last change" == notes.run("journal", "show", "--json").json["chosen"]
    assert notes.run("journal", "show", "1", "--json").json["chosen"] is None
    began(notes)
    hook(notes, "stop")
    told = notes.run("journal", "show")
    assert 1 == told.status
    assert re.match(
        r"nothing changed since 3, the mark of the last session, work session \w+ of claude-code; ", told.out
    )


@pytest.mark.parametrize("name", ["99", "no-such-session", "nope.org", "deep"])
def test_a_name_that_is_nothing_is_an_error(notes: World, name: str) -> None:
    """To say that nothing changed there would be false comfort."""
    wreck(notes)
    for words in (["show", name], ["show", "1", name], ["restore", name, "--mark", "1", "--dry-run"]):
        ran = notes.run("journal", *words)
        assert 2 == ran.status, words
        assert name in ran.err
    assert 1 == notes.run("journal", "show", "1", "c.org").status
    assert 0 == notes.run("journal", "show", "1", "a.org").status


def test_the_list_names_marks_looks_and_whose_they_are(notes: World) -> None:
    """Nothing of a session but a digest of its id, its project's kind and its agent."""
    wreck(notes)
    told = notes.run("journal", "--json").json
    look, mark = told["moments"]
    assert ("look", 2, 2) == (look["what"], look["changed"], look["unexplained"])
    assert ("mark", "work", "claude-code") == (
        mark["what"],
        mark["session"]["kind"],
        mark["session"]["agent"],
    )
    assert "s-1" not in json.dumps(told)
    assert 4 == told["held"]["copies"]
    assert "2 of them unexplained  work session" in notes.run("journal").out


def test_no_agent_restores_anything(notes: World) -> None:
    """Neither without a terminal nor on one of its own; a plan is shown to anybody."""
    wreck(notes)
    before = notes.files()
    ran = notes.run("journal", "restore", "--all")
    assert 2 == ran.status
    assert "a human must say so at a terminal" in ran.err
    ran, _ = at_a_terminal(notes, "journal", "restore", "--all", extra={"CLAUDECODE": "1"})
    assert 2 == ran.status
    ran, _ = at_a_terminal(notes, "journal", "restore", "--all", answer=lambda _: "yes")
    assert 2 == ran.status
    planned = notes.run("journal", "restore", "--all", "--dry-run", "--json").json
    assert [("create", "a.org"), ("replace", "b.org")] == [(s["do"], s["path"]) for s in planned["steps"]]
    assert before == notes.files()
    denied = hook(notes, "pre-tool-use", tool_name="Bash", tool_input={"command": "roamkb journal restore --all"})
    assert "deny" in json.dumps(denied)


def test_what_changed_since_the_last_look_is_left(notes: World) -> None:
    """A human may have written it after all; once it was looked at, it can be named."""
    before = notes.files()
    wreck(notes)
    notes.note("b.org", "what its human wrote since")
    ran, _ = at_a_terminal(notes, "journal", "restore", "--all")
    assert 4 == ran.status
    assert "left    b.org: changed since the last look" in ran.out
    assert before["a.org"] == notes.files()["a.org"]
    assert b"what its human wrote since" == notes.files()["b.org"]
    ran, _ = at_a_terminal(notes, "journal", "restore", "b.org", "--mark", "1")
    assert 0 == ran.status, ran
    assert before == notes.files()


def test_a_restore_can_be_undone(notes: World) -> None:
    """The journal has what it replaced and what it took away."""
    wreck(notes)
    wrecked = notes.files()
    done, _ = at_a_terminal(notes, "journal", "restore", "--all")
    undo = re.search(r"`roamkb (journal restore --all --mark \d+)` undoes this", done.out)
    assert undo, done
    assert wrecked != notes.files()
    assert 0 == at_a_terminal(notes, *undo[1].split())[0].status
    assert wrecked == notes.files()


def test_what_a_restore_does_is_no_riddle(notes: World) -> None:
    """Nobody is told to undo what a human just confirmed; what else happened meanwhile is told as ever."""
    wreck(notes)
    hook(notes, "user-prompt-submit", prompt="go on with it, please")
    assert 0 == at_a_terminal(notes, "journal", "restore", "--all")[0].status
    assert {"added a.org": "a restore", "changed b.org": "a restore"} == changes(notes, "2")
    assert "nothing explains" not in notes.run("journal", "show").out
    (notes.kb / "c.org").unlink()
    told = str(hook(notes, "stop")["systemMessage"])
    assert "c.org vanished" in told
    assert "a.org" not in told


def test_what_emacs_holds_is_left(notes: World) -> None:
    """Its human is writing there."""
    wreck(notes)
    (notes.kb / ".#b.org").symlink_to("me@desk.123:1")
    ran, _ = at_a_terminal(notes, "journal", "restore", "--all")
    assert 4 == ran.status, ran
    assert "open with unsaved changes in Emacs" in ran.out
    assert b"another's" == notes.files()["b.org"]


def test_the_whole_folder_comes_back_only_if_its_human_says_so(notes: World) -> None:
    """It may merely be unmounted; the hook says what to do."""
    before = files(notes)
    began(notes)
    notes.kb.rename(notes.home / "elsewhere-now")
    assert "--create-kb" in str(hook(notes, "stop")["systemMessage"])
    ran, _ = at_a_terminal(notes, "journal", "restore", "--all")
    assert 2 == ran.status
    assert not notes.kb.exists()
    ran, _ = at_a_terminal(notes, "journal", "restore", "--all", "--create-kb")
    assert 0 == ran.status, ran
    assert before == files(notes)
    assert (notes.kb / ".stfolder").is_dir()
    assert {} == changes(notes, "1")


def test_an_empty_mount_point_is_no_destruction(notes: World) -> None:
    """Nothing vanished, as far as anybody knows."""
    began(notes)
    notes.kb.rename(notes.home / "disk")
    notes.kb.mkdir()
    hook(notes, "stop")
    notes.kb.rmdir()
    (notes.home / "disk").rename(notes.kb)
    assert {} == hook(notes, "stop")
    assert {} == changes(notes, "1")


def test_what_changes_between_turns_is_no_agents(notes: World) -> None:
    """A human edits while the agent waits; what changes in a turn that was broken off is told at the next."""
    began(notes)
    hook(notes, "stop")
    with (notes.kb / "a.org").open("a") as note:
        note.write("a human's")
    assert {} == hook(notes, "user-prompt-submit", prompt="go on with it, please")
    notes.note("b.org", "an agent's")
    told = hook(notes, "user-prompt-submit", prompt="go on with it, please")
    assert "b.org changed" in str(told["systemMessage"])
    assert {"changed a.org": "no session", "changed b.org": "unknown"} == changes(notes, "1")


def test_a_session_that_was_killed_is_looked_after_at_the_next_start(notes: World) -> None:
    """Its turn never ended."""
    began(notes, session="s-killed")
    (notes.kb / "a.org").unlink()
    told = hook(notes, "session-start", source="startup", session="s-next")
    assert "a.org vanished" in str(told["systemMessage"])
    assert {"vanished a.org": "unknown"} == changes(notes)


def test_both_of_two_sessions_at_work_hear_of_it(notes: World) -> None:
    """Nobody knows which of them it was."""
    began(notes, session="s-1")
    began(notes, session="s-2")
    (notes.kb / "a.org").unlink()
    assert "a.org vanished" in str(hook(notes, "stop", session="s-2")["systemMessage"])
    assert "a.org vanished" in str(hook(notes, "stop", session="s-1")["systemMessage"])
    assert {} == hook(notes, "stop", session="s-1")


def test_a_repository_in_the_notes_is_said_to_be_gits(notes: World) -> None:
    """What git's own record says it changed; it is told, since an agent can call git."""
    git = ("git", "-C", str(notes.kb), "-c", "user.name=me", "-c", "user.email=me@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run([*git, *words], check=True)
    notes.note("b.org", "uncommitted")
    began(notes)
    subprocess.run([*git, "reset", "-q", "--hard"], check=True)
    assert "b.org changed" in str(hook(notes, "stop")["systemMessage"])
    assert {"changed b.org": "git"} == changes(notes, "s-1")


def test_doctor_looks_and_says_what_nothing_explains(notes: World) -> None:
    """Until its human has seen it in the journal."""
    began(notes)
    (notes.kb / "a.org").unlink()
    assert "a.org vanished, and nothing explains it" in journal_check(notes)
    notes.run("journal", "show")
    assert "3 files can come back" in journal_check(notes) or "2 files can come back" in journal_check(notes)


def test_a_damaged_copy_is_found_and_made_again(notes: World) -> None:
    """As long as the note is there; a restore never writes what isn't what it was."""
    wreck(notes)
    (path,) = notes.state.glob("journal/*/journal.db")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE object SET data = zeroblob(length(data))")
    db.close()
    ran, _ = at_a_terminal(notes, "journal", "restore", "--all")
    assert 2 == ran.status
    assert "its copy is damaged" in ran.out
    assert "4 copies damaged" in journal_check(notes)
    assert "damaged" not in journal_check(notes)
    assert b"another's" == notes.files()["b.org"]


def test_a_damaged_journal_is_put_aside(notes: World) -> None:
    """Nothing of it is thrown away, and no session notices."""
    began(notes)
    (path,) = notes.state.glob("journal/*/journal.db")
    path.write_bytes(b"not a database" * 400)
    assert {} == hook(notes, "stop")
    assert {} == hook(notes, "stop")
    (aside,) = path.parent.glob("damaged-*.db")
    assert b"not a database" * 400 == aside.read_bytes()
    assert f"{aside.name} was put aside, damaged" in journal_check(notes)


def test_the_journal_is_its_owners_alone(notes: World) -> None:
    """It holds every note."""
    began(notes)
    for path in (notes.state / "journal").rglob("*"):
        assert 0 == path.stat().st_mode & 0o077, path


def journal_check(world: World) -> str:
    """What `doctor` says of the journal."""
    checks = world.run("doctor", "--json").json["checks"]
    assert isinstance(checks, list)
    (found,) = (check["detail"] for check in checks if check["name"] == "journal")
    return str(found)


def test_a_turn_begins_and_ends_where_there_is_nothing_to_see(notes: World) -> None:
    """A glance is enough then, and what changes in such a turn is told like in any other."""
    began(notes)
    hook(notes, "stop")
    # what is younger than two seconds is read again
    time.sleep(2.1)
    notes.run("doctor")
    assert find_quiet_of(notes)
    hook(notes, "user-prompt-submit", prompt="yes")
    assert "changed" not in str(hook(notes, "user-prompt-submit", prompt="go on with it, please"))
    notes.note("b.org", "an agent's")
    assert not find_quiet_of(notes)
    assert "b.org changed" in str(hook(notes, "stop")["systemMessage"])
    assert {"changed b.org": "unknown"} == changes(notes, "s-1")


@pytest.fixture
def old_notes(world: World) -> World:
    """So many notes that the first isn't among those that were written last, and a session whose turn is over."""
    for number in range(300):
        world.node(f"deep/{number}.org", f"id-{number}", f"Note {number}", "walnut\n" * 9)
    began(world)
    hook(world, "stop")
    time.sleep(2.1)
    # the first trusts the times of all, the second leaves what prompts know of the folders
    for _ in range(2):
        world.run("search", "walnut")
        hook(world, "stop")
    assert list(world.home.rglob("tree.json"))
    return world


def append(world: World, name: str, text: str) -> None:
    """Write behind a note as it lies there, which no folder tells of; the file system's clock ticks before and after."""
    time.sleep(0.02)
    with (world.kb / name).open("a") as file:
        file.write(text)
    time.sleep(0.02)


def test_what_a_human_wrote_into_an_old_note_before_a_turn_is_not_its_agents(old_notes: World) -> None:
    """The prompt may not see it; the look at the turn's end tells by the times which was first."""
    append(old_notes, "deep/0.org", "of the human\n")
    assert {} == hook(old_notes, "user-prompt-submit", prompt="go on")
    append(old_notes, "deep/1.org", "of the agent\n")
    told = str(hook(old_notes, "stop")["systemMessage"])
    assert "1 file of the knowledge base changed" in told and "deep/1.org changed" in told
    assert {"changed deep/0.org": "no session", "changed deep/1.org": "unknown"} == changes(old_notes, "s-1")


def test_a_second_prompt_of_a_turn_excuses_nothing(old_notes: World) -> None:
    """As after an interruption, of which no hook tells: what the agent wrote before it is the turn's."""
    assert {} == hook(old_notes, "user-prompt-submit", prompt="go on")
    append(old_notes, "deep/1.org", "of the agent\n")
    assert {} == hook(old_notes, "user-prompt-submit", prompt="no, go on with the other one")
    assert "deep/1.org changed" in str(hook(old_notes, "stop")["systemMessage"])
    assert {"changed deep/1.org": "unknown"} == changes(old_notes, "s-1")


def test_a_turn_that_nobody_ended_yesterday_excuses_nothing_today(old_notes: World) -> None:
    """It was interrupted, and its session goes on after more than a day: that is a turn of today."""
    assert {} == hook(old_notes, "user-prompt-submit", prompt="go on")
    (turn,) = old_notes.state.glob("journal/*/turns/*")
    os.utime(turn, (time.time() - 90_000,) * 2)
    assert {} == hook(old_notes, "user-prompt-submit", prompt="good morning, go on")
    append(old_notes, "deep/1.org", "of the agent\n")
    assert "deep/1.org changed" in str(hook(old_notes, "stop")["systemMessage"])
    assert {"changed deep/1.org": "unknown"} == changes(old_notes, "s-1")


def test_a_folder_that_was_prepared_in_an_earlier_turn_is_the_turns_in_which_it_came(old_notes: World) -> None:
    """Its files are older than the turn; what was written into as it lay there is the same file."""
    stage = old_notes.home / "stage"
    shutil.copytree(old_notes.kb / "deep", stage)
    with (stage / "1.org").open("a") as file:
        file.write("of the agent\n")
    time.sleep(0.02)
    assert {} == hook(old_notes, "user-prompt-submit", prompt="go on")
    (old_notes.kb / "deep").rename(old_notes.home / "away")
    stage.rename(old_notes.kb / "deep")
    assert "deep/1.org changed" in str(hook(old_notes, "stop")["systemMessage"])
    assert {"changed deep/1.org": "unknown"} == changes(old_notes, "s-1")


def test_what_another_session_writes_meanwhile_is_its_own(old_notes: World) -> None:
    """Its turn began before this one, and goes on."""
    hook(old_notes, "user-prompt-submit", prompt="tidy up", session="s-2")
    # which knows then that another one began
    hook(old_notes, "stop")
    append(old_notes, "deep/1.org", "of the other agent\n")
    assert {} == hook(old_notes, "user-prompt-submit", prompt="go on")
    assert "deep/1.org changed" in str(hook(old_notes, "stop")["systemMessage"])


def test_a_prompt_looks_at_all_while_commands_run_on(old_notes: World) -> None:
    """Whose beginning isn't known: what they write is told at once."""
    hook(old_notes, "user-prompt-submit", prompt="go on")
    with subprocess.Popen(["sleep", "100"], env={"CLAUDE_CODE_SESSION_ID": "s-1", **old_notes.environment()}) as left:
        try:
            hook(old_notes, "stop")
            append(old_notes, "deep/1.org", "of a command\n")
            answer = hook(old_notes, "user-prompt-submit", prompt="go on")
        finally:
            left.kill()
    assert "deep/1.org changed" in str(answer["systemMessage"])


def test_an_old_note_that_was_written_into_is_shown_as_it_is(old_notes: World) -> None:
    """Although the prompt's look left it out; and found by its new words after the next search."""
    old_notes.node("deep/0.org", "id-0", "Zebra crossings", "zebra crossings need paint")
    for number in range(1, 300):
        (old_notes.kb / f"deep/{number}.org").touch()
    time.sleep(2.1)
    for _ in range(2):
        old_notes.run("search", "zebra")
        hook(old_notes, "stop")
    text = (old_notes.kb / "deep/0.org").read_text().replace("paint", "light")
    time.sleep(0.02)
    (old_notes.kb / "deep/0.org").write_text(text)
    answer = json.dumps(hook(old_notes, "user-prompt-submit", prompt="what do zebra crossings need?"))
    assert "zebra crossings need light" in answer and "paint" not in answer


def test_what_is_no_change_is_compared_once(notes: World) -> None:
    """A syncer's leftover that the journal doesn't keep: the next hook compares all, and those after it needn't."""
    hook(notes, "session-start", source="startup")
    time.sleep(2.1)
    hook(notes, "user-prompt-submit", prompt="go on")
    assert find_quiet_of(notes)
    (notes.kb / "~syncthing~a.org.tmp").write_text("half of it")
    assert not find_quiet_of(notes)
    hook(notes, "user-prompt-submit", prompt="go on")
    assert find_quiet_of(notes)


def find_quiet_of(world: World) -> bool:
    """Whether a glance finds nothing to look at."""
    code = "import sys; from roamkb.journal.store.glance import find_quiet_journals; sys.exit(not find_quiet_journals('s-1'))"
    done = subprocess.run([sys.executable, "-c", code], env=world.environment(), check=False)
    return done.returncode == 0


def test_a_knowledge_base_with_a_name_has_its_own_journal(notes: World) -> None:
    """What an agent destroyed there is told with its name, and comes back by it; the default one stays as it is."""
    club = notes.home / "sync" / "club"
    (club / ".stfolder").mkdir(parents=True)
    (club / "rules.org").write_text(":PROPERTIES:\n:ID: rules\n:END:\n#+title: Rules\n")
    rule = notes.home / ".claude" / "rules" / "knowledge-base.md"
    blocks = "```roamkb:kb/club\n~/sync/club\n```\n```roamkb:project-parents/club\n~/hall\n```\n"
    rule.write_text(f"{rule.read_text()}\n{blocks}")
    began(notes)
    before = files(notes)
    text = (club / "rules.org").read_bytes()
    (club / "rules.org").unlink()
    told = str(hook(notes, "stop")["systemMessage"])
    assert "1 file of the knowledge base club changed" in told
    assert "`roamkb journal restore --all --kb club`" in told
    ran, terminal = at_a_terminal(notes, "journal", "restore", "--all", "--kb", "club")
    assert 0 == ran.status, (ran, terminal)
    assert (text, before) == ((club / "rules.org").read_bytes(), files(notes))
    checks = {check["name"]: check["ok"] for check in notes.run("doctor", "--json").json["checks"]}
    assert checks["club: knowledge base"]
    assert checks["knowledge base"]
